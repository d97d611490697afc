"""A library on one of the table stores: medias in it, and a check that every media and every count is right."""

import hashlib
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, cast

import msgspec
import pytest

from satchel.features.accounts.adapters import ScopeGrants
from satchel.features.albums.album_timeline import ranked
from satchel.features.albums.count_records import COUNT, count_days, owner_days
from satchel.features.albums.limits import AlbumLimits
from satchel.features.albums.media_records import MEDIA, MediaDetails, MediaRow
from satchel.features.albums.model import (
    UNDATED,
    AlbumId,
    Email,
    LocalTime,
    MediaId,
    OwnerId,
    media_id_of,
    scope_of,
)
from satchel.features.albums.needs import Person
from satchel.features.albums.records import ALBUM, AlbumRow
from satchel.features.albums.service.album_change import Acted, NewAlbum, Owner, create_album
from satchel.features.albums.service.context import Albums
from satchel.features.albums.service.count_check import check_library
from satchel.features.albums.service.library import read_library
from satchel.features.albums.service.library_state import count_key, place_of, plain
from satchel.features.albums.service.media_home import library_covering
from satchel.features.albums.service.media_rows import days_of, locate
from satchel.features.albums.service.photo_quota import transact_counted
from satchel.features.links.adapters import OpenLinks
from satchel.kernel.events import Events
from satchel.kernel.names import FileName
from satchel.stores.connect import bulk_of
from satchel.stores.embedded.ephemeral_memory import MemoryEphemeral
from satchel.stores.patterns.optimistic_update import optimistic_update
from satchel.stores.ports.bulk import BulkWrites
from satchel.stores.ports.table import Tables
from satchel.tables import CATALOG, USER_TRANSFERS
from tests.application import Caller, Satchel
from tests.stores.harnesses_table import HARNESSES, TRANSACTS_A_HUNDRED, Make

ANN = Owner(OwnerId("ann"), Email("ann@example.org"))
BOB = Email("bob@example.org")
# DynamoDB Local is of 2020.
_FEW_WRITES = 10
on_both_stores = pytest.mark.parametrize("make", HARNESSES)


class Killed(Exception):
    """The server dies."""


class Nobody:
    """Where nobody has an account."""

    async def by_id(self, user_id: str) -> Person | None:
        del user_id

    async def by_email(self, email: str) -> Person | None:
        del email


@dataclass
class Given:
    """A library, which is Ann's if nobody else is named."""

    albums: Albums
    owner: Owner = ANN
    medias: dict[MediaId, LocalTime] = field(default_factory=dict[MediaId, LocalTime])
    # What the camera of those that are added next has written.
    details: MediaDetails = field(default_factory=MediaDetails)

    async def add(self, *times: str, pinned: str = "", albums: Albums | None = None) -> list[MediaId]:
        """Store medias as an upload does."""
        rows = [self._row(LocalTime(time), pinned) for time in times]
        size = 1 if self.albums.most_writes == _FEW_WRITES else 40
        for start in range(0, len(rows), size):
            await store(albums or self.albums, self.owner, rows[start : start + size])
        self.medias |= {row.media_id: row.local_time for row in rows}
        return [row.media_id for row in rows]

    def _row(self, time: LocalTime, pinned: str) -> MediaRow:
        sha256 = hashlib.sha256(f"{len(self.medias)} {time}".encode()).hexdigest()
        self.medias[media_id_of(sha256, 1000)] = time
        return MediaRow(
            owner=self.owner.owner,
            media_id=media_id_of(sha256, 1000),
            album_id=AlbumId(""),
            type="IMAGE",
            local_time=time,
            name=FileName("IMG_0001.JPG"),
            content_type="image/jpeg",
            size_bytes=1000,
            sha256=sha256,
            key=f"photo/{self.owner.owner}/{time[:4] or 'undated'}/{sha256}.made",
            added_at=self.albums.now(),
            pinned=AlbumId(pinned),
            details=self.details,
        )

    async def create(self, name: str, start: str, end: str, **more: Any) -> AlbumRow:
        return album_of(await create_album(self.albums, self.owner, NewAlbum(name=name, start=start, end=end, **more)))

    async def share_with(self, album_id: AlbumId, emails: Sequence[str]) -> None:
        """Share an album with many people at once: one by one would take long."""
        library = await read_library(self.albums, self.owner.owner)
        people = [Email(email) for email in emails]
        owned, *counts = library.count_rows(album_id, people)
        known = await self.albums.tables.get(COUNT.table, count_key(owned))
        number = 0 if known is None else known.get("Count", 0)
        grants = [self.albums.grants.put(library.owner, email, scope_of("visitor"), album_id, "") for email in people]
        row = msgspec.structs.replace(library.album(album_id), people=dict.fromkeys(people, "visitor"))
        await self.albums.tables.transact(
            [
                library.changed(),
                ALBUM.put(row),
                *grants,
                *(COUNT.put(msgspec.structs.replace(each, count=number)) for each in counts),
            ]
        )

    async def where(self) -> dict[MediaId, AlbumId]:
        """The album of every media."""
        keys = [MEDIA.key(owner=self.owner.owner, media_id=media_id) for media_id in self.medias]
        items = await self.albums.tables.get_many(MEDIA.table, keys)
        return {MediaId(item["Id"]): AlbumId(item["AlbumId"]) for item in items if item is not None}

    async def names(self) -> list[str]:
        """The names of the albums of all medias, in the order of these."""
        library = await read_library(self.albums, self.owner.owner)
        places = await self.where()
        return [library.albums[place].name if place in library.albums else place for place in places.values()]

    async def check(self) -> None:
        """Every media is where its pin or date says, by the rule as it is told, and every count is right."""
        library = await read_library(self.albums, self.owner.owner)
        order = ranked(plain(row) for row in library.albums.values())
        assert not any(row.leaving for row in library.albums.values())
        assert library.row.albums == len(library.albums)
        keys = [MEDIA.key(owner=self.owner.owner, media_id=media_id) for media_id in self.medias]
        found = [item for item in await self.albums.tables.get_many(MEDIA.table, keys) if item is not None]
        assert len(found) == len(self.medias)
        for row in map(MEDIA.read, found):
            homes = [album.album_id for album in order if album.start <= row.local_time < album.end]
            expected = row.pinned or (homes[0] if row.local_time else UNDATED)
            assert row.album_id == expected, (row.local_time, row.album_id, expected)
        assert await check_library(self.albums, self.owner.owner, repair=False) == []


@optimistic_update()
@optimistic_update()
async def store(albums: Albums, owner: Owner, rows: Sequence[MediaRow]) -> None:
    library = await library_covering(albums, owner.owner, owner.email, [row.local_time for row in rows])
    homes = [library.home(row.local_time, row.pinned) for row in rows]
    assert None not in homes
    puts = [msgspec.structs.replace(row, album_id=cast("AlbumId", home)) for row, home in zip(rows, homes, strict=True)]
    counted = [*library.counted(Counter(map(place_of, puts))), *count_days(owner_days(owner.owner), days_of(rows))]
    located = [locate(row.media_id, row.owner, row.key, row.size_bytes, row.added_at) for row in rows]
    await transact_counted(
        albums,
        owner.owner,
        [library.unchanged(), *map(MEDIA.put, puts), *located, *counted],
        files=len(rows),
        size_bytes=sum(row.size_bytes for row in rows),
    )


def album_of(acted: Acted) -> AlbumRow:
    assert acted.album is not None
    return acted.album


def days(month: str, numbers: Iterable[int]) -> list[str]:
    """A media at noon of each of these days."""
    return [f"{month}-{number:02}T12:00:00.000" for number in numbers]


def library_of(satchel: Satchel, caller: Caller, email: str) -> Given:
    """The library of somebody who has an account, beside the routes."""
    stores, clock = satchel.stores, satchel.clock
    albums = Albums(
        tables=stores.tables,
        bulk=stores.bulk,
        ephemeral=stores.ephemeral,
        clock=clock,
        grants=ScopeGrants(stores.tables, clock),
        people=Nobody(),
        links=OpenLinks(stores.tables, clock),
        limits=AlbumLimits(stores.ephemeral),
        events=Events(),
        outbox=cast("Any", None),
    )
    return Given(albums, Owner(OwnerId(caller.user_id), Email(email)))


@asynccontextmanager
async def given_library(make: Make, request: pytest.FixtureRequest, *, bulk: bool) -> AsyncGenerator[Given]:
    harness = make(request)
    tables = await harness.open()
    await tables.create(CATALOG, USER_TRANSFERS)
    ephemeral = await MemoryEphemeral.open(clock=harness.clock)
    albums = Albums(
        tables=tables,
        bulk=bulk_of(tables) if bulk else None,
        ephemeral=ephemeral,
        clock=harness.clock,
        grants=ScopeGrants(tables, harness.clock),
        people=Nobody(),
        links=OpenLinks(tables, harness.clock),
        limits=AlbumLimits(ephemeral),
        events=Events(),
        outbox=cast("Any", None),
        most_writes=100 if TRANSACTS_A_HUNDRED in harness.promises else _FEW_WRITES,
    )
    try:
        yield Given(albums)
    finally:
        await ephemeral.close()
        await harness.close()


@dataclass
class Meddling:
    """Does something just before or just after the n-th call of the tables that it wraps, and counts them."""

    number: int
    meddle: Callable[[], Awaitable[object]]
    afterwards: bool = False
    calls: int = 0

    async def around(self, call: Callable[..., Awaitable[Any]], *positional: Any, **named: Any) -> Any:
        self.calls += 1
        is_it = self.calls == self.number
        if is_it and not self.afterwards:
            await self.meddle()
        answer = await call(*positional, **named)
        if is_it and self.afterwards:
            await self.meddle()
        return answer

    def albums(self, albums: Albums) -> Albums:
        """The same library on another server."""
        bulk = None if albums.bulk is None else cast("BulkWrites", _Meddled(albums.bulk, self))
        return replace(
            albums, tables=cast("Tables", _Meddled(albums.tables, self)), bulk=bulk, libraries={}, censuses={}
        )


class _Meddled:
    def __init__(self, store: Any, meddling: Meddling) -> None:
        self._store = store
        self._meddling = meddling

    def __getattr__(self, name: str) -> Any:
        return partial(self._meddling.around, getattr(self._store, name))


async def kill() -> None:
    raise Killed
