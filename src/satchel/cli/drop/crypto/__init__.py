"""What keeps the server from reading along: the spoken code, keys and sealed records."""
