"""Record clicks where many servers share tables: they are stored all or none, and a worker folds them later.

A list that fits into one transaction is one. A longer list is first written down as such (`click_lists.py`), and then
stored transaction by transaction, in which nothing counts twice. After a crash another server finishes it.
"""

import asyncio
import random
from collections.abc import Sequence
from datetime import timedelta
from secrets import randbelow

import msgspec

from satchel.features.clicks.model import NewClick, Period, Recorded, shifted, stamp
from satchel.features.clicks.records import CLICK, IDEMPOTENCY, SLOTS, ClickRow, row_of
from satchel.features.clicks.service.context import Rebuilt
from satchel.features.clicks.service.idempotency import check_new, fingerprint_of, key_reused, sent_item
from satchel.features.clicks.service.streamed.click_lists import AcceptedList, accept, forget, overdue
from satchel.features.clicks.service.streamed.rebuild import rebuild
from satchel.features.clicks.service.streamed.take_back import take_back
from satchel.kernel.clock import Clock
from satchel.kernel.errors import SatchelError
from satchel.stores.ports.expressions import attr
from satchel.stores.ports.table import (
    MAX_TRANSACTION_ITEMS,
    Delete,
    Item,
    Key,
    Put,
    Tables,
    TransactionCancelled,
    Write,
)
from satchel.tables import CLICKS, COUNTS

# How many transactions of a long list are made at once.
CONCURRENT_WRITES = 8
# A click whose millisecond is taken tries a later one. The more are taken, the farther it may jump, up to this.
FARTHEST = 60_000
# Two transactions that meet wait so long, at most, before they try again.
LONGEST_PAUSE_SECONDS = 0.05

_FREE = attr("userId").absent()
_NOT_SENT = attr("PK").absent()


class _Storing(msgspec.Struct, gc=False):
    """A click that is being stored, how many times it has moved, and where it is stored in the end."""

    click: NewClick
    at: int
    fingerprint: bytes | None
    places: int = 0
    moved: int = 0
    recorded: Recorded | None = None

    @property
    def created(self) -> str:
        return stamp(shifted(self.at, self.places))


class StreamedRecorder:
    """The `Recorder` of a store with many writers."""

    slots = SLOTS

    def __init__(
        self, tables: Tables, clock: Clock, kept_for: timedelta | None, *, most_writes: int = MAX_TRANSACTION_ITEMS
    ) -> None:
        self.tables = tables
        self.clock = clock
        self.kept_for = kept_for
        self._most_writes = most_writes

    async def record(
        self, new: Sequence[NewClick], times: Sequence[int], settles: Sequence[Delete] = ()
    ) -> list[Recorded]:
        storing = [_storing(click, at) for click, at in zip(new, times, strict=True)]
        if len(storing) == 1 and self._is_timely(storing):
            # Hardly ever was it stored before, and then the transaction says so.
            await self._store(storing, settles=settles)
            return _answers(storing)
        await self._find_sent(storing)
        for each in storing:
            if each.recorded is None:
                check_new(each.click, each.at, int(self.clock() * 1000))
        if sum(map(_writes_of, storing)) + len(settles) <= self._most_writes:
            await self._store(storing, settles=settles)
            return _answers(storing)
        accepted = await accept(self.tables, self.clock, new, times)
        recorded = await self._store_list(accepted, is_new=not any(each.recorded for each in storing))
        await self._settle(settles)
        return recorded

    def _is_timely(self, storing: Sequence[_Storing]) -> bool:
        try:
            for each in storing:
                check_new(each.click, each.at, int(self.clock() * 1000))
        except SatchelError:
            return False
        return True

    async def _settle(self, settles: Sequence[Delete]) -> None:
        if settles:
            await self.tables.transact(settles)

    async def finish_lists(self) -> int:
        """Of a list that another server is storing, each finds what the other has stored."""
        lists = await overdue(self.tables, self.clock)
        for each in lists:
            await self._store_list(each)
        return len(lists)

    async def rebuild(self, period: Period) -> Rebuilt:
        return await rebuild(self, period)

    async def take_back(self, clicks: Sequence[ClickRow], complete: float) -> int:
        return await take_back(self, clicks, complete, most_writes=self._most_writes)

    async def delete_markers(self, keys: Sequence[Key]) -> None:
        await self.tables.write_many(COUNTS, delete=keys)

    async def close(self) -> None:
        """Nothing runs without a caller who waits for it."""

    async def _store_list(self, accepted: AcceptedList, *, is_new: bool = False) -> list[Recorded]:
        """Store a list whose clicks all have keys, so that it can be done again.

        If it is new, nobody has stored any of it; where that is wrong, the transaction says so.
        """
        storing = [_storing(click, at) for click, at in zip(accepted.clicks, accepted.times, strict=True)]
        room = self._most_writes // 2
        limit = asyncio.Semaphore(CONCURRENT_WRITES)

        async def some(group: list[_Storing]) -> None:
            async with limit:
                if not is_new:
                    await self._find_sent(group, accepted=True)
                await self._store(group, accepted=True)

        _spread(storing)
        try:
            async with asyncio.TaskGroup() as tasks:
                for start in range(0, len(storing), room):
                    tasks.create_task(some(storing[start : start + room]))
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from None
        await forget(self.tables, accepted)
        return _answers(storing)

    async def _find_sent(self, storing: Sequence[_Storing], *, accepted: bool = False) -> None:
        """Find those that were stored before.

        Refuses a key that came with another click, unless the list is accepted: then the other came first.
        """
        keyed: dict[tuple[str, str], _Storing] = {}
        for each in storing:
            if each.click.key is not None:
                first = keyed.setdefault((each.click.user_id, each.click.key), each)
                if first.fingerprint != each.fingerprint and not accepted:
                    raise key_reused()
        keys = [IDEMPOTENCY.key(user_id=user_id, key=key) for user_id, key in keyed]
        found = dict(zip(keyed, await self.tables.get_many(COUNTS, keys), strict=True)) if keyed else {}
        for each in storing:
            sent: Item | None = None if each.click.key is None else found[each.click.user_id, each.click.key]
            if sent is not None:
                if sent["fingerprint"] != each.fingerprint and not accepted:
                    raise key_reused()
                each.recorded = Recorded(each.click.user_id, sent["createDateTime"], repeated=True)

    async def _store(
        self, storing: Sequence[_Storing], *, accepted: bool = False, settles: Sequence[Delete] = ()
    ) -> None:
        """Store those that are not stored yet in one transaction, at other times if theirs are taken."""
        _spread(storing)
        is_settled = False
        while fresh := _first_of_each_key(storing):
            writes: list[Write] = []
            owners: list[_Storing] = []
            for each in fresh:
                own = self._writes(each)
                writes += own
                owners += [each] * len(own)
            try:
                await self.tables.transact([*writes, *settles])
            except TransactionCancelled as cancelled:
                await self._find_sent(storing, accepted=accepted)
                taken = [
                    each
                    for each, write, reason in zip(owners, writes, cancelled.reasons, strict=False)
                    if reason == "condition" and write.table is CLICKS
                ]
                _move(storing, taken)
                if not taken:
                    await asyncio.sleep(random.random() * LONGEST_PAUSE_SECONDS)  # noqa: S311 -- no secret
            else:
                is_settled = True
                for each in fresh:
                    each.recorded = Recorded(each.click.user_id, each.created)
                await self._find_sent([each for each in storing if each.recorded is None], accepted=accepted)
        if not is_settled:
            await self._settle(settles)

    def _writes(self, each: _Storing) -> list[Put]:
        writes = [Put(CLICKS, CLICK.item(row_of(each.click, each.created, self.kept_for)), _FREE)]
        if each.fingerprint is not None:
            sent = sent_item(each.click, each.fingerprint, each.created, self.clock())
            writes.append(Put(COUNTS, sent, _NOT_SENT))
        return writes


def _storing(click: NewClick, at: int) -> _Storing:
    return _Storing(click, at, None if click.key is None else fingerprint_of(click))


def _writes_of(each: _Storing) -> int:
    return 0 if each.recorded is not None else 1 if each.fingerprint is None else 2


def _first_of_each_key(storing: Sequence[_Storing]) -> list[_Storing]:
    """Those that are not stored. Of several with one key only the first, which the others repeat."""
    first: dict[object, _Storing] = {}
    for number, each in enumerate(storing):
        if each.recorded is None:
            first.setdefault(number if each.click.key is None else (each.click.user_id, each.click.key), each)
    return list(first.values())


def _spread(storing: Sequence[_Storing]) -> None:
    """Give each click a time of its own, so that clicks of one list do not collide."""
    used: dict[tuple[str, int], int] = {}
    for each in storing:
        asked = each.click.user_id, each.at
        each.places = max(each.places, used.get(asked, -1) + 1)
        used[asked] = each.places


def _move(storing: Sequence[_Storing], taken: Sequence[_Storing]) -> None:
    """Move those whose time is taken behind all others of their list that asked for the same time."""
    last: dict[tuple[str, int], int] = {}
    for each in storing:
        asked = each.click.user_id, each.at
        last[asked] = max(last.get(asked, 0), each.places)
    for each in taken:
        asked = each.click.user_id, each.at
        last[asked] = each.places = last[asked] + 1 + randbelow(min(4**each.moved, FARTHEST))
        each.moved += 1


def _answers(storing: Sequence[_Storing]) -> list[Recorded]:
    answers = [each.recorded for each in storing]
    assert all(answers)
    return [each for each in answers if each is not None]
