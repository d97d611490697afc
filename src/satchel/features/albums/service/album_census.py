"""Counts the medias of an album by reading all of them: what counts that are kept are compared with, or begin with."""

from collections import Counter
from dataclasses import dataclass, field

from satchel.features.albums.model import BEGINNING, END, AlbumId, OwnerId
from satchel.features.albums.records import Source
from satchel.features.albums.service.context import Albums
from satchel.features.albums.service.library_state import place_in
from satchel.features.albums.service.media_moves import pages_of


@dataclass(slots=True)
class Census:
    """How many medias there are, their files and bytes, and how many of each day. What is undated has no day."""

    medias: int = 0
    files: int = 0
    size_bytes: int = 0
    days: Counter[str] = field(default_factory=Counter[str])


async def take_census(albums: Albums, owner: OwnerId, *album_ids: AlbumId) -> Census:
    """All medias of these albums and trays."""
    census = Census()
    for album_id in album_ids:
        async for items in pages_of(albums, owner, Source(album_id, BEGINNING, END)):
            for item in items:
                sizes = [item["SignatureSize"], *(part["SizeBytes"] for part in item.get("Parts", ()))]
                census.medias += 1
                census.files += len(sizes)
                census.size_bytes += sum(sizes)
                if day := place_in(item)[1]:
                    census.days[day] += 1
    return census
