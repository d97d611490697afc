"""Describe verbs to Typer: shared options, settings as options, and the parts of Typer that are not public."""
