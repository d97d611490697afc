"""Acts: change an album, then move the medias that belong elsewhere since, so that a crash anywhere can be re-applied.

One transaction changes the album, the version of the library and the journal (`ActRow`). From then on the new timeline
holds, and uploads follow it. Then medias move, batch by batch, out of the times that the journal names. Each goes where
the albums say at that instant, so it does not matter how far an earlier attempt got, or whether two acts move at once.
An album that is deleted is `leaving` meanwhile. Its rows go last, with its folder, shares and counts.

An index may lag behind its table, so a media that was uploaded just before an act could be overlooked. Therefore an act
is looked at once more, some minutes after it is done.
"""

import math
from collections.abc import Sequence
from datetime import timedelta

import msgspec

from satchel.features.albums.count_records import COUNT
from satchel.features.albums.media_records import MEDIA
from satchel.features.albums.model import ActId, ActKind, AlbumId, LocalTime, OwnerId, quarter_of, scope_of
from satchel.features.albums.records import (
    ACT,
    ACT_DUE,
    ALBUM,
    ALBUM_OWNER,
    ActDueRow,
    ActRow,
    ActShare,
    AlbumOwnerRow,
    AlbumRow,
    AlbumState,
    Source,
)
from satchel.features.albums.service.album_days import forget_days
from satchel.features.albums.service.album_folders import delete_folders, find_free_folder, folder_writes
from satchel.features.albums.service.album_notify import tell_act
from satchel.features.albums.service.album_plan import Change
from satchel.features.albums.service.clock_moves import pages_of_clock, shift_page
from satchel.features.albums.service.context import Albums
from satchel.features.albums.service.library import read_library
from satchel.features.albums.service.library_state import Library, count_key
from satchel.features.albums.service.media_bulk import BulkMove, StaleLibrary
from satchel.features.albums.service.media_moves import Uncovered, move_page, pages_of
from satchel.features.albums.service.media_pin import pin_again
from satchel.kernel.clock import iso
from satchel.kernel.errors import Conflict
from satchel.kernel.ids import new_id
from satchel.stores.patterns.optimistic_update import NEW, optimistic_update
from satchel.stores.ports.expressions import assign, attr
from satchel.stores.ports.table import Delete, Write

# Much longer than a request takes. Recovery that comes too early does no harm.
FINISHED_WITHIN = timedelta(minutes=2)
# Much longer than an index lags behind.
LOOKED_AT_AGAIN_AFTER = timedelta(minutes=10)
# So long an act can be undone.
KEPT_FOR = timedelta(days=30)
# A request does not wait any longer. Recovery does the rest.
ANSWERED_WITHIN = timedelta(seconds=20)
# How many acts of an owner are looked through for unfinished ones.
_LATEST = 20
# A row has 400 KB.
_MOST_SOURCES = 1000


async def begin(
    albums: Albums, change: Change, kind: ActKind, *, beside: Sequence[Write] = (), undoes: ActRow | None = None
) -> ActRow:
    """Change the album and write the journal, in one transaction that fails if any album has changed since."""
    library, before, after = change.library, change.before, change.after
    album = after or before
    assert album is not None
    act = ActRow(
        owner=library.owner,
        act_id=ActId(new_id(albums.clock)),
        kind=kind,
        album_id=album.album_id,
        at=albums.now(),
        before=None if before is None else state_of(before),
        after=None if after is None else state_of(after),
        sources=_bounded(change.sources),
        shares=[ActShare(*each) for each in before.people.items()] if before is not None and after is None else [],
        undoes=ActId("") if undoes is None else undoes.act_id,
    )
    writes: list[Write] = [
        library.changed(albums=(after is not None) - (before is not None)),
        ACT.put(act),
        ACT_DUE.put(due_row(albums, act, FINISHED_WITHIN)),
        *beside,
    ]
    if after is None:
        leaving = msgspec.structs.replace(album, leaving=True)
        writes.append(ALBUM.put(leaving, when=attr("PK").exists()))
    else:
        writes.append(ALBUM.put(after, when=NEW if before is None else attr("PK").exists()))
        writes += folder_writes(before, after)
    if before is None:
        writes.append(ALBUM_OWNER.put(AlbumOwnerRow(album_id=album.album_id, owner=library.owner)))
        writes += [COUNT.put(each) for each in library.count_rows(album.album_id, album.people)]
    if undoes is not None:
        writes.append(
            ACT.update(
                [assign("UndoneBy", act.act_id)],
                when=attr("PK").exists() & attr("UndoneBy").absent(),
                owner=undoes.owner,
                act_id=undoes.act_id,
            )
        )
    await albums.tables.transact(writes)
    return act


async def carry_out(albums: Albums, act: ActRow, *, within: timedelta | None = ANSWERED_WITHIN) -> ActRow:
    """Move what has to move, then finish. After `within` the rest is left to recovery, and the act is not done."""
    carried = await _carry_out(albums, act, within)
    if not act.done_at:
        await tell_act(albums, carried)
    return carried


async def _carry_out(albums: Albums, act: ActRow, within: timedelta | None) -> ActRow:
    deadline = math.inf if within is None else albums.clock() + within.total_seconds()
    if act.clock is not None and not await _shift(albums, act, deadline):
        return await read_act(albums, act.owner, act.act_id) or act
    move = _move_by_steps if albums.bulk is not None else _move_by_transactions
    for source in act.sources:
        if not await move(albums, act, source, deadline):
            return await read_act(albums, act.owner, act.act_id) or act
    await _finish(albums, act)
    return await read_act(albums, act.owner, act.act_id) or act


async def _shift(albums: Albums, act: ActRow, deadline: float) -> bool:
    """Correct the times of a camera. Whether it was completed before the deadline."""
    async for items in pages_of_clock(albums, act):
        if albums.clock() >= deadline:
            return False
        while True:
            try:
                await shift_page(albums, act, items)
            except Uncovered as uncovered:
                await cover(albums, act.owner, uncovered.moment)
                keys = [MEDIA.table.key_of(item) for item in items]
                items = [item for item in await albums.tables.get_many(MEDIA.table, keys) if item is not None]
            else:
                break
    return True


async def _move_by_transactions(albums: Albums, act: ActRow, source: Source, deadline: float) -> bool:
    """Whether it was completed before the deadline."""
    async for items in pages_of(albums, act.owner, source):
        if albums.clock() >= deadline:
            return False
        while True:
            try:
                await move_page(albums, act, source.album_id, items)
            except Uncovered as uncovered:
                await cover(albums, act.owner, uncovered.moment)
            else:
                break
    return True


async def _move_by_steps(albums: Albums, act: ActRow, source: Source, deadline: float) -> bool:
    """The same where the tables have one writer."""
    assert albums.bulk is not None
    cursor: str | None = None
    while True:
        if albums.clock() >= deadline:
            return False
        library = await read_library(albums, act.owner)
        try:
            cursor = await albums.bulk.in_one_step(BulkMove(library, act, source, cursor))
        except StaleLibrary:
            continue
        except Uncovered as uncovered:
            await cover(albums, act.owner, uncovered.moment)
            continue
        if cursor is None:
            return True


async def resume(albums: Albums, owner: OwnerId) -> None:
    """Finish the owner's acts that were interrupted."""
    page = await ACT.list(albums.tables, owner=owner, descending=True, limit=_LATEST)
    for act in reversed(page.records):
        if not act.done_at:
            await carry_out(albums, act)


@optimistic_update()
async def cover(albums: Albums, owner: OwnerId, moment: LocalTime) -> Library:
    """See to it that an album covers this time: the quarter's, if there is none. The library with that album."""
    library = await read_library(albums, owner)
    if library.timeline.home(moment) is not None:
        return library
    quarter = quarter_of(moment)
    album = AlbumRow(
        owner=owner,
        album_id=AlbumId(new_id(albums.clock)),
        name=quarter.name,
        folder=await find_free_folder(albums, owner, quarter.folder),
        start=quarter.start,
        end=quarter.end,
        created_at=albums.now(),
    )
    if not quarter.start <= moment < quarter.end:
        raise Conflict("No album can cover this time. Change the date of the media.")
    # A quarter may be shorter than an album that overlaps it, and takes medias from that one then.
    act = await begin(albums, Change(library, None, album), "create")
    await carry_out(albums, act)
    return await read_library(albums, owner)


async def read_act(albums: Albums, owner: OwnerId, act_id: ActId) -> ActRow | None:
    return await ACT.get(albums.tables, owner=owner, act_id=act_id)


def state_of(album: AlbumRow) -> AlbumState:
    return AlbumState(
        name=album.name,
        folder=album.folder,
        start=album.start,
        end=album.end,
        cover=album.cover,
        created_at=album.created_at,
        with_location=album.with_location,
    )


async def _finish(albums: Albums, act: ActRow) -> None:
    if act.after is None and act.clock is None:
        await _remove(albums, act)
    if act.undoes and (undone := await read_act(albums, act.owner, act.undoes)) is not None:
        for media_id in undone.pins:
            await pin_again(albums, act.owner, media_id, act.album_id)
    done = ACT.update(
        [assign("DoneAt", albums.now(), only_if_absent=True)],
        when=attr("PK").exists(),
        owner=act.owner,
        act_id=act.act_id,
    )
    await albums.tables.transact([done, ACT_DUE.put(due_row(albums, act, LOOKED_AT_AGAIN_AFTER))])


@optimistic_update()
async def _remove(albums: Albums, act: ActRow) -> None:
    """Take away an album that is empty by now, with its shares, counts and folders."""
    row = await ALBUM.get(albums.tables, owner=act.owner, album_id=act.album_id)
    if row is None or not row.leaving:
        return
    await delete_folders(albums, act.owner, act.album_id)
    await forget_days(albums, row)
    library = await read_library(albums, act.owner)
    counts = library.counts_of(act.album_id)
    await albums.tables.transact(
        [
            library.changed(),
            ALBUM.delete(when=attr("Leaving") == True, owner=act.owner, album_id=act.album_id),  # noqa: E712
            ALBUM_OWNER.delete(album_id=act.album_id),
            *(Delete(COUNT.table, count_key(each)) for each in counts),
            *(
                albums.grants.delete(act.owner, email, scope_of(role), act.album_id)
                for email, role in row.people.items()
            ),
        ]
    )


def due_row(albums: Albums, act: ActRow, after: timedelta) -> ActDueRow:
    return ActDueRow(owner=act.owner, act_id=act.act_id, due=iso(albums.clock() + after.total_seconds()))


def _bounded(sources: Sequence[Source]) -> list[Source]:
    """The times to look at, as few as a row can hold. Looking at more than necessary does no harm."""
    if len(sources) <= _MOST_SOURCES:
        return list(sources)
    spans: dict[AlbumId, Source] = {}
    for each in sources:
        known = spans.get(each.album_id, each)
        spans[each.album_id] = Source(each.album_id, min(known.start, each.start), max(known.end, each.end))
    return list(spans.values())
