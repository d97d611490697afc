"""What clicks offer to the needs of other slices: counting something, and the figures of links."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from satchel.features.clicks.model import ClickTooEarly, ClickTooLate, KeyReused, NewClick
from satchel.features.clicks.service.click_record import record
from satchel.features.clicks.service.context import Clicks
from satchel.features.clicks.service.counts import link_scope, read_last, read_totals
from satchel.features.clicks.service.unique_people import Visitors
from satchel.kernel.counted import Counted
from satchel.outbox import OUTBOX

__all__ = ["LinkCounts", "LinkFigures", "Visitors", "count_stated"]


async def count_stated(clicks: Clicks, counted: Counted) -> None:
    """Count what another slice states: one click. What is told too late to count on its day counts now."""
    click = NewClick(
        user_id=counted.user_id,
        at=counted.at,
        kind=counted.kind,
        owner=counted.owner,
        target=counted.target,
        thing=counted.thing,
        key=counted.key,
        referrer=counted.referrer,
        device=counted.device,
    )
    rows = [] if counted.settles is None else [OUTBOX.delete(entry_id=counted.settles)]
    # A key that was used for another time belongs to this very fact, which counted then.
    try:
        try:
            await record(clicks, [click], rows)
        except (ClickTooLate, ClickTooEarly):
            await record(clicks, [msgspec.structs.replace(click, at=None)], rows)
    except KeyReused:
        if rows:
            await clicks.tables.transact(rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkFigures:
    """What was counted of one link."""

    opens: int
    people: int
    downloads: int
    last_at: str


class LinkCounts:
    """The figures that lists of links show; they are read together for all links of a list."""

    def __init__(self, clicks: Clicks) -> None:
        self._clicks = clicks

    async def figures(self, link_ids: Sequence[str]) -> dict[str, LinkFigures]:
        """By link id, without links that have no clicks."""
        scopes = {link_scope(link_id): link_id for link_id in link_ids}
        sums = await read_totals(self._clicks.tables, list(scopes), self._clicks.recorder.slots)
        last = await read_last(self._clicks.tables, list(sums), may_lag=True)
        return {
            scopes[scope]: LinkFigures(
                opens=one.kind("open"), people=one.people, downloads=one.kind("download"), last_at=last.get(scope, "")
            )
            for scope, one in sums.items()
        }
