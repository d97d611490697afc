"""Record clicks: check whose they may be and when they happened, then store and fold them by the store's recorder."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import msgspec

from satchel.features.clicks.events import OwnerNotifier
from satchel.features.clicks.model import (
    MAX_CLICKS_AT_ONCE,
    MAX_COUNT,
    MAX_GUEST_CLICKS_AT_ONCE,
    MAX_KEY_CHARACTERS,
    MAX_LABEL_CHARACTERS,
    NewClick,
    Recorded,
    SeenByServer,
    TargetUnknown,
    check_id,
    check_text,
    milliseconds_of,
)
from satchel.features.clicks.records import TOTAL_STAT, TotalRow
from satchel.features.clicks.service.context import ClickLog, Clicks, Recorder
from satchel.features.clicks.service.embedded.recorder import EmbeddedRecorder
from satchel.features.clicks.service.streamed.recorder import StreamedRecorder
from satchel.kernel.clock import Clock
from satchel.kernel.errors import Forbidden
from satchel.kernel.unfit import CombinationUnfit, TextUnfit
from satchel.stores.ports.bulk import BulkWrites
from satchel.stores.ports.ephemeral import Ephemeral
from satchel.stores.ports.expressions import attr
from satchel.stores.ports.table import MAX_TRANSACTION_ITEMS, ConditionFailed, Delete, Tables


@dataclass(frozen=True, slots=True)
class Poster:
    """Who sends clicks. A guest has an `address` instead of an account."""

    user_id: str
    is_admin: bool
    address: str | None = None


def recorder_for(
    *,
    tables: Tables,
    bulk: BulkWrites | None,
    ephemeral: Ephemeral,
    clock: Clock,
    kept_for: timedelta | None,
    most_writes: int = MAX_TRANSACTION_ITEMS,
) -> Recorder:
    """The recorder for these tables; `bulk` is there exactly if they have one writer."""
    if bulk is None:
        return StreamedRecorder(tables, clock, kept_for, most_writes=most_writes)
    return EmbeddedRecorder(tables, bulk, clock, kept_for, OwnerNotifier(ephemeral, clock))


async def post(clicks: Clicks, poster: Poster, asked: Sequence[NewClick]) -> list[Recorded]:
    """Record clicks of the poster, on their own links or on none. An administrator may send clicks of anybody."""
    check_about(poster, *(click.user_id for click in asked))
    # An administrator's program may send the clicks of a whole site, each as it comes.
    if not poster.is_admin:
        await clicks.calls.count(poster.user_id)
    if poster.address is not None:
        await _check_guest(clicks, poster.address, asked)
    if all(click.target is None for click in asked):
        return await record(clicks, asked)
    # Who administers the server may bring clicks from elsewhere; the downloads of a link are not counted from them.
    if not poster.is_admin and any(click.target is not None and click.kind != "press" for click in asked):
        raise SeenByServer("The server itself counts what happens to a link. Send a press, or no target.", field="kind")
    targets = {click.target for click in asked if click.target is not None}
    things = {target: await _thing_of(clicks, poster, target) for target in sorted(targets)}
    return await record(
        clicks,
        [
            click
            if click.target is None
            else msgspec.structs.replace(click, owner=poster.user_id, thing=things[click.target])
            for click in asked
        ],
    )


async def record(clicks: Clicks, new: Sequence[NewClick], settles: Sequence[Delete] = ()) -> list[Recorded]:
    """Store clicks durably, and say where each is stored. If one is refused, none is stored.

    With idempotency keys it can be repeated until it succeeds. `settles` are rows to delete once the clicks are stored.
    """
    if len(new) > MAX_CLICKS_AT_ONCE:
        raise CombinationUnfit(f"At most {MAX_CLICKS_AT_ONCE} clicks can be sent at once. Send several lists.")
    now = int(clicks.clock() * 1000)
    times = [_checked(click, now) for click in new]
    return await clicks.recorder.record(new, times, settles) if new else []


async def create_total(clicks: ClickLog) -> None:
    """Store the total of all time as 0 unless it is there, so that it can be read before the first click."""
    try:
        zero = TOTAL_STAT.put(TotalRow(total_clicks=0), when=attr("userId").absent())
        await clicks.tables.put(zero.table, zero.item, when=zero.when)
    except ConditionFailed:
        return


def check_about(poster: Poster, *user_ids: str) -> None:
    """Refuse clicks of others, unless the poster is an administrator."""
    if not poster.is_admin and any(user_id != poster.user_id for user_id in user_ids):
        raise Forbidden("Clicks of somebody else are for administrators alone. Leave userId out, or give your own.")


async def _check_guest(clicks: Clicks, address: str, asked: Sequence[NewClick]) -> None:
    """Anybody can be any number of guests, so each click of one counts once, and each network has so many a day."""
    if any(click.count != 1 for click in asked):
        raise CombinationUnfit("A click of a guest counts once. Leave clickCount out, or sign in.", field="clickCount")
    if len(asked) > MAX_GUEST_CLICKS_AT_ONCE:
        raise CombinationUnfit(
            f"Guests can send {MAX_GUEST_CLICKS_AT_ONCE} clicks at once. Send several lists, or sign in."
        )
    await clicks.calls.count_guest(address, len(asked))


async def _thing_of(clicks: Clicks, poster: Poster, target: str) -> str:
    thing = await clicks.targets.thing_of(poster.user_id, target)
    if thing is None:
        raise TargetUnknown("You have no link of this id. Give the id of one of yours, or none.")
    return thing


def _checked(click: NewClick, now: int) -> int:
    """When the click happened, in milliseconds since 1970. The recorder refuses what is new and comes too late."""
    check_id(click.user_id)
    if not 1 <= click.count <= MAX_COUNT:
        raise TextUnfit(f"clickCount has to be a number from 1 to {MAX_COUNT}.", field="clickCount")
    if click.key is not None:
        check_text("A key", click.key, MAX_KEY_CHARACTERS)
    if click.label is not None:
        check_text("A label", click.label, MAX_LABEL_CHARACTERS)
    return now if click.at is None else milliseconds_of(click.at)
