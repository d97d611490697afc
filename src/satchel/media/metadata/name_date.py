"""Finds the date in the name of a file, as phones, messengers and screenshots write it."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from satchel.media.metadata.date_text import wall_time, with_fraction

_DAY = r"((?:19|20)\d\d)([-_.]?)(0[1-9]|1[0-2])\2(0[1-9]|[12]\d|3[01])"
_CLOCK = r"([01]?\d|2[0-4])[-_.:h]?([0-5]\d)[-_.:m]?([0-5]\d)s?"
# IMG_20240131_120000123, Screenshot_2024-01-31-12-00-00, "2024-01-31 at 12.00.00 PM", signal-2024-01-31-120000, BURST….
_MOMENT = re.compile(rf"(?<!\d){_DAY}(?:[-_. T]{{0,3}}(?:at )?){_CLOCK}(?:[-_.]?(\d{{3}}))?(?: ?([AP]M))?(?!\d)", re.I)
_MESSENGER = re.compile(r"(?:IMG|VID|AUD|PTT|STK)-(\d{4})(\d{2})(\d{2})-WA(\d{1,6})", re.I)
_DAY_ONLY = re.compile(rf"(?<!\d){_DAY}(?!\d)")
# Pixel phones write UTC into the name.
_UTC = re.compile(r"PXL_", re.I)
# Facebook, WeChat and many others: milliseconds since 1970.
_MILLISECONDS = re.compile(r"(?:FB_IMG_|mmexport|IMG_|VID_|Image_|)(1\d{12})(?:[-_. (].*)?", re.I)
_SPACES = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class NameDate:
    """A date in a name: naive if it is wall time, aware if it is UTC."""

    moment: datetime
    is_day_only: bool = False


def read_name_date(name: str) -> NameDate | None:
    stem = _SPACES.sub(" ", name[:255].rpartition("/")[2])
    for read in (_messenger, _moment, _milliseconds, _day):
        found = read(stem)
        if found is not None:
            return found
    return None


def _messenger(stem: str) -> NameDate | None:
    match = _MESSENGER.match(stem)
    day = wall_time(int(match[1]), int(match[2]), int(match[3]), 12, 0, 0) if match else None
    # The number counts the files of a day, so it keeps their order.
    return NameDate(day + timedelta(milliseconds=int(match[4])), is_day_only=True) if match and day else None


def _moment(stem: str) -> NameDate | None:
    for match in _MOMENT.finditer(stem):
        year, _, month, day, hour, minute, second, fraction, half = match.groups()
        hour = int(hour)
        if half:
            hour = hour % 12 + (12 if half.upper() == "PM" else 0)
        local = wall_time(int(year), int(month), int(day), hour % 24, int(minute), int(second))
        if local is not None:
            moment = with_fraction(local, fraction)
            return NameDate(moment.replace(tzinfo=UTC) if _UTC.match(stem) else moment)
    return None


def _milliseconds(stem: str) -> NameDate | None:
    match = _MILLISECONDS.fullmatch(stem)
    return NameDate(datetime.fromtimestamp(int(match[1]) / 1000, UTC)) if match else None


def _day(stem: str) -> NameDate | None:
    for match in _DAY_ONLY.finditer(stem):
        year, separator, month, day = match.groups()
        # Eight digits of an older year are more often a number than a day.
        if separator or int(year) >= 1990:
            found = wall_time(int(year), int(month), int(day), 12, 0, 0)
            if found is not None:
                return NameDate(found, is_day_only=True)
    return None
