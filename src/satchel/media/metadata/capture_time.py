"""Decides when a photo was taken, from all that says something about it.

The first credible date counts, in the order of the clues. What the wall clock showed is then certain, or the instant,
or both. The missing one needs the offset from UTC, which comes from the best of: the date itself, the zone of the
position, the satellites' time, another date in the file, the owner's zone.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from satchel.media.metadata.date_text import is_credible
from satchel.media.metadata.media_facts import CaptureTime, OffsetSource, Position, TimeSource

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

# The name of the zone at a latitude and longitude.
ZoneAt = Callable[[float, float], str | None]

_QUARTER = timedelta(minutes=15)
# A position may be older than the photo, and a camera's clock is rarely exact.
_CLOCK_ERROR = timedelta(minutes=5)
_GUESSES: frozenset[TimeSource] = frozenset(["exif-changed", "modified"])


@dataclass(frozen=True, slots=True)
class Clue:
    """A date from one source: naive if it is wall time, aware if it is UTC. With both, the offset stands beside it."""

    source: TimeSource
    moment: datetime
    offset: timedelta | None = None
    is_day_only: bool = False


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What helps to find the offset from UTC where the date has none."""

    now: datetime
    owner_zone: str | None = None
    position: Position | None = None
    zone_at: ZoneAt | None = None
    satellite_utc: datetime | None = None
    other_offset: timedelta | None = None
    # The wall time in the name of a file, and how far it may be from the beginning of a recording.
    name_local: datetime | None = None
    recording: timedelta = timedelta(0)


def decide(clues: Iterable[Clue], around: Surroundings) -> CaptureTime | None:
    for clue in clues:
        if is_credible(clue.moment, around.now):
            return _from_utc(clue, around) if clue.moment.tzinfo else _from_local(clue, around)
    return None


def _from_local(clue: Clue, around: Surroundings) -> CaptureTime:
    if clue.offset is not None:
        return _result(clue, clue.moment, clue.offset, "own")
    zone = _zone(_position_zone(around))
    if zone is not None:
        return _in_zone(clue, zone, "gps-zone", around)
    measured = _measured(clue.moment, around.satellite_utc, _CLOCK_ERROR)
    if measured is not None and not clue.is_day_only:
        return _result(clue, clue.moment, measured, "gps-time")
    if around.other_offset is not None:
        return _result(clue, clue.moment, around.other_offset, "exif-offset")
    zone = _zone(around.owner_zone)
    if zone is not None:
        return _in_zone(clue, zone, "owner-zone", around)
    return _result(clue, clue.moment, None, None)


def _in_zone(clue: Clue, zone: "ZoneInfo", source: OffsetSource, around: Surroundings) -> CaptureTime:
    """Where clocks went back, the satellites' time tells the two hours apart; otherwise it is the first.

    Where they went forward, the camera still showed the old time.
    """
    before, after = (clue.moment.replace(tzinfo=zone, fold=fold).utcoffset() for fold in (0, 1))
    offset = before
    if before != after and around.satellite_utc is not None and after is not None:
        off_by = abs(clue.moment.replace(tzinfo=UTC) - after - around.satellite_utc)
        offset = after if off_by < _CLOCK_ERROR else before
    return _result(clue, clue.moment, offset, source, ambiguous=before != after)


def _from_utc(clue: Clue, around: Surroundings) -> CaptureTime:
    zone, source = _zone(_position_zone(around)), "gps-zone"
    if zone is None and around.name_local is not None:
        offset = _measured(around.name_local, clue.moment, _CLOCK_ERROR + around.recording)
        if offset is not None:
            return _result(clue, (clue.moment + offset).replace(tzinfo=None), offset, "name")
    if zone is None:
        zone, source = _zone(around.owner_zone), "owner-zone"
    if zone is None:
        return _result(clue, clue.moment.astimezone(UTC).replace(tzinfo=None), None, None, utc=clue.moment)
    local = clue.moment.astimezone(zone)
    return _result(clue, local.replace(tzinfo=None, fold=0), local.utcoffset(), source)


def _result(
    clue: Clue,
    local: datetime,
    offset: timedelta | None,
    offset_source: OffsetSource | None,
    *,
    utc: datetime | None = None,
    ambiguous: bool = False,
) -> CaptureTime:
    if offset is not None and utc is None:
        utc = clue.moment if clue.moment.tzinfo else (local - offset).replace(tzinfo=UTC)
    return CaptureTime(
        local=local,
        source=clue.source,
        offset_minutes=None if offset is None else round(offset.total_seconds() / 60),
        offset_source=offset_source,
        utc=utc,
        is_day_only=clue.is_day_only,
        guessed=clue.source in _GUESSES,
        ambiguous=ambiguous,
    )


def _measured(local: datetime, utc: datetime | None, tolerance: timedelta) -> timedelta | None:
    """The offset between a wall time and an instant that mean the same moment. None if they cannot."""
    if utc is None:
        return None
    difference = local.replace(tzinfo=UTC) - utc
    offset = round(difference / _QUARTER) * _QUARTER
    # Only offsets that some country has: whole and half hours, and the quarters of Nepal and the Chatham Islands.
    quarters = offset / _QUARTER
    is_known = quarters % 2 == 0 or offset in (timedelta(hours=5, minutes=45), timedelta(hours=12, minutes=45))
    is_near = abs(difference - offset) <= min(tolerance, _QUARTER / 2)
    return offset if is_known and is_near and timedelta(hours=-12) <= offset <= timedelta(hours=14) else None


def _position_zone(around: Surroundings) -> str | None:
    if around.position is None or around.zone_at is None:
        return None
    name = around.zone_at(around.position.latitude, around.position.longitude)
    # At sea there is no zone that a clock would be set to.
    return None if name is None or name.startswith("Etc/") else name


def _zone(name: str | None) -> "ZoneInfo | None":
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name) if name else None
    except (ValueError, OSError, LookupError):
        return None
