"""Stores that need nothing but this process and a folder."""
