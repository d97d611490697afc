"""Statistics over HTTP: of all that somebody shares, of a link or thing and, for administrators, of the whole site."""

from datetime import date, timedelta
from typing import Annotated, Literal

import msgspec
from starlette.responses import Response

from satchel.edge.api.endpoints import Query, Router
from satchel.edge.files.downloads import attached_as
from satchel.edge.http.callers import Member
from satchel.features.clicks.records import SITE
from satchel.features.clicks.routes.views import (
    DaysView,
    Month,
    MonthsView,
    RangeView,
    RankingView,
    SummaryView,
    days_view,
    months_view,
    range_view,
    ranking_view,
    summary_view,
)
from satchel.features.clicks.service import range_read, stats_read
from satchel.features.clicks.service.context import Clicks
from satchel.features.clicks.service.local_days import find_zone, local_day_of
from satchel.kernel.errors import Forbidden, NotFound

Zone = Annotated[str, msgspec.Meta(max_length=64)]
# What is shown by default: the last days and months, with the current one.
DAYS_SHOWN = 31
MONTHS_SHOWN = 12


class ZoneQuery(Query, frozen=True, kw_only=True):
    """Whose days, by an IANA name such as `Asia/Kathmandu`."""

    zone: Zone = "UTC"


class DaysQuery(ZoneQuery, frozen=True, kw_only=True):
    """From which day to which, both included, at most 400; else the last 31."""

    first: date | None = msgspec.field(name="from", default=None)
    last: date | None = msgspec.field(name="to", default=None)


class MonthsQuery(Query, frozen=True, kw_only=True):
    """From which month to which, both included; else the last 12."""

    first: Month | None = msgspec.field(name="from", default=None)
    last: Month | None = msgspec.field(name="to", default=None)


class ExportQuery(DaysQuery, frozen=True, kw_only=True):
    """Which table: by day, or by the months in which `from` and `to` lie."""

    format: Literal["csv", "json"] = "csv"
    by: Literal["day", "month"] = "day"


def routes(clicks: Clicks) -> Router:
    router = Router("statistics")

    @router.get("/stats/{scope}/summary", raises=(NotFound, Forbidden))
    async def read_summary(member: Member, scope: str, query: ZoneQuery) -> SummaryView:
        """See where things stand: in all, today so far against yesterday so far, and this month.

        The scope is `mine`, `link:<id>` of a link of yours, `counter:<id>` of a counter of yours, `thing:<kind>:<id>`
        of something you share, or, for administrators, `site`, of whose growth they hear by the live connection for
        90 seconds.
        """
        found = await _scope_for(member, scope)
        if found == SITE:
            await clicks.watchers.add(member.user_id)
        return summary_view(await stats_read.read_summary(clicks, found, find_zone(query.zone)))

    @router.get("/stats/{scope}/days", raises=(NotFound, Forbidden))
    async def read_days(member: Member, scope: str, query: DaysQuery) -> DaysView:
        """See what each day of a zone came to."""
        found = await _scope_for(member, scope)
        zone = find_zone(query.zone)
        return days_view(await stats_read.read_days(clicks, found, *_days(clicks, query), zone))

    @router.get("/stats/{scope}/range", raises=(NotFound, Forbidden))
    async def read_range(member: Member, scope: str, query: DaysQuery) -> RangeView:
        """See what a range of days came to in all: people, where they came from, with what, and the range before."""
        found = await _scope_for(member, scope)
        zone = find_zone(query.zone)
        return range_view(await range_read.read_range(clicks, found, *_days(clicks, query), zone))

    @router.get("/stats/{scope}/months", raises=(NotFound, Forbidden))
    async def read_months(member: Member, scope: str, query: MonthsQuery) -> MonthsView:
        """See what each month of UTC came to; somebody who came on several days is one person in it."""
        found = await _scope_for(member, scope)
        return months_view(await stats_read.read_months(clicks, found, *_months(clicks, query.first, query.last)))

    @router.get("/stats/{scope}/export", produces="text/csv, application/json", raises=(NotFound, Forbidden))
    async def export_figures(member: Member, scope: str, query: ExportQuery) -> Response:
        """Download the figures of days or months, the same that are shown, as CSV or JSON."""
        found = await _scope_for(member, scope)
        if query.by == "day":
            zone = find_zone(query.zone)
            days = await stats_read.read_all_days(clicks, found, *_days(clicks, query), zone)
            return _file(query, days.days, days_view(days))
        first, last = (None if day is None else day.isoformat()[:7] for day in (query.first, query.last))
        months = await stats_read.read_months(clicks, found, *_months(clicks, first, last))
        return _file(query, months, months_view(months))

    @router.get("/stats/top")
    async def read_top(member: Member, query: DaysQuery) -> RankingView:
        """See which of your links and of the things you share were opened most.

        Without `from` and `to` it is of all time. Between two days, by how many people is told if all their clicks are
        still kept, and are not too many to be read at once.
        """
        zone = find_zone(query.zone)
        is_whole = query.first is None and query.last is None
        between = None if is_whole else _days(clicks, query)
        return ranking_view(await stats_read.read_top(clicks, member.user_id, between, zone))

    async def _scope_for(member: Member, scope: str) -> str:
        return await stats_read.find_scope(clicks, member.user_id, scope, is_admin=member.admin)

    return router


def _days(clicks: Clicks, query: DaysQuery) -> tuple[date, date]:
    last = query.last or local_day_of(clicks.clock(), find_zone(query.zone))
    # At the beginning of the calendar there are no days before; such a range is refused later.
    days_before = min(DAYS_SHOWN - 1, last.toordinal() - 1)
    return query.first or last - timedelta(days=days_before), last


def _months(clicks: Clicks, first: str | None, last: str | None) -> tuple[str, str]:
    last = last or local_day_of(clicks.clock(), find_zone("UTC")).isoformat()[:7]
    return first or stats_read.months_before(last, MONTHS_SHOWN - 1), last


def _file(query: ExportQuery, periods: list[stats_read.FiguresOf], view: DaysView | MonthsView) -> Response:
    if query.format == "csv":
        content, media_type = stats_read.as_csv(query.by, periods).encode(), "text/csv; charset=utf-8"
    else:
        content, media_type = msgspec.json.encode(view), "application/json"
    name = f"clicks {periods[0].period} to {periods[-1].period}.{query.format}"
    headers = {"content-disposition": attached_as(name), "cache-control": "private, no-store"}
    return Response(content, media_type=media_type, headers=headers)
