"""Record what people have clicked: every click is checked here, whoever counts it, and then stored and folded."""

from collections.abc import Sequence

from satchel.features.clicks.model import (
    MAX_CLICKS_AT_ONCE,
    MAX_COUNT,
    MAX_KEY_CHARACTERS,
    MAX_LABEL_CHARACTERS,
    NewClick,
    Recorded,
    check_id,
    check_text,
    check_time,
    milliseconds_of,
)
from satchel.features.clicks.records import TOTAL_STAT, TotalRow
from satchel.features.clicks.service.context import ClickLog, Clicks
from satchel.kernel.counted import Counted
from satchel.kernel.errors import Invalid
from satchel.stores.ports.expressions import attr
from satchel.stores.ports.table import ConditionFailed


async def record(clicks: Clicks, new: Sequence[NewClick]) -> list[Recorded]:
    """Where each of them is stored, once they are so durably. With keys it can be repeated until it succeeds.

    If one of them is refused, none is stored.
    """
    if len(new) > MAX_CLICKS_AT_ONCE:
        raise Invalid(f"At most {MAX_CLICKS_AT_ONCE} clicks can be sent at once. Send several lists.")
    now = int(clicks.clock() * 1000)
    times = [_checked(click, now) for click in new]
    return await clicks.recorder.record(new, times) if new else []


def _checked(click: NewClick, now: int) -> int:
    """When the click happened, in milliseconds since 1970, if it can be accepted."""
    check_id(click.user_id)
    if not 1 <= click.count <= MAX_COUNT:
        raise Invalid(f"clickCount has to be a number from 1 to {MAX_COUNT}.", field="clickCount")
    if click.key is not None:
        check_text("A key", click.key, MAX_KEY_CHARACTERS)
    if click.label is not None:
        check_text("A label", click.label, MAX_LABEL_CHARACTERS)
    if click.at is None:
        return now
    at = milliseconds_of(click.at)
    check_time(at, now)
    return at


async def begin(clicks: ClickLog) -> None:
    """Let the total be there before the first click, as the seed has it."""
    try:
        zero = TOTAL_STAT.put(TotalRow(total_clicks=0), when=attr("userId").absent())
        await clicks.tables.put(zero.table, zero.item, when=zero.when)
    except ConditionFailed:
        return


class Counter:
    """What other slices count by: one click, now."""

    def __init__(self, clicks: Clicks) -> None:
        self._clicks = clicks

    async def count(self, counted: Counted) -> None:
        await record(
            self._clicks,
            [
                NewClick(
                    user_id=counted.user_id,
                    kind=counted.kind,
                    owner=counted.owner,
                    target=counted.target,
                    thing=counted.thing,
                )
            ],
        )
