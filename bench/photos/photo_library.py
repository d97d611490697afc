"""Whether a large library costs more to look at than a small one, and what it takes to move medias.

Both have the same days and albums, so that one has a hundred times as many medias in each. Requests go one at a time,
and the processor time of the server counts.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta

import httpx

from bench.figures import Figure, Sample, alone, at_least, below, compare
from bench.processes import cpu_seconds, scratch_folder
from bench.rounds import Effort, Measure, in_turn
from bench.satchel_server import PASSWORD, SatchelServer, satchel_server
from satchel.config import Settings
from satchel.features.albums.count_records import COUNT, CountRow, days_by_month, month_key, owner_days
from satchel.features.albums.media_records import LOCATION, MEDIA, TIMELINE, LocationRow, MediaDetails, MediaRow
from satchel.features.albums.model import AlbumId, Email, Folder, LocalTime, MediaId, OwnerId, media_id_of
from satchel.features.albums.records import (
    ALBUM,
    ALBUM_OWNER,
    FOLDER,
    LIBRARY,
    AlbumOwnerRow,
    AlbumRow,
    FolderRow,
    LibraryRow,
)
from satchel.features.albums.service.media_rows import timeline_row
from satchel.kernel.clock import iso, system_clock
from satchel.kernel.ids import new_id
from satchel.kernel.names import FileName
from satchel.stores.connect import open_tables
from satchel.stores.ports.table import Item

_LARGE, _QUICK_LARGE, _SMALL = 1_000_000, 100_000, 10_000
_FIRST, _DAYS, _ALBUM_DAYS = date(2005, 1, 1), 7300, 730
_AT_ONCE = 5_000
_REPEATED = 10
_ROUNDS = 10
# As the page asks at first, and the most that it may ask for.
_PAGE, _BUCKET = 400, 1000


@dataclass(frozen=True, slots=True)
class Person:
    """Whose library it is, and how many medias it has."""

    owner: OwnerId
    email: Email
    medias: int

    @property
    def album_ids(self) -> list[AlbumId]:
        return [AlbumId(f"{self.owner[:22]}{number:04}") for number in range(_DAYS // _ALBUM_DAYS)]


async def measure(effort: Effort) -> list[Figure]:
    sizes = {"large": _LARGE if effort.rounds > 2 else _QUICK_LARGE, "small": _SMALL}
    with scratch_folder() as folder:
        with satchel_server(folder) as server:
            people = {name: given_person(server, name, size) for name, size in sizes.items()}
        for person in people.values():
            await fill(server.settings, person)
        with satchel_server(folder) as server:
            clients = {name: _signed_in(server, name) for name in sizes}
            figures = [await _compared(server, clients, people, what, paths) for what, paths in _looks(people).items()]
            figures.append(await _moving(server, clients["large"]))
            for client in clients.values():
                await client.aclose()
    return figures


def _looks(people: Mapping[str, Person]) -> dict[str, dict[str, list[str]]]:
    """What is asked for, by what it is and in which library."""
    early = f"/photos?from={_FIRST}&to={_FIRST + timedelta(days=_DAYS // 2)}&limit={_BUCKET}"
    album = {name: person.album_ids[-1] for name, person in people.items()}
    return {
        "the timeline at first sight": {key: ["/photos/days", f"/photos?limit={_PAGE}"] for key in people},
        "an album at first sight": {
            name: [f"/albums/{album[name]}", f"/albums/{album[name]}/medias?limit={_BUCKET}"] for name in people
        },
        f"{_BUCKET:,} photos of the timeline": {key: [early] for key in people},
    }


async def _compared(
    server: SatchelServer,
    clients: Mapping[str, httpx.AsyncClient],
    people: Mapping[str, Person],
    what: str,
    paths: Mapping[str, list[str]],
) -> Figure:
    contestants = {name: _looking(server, client, paths[name]) for name, client in clients.items()}
    for contestant in contestants.values():
        await contestant()
    return compare(
        f"{what}, of {people['large'].medias:,}",
        "times per CPU second",
        await in_turn(f"photos, {what}", _ROUNDS, contestants),
        ours="large",
        peer="small",
        target=at_least(1 / 1.5),
        note=f"beside it the same of {_SMALL:,} photos on as many days ({_DAYS:,}) and in as many albums.",
    )


def _looking(server: SatchelServer, client: httpx.AsyncClient, paths: list[str]) -> Measure:
    async def run() -> Sample:
        before = cpu_seconds(server.pid)
        for _ in range(_REPEATED):
            for path in paths:
                (await client.get(f"/api/v1{path}")).raise_for_status()
        return Sample(_REPEATED, cpu_seconds(server.pid) - before)

    return run


async def _moving(server: SatchelServer, client: httpx.AsyncClient) -> Figure:
    """Let an album have 73 days instead of one, and one instead of 73."""
    taken: list[float] = []
    start = _FIRST + timedelta(days=100)
    short, long = (f"{start + timedelta(days=days)}" for days in (1, 74))
    body = {"name": "Trip", "start": f"{start}", "end": short}
    album = (await client.post("/api/v1/albums", json=body)).raise_for_status().json()["album"]
    moved = 0
    for _ in range(3):
        for end in (long, short):
            before = cpu_seconds(server.pid)
            answer = await client.patch(f"/api/v1/albums/{album['album_id']}", json={"end": end})
            moved = answer.raise_for_status().json()["act"]["moved"]
            taken.append(cpu_seconds(server.pid) - before)
    return alone(f"processor time of moving {moved:,} medias by other dates", "s", taken, target=below(3.0))


def given_person(server: SatchelServer, name: str, medias: int) -> Person:
    bearer = {"authorization": f"Bearer {server.sign_up(email_of(name))}"}
    who = httpx.get(f"{server.url}/api/v1/whoami", headers=bearer).raise_for_status().json()
    return Person(OwnerId(who["id"]), email_of(name), medias)


def _signed_in(server: SatchelServer, name: str) -> httpx.AsyncClient:
    body = {"email": email_of(name), "password": PASSWORD}
    answer = httpx.post(f"{server.url}/api/v1/sessions", json=body, timeout=30).raise_for_status()
    token = answer.json()["tokens"]["access_token"]
    return httpx.AsyncClient(base_url=server.url, headers={"authorization": f"Bearer {token}"}, timeout=120)


def email_of(name: str) -> Email:
    return Email(f"{name}@example.org")


async def fill(settings: Settings, person: Person) -> None:
    """Straight into the table, while no server has it open: uploading so many would take a day."""
    tables = await open_tables(settings, system_clock)
    try:
        items: list[Item] = list(_albums(person))
        for item in _medias(person):
            items.append(item)
            if len(items) >= _AT_ONCE:
                await tables.write_many(MEDIA.table, put=items)
                items = []
        await tables.write_many(MEDIA.table, put=items)
    finally:
        await tables.close()


def _albums(person: Person) -> Iterator[Item]:
    now, owner = iso(system_clock()), person.owner
    yield LIBRARY.item(LibraryRow(owner=owner, email=person.email, version=1, albums=len(person.album_ids)))
    for number, album_id in enumerate(person.album_ids):
        start = _FIRST + timedelta(days=number * _ALBUM_DAYS)
        folder = Folder(f"/years-{number}")
        row = AlbumRow(
            owner=owner,
            album_id=album_id,
            name=f"Years {number}",
            folder=folder,
            start=LocalTime(f"{start}T00:00:00"),
            end=LocalTime(f"{start + timedelta(days=_ALBUM_DAYS)}T00:00:00"),
            created_at=now,
        )
        yield ALBUM.item(row)
        yield ALBUM_OWNER.item(AlbumOwnerRow(album_id=album_id, owner=owner))
        yield FOLDER.item(FolderRow(owner=owner, folder=folder, album_id=album_id))
        count = person.medias * _ALBUM_DAYS // _DAYS
        yield COUNT.item(
            CountRow(email=person.email, availability="OWNED", owner=owner, album_id=album_id, count=count)
        )


def _medias(person: Person) -> Iterator[Item]:
    """They follow each other in equal distances."""
    days = Counter[str]()
    for number in range(person.medias):
        seconds = number * _DAYS * 86400 // person.medias
        media = _media(person, number, seconds)
        day = media.local_time[:10]
        # As photos come, so that months lie as far from each other.
        if days and day[:7] != next(iter(days))[:7]:
            yield from _months(person, days)
            days.clear()
        days[day] += 1
        yield MEDIA.item(media)
        yield TIMELINE.item(timeline_row(media))
        prefix, _, location_id = media.key.rpartition("/")
        yield LOCATION.item(
            LocationRow(
                owner=media.owner,
                media_id=media.media_id,
                prefix=prefix,
                location_id=location_id,
                key=media.key,
                size_bytes=media.size_bytes,
                stored_at=media.added_at,
            )
        )
    yield from _months(person, days)


def _months(person: Person, days: Counter[str]) -> Iterator[Item]:
    for month, counts in days_by_month(days).items():
        yield month_key(owner_days(person.owner), month) | counts


def _media(person: Person, number: int, seconds: int) -> MediaRow:
    days, second = divmod(seconds, 86400)
    moment = f"{_FIRST + timedelta(days=days)}T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}.000"
    sha256 = hashlib.sha256(f"{person.owner} {number}".encode()).hexdigest()
    return MediaRow(
        owner=person.owner,
        media_id=MediaId(media_id_of(sha256, 2_700_000)),
        album_id=person.album_ids[days // _ALBUM_DAYS],
        type="IMAGE",
        local_time=LocalTime(moment),
        time_source="exif",
        zone_source="offset",
        name=FileName(f"IMG_{number % 10_000:04}.JPG"),
        content_type="image/jpeg",
        size_bytes=2_700_000,
        sha256=sha256,
        key=f"photo/{person.owner}/{moment[:4]}/{sha256}.{new_id(system_clock)}",
        details=MediaDetails(width=4000, height=3000, make="Canon", model="Canon EOS R5", iso=100),
        added_at="2026-01-01T00:00:00.000Z",
        ratio=1333,
        thumbhash=bytes.fromhex("1507121d027f6758887a7777707f7f8777788887"),
        picture="1",
    )
