"""Describes what is offered, in the words that both sides see."""

from satchel.cli.drop.crypto.session_keys import Description
from satchel.cli.engine.terminal.sizes import shown_bytes


def described(description: Description) -> str:
    """A short description for people."""
    size = "size not known yet" if description.size is None else shown_bytes(description.size)
    if description.kind == "text":
        return f"a text ({size})"
    if description.kind == "folder":
        size = f"{description.files:,} {'file' if description.files == 1 else 'files'}, {size}"
    return f"{description.name} ({size})"
