"""What clients see of statistics."""

from typing import Annotated, Any

import msgspec

from satchel.features.clicks.service.counts import Figures
from satchel.features.clicks.service.range_read import RangeFigures
from satchel.features.clicks.service.stats_read import Days, FiguresOf, Ranked, Ranking, Summary

Month = Annotated[str, msgspec.Meta(pattern=r"^[0-9]{4}-(0[1-9]|1[0-2])$")]


class FiguresView(msgspec.Struct, frozen=True, kw_only=True):
    """How often in all and of each kind, and by how many different people; null where that is not known.

    People without an account are told apart within a month only, so whoever comes in two months counts twice.
    """

    clicks: int
    people: int | None
    press: int
    open: int
    view: int
    download: int
    upload: int


class DayView(FiguresView, frozen=True, kw_only=True):
    """A day of the zone that was asked for."""

    day: str


class MonthView(FiguresView, frozen=True, kw_only=True):
    """A month of UTC."""

    month: str


class SummaryView(msgspec.Struct, frozen=True, kw_only=True):
    """Where things stand on `today_is`, a day of the zone that was asked for; months are those of UTC.

    `yesterday_so_far` is what yesterday had come to when the clocks showed what they show now, and never tells of
    people. `so_far_until` is that moment; where very many clicks happened just then, it is up to a quarter of an hour
    before.
    """

    total: FiguresView
    today: FiguresView
    yesterday_so_far: FiguresView
    so_far_until: str
    yesterday: FiguresView
    month: MonthView
    previous_month: MonthView
    last_at: str | None
    today_is: str


class DaysView(msgspec.Struct, frozen=True, kw_only=True):
    """Every day from the first to the last.

    While `people_pending`, asking again tells of more days by how many people. Before `people_known_since` that cannot
    be found out any more for days of this zone, except where it is known already.
    """

    days: list[DayView]
    people_pending: bool
    people_known_since: str | None


class PeopleView(msgspec.Struct, frozen=True, kw_only=True):
    """How many different people. Between `low` and `high` it is right in 19 of 20 cases; counted exactly, all agree."""

    number: int
    low: int
    high: int


class HostView(msgspec.Struct, frozen=True, kw_only=True):
    """A site from which people came, and how often."""

    host: str
    visits: int


class DevicesView(msgspec.Struct, frozen=True, kw_only=True):
    """With what people came, as far as their browsers say."""

    phone: int
    tablet: int
    computer: int


class RangeView(FiguresView, frozen=True, kw_only=True):
    """A range of days, with the one of the same length `before` it, of which people are not told.

    `different_people` counts somebody who came on several days once. While `people_pending`, asking again finds it out;
    of days before `people_known_since` it stays unknown. `hosts` are at most 50, the most frequent first, and
    `other_hosts` is how many visits came from further ones. A visit whose browser says nothing counts in neither.
    """

    first: str
    last: str
    different_people: PeopleView | None
    people_pending: bool
    people_known_since: str | None
    before: FiguresView
    hosts: list[HostView]
    other_hosts: int
    devices: DevicesView


class MonthsView(msgspec.Struct, frozen=True, kw_only=True):
    """Every month of UTC from the first to the last."""

    months: list[MonthView]


class RankedView(FiguresView, frozen=True, kw_only=True):
    """A link or a thing; by `scope` its own figures can be asked for."""

    scope: str
    name: str
    last_at: str | None


class RankingView(msgspec.Struct, frozen=True, kw_only=True):
    """The most opened first, at most 50 each."""

    links: list[RankedView]
    things: list[RankedView]


def summary_view(summary: Summary) -> SummaryView:
    return SummaryView(
        total=FiguresView(**_fields(summary.total)),
        today=FiguresView(**_fields(summary.today)),
        yesterday_so_far=FiguresView(**_fields(summary.yesterday_so_far)),
        so_far_until=summary.so_far_until,
        yesterday=FiguresView(**_fields(summary.yesterday)),
        month=_month_view(summary.month),
        previous_month=_month_view(summary.previous_month),
        last_at=summary.last_at or None,
        today_is=summary.today_is.isoformat(),
    )


def days_view(days: Days) -> DaysView:
    since = days.people_known_since
    return DaysView(
        days=[DayView(day=each.period, **_fields(each.figures)) for each in days.days],
        people_pending=days.people_pending,
        people_known_since=None if since is None else since.isoformat(),
    )


def range_view(found: RangeFigures) -> RangeView:
    people, since = found.people, found.known_since
    return RangeView(
        first=found.first.isoformat(),
        last=found.last.isoformat(),
        different_people=people and PeopleView(number=people.number, low=people.low, high=people.high),
        people_pending=found.pending,
        people_known_since=None if since is None else since.isoformat(),
        before=FiguresView(**_fields(found.before)),
        hosts=[HostView(host=host, visits=visits) for host, visits in found.hosts],
        other_hosts=found.others,
        devices=DevicesView(**found.devices),
        **_fields(found.figures),
    )


def months_view(months: list[FiguresOf]) -> MonthsView:
    return MonthsView(months=[_month_view(each) for each in months])


def ranking_view(ranking: Ranking) -> RankingView:
    return RankingView(
        links=[_ranked_view(each) for each in ranking.links], things=[_ranked_view(each) for each in ranking.things]
    )


def _month_view(month: FiguresOf) -> MonthView:
    return MonthView(month=month.period, **_fields(month.figures))


def _ranked_view(ranked: Ranked) -> RankedView:
    return RankedView(scope=ranked.scope, name=ranked.name, last_at=ranked.last_at or None, **_fields(ranked.figures))


def _fields(figures: Figures) -> dict[str, Any]:
    return {"clicks": figures.clicks, "people": figures.people, **figures.kinds}
