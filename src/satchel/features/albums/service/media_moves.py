"""Move medias to where the albums say that they belong, a batch in a transaction together with all counts.

A media moves on condition that it is where it was read, has the same date and the same pin, and that no album has
changed. Otherwise it is read again, and where it belongs is decided again. So moving is idempotent, and may happen
twice at once.
"""

from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterator, Sequence

from satchel.features.albums.count_records import month_of
from satchel.features.albums.limits import MAX_PINS_PER_ACT
from satchel.features.albums.media_records import MEDIA
from satchel.features.albums.model import BIN, AlbumId, LocalTime, MediaId, OwnerId
from satchel.features.albums.records import ACT, ALBUM_INDEX, ActRow, Source
from satchel.features.albums.service.context import Albums
from satchel.features.albums.service.library import read_library
from satchel.features.albums.service.library_state import Library, place_in
from satchel.stores.patterns.backoff import Retries
from satchel.stores.patterns.optimistic_update import CONTENTION, changed_elsewhere
from satchel.stores.ports.expressions import Action, Condition, add, append, assign, attr, remove
from satchel.stores.ports.table import Item, Range, TransactionCancelled, Update, Write

_PAGE = 1000
_MEDIA = "MEDIA#"


class Uncovered(Exception):
    """A media has a date that no album covers."""

    def __init__(self, moment: LocalTime) -> None:
        super().__init__(moment)
        self.moment = moment


async def pages_of(albums: Albums, owner: OwnerId, source: Source) -> AsyncIterator[list[Item]]:
    """The medias of an album in some time, in order."""
    cursor: str | None = None
    while True:
        page = await albums.tables.query(
            MEDIA.table,
            partition(owner, source.album_id),
            range_of(source),
            index=ALBUM_INDEX,
            limit=_PAGE,
            cursor=cursor,
        )
        yield page.items
        if (cursor := page.cursor) is None:
            return


def range_of(source: Source) -> Range:
    """The sort keys of its medias. None is the bound itself: they go on with milliseconds."""
    return Range(low=_MEDIA + source.start, high=_MEDIA + source.end)


def partition(owner: OwnerId, album_id: AlbumId) -> str:
    """Where AlbumIndex has the medias of an album."""
    return MEDIA.keys["AlbumIndexPK"].render({"owner": owner, "album_id": album_id})


async def move_page(albums: Albums, act: ActRow, source: AlbumId, items: Sequence[Item]) -> int:
    """Move those of these medias of one album that belong elsewhere. How many they were.

    Raises `Uncovered`, and may have moved some, if one belongs nowhere.
    """
    retries, moved = Retries(CONTENTION), 0
    while True:
        library = await read_library(albums, act.owner)
        groups = _by_target(library, source, items)
        try:
            for target, group in groups.items():
                for batch in _batches(albums, library, source, target, group):
                    await albums.tables.transact(_writes(library, act, source, target, batch))
                    moved += len(batch)
        except TransactionCancelled:
            if not await retries.pause():
                raise changed_elsewhere() from None
            items = await _read_again(albums, act.owner, source, items)
        else:
            return moved


def _by_target(library: Library, source: AlbumId, items: Sequence[Item]) -> dict[AlbumId, list[Item]]:
    groups: defaultdict[AlbumId, list[Item]] = defaultdict(list)
    for item in items:
        target = library.home_of(item)
        if target is None:
            raise Uncovered(item["DateTime"])
        if target != source:
            groups[target].append(item)
    return groups


def _batches(
    albums: Albums, library: Library, source: AlbumId, target: AlbumId, items: Sequence[Item]
) -> Iterator[Sequence[Item]]:
    """As many as fit into a transaction with the counts of both albums and their days, the check and the journal."""
    room = albums.most_writes - len(library.counts_of(source)) - len(library.counts_of(target)) - 2
    with_month = 1 + sum(library.kept_days(each) is not None for each in (source, target))
    batch, months, left = list[Item](), set[str](), room
    for item in items:
        month = month_of(place_in(item)[1])
        if batch and left < (1 if month in months else with_month):
            yield batch
            batch, months, left = list[Item](), set[str](), room
        left -= 1 if month in months else with_month
        batch.append(item)
        months.add(month)
    if batch:
        yield batch


def _writes(library: Library, act: ActRow, source: AlbumId, target: AlbumId, items: Sequence[Item]) -> list[Write]:
    number = len(items)
    unpinned = [MediaId(item["Id"]) for item in items if item.get("Pinned") == source]
    journal: list[Action] = [add("Moved", number)]
    if unpinned and len(act.pins) + len(unpinned) <= MAX_PINS_PER_ACT:
        journal.append(append("Pins", unpinned))
    moves = [move_of(library.owner, item, target) for item in items]
    days = Counter(place_in(item)[1] for item in items)
    places = {(source, day): -count for day, count in days.items()} | {(target, day): n for day, n in days.items()}
    return [
        library.unchanged(),
        *moves,
        *library.counted(places),
        ACT.update(journal, when=attr("PK").exists(), owner=act.owner, act_id=act.act_id),
    ]


def move_of(owner: OwnerId, item: Item, target: AlbumId, *, pin: bool = False, when: Condition | None = None) -> Update:
    """Put a media that was read into another album, on a further condition. In the bin it keeps its pin."""
    pinned = item.get("Pinned")
    as_read = (attr("AlbumIndexPK") == item["AlbumIndexPK"]) & (attr("AlbumIndexSK") == item["AlbumIndexSK"])
    same_pin = attr("Pinned").absent() if pinned is None else attr("Pinned") == pinned
    actions: list[Action] = [assign("AlbumIndexPK", partition(owner, target)), assign("AlbumId", target)]
    if pin:
        actions.append(assign("Pinned", target))
    elif pinned is not None and target not in (pinned, BIN):
        actions.append(remove("Pinned"))
    condition = as_read & same_pin
    return Update(MEDIA.table, MEDIA.table.key_of(item), actions, condition if when is None else condition & when)


async def _read_again(albums: Albums, owner: OwnerId, source: AlbumId, items: Sequence[Item]) -> list[Item]:
    """Those that are still there, read from the table itself: an index may lag behind."""
    found = await albums.tables.get_many(MEDIA.table, [MEDIA.table.key_of(item) for item in items])
    place = partition(owner, source)
    return [item for item in found if item is not None and item["AlbumIndexPK"] == place]
