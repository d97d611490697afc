"""Reservations in the download limit of a link, so that the limit is exact.

A visitor who begins to download a file reserves a place in the limit, in one transaction with the limit itself. What an
answer has sent is written in one transaction with the downloads that it finished, and with a journal entry from which
they are counted (`download_endings.py`). The rules are in `grant_rules.py`.

If a server dies, what it had sent is known when the visitor resumes: they ask for what they do not have.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from datetime import timedelta

import msgspec

from satchel.features.links.records import (
    GRANT,
    GRANT_PART,
    LINK,
    LOOKED,
    Ending,
    GrantPartRow,
    GrantRow,
    LinkRow,
)
from satchel.features.links.service.context import Links
from satchel.features.links.service.grant_rules import (
    Ended,
    Sending,
    Taking,
    abandoned_places,
    after_answer,
    alive_answers,
    already_downloading,
    as_read,
    changed,
    has_place,
    is_over,
    new_answer_id,
    until,
    used_up,
    with_answer,
)
from satchel.features.links.service.link_enter import Visit
from satchel.features.links.service.link_find import find_link, usable
from satchel.features.links.service.visit_count import count, use_of
from satchel.kernel.errors import SatchelError
from satchel.outbox import BELIEVED_FOR, OUTBOX, OutboxRow
from satchel.stores.patterns.lease import renewed
from satchel.stores.patterns.optimistic_update import StaleRead, optimistic_update
from satchel.stores.ports.ephemeral import Put
from satchel.stores.ports.expressions import Action, add, attr
from satchel.stores.ports.table import TransactionCancelled, Write

# The slice that ends its answers.
LINKS = "links"
RENEWED_EVERY = BELIEVED_FOR / 3
LOOKED_FOR_EVERY = timedelta(minutes=1)
# What cannot be resumed, such as a streamed archive, is measured in thousandths.
SHARES = 1000
# So little goes out at once. The journal then has the answer from its beginning.
SMALL_BYTES = 64 * 1024

_replace = msgspec.structs.replace


class Reserved:
    """An answer that is being sent. Call `closing` before its last bytes go, so that a crash after them is known."""

    def __init__(self, links: Links, taking: Taking, sending: Sending, *, is_closing: bool) -> None:
        self._links = links
        self._taking = taking
        self.sending = sending
        self.is_closing = is_closing

    async def closing(self) -> None:
        if not self.is_closing:
            self.is_closing = True
            await self._links.outbox.write(ending_of(self._links, self._taking, self.sending))


@asynccontextmanager
async def answering(
    links: Links, taking: Taking, length: int, sent: Callable[[], int], *, start: int = 0
) -> AsyncGenerator[Callable[[], Awaitable[None]]]:
    """Reserve an answer of at most `length` bytes, or raise `LinkUsedUp`. Calls `sent` afterwards.

    What it yields has to be awaited before the last bytes go.
    """
    if taking.visit.is_owners:
        yield _nothing
        return
    sending = Sending(answer_id=new_answer_id(taking.part), start=start, length=max(1, length))
    reserved = Reserved(links, taking, sending, is_closing=taking.resumable and length <= SMALL_BYTES)
    await _begin(links, taking, reserved)
    try:
        # Whatever a renewal meets, there is time for another one.
        async with renewed(lambda: _renew(links, taking, sending), RENEWED_EVERY, despite=SatchelError):
            yield reserved.closing
    finally:
        await end_answer(links, taking, sending, min(sent(), sending.length), is_closing=reserved.is_closing)


async def check_place(links: Links, visit: Visit, file_id: str) -> None:
    """Once the limit is reached, only visitors with a download in progress may continue."""
    link = visit.link
    if visit.is_owners or not link.downloads_limit or link.downloads_used < link.downloads_limit:
        return
    grant = await GRANT.get(links.tables, token=link.token, visitor=visit.visitor_id, file_id=file_id)
    if grant is None or not grant.places:
        raise used_up()


async def known_size(links: Links, visit: Visit, file_id: str) -> int | None:
    """What a place was worth when the visitor began. None if they have not."""
    grant = await GRANT.get(links.tables, token=visit.link.token, visitor=visit.visitor_id, file_id=file_id)
    return None if grant is None else grant.size_bytes


def share_of(sent_bytes: int, size_bytes: int | None) -> int:
    """The share of an interrupted answer in something whose size is only estimated. Half, if unknown."""
    return min(SHARES - 1, SHARES * sent_bytes // size_bytes) if size_bytes else SHARES // 2


def ending_of(links: Links, taking: Taking, sending: Sending) -> OutboxRow:
    """The entry of an answer whose last bytes go out."""
    ending = Ending(
        token=taking.visit.link.token,
        visitor=taking.visit.visitor_id,
        file_id=taking.file_id,
        part=taking.part,
        thing=taking.thing,
        size_bytes=taking.size_bytes,
        start=sending.start,
        length=sending.length,
    )
    return links.outbox.entry(entry_id=sending.answer_id, ended_by=LINKS, answer=msgspec.to_builtins(ending))


async def end_answer(links: Links, taking: Taking, sending: Sending, sent: int, *, is_closing: bool) -> None:
    """Write what an answer has sent, and count the downloads that it finished."""
    link, entry = await _write_end(links, taking, sending, sent, is_closing=is_closing)
    if entry is None:
        return
    if taking.visit.address is None or await links.limits.may_count_download(link.link_id, taking.visit.address):
        await links.outbox.deliver(entry)
    else:
        await links.outbox.forget(entry.entry_id)


async def _begin(links: Links, taking: Taking, reserved: Reserved) -> None:
    link, takes_place = await _write_beginning(links, taking, reserved)
    if takes_place and not taking.visit.pass_id:
        # A direct download of the file also opens the link.
        await count(links, link, taking.visit.visitor_id, "open", address=taking.visit.address)


@optimistic_update()
async def _write_beginning(links: Links, taking: Taking, reserved: Reserved) -> tuple[LinkRow, bool]:
    """The link, and whether the answer takes a place in its limit."""
    link, grant, part = await read_grant(links, taking)
    if link.revoked_at or link.paused_at:
        await usable(links, link.token, even_used_up=True)
    begun = with_answer(links, taking, grant, part, reserved.sending)
    new = begun.grant
    writes: list[Write] = [GRANT.put(new, when=as_read(grant)), *_part_writes(begun)]
    if reserved.is_closing:
        writes.append(OUTBOX.put(ending_of(links, taking, reserved.sending)))
    takes_place = new.places > grant.places
    if takes_place:
        if link.downloads_limit and link.granted >= link.downloads_limit:
            if await _release_abandoned(links, link):
                raise StaleRead
            raise already_downloading() if alive_answers(links, grant) else used_up()
        writes.append(LINK.update([add("granted", 1)], when=has_place(link), token=link.token))
    await links.tables.transact(writes)
    return link, takes_place


@optimistic_update()
async def _write_end(
    links: Links, taking: Taking, sending: Sending, sent: int, *, is_closing: bool
) -> tuple[LinkRow, OutboxRow | None]:
    """The link, and the entry of what has to be counted, if anything."""
    link, grant, part = await read_grant(links, taking)
    ended = after_answer(links, taking, link, grant, part, sending, sent)
    new, growth = ended.grant, ended.growth
    changes: list[Action] = [add("downloadsUsed", growth)] if growth else []
    if is_over(links, link, new):
        writes: list[Write] = [_forgetting(grant)] if grant.version else []
        held = new.finished - grant.places
    else:
        writes = [GRANT.put(new, when=as_read(grant)), *_part_writes(ended)]
        held = new.places - grant.places
    if held:
        changes.append(add("granted", held))
    if changes:
        writes.append(LINK.update(changes, when=attr("PK").exists(), token=link.token))
    entry = None
    if growth:
        use = use_of(link, taking.visit.visitor_id, "download", taking.thing)
        entry = links.outbox.entry(*[use] * growth, entry_id=sending.answer_id)
        writes.append(OUTBOX.put(entry))
    elif is_closing:
        writes.append(OUTBOX.delete(entry_id=sending.answer_id))
    if writes:
        await links.tables.transact(writes)
    return link, entry


def _part_writes(ended: Ended) -> list[Write]:
    return [] if ended.part is None else [GRANT_PART.put(ended.part)]


def _forgetting(grant: GrantRow) -> Write:
    return GRANT.delete(token=grant.token, visitor=grant.visitor, file_id=grant.file_id, when=as_read(grant))


@optimistic_update()
async def _renew(links: Links, taking: Taking, sending: Sending) -> None:
    """Renew the lease of one answer, which is a part of the row that says what the visitor takes.

    All parts of a file renew the same row, so a renewal that collides is made again at once.
    """
    _, grant, _ = await read_grant(links, taking)
    if (answer := grant.under_way.get(sending.answer_id)) is not None:
        under_way = {**grant.under_way, sending.answer_id: _replace(answer, until=until(links))}
        new = changed(links, grant, under_way=under_way)
        await links.tables.put(GRANT.table, GRANT.item(new), when=as_read(grant))


async def read_grant(links: Links, taking: Taking) -> tuple[LinkRow, GrantRow, GrantPartRow | None]:
    """The current link and the visitor's grant. One that is not stored yet has the version 0."""
    visit, token = taking.visit, taking.visit.link.token
    names = {"token": token, "visitor": visit.visitor_id}
    keys = [LINK.key(token=token), GRANT.key(**names, file_id=taking.file_id)]
    if taking.part:
        keys.append(GRANT_PART.key(**names, file_id=taking.part))
    link_item, item, *parts = await links.tables.get_many(GRANT.table, keys)
    link = LINK.read(link_item) if link_item is not None else await find_link(links, token)
    part = GRANT_PART.read(parts[0]) if parts and parts[0] is not None else None
    if item is not None:
        return link, GRANT.read(item), part
    new = GrantRow(
        token=link.token,
        visitor=visit.visitor_id,
        file_id=taking.file_id,
        size_bytes=taking.worth,
        changed_at=links.now(),
    )
    return link, new, part


async def _release_abandoned(links: Links, link: LinkRow) -> bool:
    """Release the places of abandoned downloads of which little was sent. Returns whether there were any."""
    looking = Put(LOOKED(link_id=link.link_id), b"1", ttl=LOOKED_FOR_EVERY, only_if_absent=True)
    if not await links.ephemeral.run(looking):
        return False
    given_back, cursor = 0, None
    while True:
        page = await GRANT.list(links.tables, token=link.token, limit=1000, cursor=cursor)
        for grant in page.records:
            if places := abandoned_places(links, grant):
                with suppress(TransactionCancelled):
                    await release(links, grant, places)
                    given_back += places
        if (cursor := page.cursor) is None:
            return given_back > 0


async def release(links: Links, grant: GrantRow, places: int, **changes: object) -> None:
    """Take places from a grant, so that others can have them."""
    new = changed(links, grant, places=grant.places - places, **changes)
    writes = [
        GRANT.put(new, when=as_read(grant)),
        LINK.update([add("granted", -places)], when=attr("PK").exists(), token=grant.token),
    ]
    await links.tables.transact(writes)


async def _nothing() -> None:
    """The owner's own downloads are not counted."""
