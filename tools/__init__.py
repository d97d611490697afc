"""Programs that work on the repository itself."""
