"""Align text in columns, for letters of any width and terminals of any width."""

import shutil
import sys
import unicodedata


def fitted(text: str, width: int) -> str:
    """Exactly so wide: with spaces behind it, or cut with an ellipsis."""
    if shown_width(text) > width:
        while shown_width(text) > width - 1:
            text = text[:-1]
        text += "…"
    return text + " " * (width - shown_width(text))


def shown_width(text: str) -> int:
    return sum(map(_cells, text))


def room_for(wanted: int, taken: int, least: int = 16) -> int:
    """How wide a column may be beside the others: in a terminal no wider than what is left there."""
    if not sys.stdout.isatty():
        return wanted
    return min(wanted, max(least, shutil.get_terminal_size().columns - taken))


def _cells(letter: str) -> int:
    if unicodedata.combining(letter) or unicodedata.category(letter) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1
