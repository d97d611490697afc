"""Describes what is offered, in the words that both sides see."""

from satchel.cli.drop.crypto.session_keys import Description, Sum
from satchel.cli.engine.terminal.sizes import shown_bytes


def described(description: Description) -> str:
    """A short description for people."""
    size = "size not known yet" if description.size is None else shown_bytes(description.size)
    if description.kind == "text":
        return f"a text ({size})"
    if description.kind == "folder":
        size = f"{_files(description.files)}, {size}"
    return f"{description.name} ({size})"


def counted(sum_: Sum) -> str:
    """To the byte, because two that differ may look the same in megabytes."""
    size = "an unknown number of bytes" if sum_.size is None else f"{sum_.size:,} bytes"
    return size if sum_.files == 1 else f"{_files(sum_.files)} with {size}"


def _files(number: int) -> str:
    return f"{number:,} {'file' if number == 1 else 'files'}"
