"""Read whole numbers that people type, and write counts with their nouns."""

from satchel.cli.engine.terminal.output import Misused


def whole_number(option: str, written: str, *, least: int = 0, most: int | None = None) -> int:
    """`Misused` if it is none, or not one that the option takes."""
    if written.isascii() and written.isdecimal() and least <= int(written) and (most is None or int(written) <= most):
        return int(written)
    bounds = f" from {least:,} to {most:,}" if most is not None else f", {least} or more" if least else ""
    raise Misused(f"{option} takes a whole number{bounds}, not {written!r}.")


def shown_people(count: int) -> str:
    return "1 person" if count == 1 else f"{count:,} people"


def shown_clicks(count: int) -> str:
    return "1 click" if count == 1 else f"{count:,} clicks"


def shown_times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"


def shown_files(count: int) -> str:
    return "1 file" if count == 1 else f"{count:,} files"
