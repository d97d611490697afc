"""Output of every verb: colour only in terminals, one sentence when something fails, JSON for machines."""

import json
import os
import shutil
import sys
import textwrap
from collections.abc import Iterable
from typing import Any, TextIO
from urllib.parse import urlsplit

# Not printable by Python's rules, and harmless: without a break, narrow, and as wide as a Japanese letter.
_SPACES = "\u00a0\u202f\u3000"
_STYLES = {"good": "32", "bad": "31", "strong": "1", "quiet": "2"}


class CommandFailed(Exception):
    """The command cannot do what was asked; the message is one sentence for the person who asked."""

    exit_code = 1


class Misused(CommandFailed):
    """The command was not told enough, or was told what it cannot use."""

    exit_code = 2


def complain(sentence: str) -> None:
    label = paint("Error:", "bad", sys.stderr)
    print(f"{label} {printable(sentence)}", file=sys.stderr)


def note(sentence: str) -> None:
    """Something to know that is not the answer, and so never on standard output."""
    print(printable(sentence), file=sys.stderr)


def silence_logs() -> None:
    """What libraries log would stand between the lines of an answer that explains itself."""
    import logging

    logging.getLogger().addHandler(logging.NullHandler())


def print_json(value: Any) -> None:
    print(json.dumps(value, indent=2))


def answer(value: object, lines: Iterable[str], *, as_json: bool) -> None:
    """What was asked for: all of it for machines, or lines for people."""
    if as_json:
        from msgspec import to_builtins  # which takes long to load

        print_json(to_builtins(value))
        return
    for line in lines:
        print(line)


def paint(text: str, style: str, stream: TextIO | None = None) -> str:
    return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if _shows_colour(stream or sys.stdout) else text


def hanging(text: str, indent: str, mark: str = "") -> str:
    """The text indented and wrapped to the terminal, a mark before its first line; from a pipe it is one line."""
    if not sys.stdout.isatty():
        return indent + mark + text
    width = max(40, shutil.get_terminal_size().columns - 1)
    indent += " " * len(mark)
    wrapped = textwrap.fill(
        text,
        width,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return wrapped[: len(indent) - len(mark)] + mark + wrapped[len(indent) :]


def without_password(url: str) -> str:
    parts = urlsplit(url)
    if parts.password is None:
        return url
    return parts._replace(netloc=f"{parts.username}:…@{parts.netloc.rpartition('@')[2]}").geturl()


def printable(text: str) -> str:
    """What others wrote, without characters that would steer the terminal."""
    return "".join(letter if letter.isprintable() else " " if letter in _SPACES else "�" for letter in text)


def _shows_colour(stream: TextIO) -> bool:
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
