"""Three stores behind three contracts: tables, short-lived state, and objects. Each is embedded or distributed."""
