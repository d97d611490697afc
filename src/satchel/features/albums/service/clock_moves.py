"""Correct the times of a camera's medias, a batch in a transaction together with timeline, days and counts.

Each media says by which act it was corrected, and at which version of the library. So one that was corrected already,
or later, is left alone: a correction can be applied twice, and a later one is never undone by looking once more.
"""

from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from satchel.features.albums.count_records import count_days, owner_days
from satchel.features.albums.media_records import MEDIA, TIMELINE, MediaRow
from satchel.features.albums.model import LocalTime, OwnerId
from satchel.features.albums.records import ACT, ActRow, ClockFix, Source
from satchel.features.albums.service.context import Albums
from satchel.features.albums.service.library import read_library
from satchel.features.albums.service.library_state import Library, Place, place_of
from satchel.features.albums.service.media_moves import Uncovered, move_of, pages_of
from satchel.features.albums.service.media_rows import enter_timeline, leave_timeline, same_picture
from satchel.features.albums.service.photo_timeline import years_of
from satchel.kernel.clock import from_iso, iso
from satchel.stores.patterns.backoff import Retries
from satchel.stores.patterns.optimistic_update import CONTENTION, changed_elsewhere
from satchel.stores.ports.expressions import Action, add, assign, attr, remove
from satchel.stores.ports.table import Item, Range, TransactionCancelled, Update, Write

_PAGE = 500
# Each makes three writes, and up to two for days.
_BATCH = 24
# What the camera itself said of the offset is as wrong as its clock. Satellites are right.
_OWN_ZONES = ("offset", "owner", "none")


@dataclass(frozen=True, slots=True)
class Shifted:
    """A media before and after a correction."""

    item: Item
    before: MediaRow
    after: MediaRow


def shifted_time(moment: LocalTime, seconds: int) -> LocalTime:
    """`OverflowError` if there is no such time."""
    later = datetime.fromisoformat(moment) + timedelta(seconds=seconds)
    return LocalTime(later.isoformat(timespec="milliseconds"))


def is_meant(act: ActRow, item: Item) -> bool:
    """Whether a media is one that this act corrects and has not corrected yet."""
    fix = act.clock
    assert fix is not None
    if item.get("ClockVersion", 0) >= fix.version or "DeletedAt" in item or not item.get("DateTime"):
        return False
    if act.undoes:
        return item.get("ClockAct") == act.undoes
    return item["AddedAt"] <= act.at and of_camera(fix, item)


def of_camera(fix: ClockFix, item: Item) -> bool:
    details = item.get("Details", {})
    is_model = (details.get("Make", ""), details.get("Model", "")) == (fix.make, fix.model)
    return is_model and (not fix.serial or details.get("Serial", "") == fix.serial)


async def pages_of_clock(albums: Albums, act: ActRow) -> AsyncIterator[list[Item]]:
    """Where the medias of an act can be: in its album, or in its time."""
    fix = act.clock
    assert fix is not None
    if act.album_id and not act.undoes:
        async for items in pages_of(albums, act.owner, Source(act.album_id, fix.first, LocalTime(fix.last + "~"))):
            yield items
        return
    first, last = await years_of(albums, act.owner, fix.first, fix.last)
    for year in range(first, last + 1):
        cursor: str | None = None
        while True:
            page = await albums.tables.query(
                TIMELINE.table,
                TIMELINE.keys["PK"].render({"owner": act.owner, "year": f"{year:04}"}),
                Range(low=f"MEDIA#{fix.first}", high=f"MEDIA#{fix.last}~"),
                limit=_PAGE,
                cursor=cursor,
            )
            keys = [MEDIA.key(owner=act.owner, media_id=item["Id"]) for item in page.items]
            yield [item for item in await albums.tables.get_many(MEDIA.table, keys) if item is not None]
            if (cursor := page.cursor) is None:
                break


async def shift_page(albums: Albums, act: ActRow, items: Sequence[Item]) -> None:
    """Correct those of these medias that are meant. Raises `Uncovered` if no album covers the new time of one."""
    meant = [item for item in items if is_meant(act, item)]
    for start in range(0, len(meant), _BATCH):
        await _shift_batch(albums, act, meant[start : start + _BATCH])


async def _shift_batch(albums: Albums, act: ActRow, items: Sequence[Item]) -> None:
    retries = Retries(CONTENTION)
    while items:
        library = await read_library(albums, act.owner)
        changes = [shift_of(library, act, item) for item in items]
        writes = list(_writes(library, act, changes))
        if len(writes) > albums.most_writes and len(items) > 1:
            # Many people see these albums, and each has a count.
            middle = len(items) // 2
            await _shift_batch(albums, act, items[:middle])
            items = items[middle:]
            continue
        try:
            await albums.tables.transact(writes)
        except TransactionCancelled:
            if not await retries.pause():
                raise changed_elsewhere() from None
            keys = [MEDIA.table.key_of(item) for item in items]
            found = await albums.tables.get_many(MEDIA.table, keys)
            items = [item for item in found if item is not None and is_meant(act, item)]
        else:
            return


def shift_of(library: Library, act: ActRow, item: Item) -> Shifted:
    fix, before = act.clock, MEDIA.read(item)
    assert fix is not None
    moment = shifted_time(before.local_time, fix.shift_seconds)
    target = library.home(moment, before.pinned)
    if target is None:
        raise Uncovered(moment)
    return Shifted(item, before, MEDIA.read({**item, "DateTime": moment, "AlbumId": target}))


def _writes(library: Library, act: ActRow, changes: Sequence[Shifted]) -> Iterator[Write]:
    days, places = Counter[str](), Counter[Place]()
    yield library.unchanged()
    for each in changes:
        yield _update(library.owner, act, each)
        yield from (*leave_timeline(each.before), *enter_timeline(each.after))
        days[each.before.local_time[:10]] -= 1
        days[each.after.local_time[:10]] += 1
        places[place_of(each.before)] -= 1
        places[place_of(each.after)] += 1
    yield from count_days(owner_days(library.owner), days)
    yield from library.counted(places)
    yield ACT.update([add("Moved", len(changes))], when=attr("PK").exists(), owner=act.owner, act_id=act.act_id)


def _update(owner: OwnerId, act: ActRow, change: Shifted) -> Update:
    fix, before, after = act.clock, change.before, change.after
    assert fix is not None
    moved = move_of(owner, change.item, after.album_id, when=same_picture(before))
    actions: list[Action] = [
        *moved.actions,
        assign("DateTime", after.local_time),
        assign("AlbumIndexSK", MEDIA.item(after)["AlbumIndexSK"]),
        assign("ClockVersion", fix.version),
        remove("ClockAct") if act.undoes else assign("ClockAct", act.act_id),
    ]
    if before.camera_time == after.local_time:
        actions.append(remove("CameraDateTime"))
    elif not before.camera_time:
        actions.append(assign("CameraDateTime", before.local_time))
    if before.utc_time and before.zone_source in _OWN_ZONES:
        actions.append(assign("UtcDateTime", iso(from_iso(before.utc_time) + fix.shift_seconds)))
    return Update(moved.table, moved.key, actions, moved.when)
