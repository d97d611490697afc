"""When a link expires, as people type it: after a week, or on a day."""

import re
from datetime import datetime, time, timedelta

from satchel.cli.engine.terminal.output import Misused

_UNITS = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
_A_WHILE = re.compile(r"([0-9]{1,5})\s*([mhdw])")
_A_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
NEVER = "never"


def moment_of(written: str) -> str | None:
    """As the API takes it; None for `never`. A day means all of it, in the time of this machine."""
    if (written := written.strip()) == NEVER:
        return None
    try:
        if a_while := _A_WHILE.fullmatch(written):
            moment = datetime.now().astimezone() + int(a_while[1]) * _UNITS[a_while[2]]
        elif _A_DAY.fullmatch(written):
            moment = datetime.combine(datetime.fromisoformat(written), time.max)
        else:
            moment = datetime.fromisoformat(written)
        return moment.astimezone().isoformat(timespec="seconds")
    except (ValueError, OverflowError) as error:
        raise Misused(
            f"A time looks like 12h, 7d, 2w, 2026-12-24, 2026-12-24T18:00 or never, not like {written!r}."
        ) from error
