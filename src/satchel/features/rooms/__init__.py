"""People meet in a room by five letters, with or without an account: they see who is here, talk, and share files, which
whoever comes later still finds; when the room ends, everything in it is gone.
"""
