"""What a click is before and after it is stored, which times and ids are accepted, and the errors of this slice."""

import unicodedata
from calendar import monthrange
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import get_args

import msgspec

from satchel.kernel.counted import Device, Kind
from satchel.kernel.errors import Conflict, Forbidden, Invalid, NotFound
from satchel.kernel.unfit import TextUnfit, TimeUnfit

KINDS: tuple[Kind, ...] = get_args(Kind)
MAX_CLICKS_AT_ONCE = 1000
MAX_GUEST_CLICKS_AT_ONCE = 50
MAX_COUNT = 1_000_000
MAX_ID_CHARACTERS = 200
MAX_KEY_CHARACTERS = 200
MAX_LABEL_CHARACTERS = 100
# Counters of pages: each person may have some, for some sites each, and each takes so many clicks a day.
MAX_COUNTERS = 20
MAX_ORIGINS = 10
MAX_ORIGIN_CHARACTERS = 200
MAX_COUNTER_NAME_CHARACTERS = 100
DEFAULT_DAILY_LIMIT = 20_000
MAX_DAILY_LIMIT = 200_000
MAX_PAGE_EVENT_BYTES = 2048
# How long a range can be taken back at once.
MAX_UNDO = timedelta(days=31)
# The ids of people who have no account begin so: of those who open links, and of guests who send clicks themselves.
VISITOR = "visitor:"
GUEST = "guest:"
# How far a click's time may lie behind our clock and ahead of it.
LATEST = timedelta(hours=48)
EARLIEST = timedelta(minutes=5)
# Statistics are stored under ids that begin so. A person with such an id would be taken for a statistic.
RESERVED = "STAT#"
# A quarter of an hour, by the name of its period (`QUARTER:2025-10-02T10:30`).
QUARTER = "QUARTER:"

# Every time zone has a day before and a day after these.
_FIRST_DAY, _LAST_DAY = date(1970, 1, 2), date(9999, 12, 29)
# These characters are invisible, or move what stands beside them. Joiners are part of some visible signs.
_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_JOINERS = "\u200c\u200d"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_QUARTER_MILLISECONDS = timedelta(minutes=15) // _MILLISECOND


class ClickTooLate(Invalid):
    """The time of the click is too long ago to be counted."""

    slug = "click-too-late"
    title = "This click is too old"


class ClickTooEarly(Invalid):
    """The time of the click is later than the server's clock."""

    slug = "click-too-early"
    title = "This click is in the future"


class ReservedId(Invalid):
    """The id begins with the prefix that statistics use."""

    slug = "reserved-id"
    title = "This id is reserved"


class SeenByServer(Invalid):
    """Openings, views, downloads and uploads of a link are counted by the server that sees them, and by nobody else."""

    slug = "seen-by-server"
    title = "The server counts this itself"


class TargetUnknown(Invalid):
    """The caller has no such link."""

    slug = "target-unknown"
    title = "Target not found"


class KeyReused(Conflict):
    """The idempotency key was already sent with another click."""

    slug = "idempotency-key-reused"
    title = "This idempotency key was used for another click"


class PeriodGone(Conflict):
    """Some clicks of the period are no longer stored, so it cannot be counted again."""

    slug = "period-gone"
    title = "The clicks of this period are no longer stored"


class CounterUnknown(NotFound):
    """There is no such counter, or it is somebody else's."""

    slug = "counter-unknown"
    title = "Counter not found"


class TooManyCounters(Conflict):
    """A person can have so many counters and no more."""

    slug = "too-many-counters"
    title = "You have too many counters"


class OriginNotAllowed(Forbidden):
    """The page is not on one of the sites that the counter is for."""

    slug = "origin-not-allowed"
    title = "This counter is for other pages"


# Very many of these live for a moment, and none can be part of a cycle: the garbage collector need not look at them.
class NewClick(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A click as asked for. Without `at` it happens now. `key` is its idempotency key: sent again, it counts once."""

    user_id: str
    at: str | None = None
    count: int = 1
    kind: Kind = "press"
    target: str | None = None
    thing: str | None = None
    owner: str | None = None
    label: str | None = None
    key: str | None = None
    referrer: str | None = None
    device: Device | None = None


class Recorded(msgspec.Struct, frozen=True, gc=False):
    """Where a click is stored; `repeated` if it had been stored before."""

    user_id: str
    created: str
    repeated: bool = False


@lru_cache(maxsize=1024)
def stamp(milliseconds: int) -> str:
    """A time since 1970 in the form that clicks are stored under: 24 characters, UTC."""
    moment = _EPOCH + timedelta(milliseconds=milliseconds)
    return f"{moment.isoformat(timespec='milliseconds').removesuffix('+00:00')}Z"


def shifted(milliseconds: int, places: int) -> int:
    """The time that a click takes if so many earlier times are taken: later ones first, then those before.

    It stays within its quarter of an hour, from which the days of every zone are counted, as long as one is free there.
    """
    start = milliseconds - milliseconds % _QUARTER_MILLISECONDS
    later = start + _QUARTER_MILLISECONDS - milliseconds
    if places < later or places >= _QUARTER_MILLISECONDS:
        return milliseconds + places
    return milliseconds - (places - later) - 1


def milliseconds_of(time: str, field: str = "createDateTime") -> int:
    """The time of an ISO 8601 text of any precision, cut to milliseconds. The text has to name its zone."""
    try:
        moment = datetime.fromisoformat(time)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise TimeUnfit(f"{field} must be a time with a time zone, such as 2025-10-02T10:30:00.000Z.", field=field)
    return (moment - _EPOCH) // _MILLISECOND


def check_time(milliseconds: int, now: int) -> None:
    if now - milliseconds > LATEST // _MILLISECOND:
        raise ClickTooLate(f"This click is too old. Send a click within {LATEST // timedelta(hours=1)} hours.")
    if milliseconds - now > EARLIEST // _MILLISECOND:
        raise ClickTooEarly("The time of this click is in the future. Set the sender's clock right.")


def check_id(user_id: str) -> None:
    check_text("A user id", user_id, MAX_ID_CHARACTERS)
    if user_id.startswith(RESERVED):
        raise ReservedId(f"User ids must not begin with {RESERVED}, which is reserved for statistics. Choose another.")


def check_text(what: str, text: str, longest: int) -> None:
    # Nearly all texts are plain, which `isprintable` sees quickly.
    is_readable = text.isprintable() or all(
        letter in _JOINERS or unicodedata.category(letter) not in _UNSEEN for letter in text
    )
    if not 1 <= len(text) <= longest or not is_readable:
        raise TextUnfit(f"{what} must have 1 to {longest} characters and no control characters.")


def check_day(day: date, field: str) -> date:
    if not _FIRST_DAY <= day <= _LAST_DAY:
        raise TimeUnfit(f"`{field}` has to lie between {_FIRST_DAY} and {_LAST_DAY}.", field=field)
    return day


@dataclass(frozen=True, slots=True)
class Period:
    """A UTC day or month: its name among the counts (`DAY:…`, `MONTH:…`), its first and its last day."""

    name: str
    first: date
    last: date

    @classmethod
    def of_day(cls, day: date) -> "Period":
        check_day(day, "day")
        return cls(f"DAY:{day}", day, day)

    @classmethod
    def of_month(cls, year: int, month: int) -> "Period":
        # There is no year 0; the year 1 is refused as well.
        first = check_day(date(max(1, year), month, 1), "month")
        last = check_day(first.replace(day=monthrange(year, month)[1]), "month")
        return cls(f"MONTH:{year:04}-{month:02}", first, last)

    @property
    def month(self) -> "Period":
        return Period.of_month(self.first.year, self.first.month)

    @property
    def days(self) -> tuple[str, str]:
        """The names of its first and its last day."""
        return f"DAY:{self.first}", f"DAY:{self.last}"

    @property
    def quarters(self) -> tuple[str, str]:
        """The names of its first and its last quarter of an hour."""
        return f"{QUARTER}{self.first}T00:00", f"{QUARTER}{self.last}T23:45"
