"""Counters as people read them: all of them in columns, and one with the lines for its page."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from satchel.cli.engine.api_types.stats_types import CounterView
from satchel.cli.engine.terminal.columns import fitted, room_for, shown_width
from satchel.cli.engine.terminal.numbers import shown_people, shown_times
from satchel.cli.engine.terminal.output import Misused, hanging, paint, printable
from satchel.cli.engine.terminal.sizes import shown_moment

_SHORT_ID = 8
_HEADINGS = ("views", "presses", "people")
_TAKEN = sum(map(len, _HEADINGS)) + _SHORT_ID + 4 * 2


def columns(counters: Sequence[CounterView]) -> Iterator[str]:
    names = [printable(each.name) for each in counters]
    width = room_for(max(map(shown_width, [*names, "name"]), default=0), _TAKEN, least=8)

    def line(name: str, counts: Sequence[str], short: str) -> str:
        told = [count.rjust(len(each)) for count, each in zip(counts, _HEADINGS, strict=True)]
        return "  ".join([fitted(name, width), *told, short])

    if not counters:
        yield hanging("You have no counters. `satchel counter create https://example.org` makes one.", "")
        return
    yield paint(line("name", _HEADINGS, "id"), "quiet")
    for each, name in zip(counters, names, strict=True):
        counts = [f"{count:,}" for count in (each.views, each.presses, each.people)]
        yield line(name, counts, each.counter_id[-_SHORT_ID:])


def details(counter: CounterView) -> Iterator[str]:
    yield paint(printable(counter.name), "strong") + f", for {printable(', '.join(counter.origins))}"
    last = f", last on {shown_moment(counter.last_at)}" if counter.last_at else ""
    seen = f"Viewed {shown_times(counter.views)}, pressed {shown_times(counter.presses)}"
    anew = " Readers without an account count once a month." if counter.people else ""
    yield hanging(f"{seen}, by {shown_people(counter.people)}{last}.{anew}", "  ")
    yield hanging(f"It takes {counter.daily_limit:,} clicks a day. Its id is {counter.counter_id}.", "  ")
    yield ""
    yield "Put these lines on your page:"
    yield ""
    yield from (f"  {line}" for line in counter.lines.splitlines())
    yield ""
    yield hanging("The first two count views; the last is a button that counts presses, if you want one.", "")
    yield hanging(f"If the page has a content security policy, add: {counter.policy}", "")


def local_moment(option: str, written: str) -> str:
    """As the API takes it, from a time of this machine."""
    try:
        return datetime.fromisoformat(written.strip()).astimezone().isoformat()
    except (ValueError, OverflowError):
        raise Misused(f"{option} takes a time such as 2026-12-24T18:00, not {written!r}.") from None
