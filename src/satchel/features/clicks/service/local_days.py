"""Days as people live them, in any zone: without it every day would end at midnight in Greenwich.

Clicks are counted by quarters of the UTC day, and every zone in use is a whole number of quarters away from UTC, also
those of :30 and :45. So a local day is a run of quarters, whether the clock is turned in it or not. Quarters are
numbered from 1970 on.
"""

from bisect import bisect_left
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from satchel.kernel.errors import Invalid

QUARTER_SECONDS = 15 * 60
QUARTERS_PER_DAY = 24 * 4
# No zone has ever been further away than this.
_FARTHEST = 16 * 4
ONE_DAY = timedelta(days=1)
_EPOCH = date(1970, 1, 1)
# Where every zone still has a day before and a day after.
_EARLIEST, _LATEST = date(1970, 1, 2), date(9999, 12, 29)


@dataclass(frozen=True, slots=True)
class LocalDay:
    """A day in some zone: the quarters from `first` up to, but without, `end`; none if the zone left that day out."""

    day: date
    first: int
    end: int

    @property
    def starts(self) -> float:
        return self.first * QUARTER_SECONDS

    @property
    def ends(self) -> float:
        return self.end * QUARTER_SECONDS

    @property
    def utc_days(self) -> list[date]:
        """Those in which its quarters lie, one to three."""
        first, last = self.first // QUARTERS_PER_DAY, max(self.first, self.end - 1) // QUARTERS_PER_DAY
        return [_EPOCH + timedelta(days=number) for number in range(first, last + 1)]


def find_zone(name: str) -> ZoneInfo:
    """The zone of an IANA name such as `Asia/Kathmandu`."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        # A folder of zones and a path out of it are no zones either.
        raise Invalid(
            f"There is no time zone called {name!r}. Use a name such as Europe/Vienna.", field="zone"
        ) from None


def quarter_of(day: date, number: int = 0) -> int:
    """Which quarter this is, of those since 1970; `number` counts from the beginning of the UTC day."""
    return (day - _EPOCH).days * QUARTERS_PER_DAY + number


def check_day(day: date, field: str) -> date:
    if not _EARLIEST <= day <= _LATEST:
        raise Invalid(f"`{field}` has to lie between {_EARLIEST} and {_LATEST}.", field=field)
    return day


def local_day_of(moment: float, zone: ZoneInfo) -> date:
    return datetime.fromtimestamp(moment, zone).date()


def local_days(first: date, last: date, zone: ZoneInfo) -> list[LocalDay]:
    """The days from first to last, both included."""
    days = [first + timedelta(days=number) for number in range((last - first).days + 1)]
    bounds = [_begin(day, zone) for day in [*days, last + ONE_DAY]]
    return [LocalDay(day, bounds[place], bounds[place + 1]) for place, day in enumerate(days)]


def same_time_on(day: LocalDay, moment: float, zone: ZoneInfo) -> float:
    """When the clocks on the wall showed on that day what they show at that moment."""
    then = datetime.combine(day.day, datetime.fromtimestamp(moment, zone).time(), tzinfo=zone)
    # An hour that the day left out must not lead out of it.
    return min(max(then.timestamp(), day.starts), day.ends)


def _begin(day: date, zone: ZoneInfo) -> int:
    """The first quarter that falls on this day or a later one; where midnight is skipped, it is what comes instead."""
    midnight = quarter_of(day)
    nearby = range(midnight - _FARTHEST, midnight + _FARTHEST)
    return nearby[bisect_left(nearby, day, key=lambda quarter: local_day_of(quarter * QUARTER_SECONDS, zone))]
