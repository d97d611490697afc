"""The modification time of a file as text, exact to the nanosecond: `2024-01-31T12:00:00.123456789Z`."""

import re
from datetime import UTC, datetime, timedelta

from satchel.kernel.unfit import TimeUnfit

_SECOND_NS = 10**9
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_WRITTEN = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)")


def file_time(nanoseconds: int) -> str:
    """The text of a time since 1970. Years outside of 1 to 9999, which nobody means, have none."""
    seconds, rest = divmod(nanoseconds, _SECOND_NS)
    try:
        whole = (_EPOCH + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S").rjust(19, "0")
    except OverflowError:
        return ""
    return f"{whole}.{rest:09d}".rstrip("0").rstrip(".") + "Z"


def nanoseconds_of(written: str) -> int:
    """The time that a text says; `Invalid` if it says none."""
    found = _WRITTEN.fullmatch(written)
    try:
        whole = datetime.fromisoformat(f"{found[1]}{found[3]}") if found else None
        seconds = None if whole is None else (whole - _EPOCH) // timedelta(seconds=1)
    except (ValueError, OverflowError):
        seconds = None
    if found is None or seconds is None:
        raise TimeUnfit("`modified` must be a time such as 2024-01-31T12:00:00Z.", field="modified")
    return seconds * _SECOND_NS + int((found[2] or "").ljust(9, "0"))


def checked_time(written: str) -> str:
    """The text in its stored form. Empty stays empty."""
    return file_time(nanoseconds_of(written)) if written else ""
