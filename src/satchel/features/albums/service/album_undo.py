"""Undo an act: an act of its own that makes an album what it was before."""

from contextlib import suppress

import msgspec

from satchel.features.albums.count_records import COUNT
from satchel.features.albums.model import ActId, ActSuperseded, AlbumId, OrphanedMedias, OwnerId, quarter_of, scope_of
from satchel.features.albums.records import ACT, ActRow, AlbumRow, AlbumState
from satchel.features.albums.service.album_act import begin, carry_out, read_act, state_of
from satchel.features.albums.service.album_change import Acted, Owner, delete_album, kind_of
from satchel.features.albums.service.album_folders import find_free_folder
from satchel.features.albums.service.album_plan import Change, Plan, check_change, preview
from satchel.features.albums.service.camera_clock import ClockPlan, plan_undo_correction, undo_correction
from satchel.features.albums.service.context import Albums
from satchel.features.albums.service.library import open_library
from satchel.kernel.errors import Conflict, NotFound
from satchel.stores.patterns.optimistic_update import optimistic_update
from satchel.stores.schema import RecordPage


async def list_acts(albums: Albums, owner: OwnerId, limit: int, cursor: str | None) -> RecordPage[ActRow]:
    """The owner's acts, the last first."""
    return await ACT.list(albums.tables, owner=owner, descending=True, limit=limit, cursor=cursor)


async def undo(albums: Albums, owner: Owner, act_id: str, *, quarters: bool = False) -> Acted:
    """Undo an act, unless the album was changed again since. Undone twice it is undone once."""
    act = await _find(albums, owner.owner, act_id)
    if not act.done_at:
        await carry_out(albums, act)
    if act.clock is not None:
        return await undo_correction(albums, owner, act)
    undoing = await _begin(albums, owner, act.act_id, quarters=quarters)
    done = await carry_out(albums, undoing)
    await _drop_stand_ins(albums, owner, act)
    library = await open_library(albums, owner.owner, owner.email)
    return Acted(library.album(act.album_id) if library.has(act.album_id) else None, done)


async def _drop_stand_ins(albums: Albums, owner: Owner, act: ActRow) -> None:
    """Delete quarter albums that took what the act left without an album. After the undoing they stand for nothing."""
    library = await open_library(albums, owner.owner, owner.email)
    if act.before is None or not library.has(act.album_id):
        return
    for row in list(library.albums.values()):
        made_since = row.created_at >= act.at and row.album_id != act.album_id and not row.leaving
        if made_since and not row.people and not row.cover and _is_quarter(row):
            same_time = (row.start, row.end) == (act.before.start, act.before.end)
            links = await albums.links.count_open(owner.owner, [f"album:{row.album_id}"])
            if (same_time or await _is_empty(albums, owner, row.album_id)) and not any(links.values()):
                # Somebody may have added something meanwhile that only this album covers.
                with suppress(Conflict, OrphanedMedias):
                    await delete_album(albums, owner, row.album_id)


def _is_quarter(row: AlbumRow) -> bool:
    """Whether it is as it was made, by no person."""
    quarter = quarter_of(row.start)
    return (row.name, row.start, row.end) == (quarter.name, quarter.start, quarter.end)


async def _is_empty(albums: Albums, owner: Owner, album_id: AlbumId) -> bool:
    key = COUNT.key(email=owner.email, availability="OWNED", owner=owner.owner, album_id=album_id)
    count = await albums.tables.get(COUNT.table, key)
    return count is None or not count.get("Count", 0)


async def plan_undo(albums: Albums, owner: Owner, act_id: str) -> Plan | ClockPlan:
    act = await _find(albums, owner.owner, act_id)
    if act.clock is not None:
        return await plan_undo_correction(albums, owner, act)
    return await preview(albums, await _change(albums, owner, act))


@optimistic_update()
async def _begin(albums: Albums, owner: Owner, act_id: ActId, *, quarters: bool) -> ActRow:
    act = await _find(albums, owner.owner, act_id)
    if act.undone_by and (undoing := await read_act(albums, owner.owner, act.undone_by)) is not None:
        return undoing
    change = await _change(albums, owner, act)
    await check_change(albums, change, quarters=quarters)
    restored = change.after if change.before is None else None
    grants = [
        albums.grants.put(owner.owner, each.email, scope_of(each.role), restored.album_id, restored.name)
        for each in act.shares
        if restored is not None
    ]
    return await begin(albums, change, kind_of(change), beside=grants, undoes=act)


async def _change(albums: Albums, owner: Owner, act: ActRow) -> Change:
    library = await open_library(albums, owner.owner, owner.email)
    now = library.album(act.album_id) if library.has(act.album_id) else None
    if _as_acted(None if now is None else state_of(now)) != _as_acted(act.after):
        raise ActSuperseded("The album was changed again since. Undo the later change first.")
    if act.before is None:
        return Change(library, now, None)
    before = now or _restored(act)
    folder = act.before.folder
    if now is None or folder != now.folder:
        folder = await find_free_folder(albums, owner.owner, folder)
    after = msgspec.structs.replace(
        before, name=act.before.name, start=act.before.start, end=act.before.end, folder=folder
    )
    return Change(library, now, after)


def _as_acted(state: AlbumState | None) -> tuple[str, ...] | None:
    """What acts change. A cover does not matter."""
    return None if state is None else (state.name, state.folder, state.start, state.end)


def _restored(act: ActRow) -> AlbumRow:
    """The same album, by id, with the people it was shared with."""
    assert act.before is not None
    return AlbumRow(
        owner=act.owner,
        album_id=act.album_id,
        name=act.before.name,
        folder=act.before.folder,
        start=act.before.start,
        end=act.before.end,
        created_at=act.before.created_at,
        cover=act.before.cover,
        with_location=act.before.with_location,
        people={each.email: each.role for each in act.shares},
    )


async def _find(albums: Albums, owner: OwnerId, act_id: str) -> ActRow:
    act = await read_act(albums, owner, ActId(act_id)) if 0 < len(act_id) <= 64 else None
    if act is None:
        raise NotFound("This change is not known any more, or is not yours.")
    return act
