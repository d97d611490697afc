"""Read the figures of a scope from a server, asking again while it is still counting people."""

from dataclasses import dataclass
from datetime import date, timedelta
from urllib.parse import urlencode

from msgspec import to_builtins

from satchel.cli.engine.api_types.stats_types import (
    DaysView,
    DayView,
    MonthsView,
    MonthView,
    RangeView,
    RankingView,
    SummaryView,
)
from satchel.cli.engine.http.client import Client
from satchel.cli.engine.terminal.output import Misused
from satchel.cli.stats.periods import day_of, month_of
from satchel.cli.stats.stats_scope import MINE, Scope

# Each answer reads many thousand clicks to count people; a server that never comes to an end is not waited for.
_MOST_ASKED = 40
DAYS_SHOWN = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """Which periods, as they were typed."""

    by: str
    first: str | None
    last: str | None
    zone: str

    @property
    def is_of_months(self) -> bool:
        return self.by == "month"

    def query(self) -> dict[str, str]:
        read = month_of if self.is_of_months else day_of
        between = {"from": self.first and read(self.first), "to": self.last and read(self.last)}
        if between["from"] and between["to"] and between["from"] > between["to"]:
            raise Misused(f"--from {self.first} is after --to {self.last}. Give the earlier one first.")
        return {name: value for name, value in between.items() if value}


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """All that is told of a scope."""

    summary: SummaryView
    series: "list[DayView] | list[MonthView]"
    ranking: RankingView | None
    # Of days alone: people of several months are not told apart in the way that those of days are.
    range: RangeView | None = None

    def as_builtins(self, scope: Scope, wish: Wish) -> dict[str, object]:
        told: dict[str, object] = {
            "scope": scope.written,
            "zone": wish.zone,
            "summary": to_builtins(self.summary),
            "months" if wish.is_of_months else "days": to_builtins(self.series),
        }
        if self.range is not None:
            told["range"] = to_builtins(self.range)
        return told if self.ranking is None else {**told, "top": to_builtins(self.ranking)}


def read(client: Client, scope: Scope, wish: Wish) -> Told:
    where, zone = f"/stats/{scope.written}", {"zone": wish.zone}
    summary = client.call("GET", f"{where}/summary?{urlencode(zone)}", SummaryView)
    between = wish.query()
    in_all = None
    if wish.is_of_months:
        series = client.call("GET", f"{where}/months?{urlencode(between)}", MonthsView).months
    else:
        query = urlencode({**zone, **_or_shown(between, summary.today_is)})
        series = _days(client, f"{where}/days?{query}")
        in_all = _range(client, f"{where}/range?{query}")
    top = f"/stats/top?{urlencode({**zone, **({} if wish.is_of_months else between)})}"
    ranking = client.call("GET", top, RankingView) if scope.written == MINE else None
    return Told(summary=summary, series=series, ranking=ranking, range=in_all)


def export(client: Client, scope: Scope, wish: Wish) -> bytes:
    """The table of the periods as CSV, the same that is shown."""
    between = wish.query()
    if wish.is_of_months:
        between = {name: f"{month}-01" for name, month in between.items()}
    elif not between:
        where = f"/stats/{scope.written}/summary?{urlencode({'zone': wish.zone})}"
        between = _or_shown(between, client.call("GET", where, SummaryView).today_is)
    query = urlencode({"format": "csv", "by": wish.by, "zone": wish.zone, **between})
    with client.receive_bytes(f"/stats/{scope.written}/export?{query}", {}) as response:
        return response.read()


def _days(client: Client, where: str) -> list[DayView]:
    told = client.call("GET", where, DaysView)
    for _ in range(_MOST_ASKED):
        if not told.people_pending:
            break
        told = client.call("GET", where, DaysView)
    return told.days


def _range(client: Client, where: str) -> RangeView:
    told = client.call("GET", where, RangeView)
    for _ in range(_MOST_ASKED):
        if not told.people_pending:
            break
        told = client.call("GET", where, RangeView)
    return told


def _or_shown(between: dict[str, str], today: str) -> dict[str, str]:
    """As many days as fit a terminal, where none were named."""
    if between:
        return between
    first = date.fromisoformat(today) - timedelta(days=DAYS_SHOWN - 1)
    return {"from": first.isoformat(), "to": today}
