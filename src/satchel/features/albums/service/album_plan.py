"""What a change of albums would do: which medias move, who newly sees them, and which would be in no album."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from satchel.features.albums.album_timeline import Timeline, shifts
from satchel.features.albums.count_records import COUNT
from satchel.features.albums.limits import MAX_MEDIAS_PER_ACT
from satchel.features.albums.model import (
    BEGINNING,
    END,
    UNDATED,
    AlbumId,
    Email,
    LocalTime,
    OrphanedMedias,
    TooManyMedias,
)
from satchel.features.albums.records import AlbumRow, Source
from satchel.features.albums.service.context import Albums
from satchel.features.albums.service.library_state import Library, plain
from satchel.features.albums.service.media_moves import pages_of
from satchel.stores.ports.table import Item

_NO_TIME = LocalTime("")


@dataclass(frozen=True, slots=True)
class Change:
    """One album as it is and as it shall be. None is before it is created, or after it is deleted."""

    library: Library
    before: AlbumRow | None
    after: AlbumRow | None

    @property
    def timeline(self) -> Timeline:
        """How it will be."""
        changed = {each.album_id for each in (self.before, self.after) if each is not None}
        others = [row for row in self.library.albums.values() if not row.leaving and row.album_id not in changed]
        return Timeline(map(plain, others if self.after is None else [*others, self.after]))

    @property
    def sources(self) -> list[Source]:
        """From where medias can move. An album that is deleted loses pinned ones, too, whatever their date is."""
        if self.before is not None and self.after is None:
            return [Source(self.before.album_id, BEGINNING, END)]
        return [
            Source(each.source, each.start, each.end)
            for each in shifts(self.library.timeline, self.timeline)
            if each.source is not None
        ]

    def has(self, album_id: AlbumId) -> bool:
        """Whether there is such an album afterwards."""
        if self.before is not None and album_id == self.before.album_id:
            return self.after is not None
        return self.library.has(album_id) or (self.after is not None and album_id == self.after.album_id)

    def people(self, album_id: AlbumId | None) -> set[Email]:
        """Who sees an album afterwards, besides the owner."""
        if self.after is not None and album_id == self.after.album_id:
            return set(self.after.people)
        row = None if album_id is None else self.library.albums.get(album_id)
        return set() if row is None else set(row.people)

    def name(self, album_id: AlbumId) -> str:
        if self.after is not None and album_id == self.after.album_id:
            return self.after.name
        row = self.library.albums.get(album_id)
        return "" if row is None else row.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """How many medias move from one album to another. `newly` and `no_longer` are addresses of people.

    `links` is how many public links newly show them.
    """

    source: AlbumId
    source_name: str
    target: AlbumId
    target_name: str
    medias: int
    newly: list[Email]
    no_longer: list[Email]
    links: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Orphans:
    """Medias that would be in no album, and the first and last of their times."""

    medias: int = 0
    first: LocalTime = _NO_TIME
    last: LocalTime = _NO_TIME


@dataclass(frozen=True, slots=True)
class Plan:
    """What a change would do."""

    change: Change
    moves: list[Move] = field(default_factory=list[Move])
    orphans: Orphans = field(default_factory=Orphans)

    @property
    def medias(self) -> int:
        return sum(move.medias for move in self.moves)


class _Tally:
    """Counts medias by where they come from and where they go."""

    def __init__(self, change: Change) -> None:
        self._change = change
        self._timeline = change.timeline
        self.moves: Counter[tuple[AlbumId, AlbumId]] = Counter()
        self.orphans = Orphans()

    def count(self, source: AlbumId, items: Sequence[Item]) -> None:
        for item in items:
            pinned: AlbumId = item.get("Pinned", AlbumId(""))
            moment: LocalTime = item.get("DateTime", _NO_TIME)
            if pinned and self._change.has(pinned):
                target = pinned
            else:
                target = self._timeline.home(moment) if moment else UNDATED
            if target is None:
                known = self.orphans
                self.orphans = Orphans(
                    medias=known.medias + 1, first=min(known.first or moment, moment), last=max(known.last, moment)
                )
            elif target != source:
                self.moves[source, target] += 1

    @property
    def medias(self) -> int:
        return self.moves.total() + self.orphans.medias


async def preview(albums: Albums, change: Change) -> Plan:
    """Count what a change would move. `TooManyMedias` if one act cannot."""
    tally = await _tally(albums, change)
    links = await _open_links(albums, change, {target for _, target in tally.moves})
    moves = [
        Move(
            source=source,
            source_name=change.name(source),
            target=target,
            target_name=change.name(target),
            medias=number,
            newly=sorted(change.people(target) - _seeing(change, source)),
            no_longer=sorted(_seeing(change, source) - change.people(target)),
            links=links.get(target, 0),
        )
        for (source, target), number in tally.moves.most_common()
    ]
    return Plan(change, moves, tally.orphans)


async def check_change(albums: Albums, change: Change, *, quarters: bool) -> None:
    """Refuse what would leave medias in no album, unless `quarters` are made for them; and what would move too many."""
    source_counts = await _most_in(albums, change)
    deletes = change.after is None
    if source_counts > MAX_MEDIAS_PER_ACT or (deletes and not quarters):
        tally = await _tally(albums, change)
        orphans = tally.orphans
    elif quarters:
        return
    else:
        orphans = await _first_orphans(albums, change)
    if orphans.medias and not quarters:
        raise OrphanedMedias(
            "Some medias would be in no album. Cover their dates by another album first, or have quarter albums made.",
            medias=orphans.medias,
            first=orphans.first,
            last=orphans.last,
        )


async def _first_orphans(albums: Albums, change: Change) -> Orphans:
    """Look only where no album would be."""
    gaps = [each for each in shifts(change.library.timeline, change.timeline) if each.target is None]
    tally = _Tally(change)
    for gap in gaps:
        assert gap.source is not None
        async for items in pages_of(albums, change.library.owner, Source(gap.source, gap.start, gap.end)):
            tally.count(gap.source, items)
    return tally.orphans


async def _tally(albums: Albums, change: Change) -> _Tally:
    tally = _Tally(change)
    for source in change.sources:
        async for items in pages_of(albums, change.library.owner, source):
            tally.count(source.album_id, items)
            if tally.medias > MAX_MEDIAS_PER_ACT:
                raise TooManyMedias(
                    f"This would move more than {MAX_MEDIAS_PER_ACT:,} medias. Change the dates in smaller steps.",
                    at_most=MAX_MEDIAS_PER_ACT,
                )
    return tally


async def _most_in(albums: Albums, change: Change) -> int:
    """How many medias are in the albums that medias could leave."""
    sources = {source.album_id for source in change.sources}
    library = change.library
    keys = [
        COUNT.key(email=library.row.email, availability="OWNED", owner=library.owner, album_id=album_id)
        for album_id in sources
    ]
    return sum(item["Count"] for item in await albums.tables.get_many(COUNT.table, keys) if item and "Count" in item)


async def _open_links(albums: Albums, change: Change, album_ids: set[AlbumId]) -> Mapping[AlbumId, int]:
    things = {f"album:{album_id}": album_id for album_id in album_ids}
    found = await albums.links.count_open(change.library.owner, sorted(things))
    return {things[thing]: number for thing, number in found.items()}


def _seeing(change: Change, album_id: AlbumId) -> set[Email]:
    """Who sees an album now, besides the owner."""
    row = change.library.albums.get(album_id)
    return set() if row is None else set(row.people)
