"""Figures as people read them: a summary, days or months, and what was opened most."""

import shutil
import sys
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from satchel.cli.engine.api_types.stats_types import (
    ClickView,
    DayView,
    FiguresView,
    MonthView,
    RangeView,
    RankedView,
    RankingView,
    RebuiltView,
    StatView,
    SummaryView,
)
from satchel.cli.engine.terminal.columns import fitted, room_for, shown_width
from satchel.cli.engine.terminal.numbers import shown_clicks, shown_people
from satchel.cli.engine.terminal.output import paint, printable
from satchel.cli.engine.terminal.sizes import shown_moment
from satchel.cli.stats.chart import chart
from satchel.cli.stats.figures import Told

_KINDS = ("open", "view", "download", "upload", "press")
_DONE = {"open": "opened", "view": "viewed", "download": "downloaded", "upload": "uploaded", "press": "pressed"}
_LISTED = 10
_NOT_KNOWN = "?"
Figures: TypeAlias = FiguresView | DayView | MonthView | RankedView
_LEAST_NAME = 12
# What stands beside a name: how often it was opened, by how many people, downloads, and when last.
_RANKED_WIDTH = 2 + 2 + 8 + 2 + 9 + 2 + 12 + 2 + 16

# What stands beside a person: when it was, how often, and of which kind.
_CLICK_WIDTH = 24 + 2 + 2 + 4 + 2 + 8


def headline(title: str, zone: str) -> str:
    return f"{paint(printable(title), 'strong')}, in days of {zone}"


def everything(title: str, zone: str, told: Told, *, as_table: bool) -> Iterator[str]:
    yield from (headline(title, zone), "", *summary(told.summary))
    if told.summary.total.clicks:
        yield from ("", *series(told.series, as_table=as_table))
        yield from ("", *in_range(told.range)) if told.range else ()
        yield from ranking(told.ranking) if told.ranking else ()


def summary(stands: SummaryView) -> Iterator[str]:
    if not stands.total.clicks:
        yield "  Nothing was counted yet. Create a link with `satchel link`."
        return
    rows = [
        ("in all", stands.total, _kinds(stands.total)),
        ("today", stands.today, _compared(stands.today.clicks, stands.yesterday_so_far.clicks)),
        ("yesterday", stands.yesterday, ""),
        (stands.month.month, stands.month, ""),
        (stands.previous_month.month, stands.previous_month, ""),
    ]
    clicks = max(len(f"{figures.clicks:,}") for _, figures, _ in rows)
    people = max(len(_people(figures)) for _, figures, _ in rows)
    for name, figures, remark in rows:
        said = f"  {name:<9}  {figures.clicks:>{clicks},} {_noun(figures.clicks)}  by {_people(figures):>{people}}"
        beside = f"{said}  {paint(remark, 'quiet')}"
        yield from [beside if remark else said] if _fits(len(said) + 2 + len(remark)) else [said, _below(remark)]
        if figures is stands.total:
            yield _below("Visitors without an account count once a month.")
    if stands.last_at:
        yield f"  {'last':<9}  {shown_moment(stands.last_at)}"


def series(periods: Sequence[DayView | MonthView], *, as_table: bool) -> Iterator[str]:
    """A chart in a terminal, else a table of the periods in which there was anything."""
    counted = [each for each in periods if each.clicks]
    noun = "months" if _are_months(periods) else "days"
    if not counted:
        yield f"  No clicks from {_period(periods[0])} to {_period(periods[-1])}."
        return
    if sys.stdout.isatty() and not as_table:
        width = shutil.get_terminal_size().columns - 3
        yield from (f"  {line}" for line in chart([(_period(each), each.clicks) for each in periods], width, noun))
        return
    headings = ["clicks", "people", *_KINDS]
    yield "  ".join([noun.removesuffix("s").ljust(10), *(f"{heading:>8}" for heading in headings)])
    for each in counted:
        known = [each.clicks, _NOT_KNOWN if each.people is None else each.people]
        figures = [*known, *(getattr(each, kind) for kind in _KINDS)]
        yield "  ".join([_period(each).ljust(10), *(f"{figure:>8}" for figure in figures)])
    if len(counted) < len(periods):
        yield f"Of {len(periods)} {noun}, those without clicks are left out."


def in_range(told: RangeView) -> Iterator[str]:
    """What the days come to in all, beside those before; where people came from, and with what."""
    before = told.before.clicks
    change = f", {(told.clicks - before) / before:+.0%} against {before:,} in the days before" if before else ""
    yield f"  {told.first} to {told.last}: {shown_clicks(told.clicks)}{change}."
    if people := told.different_people:
        bounds = "" if people.low == people.high else f" (estimated: {people.low:,} to {people.high:,})"
        yield f"  By {shown_people(people.number)}{bounds}; who came on several days counts once."
    devices = {name: getattr(told.devices, name) for name in ("phone", "tablet", "computer")}
    if any(devices.values()):
        yield f"  With: {', '.join(f'{name} {number:,}' for name, number in devices.items() if number)}."
    if told.hosts:
        hosts = [f"{printable(each.host)} {each.visits:,}" for each in told.hosts[:_LISTED]]
        yield f"  From: {', '.join(hosts)}."


def ranking(ranked: RankingView) -> Iterator[str]:
    """Things only where they tell more than the links to them."""
    yield from _ranked("Links opened most", ranked.links)
    if _told(ranked.things) != _told(ranked.links):
        yield from _ranked("Things opened most", ranked.things)


def clicks(found: Sequence[ClickView]) -> Iterator[str]:
    """What a click was about stands last, where there is room for it."""
    users = max((shown_width(printable(each.user_id)) for each in found), default=0)
    width = room_for(users, _CLICK_WIDTH, least=8)
    for each in found:
        about = printable(" ".join(filter(None, [each.label, each.thing])))
        left = room_for(shown_width(about), _CLICK_WIDTH + width + 2, least=0)
        columns = [
            each.create_date_time,
            fitted(printable(each.user_id), width),
            f"{each.click_count:>4,}",
            each.kind.ljust(8),
            *([fitted(about, left)] if left else []),
        ]
        yield "  ".join(columns).rstrip()


def stat(found: StatView) -> str:
    period = "in all" if found.create_date_time == "METADATA" else found.create_date_time
    by = "" if found.unique_users is None else f" by {shown_people(found.unique_users)}"
    return f"{period}: {shown_clicks(found.total_clicks)}{by}"


def rebuilt(period: str, told: RebuiltView) -> str:
    before, after = (
        f"{shown_clicks(each.clicks)} by {shown_people(each.people)}" for each in (told.before, told.after)
    )
    return f"{period} was correct: {after}." if before == after else f"{period} was {before}. Now it is {after}."


def _ranked(title: str, found: Sequence[RankedView]) -> Iterator[str]:
    if not found:
        return
    yield from ("", paint(title, "strong"))
    shows_last = _fits(_RANKED_WIDTH + _LEAST_NAME)
    taken = _RANKED_WIDTH if shows_last else _RANKED_WIDTH - len("  2026-11-16 18:00")
    width = room_for(max(shown_width(printable(each.name)) for each in found), taken, least=_LEAST_NAME)
    for each in found[:_LISTED]:
        people = _NOT_KNOWN if each.people is None else shown_people(each.people)
        last = paint(shown_moment(each.last_at), "quiet") if each.last_at and shows_last else ""
        columns = [
            fitted(printable(each.name), width),
            f"{each.open:>6,} ×",
            f"{people:>9}",
            f"{each.download:>6,} taken",
        ]
        yield "  ".join(["", *columns, last]).rstrip()


def _told(found: Sequence[RankedView]) -> list[tuple[str, int, int]]:
    return [(each.name, each.open, each.download) for each in found]


def _period(figures: DayView | MonthView) -> str:
    return figures.month if isinstance(figures, MonthView) else figures.day


def _are_months(periods: Sequence[DayView | MonthView]) -> bool:
    return isinstance(periods[0], MonthView)


def _fits(width: int) -> bool:
    return not sys.stdout.isatty() or width < shutil.get_terminal_size().columns


def _below(remark: str) -> str:
    return f"{' ' * 13}{paint(remark, 'quiet')}"


def _kinds(figures: Figures) -> str:
    counts = {kind: getattr(figures, kind) for kind in _KINDS}
    return ", ".join(f"{count:,} {_DONE[kind]}" for kind, count in counts.items() if count)


def _compared(now: int, then: int) -> str:
    change = f" ({now - then:+,})" if now != then else ""
    return f"yesterday by this time: {then:,}{change}"


def _people(figures: Figures) -> str:
    return _NOT_KNOWN if figures.people is None else shown_people(figures.people)


def _noun(count: int) -> str:
    return "click " if count == 1 else "clicks"
