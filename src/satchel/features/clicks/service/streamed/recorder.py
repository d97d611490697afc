"""Record clicks where many servers share a store: each click on its own, if its time is free; a worker folds them."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from secrets import randbelow

from satchel.features.clicks.model import NewClick, Recorded, stamp
from satchel.features.clicks.records import CLICK, SENT
from satchel.features.clicks.service.preparing import fingerprint_of, key_reused, row_of, sent_item
from satchel.kernel.clock import Clock
from satchel.stores.ports.expressions import attr
from satchel.stores.ports.table import Item, Put, Tables, TransactionCancelled
from satchel.tables import CLICKS, COUNTS

ABREAST = 16
# The next millisecond is free, or a few beyond; where very many are taken, the search widens up to so many.
FARTHEST = 60_000

_FREE = attr("userId").absent()
_NOT_SENT = attr("PK").absent()


class SharedRecorder:
    """The `Recorder` of a store with many writers. After an error some clicks of a list may have been stored."""

    def __init__(self, tables: Tables, clock: Clock, kept_for: timedelta | None) -> None:
        self._tables = tables
        self._clock = clock
        self._kept_for = kept_for

    async def record(self, new: Sequence[NewClick], times: Sequence[int]) -> list[Recorded]:
        await self._check_keys(new)
        turns = asyncio.Semaphore(ABREAST)

        async def one(click: NewClick, at: int) -> Recorded:
            async with turns:
                return await self._record(click, at)

        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(one(*each)) for each in _apart(new, times)]
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from None
        return [task.result() for task in tasks]

    def forget_known(self) -> None:
        """Nothing is remembered here."""

    async def close(self) -> None:
        """Nothing is under way without somebody who waits for it."""

    async def _check_keys(self, new: Sequence[NewClick]) -> None:
        """Refuse a key that came with another click, before anything is stored."""
        keyed = {(click.user_id, click.key): fingerprint_of(click) for click in new if click.key is not None}
        if any(keyed[click.user_id, click.key] != fingerprint_of(click) for click in new if click.key is not None):
            raise key_reused()
        sent = await self._tables.get_many(COUNTS, [SENT.key(user_id=user_id, key=key) for user_id, key in keyed])
        for fingerprint, item in zip(keyed.values(), sent, strict=True):
            if item is not None and item["fingerprint"] != fingerprint:
                raise key_reused()

    async def _record(self, click: NewClick, at: int) -> Recorded:
        fingerprint = None if click.key is None else fingerprint_of(click)
        taken = 0
        while True:
            created = stamp(at)
            writes = [Put(CLICKS, CLICK.item(row_of(click, created, self._kept_for)), _FREE)]
            if fingerprint is not None:
                writes.append(Put(COUNTS, sent_item(click, fingerprint, created, self._clock()), _NOT_SENT))
            try:
                await self._tables.transact(writes)
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
        return await self._tables.get(COUNTS, SENT.key(user_id=click.user_id, key=click.key))


def _apart(new: Sequence[NewClick], times: Sequence[int]) -> list[tuple[NewClick, int]]:
    """Each click at a time of its own, so that those of one list do not have to find out."""
    used: dict[tuple[str, int], int] = {}
    apart: list[tuple[NewClick, int]] = []
    for click, at in zip(new, times, strict=True):
        asked = click.user_id, at
        used[asked] = used.get(asked, at - 1) + 1
        apart.append((click, used[asked]))
    return apart
