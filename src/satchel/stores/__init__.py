"""Three stores behind three contracts: tables, short-lived state, and bytes; embedded or distributed."""
