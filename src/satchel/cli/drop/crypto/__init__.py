"""End-to-end encryption: the spoken code, keys and sealed records, so that the server cannot read what passes."""
