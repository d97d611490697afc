"""Days, months, moments and the zone they are of, as people write them and as the API takes them."""

import os
import re
from datetime import UTC, date, datetime, time
from pathlib import Path

from satchel.cli.engine.terminal.output import Misused

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MONTH = re.compile(r"[0-9]{4}-(0[1-9]|1[0-2])")
_ZONE = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*")

UTC_NAME = "UTC"
# Of days of UTC itself a server knows most, by this name.
_ALSO_UTC = {"Etc/UTC", "Etc/UCT", "Etc/GMT", "Etc/Universal", "Etc/Zulu", "GMT", "UCT", "Universal", "Zulu"}


def day_of(written: str) -> str:
    if _DAY.fullmatch(written):
        try:
            return date.fromisoformat(written).isoformat()
        except ValueError:  # no month has a day 31 after its 30th
            pass
    raise Misused(f"A day looks like 2026-11-16, not like {written!r}.")


def month_of(written: str) -> str:
    """Also of one of its days."""
    month = day_of(written)[:7] if _DAY.fullmatch(written) else written
    if not _MONTH.fullmatch(month):
        raise Misused(f"A month looks like 2026-11, not like {written!r}.")
    return month


def utc_today() -> str:
    return datetime.now(UTC).date().isoformat()


def moment_of(written: str, *, end: bool = False) -> str:
    """A moment, in the time of this machine unless it names its zone; a day means its beginning, or its end."""
    try:
        moment = datetime.fromisoformat(written)
        if end and _DAY.fullmatch(written):
            moment = datetime.combine(moment, time.max)
        return moment.astimezone(UTC).isoformat(timespec="milliseconds")
    except (ValueError, OverflowError) as error:  # also of a year that no calendar here has
        raise Misused(f"A time looks like 2026-11-16 or 2026-11-16T18:00, not like {written!r}.") from error


def local_zone() -> str:
    """The IANA name of the zone of this machine; UTC where it tells none."""
    for told in (os.environ.get("TZ", "").removeprefix(":"), _told_by_link(), _told_by_file()):
        if told and _ZONE.fullmatch(told):
            return UTC_NAME if told in _ALSO_UTC else told
    return UTC_NAME


def _told_by_link() -> str:
    try:
        return str(Path("/etc/localtime").readlink()).partition("zoneinfo/")[2]
    except OSError:
        return ""


def _told_by_file() -> str:
    try:
        return Path("/etc/timezone").read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""
