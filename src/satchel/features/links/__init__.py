"""A member gives anybody a link to a file, a folder or a room of theirs, or asks for files by one; it can have a
password, an end and a number of downloads, and can be paused, extended and revoked.
"""
