"""Record clicks where many servers share tables: each click is stored by itself, and a worker folds it later."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from secrets import randbelow

from satchel.features.clicks.model import NewClick, Period, Recorded, stamp
from satchel.features.clicks.records import CLICK, IDEMPOTENCY, SLOTS, row_of
from satchel.features.clicks.service.context import Rebuilt
from satchel.features.clicks.service.idempotency import fingerprint_of, key_reused, sent_item
from satchel.features.clicks.service.streamed.rebuild import rebuild
from satchel.kernel.clock import Clock
from satchel.stores.ports.expressions import attr
from satchel.stores.ports.table import Item, Key, Put, Tables, TransactionCancelled
from satchel.tables import CLICKS, COUNTS

# How many clicks of a list are stored at once.
CONCURRENT_WRITES = 16
# A click whose millisecond is taken tries a later one. The more are taken, the farther it may jump, up to this.
FARTHEST = 60_000

_FREE = attr("userId").absent()
_NOT_SENT = attr("PK").absent()


class StreamedRecorder:
    """The `Recorder` of a store with many writers. After an error some clicks of a list may have been stored."""

    slots = SLOTS

    def __init__(self, tables: Tables, clock: Clock, kept_for: timedelta | None) -> None:
        self.tables = tables
        self.clock = clock
        self.kept_for = kept_for

    async def record(self, new: Sequence[NewClick], times: Sequence[int]) -> list[Recorded]:
        await self._check_keys(new)
        limit = asyncio.Semaphore(CONCURRENT_WRITES)

        async def one(click: NewClick, at: int) -> Recorded:
            async with limit:
                return await self._record(click, at)

        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(one(*each)) for each in _spread(new, times)]
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from None
        return [task.result() for task in tasks]

    async def rebuild(self, period: Period) -> Rebuilt:
        return await rebuild(self, period)

    async def delete_markers(self, keys: Sequence[Key]) -> None:
        await self.tables.write_many(COUNTS, delete=keys)

    async def close(self) -> None:
        """Nothing runs without a caller who waits for it."""

    async def _check_keys(self, new: Sequence[NewClick]) -> None:
        """Refuse an idempotency key that came with another click, before anything is stored."""
        keyed = {(click.user_id, click.key): fingerprint_of(click) for click in new if click.key is not None}
        if any(keyed[click.user_id, click.key] != fingerprint_of(click) for click in new if click.key is not None):
            raise key_reused()
        sent = await self.tables.get_many(COUNTS, [IDEMPOTENCY.key(user_id=user_id, key=key) for user_id, key in keyed])
        for fingerprint, item in zip(keyed.values(), sent, strict=True):
            if item is not None and item["fingerprint"] != fingerprint:
                raise key_reused()

    async def _record(self, click: NewClick, at: int) -> Recorded:
        fingerprint = None if click.key is None else fingerprint_of(click)
        taken = 0
        while True:
            created = stamp(at)
            writes = [Put(CLICKS, CLICK.item(row_of(click, created, self.kept_for)), _FREE)]
            if fingerprint is not None:
                writes.append(Put(COUNTS, sent_item(click, fingerprint, created, self.clock()), _NOT_SENT))
            try:
                await self.tables.transact(writes)
            except TransactionCancelled as cancelled:
                if sent := await self._sent_before(click):
                    if sent["fingerprint"] != fingerprint:
                        raise key_reused() from None
                    return Recorded(click.user_id, sent["createDateTime"], repeated=True)
                if cancelled.reasons[0] == "condition":
                    at += 1 + randbelow(min(4**taken, FARTHEST))
                    taken += 1
            else:
                return Recorded(click.user_id, created)

    async def _sent_before(self, click: NewClick) -> Item | None:
        if click.key is None:
            return None
        return await self.tables.get(COUNTS, IDEMPOTENCY.key(user_id=click.user_id, key=click.key))


def _spread(new: Sequence[NewClick], times: Sequence[int]) -> list[tuple[NewClick, int]]:
    """Each click with a time of its own, so that clicks of one list do not collide."""
    used: dict[tuple[str, int], int] = {}
    spread: list[tuple[NewClick, int]] = []
    for click, at in zip(new, times, strict=True):
        asked = click.user_id, at
        used[asked] = used.get(asked, at - 1) + 1
        spread.append((click, used[asked]))
    return spread
