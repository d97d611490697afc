"""`satchel send`: what is given, and how it leaves."""
