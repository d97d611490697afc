"""People: sign up, sign in and stay signed in, see and end their sessions, change name and password; enter as a guest
without an account; share what they own by granting scopes to e-mail addresses. Administrators invite people and decide
who may sign up; they see everybody, promote and suspend, and help with forgotten passwords.
"""
