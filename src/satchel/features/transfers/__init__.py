"""A person hands files to another person, to everybody in a room, or to an account by its e-mail address; both sides
see how far each transfer has come with each receiver, look back on all of them, and can ask a room for answers.
"""
