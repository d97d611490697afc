"""Reservations in the download limit of a link, so that the limit is exact.

A visitor who begins to download a file reserves a place in the limit, in one transaction with the limit itself. A place
is worth the size of the file. Resuming after a lost connection uses the same place, however often, while all answers
together stay below that size and half as much again for lost bytes. More than that takes another place. When the bytes
sent reach the size of the file, a download is finished, and only then counted.

If a server dies, what it had sent is known when the visitor resumes: they ask for what they do not have.
"""

import secrets
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta

import msgspec

from satchel.features.links.model import LinkUsedUp
from satchel.features.links.records import GRANT, LINK, LOOKED, Answer, GrantRow, LinkRow
from satchel.features.links.service.context import STANDING, Links
from satchel.features.links.service.link_enter import Visit
from satchel.features.links.service.link_find import find_link, usable
from satchel.features.links.service.visit_count import count
from satchel.kernel.clock import iso
from satchel.kernel.errors import SatchelError, TooMany
from satchel.stores.patterns.lease import renewed
from satchel.stores.patterns.optimistic_update import NEW, StaleRead, optimistic_update
from satchel.stores.ports.ephemeral import Put
from satchel.stores.ports.expressions import Action, Condition, add, attr
from satchel.stores.ports.table import TransactionCancelled, Write

# After this time, the answers of a dead server no longer count as in flight.
BELIEVED_FOR = timedelta(minutes=1)
RENEWED_EVERY = BELIEVED_FOR / 3
# A download that is not resumed for this long is abandoned, and its place released.
ABANDONED_AFTER = timedelta(hours=1)
LOOKED_FOR_EVERY = timedelta(minutes=1)
# More parallel parts than any program downloads.
MOST_ANSWERS = 32
# What cannot be resumed, such as a streamed archive, is measured in thousandths.
SHARES = 1000
# Stands for all files of a folder, taken one by one. No file is called so.
ALL_FILES = "files"

_replace = msgspec.structs.replace


@dataclass(frozen=True, slots=True, kw_only=True)
class Taking:
    """What a visitor downloads. `size_bytes` is what a place is worth. `part` is the file, if it is one of a folder."""

    visit: Visit
    file_id: str
    size_bytes: int
    part: str = ""

    @property
    def worth(self) -> int:
        # An empty file is worth something, too, or it could be downloaded without limit.
        return max(1, self.size_bytes)

    def key(self) -> dict[str, str]:
        link = self.visit.link
        return GRANT.key(token=link.token, visitor=self.visit.visitor_id, file_id=self.file_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sending:
    """An answer of at most `length` bytes from `start` on. `sent` returns how many were sent."""

    answer_id: str
    start: int
    length: int
    sent: Callable[[], int]


@asynccontextmanager
async def answering(
    links: Links, taking: Taking, length: int, sent: Callable[[], int], *, start: int = 0
) -> AsyncGenerator[None]:
    """Reserve an answer of at most `length` bytes, or raise `LinkUsedUp`. Calls `sent` afterwards."""
    if taking.visit.is_owners:
        yield
        return
    sending = _Sending(answer_id=_new_answer_id(taking), start=start, length=max(1, length), sent=sent)
    await _begin(links, taking, sending)
    try:
        # Whatever a renewal meets, there is time for another one.
        async with renewed(lambda: _renew(links, taking, sending), RENEWED_EVERY, despite=SatchelError):
            yield
    finally:
        await _end(links, taking, sending)


async def check_place(links: Links, visit: Visit, file_id: str) -> None:
    """Once the limit is reached, only visitors with a download in progress may continue."""
    link = visit.link
    if visit.is_owners or not link.downloads_limit or link.downloads_used < link.downloads_limit:
        return
    grant = await GRANT.get(links.tables, token=link.token, visitor=visit.visitor_id, file_id=file_id)
    if grant is None or not grant.places:
        raise _used_up()


async def known_size(links: Links, visit: Visit, file_id: str) -> int | None:
    """What a place was worth when the visitor began. None if they have not."""
    grant = await GRANT.get(links.tables, token=visit.link.token, visitor=visit.visitor_id, file_id=file_id)
    return None if grant is None else grant.size_bytes


def share_of(sent_bytes: int, size_bytes: int | None) -> int:
    """The share of an interrupted answer in something whose size is only estimated. Half, if unknown."""
    return min(SHARES - 1, SHARES * sent_bytes // size_bytes) if size_bytes else SHARES // 2


async def _begin(links: Links, taking: Taking, sending: _Sending) -> None:
    link, takes_place = await _write_beginning(links, taking, sending)
    if takes_place and not taking.visit.pass_id:
        # A direct download of the file also opens the link.
        await count(links, link, taking.visit.visitor_id, "open")


@optimistic_update()
async def _write_beginning(links: Links, taking: Taking, sending: _Sending) -> tuple[LinkRow, bool]:
    """The link, and whether the answer takes a place in its limit."""
    link, grant = await _read(links, taking)
    if link.revoked_at or link.paused_at:
        await usable(links, link.token, even_used_up=True)
    new = _with_answer(links, taking, grant, sending)
    writes: list[Write] = [GRANT.put(new, when=_as_read(grant))]
    takes_place = new.places > grant.places
    if takes_place:
        if link.downloads_limit and link.granted >= link.downloads_limit:
            if await _release_abandoned(links, link):
                raise StaleRead
            raise _already_downloading() if _alive(links, grant) else _used_up()
        writes.append(LINK.update([add("granted", 1)], when=_has_place(link), token=link.token))
    await links.tables.transact(writes)
    return link, takes_place


async def _end(links: Links, taking: Taking, sending: _Sending) -> None:
    link, growth = await _write_end(links, taking, sending)
    for _ in range(growth):
        await count(links, link, taking.visit.visitor_id, "download")


@optimistic_update()
async def _write_end(links: Links, taking: Taking, sending: _Sending) -> tuple[LinkRow, int]:
    """The link, and how many downloads are finished by this answer."""
    link, grant = await _read(links, taking)
    sent_bytes = grant.sent_bytes + sending.sent()
    finished = max(grant.finished, min(grant.places, sent_bytes // taking.worth))
    others = {name: answer for name, answer in grant.under_way.items() if name != sending.answer_id}
    new = _changed(links, grant, sent_bytes=sent_bytes, finished=finished, under_way=others)
    growth = finished - grant.finished
    writes: list[Write] = [GRANT.put(new, when=_as_read(grant))]
    changes: list[Action] = [add("downloadsUsed", growth)] if growth else []
    if _is_over(links, link, new):
        writes = [_forgetting(grant)]
        changes.append(add("granted", finished - new.places))
    if changes:
        writes.append(LINK.update(changes, when=attr("PK").exists(), token=link.token))
    await links.tables.transact(writes)
    return link, growth


def _is_over(links: Links, link: LinkRow, grant: GrantRow) -> bool:
    """Whether the grant can be deleted: without a limit it is kept only while the download is incomplete."""
    is_whole = grant.sent_bytes == grant.finished * grant.size_bytes
    return is_whole and not _alive(links, grant) and not link.downloads_limit


def _forgetting(grant: GrantRow) -> Write:
    return GRANT.delete(token=grant.token, visitor=grant.visitor, file_id=grant.file_id, when=_as_read(grant))


async def _renew(links: Links, taking: Taking, sending: _Sending) -> None:
    """Renew the lease of one answer, which is a part of the row that says what the visitor takes."""
    _, grant = await _read(links, taking)
    if (answer := grant.under_way.get(sending.answer_id)) is not None:
        under_way = {**grant.under_way, sending.answer_id: _replace(answer, until=_until(links))}
        new = _changed(links, grant, under_way=under_way)
        await links.tables.put(GRANT.table, GRANT.item(new), when=_as_read(grant))


async def _read(links: Links, taking: Taking) -> tuple[LinkRow, GrantRow]:
    """The current link and the visitor's grant. One that is not stored yet has the version 0."""
    visit = taking.visit
    link_item, item = await links.tables.get_many(GRANT.table, [LINK.key(token=visit.link.token), taking.key()])
    link = LINK.read(link_item) if link_item is not None else await find_link(links, visit.link.token)
    if item is not None:
        return link, GRANT.read(item)
    new = GrantRow(
        token=link.token,
        visitor=visit.visitor_id,
        file_id=taking.file_id,
        size_bytes=taking.worth,
        changed_at=links.now(),
    )
    return link, new


def _with_answer(links: Links, taking: Taking, grant: GrantRow, sending: _Sending) -> GrantRow:
    """The grant with one more answer, and with one more place if the answer exceeds the ones it has."""
    alive = _alive(links, grant)
    if len(alive) >= MOST_ANSWERS:
        raise TooMany(
            "Too many parts of this file are being downloaded at once. Wait until some have finished.", retry_after=5
        )
    dead = {name: answer for name, answer in grant.under_way.items() if name not in alive}
    arrived, ended = _resumed_answer(dead, taking.part, sending.start)
    # Other answers of a dead server may be resumed as well, while there are fewer than MOST_ANSWERS in all.
    others = {name: dead[name] for name in dead if name != ended and len(grant.under_way) < MOST_ANSWERS}
    sent_bytes = grant.sent_bytes + arrived
    taken = sent_bytes + sum(answer.size_bytes for answer in alive.values()) + sending.length
    worth = taking.worth
    fits = grant.places > 0 and taken <= grant.places * worth + worth // 2
    return _changed(
        links,
        grant,
        places=grant.places if fits else grant.places + 1,
        sent_bytes=sent_bytes,
        under_way={**others, **alive, sending.answer_id: Answer(sending.length, _until(links), sending.start)},
    )


def _resumed_answer(dead: Mapping[str, Answer], part: str, start: int) -> tuple[int, str]:
    """The answer that a visitor resumes, and how much of it has arrived."""
    return max(
        (
            (start - answer.at, name)
            for name, answer in dead.items()
            if _part_of(name) == part and answer.at <= start < answer.at + answer.size_bytes
        ),
        default=(0, ""),
    )


async def _release_abandoned(links: Links, link: LinkRow) -> bool:
    """Release the places of abandoned downloads of which little was sent. Returns whether there were any."""
    looking = Put(LOOKED(link_id=link.link_id), b"1", ttl=LOOKED_FOR_EVERY, only_if_absent=True)
    if not await links.ephemeral.run(looking):
        return False
    given_back, cursor = 0, None
    while True:
        page = await GRANT.list(links.tables, token=link.token, limit=1000, cursor=cursor)
        for grant in page.records:
            if places := _abandoned_places(links, grant):
                new = _changed(links, grant, places=grant.places - places)
                writes = [
                    GRANT.put(new, when=_as_read(grant)),
                    LINK.update([add("granted", -places)], when=attr("PK").exists(), token=link.token),
                ]
                with suppress(TransactionCancelled):
                    await links.tables.transact(writes)
                    given_back += places
        if (cursor := page.cursor) is None:
            return given_back > 0


def _abandoned_places(links: Links, grant: GrantRow) -> int:
    before = iso(links.clock() - ABANDONED_AFTER.total_seconds())
    if grant.changed_at > before or _alive(links, grant):
        return 0
    rest = grant.sent_bytes - grant.finished * grant.size_bytes
    # Less than half of a file is little. Of many files one is much: it would be free otherwise.
    is_much = rest > 0 if grant.file_id == ALL_FILES else rest * 2 >= grant.size_bytes
    used = grant.finished + is_much
    return max(0, grant.places - used)


def _alive(links: Links, grant: GrantRow) -> dict[str, Answer]:
    """The answers that count as in flight. A server that is alone counts only its own."""
    now, own = links.now(), iso(links.alone_since + BELIEVED_FOR.total_seconds())
    return {name: answer for name, answer in grant.under_way.items() if answer.until > now and answer.until >= own}


def _changed(links: Links, grant: GrantRow, **changes: object) -> GrantRow:
    # Not the same ones again for a grant that was deleted in between.
    version = grant.version + 1 if grant.version else secrets.randbits(40) + 1
    return _replace(grant, **changes, changed_at=links.now(), version=version)


def _as_read(grant: GrantRow) -> Condition:
    return attr("version") == grant.version if grant.version else NEW


def _has_place(link: LinkRow) -> Condition:
    is_open = STANDING & attr("pausedAt").absent()
    if not link.downloads_limit:
        return is_open & attr("downloadsLimit").absent()
    is_below = attr("granted").absent() | (attr("granted") < link.downloads_limit)
    return is_open & (attr("downloadsLimit") == link.downloads_limit) & is_below


def _new_answer_id(taking: Taking) -> str:
    return f"{taking.part}/{secrets.token_hex(6)}"


def _part_of(answer_id: str) -> str:
    return answer_id.rpartition("/")[0]


def _until(links: Links) -> str:
    return iso(links.clock() + BELIEVED_FOR.total_seconds())


def _already_downloading() -> TooMany:
    """The error for a visitor who reconnects before the server has noticed the lost connection."""
    seconds = int(BELIEVED_FOR.total_seconds())
    return TooMany(
        "You are already downloading this. If the connection was lost, resume in a minute.", retry_after=seconds
    )


def _used_up() -> LinkUsedUp:
    return LinkUsedUp("This link has reached its download limit. Ask its owner for a new one.")
