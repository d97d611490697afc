"""Days of albums: people count the last day in, the server names the moment after it."""

from datetime import date, datetime, timedelta

from satchel.cli.engine.terminal.output import Misused


def start_of(written: str) -> str:
    return _moment(written).isoformat()


def end_of(written: str) -> str:
    """A day is meant with all of its hours; a time as it is."""
    moment = _moment(written)
    return (moment + timedelta(days=1) if _is_day(written) else moment).isoformat()


def shown_days(start: str, end: str) -> str:
    """As one would type them."""
    first, after = datetime.fromisoformat(start), datetime.fromisoformat(end)
    last = after.date() - timedelta(days=1) if after == _midnight(after) else after
    shown = first.date() if first == _midnight(first) else first
    return shown.isoformat() if shown == last else f"{_text(shown)} – {_text(last)}"


def _text(moment: date | datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M}" if isinstance(moment, datetime) else moment.isoformat()


def _midnight(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def _is_day(written: str) -> bool:
    return len(written.strip()) <= len("2025-07-14")


def _moment(written: str) -> datetime:
    try:
        moment = datetime.fromisoformat(written.strip())
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is not None:
        raise Misused(f"A day looks like 2025-07-14, or like 2025-07-14T18:30 with a time, not like {written!r}.")
    return moment
