"""The figures of a screen as a table for spreadsheets, the same to the last number.

Its cells are days, months and numbers: nothing in it was written by anybody, so none can be run as a formula.
"""

import csv
import io
from collections.abc import Sequence
from datetime import date
from typing import Literal
from zoneinfo import ZoneInfo

from satchel.features.clicks.model import KINDS
from satchel.features.clicks.service.context import Clicks
from satchel.features.clicks.service.stats_read import Days, FiguresOf, read_days

# A table is made once and kept, so it waits for what a screen would ask for again and again; but not for ever.
ATTEMPTS = 10


async def read_all_days(clicks: Clicks, scope: str, first: date, last: date, zone: ZoneInfo) -> Days:
    """The days with as many of their people as can be found out."""
    days = await read_days(clicks, scope, first, last, zone)
    for _ in range(ATTEMPTS - 1):
        if not days.people_pending:
            break
        days = await read_days(clicks, scope, first, last, zone)
    return days


def as_csv(by: Literal["day", "month"], periods: Sequence[FiguresOf]) -> str:
    """What is not known is an empty cell."""
    written = io.StringIO()
    table = csv.writer(written)
    table.writerow((by, "clicks", "people", *KINDS))
    for each in periods:
        kinds = each.figures.kinds
        table.writerow((each.period, each.figures.clicks, each.figures.people, *(kinds[kind] for kind in KINDS)))
    return written.getvalue()
