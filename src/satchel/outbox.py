"""Outbox: what others do with somebody's things is counted exactly once, although a server may die in between.

What is to be counted is written to the table first: in the transaction that makes it so, or before the last bytes of
an answer go out. The entry is deleted once all of it is counted. At the start of a server and as a chore, entries whose
server died are settled: an answer that was about to end has ended.
"""

import logging
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TypeAlias

import msgspec

from satchel.kernel.clock import Clock, iso
from satchel.kernel.counted import Counted
from satchel.kernel.coverage import Span
from satchel.kernel.errors import SatchelError
from satchel.stores.patterns.covered_download import downloads_made
from satchel.stores.ports.ephemeral import Ephemeral
from satchel.stores.ports.table import Range, Tables
from satchel.stores.schema import EphemeralKey, Record, Shape, attribute
from satchel.tables import CATALOG

OWNER = "outbox"
# Much longer than the last bytes of an answer and its counting take. After this, the server is believed dead.
BELIEVED_FOR = timedelta(minutes=1)
OUTBOX_INDEX = "RefreshTokenExpiration"
OUTBOX_SORT = "#OUTBOX"
# What ends an answer that `CountedDownload` has begun.
_COUNTED_DOWNLOAD = "counted download"

_log = logging.getLogger("satchel.outbox")


class OutboxRow(Record, frozen=True, kw_only=True):
    """What is to be counted. With `ended_by`, an answer whose last bytes go out, and what that slice knows of it.

    After `due`, recovery ends the answer if its server died, and counts.
    """

    entry_id: str = attribute("EntryId")
    uses: list[Counted] = attribute("Uses", default=[])
    ended_by: str = attribute("EndedBy", default="")
    answer: dict[str, str | int] = attribute("Answer", default={})
    due: str = attribute("AbsoluteExpiryTime")


# Ends an answer whose server died. Whether it was over.
End: TypeAlias = Callable[[OutboxRow], Awaitable[bool]]

OUTBOX = Shape(
    OutboxRow,
    CATALOG,
    {"PK": "OUTBOX#{entry_id}", "SK": OUTBOX_SORT},
    owner=OWNER,
    about="Outbox: an answer that ends, or uses to be counted; interrupted ones through RefreshTokenExpiration",
)
PARTS = EphemeralKey(
    "downloaded-parts:{person_id}",
    "list",
    owner=OWNER,
    about="Which parts of files a person downloaded, for half a day, so that a whole download counts once",
    durable=True,
)
SHAPES = (OUTBOX,)
EPHEMERAL_KEYS = (PARTS,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outbox:
    """Stores, clock, what counts, and by name what ends the answers of slices that do more than count.

    `alone_since` is when this server started, if no other can be sending anything. 0 if several share the stores.
    """

    tables: Tables
    ephemeral: Ephemeral
    clock: Clock
    count: Callable[[Counted], Awaitable[None]]
    ends: dict[str, End] = field(default_factory=dict[str, End])
    alone_since: float = 0

    def entry(
        self,
        *uses: Counted,
        entry_id: str = "",
        ended_by: str = "",
        answer: Mapping[str, str | int] | None = None,
    ) -> OutboxRow:
        """An entry that is not written yet. Its uses happen now."""
        now = self.clock()
        return OutboxRow(
            entry_id=entry_id or secrets.token_hex(16),
            uses=[replace(use, at=use.at or iso(now)) for use in uses],
            ended_by=ended_by,
            answer=dict(answer or {}),
            due=iso(now + BELIEVED_FOR.total_seconds()),
        )

    async def write(self, entry: OutboxRow) -> None:
        await self.tables.put(OUTBOX.table, OUTBOX.item(entry))

    async def forget(self, entry_id: str) -> None:
        await self.tables.delete(OUTBOX.table, OUTBOX.key(entry_id=entry_id))

    async def deliver(self, entry: OutboxRow) -> bool:
        """Count the uses of an entry that is written. Done again, it counts nothing twice.

        The entry goes with the last of them. What cannot be counted now is counted later, so this is no error.
        """
        last = len(entry.uses) - 1
        try:
            for number, use in enumerate(entry.uses):
                settles = entry.entry_id if number == last else None
                await self.count(replace(use, key=f"{entry.entry_id}/{number}", settles=settles))
            if not entry.uses:
                await self.forget(entry.entry_id)
        except SatchelError as error:
            _log.warning("what somebody did is counted later: %s", error.detail)
            return False
        return True

    async def end_download(self, entry: OutboxRow) -> bool:
        """Count what a `CountedDownload` has written, if every byte of the file has gone by now."""
        part = msgspec.convert(entry.answer, _Part)
        key, span = PARTS(person_id=part.person_id), (part.start, part.end)
        if await downloads_made(self.ephemeral, key, entry.entry_id, part.file_id, span, part.size_bytes):
            return await self.deliver(entry)
        await self.forget(entry.entry_id)
        return True

    async def settle(self) -> int:
        """End and count what died in its last moment. Returns how many there were."""
        # A server that is alone knows that everything from before its start is over.
        begun = iso(self.alone_since + BELIEVED_FOR.total_seconds()) if self.alone_since else ""
        due = Range(high=max(iso(self.clock()), begun))
        page = await self.tables.query(OUTBOX.table, OUTBOX_SORT, due, index=OUTBOX_INDEX)
        found = await self.tables.get_many(OUTBOX.table, [OUTBOX.table.key_of(item) for item in page.items])
        return sum([await self._settle(OUTBOX.read(item)) for item in found if item is not None])

    async def _settle(self, entry: OutboxRow) -> bool:
        ends = {_COUNTED_DOWNLOAD: self.end_download, **self.ends}
        try:
            return await ends.get(entry.ended_by, self.deliver)(entry)
        except SatchelError as error:
            _log.warning("an answer of %s is ended later: %s", entry.ended_by, error.detail)
            return False


class _Part(msgspec.Struct, frozen=True, kw_only=True):
    """Which bytes of a file go to whom."""

    person_id: str
    file_id: str
    start: int
    end: int
    size_bytes: int


class CountedDownload:
    """One answer with a file of somebody's. Its uses count once every byte went to this person, by whichever answers.

    What cannot be measured in bytes, such as a streamed archive, is a file of one byte.
    """

    def __init__(self, outbox: Outbox, person_id: str, file_id: str, size_bytes: int, uses: Sequence[Counted]) -> None:
        self._outbox = outbox
        self._person_id = person_id
        self._file_id = file_id
        self._size_bytes = size_bytes
        self._uses = uses
        self._written: OutboxRow | None = None

    async def closing(self, span: Span) -> None:
        """The last of these bytes are about to go."""
        try:
            await self._write(span)
        except SatchelError as error:
            # That nobody can count is no reason to keep the bytes from whoever wants them.
            _log.warning("a download is counted only if it ends: %s", error.detail)

    async def ended(self, span: Span) -> None:
        """These bytes went."""
        try:
            if span[0] < span[1] or not self._size_bytes:
                await self._outbox.end_download(await self._write(span))
            elif self._written is not None:
                await self._outbox.forget(self._written.entry_id)
        except SatchelError as error:
            _log.warning("a download is counted later, or not: %s", error.detail)

    async def _write(self, span: Span) -> OutboxRow:
        start, end = span
        part = _Part(
            person_id=self._person_id, file_id=self._file_id, start=start, end=end, size_bytes=self._size_bytes
        )
        answer = msgspec.to_builtins(part)
        if self._written is None or self._written.answer != answer:
            entry_id = "" if self._written is None else self._written.entry_id
            entry = self._outbox.entry(*self._uses, entry_id=entry_id, ended_by=_COUNTED_DOWNLOAD, answer=answer)
            await self._outbox.write(entry)
            self._written = entry
        return self._written
