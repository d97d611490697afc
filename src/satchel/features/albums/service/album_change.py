"""Create, rename, date and delete albums, each as an act; and what each would do."""

from dataclasses import dataclass

import msgspec

from satchel.features.albums.limits import MAX_ALBUMS
from satchel.features.albums.model import (
    ActKind,
    AlbumId,
    Email,
    Folder,
    LocalTime,
    MediaId,
    OwnerId,
    TooManyAlbums,
    check_album_name,
    check_dates,
    check_folder,
    check_time,
    folder_for,
)
from satchel.features.albums.records import ALBUM, CREATED, ActRow, AlbumRow
from satchel.features.albums.service.album_act import begin, carry_out, resume
from satchel.features.albums.service.album_folders import find_free_folder
from satchel.features.albums.service.album_notify import tell_album
from satchel.features.albums.service.album_plan import Change, Plan, check_change, preview
from satchel.features.albums.service.context import Albums
from satchel.features.albums.service.library import open_library
from satchel.features.albums.service.library_state import Library
from satchel.features.albums.service.media_pin import find_item
from satchel.kernel.ids import new_id
from satchel.kernel.unfit import ChoiceUnfit
from satchel.stores.patterns.idempotency_key import IdempotencyKey
from satchel.stores.patterns.optimistic_update import optimistic_update
from satchel.stores.ports.expressions import assign, attr, remove


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose library it is. Counts are kept by address."""

    owner: OwnerId
    email: Email


@dataclass(frozen=True, slots=True, kw_only=True)
class NewAlbum:
    """What an album shall be. Without a folder it gets one made of its month and name."""

    name: str
    start: str
    end: str
    folder: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AlbumPatch:
    """What to change. An empty folder is made of the month and the name anew. An empty cover is none."""

    name: str | None = None
    folder: str | None = None
    start: str | None = None
    end: str | None = None
    cover: str | None = None
    with_location: bool | None = None


@dataclass(frozen=True, slots=True)
class Acted:
    """The album after an act; None if it was deleted. Without an act there was nothing to do."""

    album: AlbumRow | None
    act: ActRow | None


async def create_album(albums: Albums, owner: Owner, new: NewAlbum, *, idempotency_key: str | None = None) -> Acted:
    """Create an album, and move into it what it leads from now on. A retry with the same key finds the same album."""
    album_id = AlbumId(new_id(albums.clock))
    if idempotency_key is not None:
        key = IdempotencyKey(albums.ephemeral, CREATED(owner=owner.owner, key=idempotency_key))
        earlier = await key.claim(album_id)
        album_id = AlbumId(earlier) if earlier is not None else album_id
        made = None if earlier is None else await ALBUM.get(albums.tables, owner=owner.owner, album_id=album_id)
        if made is not None:
            await resume(albums, owner.owner)
            return Acted(made, None)
    act = await _begin_create(albums, owner, new, album_id)
    return await _done(albums, owner, act)


@optimistic_update()
async def _begin_create(albums: Albums, owner: Owner, new: NewAlbum, album_id: AlbumId) -> ActRow:
    change = await _creation(albums, await open_library(albums, owner.owner, owner.email), new, album_id)
    await check_change(albums, change, quarters=False)
    return await begin(albums, change, "create")


async def change_album(
    albums: Albums, owner: Owner, album_id: AlbumId, patch: AlbumPatch, *, quarters: bool = False
) -> Acted:
    """Rename or date an album. `OrphanedMedias` if medias would be in no album, unless `quarters` are made for them."""
    if patch.cover is not None:
        await _set_cover(albums, owner, album_id, patch.cover)
    if patch.with_location is not None:
        await _set_with_location(albums, owner, album_id, wanted=patch.with_location)
    if patch.cover is not None or patch.with_location is not None:
        await tell_album(albums, owner.owner, album_id)
    act = await _begin_change(albums, owner, album_id, patch, quarters=quarters)
    if act is None:
        # What the caller asks for may be what an interrupted request has begun.
        await resume(albums, owner.owner)
        return Acted(await ALBUM.get(albums.tables, owner=owner.owner, album_id=album_id), None)
    return await _done(albums, owner, act)


@optimistic_update()
async def _begin_change(
    albums: Albums, owner: Owner, album_id: AlbumId, patch: AlbumPatch, *, quarters: bool
) -> ActRow | None:
    library = await open_library(albums, owner.owner, owner.email)
    change = await _amendment(albums, library, album_id, patch)
    if change.before == change.after:
        return None
    await check_change(albums, change, quarters=quarters)
    return await begin(albums, change, kind_of(change))


async def delete_album(albums: Albums, owner: Owner, album_id: AlbumId, *, quarters: bool = False) -> Acted:
    """Delete an album. Its medias go to the albums that lead next."""
    library = await open_library(albums, owner.owner, owner.email)
    row = library.albums.get(album_id)
    if row is not None and row.leaving:
        await resume(albums, owner.owner)
        return Acted(None, None)
    act = await _begin_delete(albums, owner, album_id, quarters=quarters)
    return await _done(albums, owner, act)


@optimistic_update()
async def _begin_delete(albums: Albums, owner: Owner, album_id: AlbumId, *, quarters: bool) -> ActRow:
    library = await open_library(albums, owner.owner, owner.email)
    change = Change(library, library.album(album_id), None)
    await check_change(albums, change, quarters=quarters)
    return await begin(albums, change, "delete")


async def plan_creation(albums: Albums, owner: Owner, new: NewAlbum) -> Plan:
    library = await open_library(albums, owner.owner, owner.email)
    return await preview(albums, await _creation(albums, library, new, AlbumId(new_id(albums.clock))))


async def plan_change(albums: Albums, owner: Owner, album_id: AlbumId, patch: AlbumPatch) -> Plan:
    library = await open_library(albums, owner.owner, owner.email)
    return await preview(albums, await _amendment(albums, library, album_id, patch))


async def plan_deletion(albums: Albums, owner: Owner, album_id: AlbumId) -> Plan:
    library = await open_library(albums, owner.owner, owner.email)
    return await preview(albums, Change(library, library.album(album_id), None))


def kind_of(change: Change) -> ActKind:
    before, after = change.before, change.after
    if before is None or after is None:
        return "create" if before is None else "delete"
    return "rename" if (before.start, before.end) == (after.start, after.end) else "dates"


async def _done(albums: Albums, owner: Owner, act: ActRow) -> Acted:
    done = await carry_out(albums, act)
    album = await ALBUM.get(albums.tables, owner=owner.owner, album_id=act.album_id)
    return Acted(None if album is None or album.leaving else album, done)


async def _creation(albums: Albums, library: Library, new: NewAlbum, album_id: AlbumId) -> Change:
    if library.row.albums >= MAX_ALBUMS:
        raise TooManyAlbums(f"You can have {MAX_ALBUMS} albums. Delete one first.", at_most=MAX_ALBUMS)
    name, start, end = check_album_name(new.name), check_time(new.start, "start"), check_time(new.end, "end")
    check_dates(start, end)
    album = AlbumRow(
        owner=library.owner,
        album_id=album_id,
        name=name,
        folder=await _folder(albums, library.owner, new.folder, name, start),
        start=start,
        end=end,
        created_at=albums.now(),
    )
    return Change(library, None, album)


async def _amendment(albums: Albums, library: Library, album_id: AlbumId, patch: AlbumPatch) -> Change:
    before = library.album(album_id)
    name = before.name if patch.name is None else check_album_name(patch.name)
    start = before.start if patch.start is None else check_time(patch.start, "start")
    end = before.end if patch.end is None else check_time(patch.end, "end")
    check_dates(start, end)
    folder = before.folder
    if patch.folder is not None and (chosen := check_folder(patch.folder) or folder_for(name, start)) != before.folder:
        folder = await _folder(albums, library.owner, patch.folder, name, start, chosen)
    return Change(library, before, msgspec.structs.replace(before, name=name, start=start, end=end, folder=folder))


async def _folder(
    albums: Albums, owner: OwnerId, written: str, name: str, start: LocalTime, chosen: Folder | None = None
) -> Folder:
    forced = check_folder(written)
    return await find_free_folder(albums, owner, chosen or forced or folder_for(name, start), forced=forced is not None)


@optimistic_update()
async def _set_cover(albums: Albums, owner: Owner, album_id: AlbumId, cover: str) -> None:
    """Show one of its medias for the album."""
    library = await open_library(albums, owner.owner, owner.email)
    if cover == library.album(album_id).cover:
        return
    if cover and (await find_item(albums, owner.owner, cover))["AlbumId"] != album_id:
        raise ChoiceUnfit("Choose a photo of this album.", field="cover")
    shown = assign("Cover", MediaId(cover)) if cover else remove("Cover")
    update = ALBUM.update([shown], when=attr("PK").exists(), owner=owner.owner, album_id=album_id)
    await albums.tables.transact([library.changed(), update])


@optimistic_update()
async def _set_with_location(albums: Albums, owner: Owner, album_id: AlbumId, *, wanted: bool) -> None:
    """Whether others get originals as they are, and see where they were taken."""
    library = await open_library(albums, owner.owner, owner.email)
    if wanted == library.album(album_id).with_location:
        return
    said = assign("WithLocation", value=True) if wanted else remove("WithLocation")
    update = ALBUM.update([said], when=attr("PK").exists(), owner=owner.owner, album_id=album_id)
    await albums.tables.transact([library.changed(), update])
