"""Reads dates as cameras and programs write them, and says which of them no photo was taken at."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

# There is no photo from before.
FIRST_YEAR = 1826
_WRITTEN = re.compile(
    r"\s*(\d{4})[-:/. ]\s?(\d{1,2})[-:/. ]\s?(\d{1,2})"
    r"(?:[ T]+(\d{1,2})[:. ]\s?(\d{1,2})(?:[:. ]\s?(\d{1,2})(?:[.,](\d{1,9}))?)?)?"
    r"\s*(Z|[+-]\d{2}:?\d{2})?\s*\0*"
)
_OFFSET = re.compile(r"\s*([+-])(\d{1,2}):?(\d{2})(?::\d{2})?\s*\0*|\s*Z\s*\0*")
_MOST_OFFSET = timedelta(hours=14)
_TOLERANCE = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Written:
    """A date as it is written: what the wall clock showed, and the offset from UTC if it is written too."""

    local: datetime
    offset: timedelta | None = None
    is_day_only: bool = False


def read_written(text: str) -> Written | None:
    """EXIF's `2024:01:31 12:00:00` and its variations, and ISO 8601."""
    match = _WRITTEN.fullmatch(text[:64])
    if match is None:
        return None
    hour, minute = int(match[4] or 12), int(match[5] or 0)
    # Some cameras write 24 for midnight, and there are leap seconds.
    local = wall_time(int(match[1]), int(match[2]), int(match[3]), hour % 24, minute, min(int(match[6] or 0), 59))
    if local is None:
        return None
    local += timedelta(days=hour // 24)
    return Written(with_fraction(local, match[7]), read_offset(match[8] or ""), match[4] is None)


def wall_time(year: int, month: int, day: int, hour: int, minute: int, second: int) -> datetime | None:
    """None for a date that does not exist. Naive: the zone is not known here."""
    try:
        # The first and the last year leave no room to convert between zones.
        return datetime(year, month, day, hour, minute, second) if 1 < year < 9999 else None  # noqa: DTZ001
    except ValueError:
        return None


def with_fraction(local: datetime, digits: str | None) -> datetime:
    digits = (digits or "").strip()
    if not digits.isascii() or not digits.isdigit():
        return local
    return local.replace(microsecond=int(digits[:6].ljust(6, "0")))


def read_offset(text: str) -> timedelta | None:
    match = _OFFSET.fullmatch(text[:16])
    if match is None:
        return None
    if match[1] is None:
        return timedelta(0)
    offset = timedelta(hours=int(match[2]), minutes=int(match[3]))
    return (-offset if match[1] == "-" else offset) if offset <= _MOST_OFFSET else None


def is_credible(moment: datetime, now: datetime) -> bool:
    """Whether a photo can have been taken then. Clocks that were never set show the beginning of their era.

    A camera whose clock was never set runs on from there, so a month counts as the beginning. A scan of an old print
    may have any other date since there is photography.
    """
    naive = moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment
    if naive.year < FIRST_YEAR or naive > now.astimezone(UTC).replace(tzinfo=None) + _TOLERANCE:
        return False
    shifted = naive + _TOLERANCE
    if (naive.year, naive.month, naive.day) == (1980, 1, 1):
        return False
    return not any(start <= shifted < start + timedelta(days=32) for start in _ERAS)


_ERAS = (datetime(1904, 1, 1), datetime(1970, 1, 1))  # noqa: DTZ001
