"""The albums of an owner at one version: find the album of a date, and what keeps counts right."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from satchel.features.albums.album_timeline import Timeline
from satchel.features.albums.count_records import COUNT, CountRow, album_days, count_days
from satchel.features.albums.media_records import MediaRow
from satchel.features.albums.model import (
    BIN,
    TRAYS,
    UNDATED,
    Album,
    AlbumId,
    AlbumUnknown,
    Availability,
    Email,
    LocalTime,
    OwnerId,
)
from satchel.features.albums.records import LIBRARY, AlbumRow, LibraryRow
from satchel.stores.ports.expressions import add, assign, attr
from satchel.stores.ports.table import Check, Item, Update, Write

# An album or a tray, and a day; no day for what is undated.
Place = tuple[AlbumId, str]


@dataclass(frozen=True, slots=True)
class Library:
    """The albums of an owner at one version. Those that are leaving are not on the timeline."""

    row: LibraryRow
    albums: Mapping[AlbumId, AlbumRow]
    timeline: Timeline

    @property
    def owner(self) -> OwnerId:
        return self.row.owner

    def album(self, album_id: AlbumId) -> AlbumRow:
        found = self.albums.get(album_id)
        if found is None or found.leaving:
            raise AlbumUnknown("This album does not exist.")
        return found

    def has(self, album_id: AlbumId) -> bool:
        found = self.albums.get(album_id)
        return found is not None and not found.leaving

    def home(self, local_time: LocalTime, pinned: AlbumId, *, deleted: bool = False) -> AlbumId | None:
        """Where a media belongs. None if it has a date that no album covers."""
        if deleted:
            return BIN
        if pinned and self.has(pinned):
            return pinned
        return self.timeline.home(local_time) if local_time else UNDATED

    def home_of(self, item: Item) -> AlbumId | None:
        """The same of a stored media, without reading all of its attributes."""
        return self.home(item.get("DateTime", LocalTime("")), item.get("Pinned", ""), deleted="DeletedAt" in item)

    def unchanged(self) -> Check:
        """Lets a transaction happen only if no album has changed since."""
        return Check(LIBRARY.table, LIBRARY.key(owner=self.owner), attr("Version") == self.row.version)

    def changed(self, *, albums: int = 0) -> Update:
        """Lets a transaction change an album, on the same condition. `albums` is how many there are more."""
        actions = [add("Version", 1), add("Albums", albums)] if albums else [add("Version", 1)]
        return LIBRARY.update(actions, when=attr("Version") == self.row.version, owner=self.owner)

    def counted(self, changes: Mapping[Place, int]) -> list[Write]:
        """What keeps the counts right when this many medias come into, or leave, these places."""
        totals = Counter[AlbumId]()
        for (album_id, _), amount in changes.items():
            totals[album_id] += amount
        touched = {album_id for (album_id, _), amount in changes.items() if amount}
        counts = [
            _count(row, totals[album_id])
            for album_id in sorted(touched)
            for row in self.counts_of(album_id)
            if totals[album_id] or row.availability == "OWNED"
        ]
        return [*counts, *self._counted_days(changes)]

    def _counted_days(self, changes: Mapping[Place, int]) -> list[Update]:
        kept: defaultdict[str, dict[str, int]] = defaultdict(dict)
        for (album_id, day), amount in sorted(changes.items()):
            if day and (partition := self.kept_days(album_id)):
                kept[partition][day] = amount
        return [write for partition, days in kept.items() for write in count_days(partition, days)]

    def kept_days(self, album_id: AlbumId) -> str | None:
        """The partition that has the days of this album. None if they are not counted."""
        found = self.albums.get(album_id)
        return album_days(self.owner, album_id, found.days) if found is not None and found.days else None

    def counts_of(self, album_id: AlbumId) -> list[CountRow]:
        """A row for everybody who sees an album, without the number. Nobody but the owner sees a tray."""
        found = self.albums.get(album_id)
        if found is not None:
            return self.count_rows(album_id, found.people)
        return self.count_rows(album_id, ()) if album_id in TRAYS else []

    def count_rows(self, album_id: AlbumId, people: Iterable[Email]) -> list[CountRow]:
        seeing: list[tuple[Email, Availability]] = [(self.row.email, "OWNED"), *((each, "VISITOR") for each in people)]
        return [
            CountRow(email=email, availability=availability, owner=self.owner, album_id=album_id)
            for email, availability in seeing
        ]


def plain(row: AlbumRow) -> Album:
    """What decides about medias."""
    return Album(album_id=row.album_id, name=row.name, start=row.start, end=row.end)


def count_key(row: CountRow) -> dict[str, str]:
    return COUNT.key(email=row.email, availability=row.availability, owner=row.owner, album_id=row.album_id)


def place_of(media: MediaRow) -> Place:
    return media.album_id, media.local_time[:10]


def place_in(item: Item) -> Place:
    """The same of a stored media."""
    return AlbumId(item["AlbumId"]), item.get("DateTime", "")[:10]


def _count(row: CountRow, amount: int) -> Update:
    """The row was written when the person got the album. If it is missing, it is made readable at least."""
    known = {name: value for name, value in COUNT.item(row).items() if name not in COUNT.table.key_names}
    made_readable = [assign(name, value, only_if_absent=True) for name, value in known.items()]
    changed = [add("Changes", 1)] if row.availability == "OWNED" else []
    return Update(COUNT.table, count_key(row), [add("Count", amount), *changed, *made_readable])
