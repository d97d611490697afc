"""Find counts and grants of a library that have drifted from what they count, and repair them.

Counts change in the transactions of the medias that they count, so nothing is expected to be found.
"""

from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import reduce
from typing import Literal

import msgspec

from satchel.features.albums.count_records import (
    COUNT,
    MONTH,
    CountRow,
    day_name,
    month_key,
    month_of,
    owner_days,
    still,
)
from satchel.features.albums.model import (
    BIN,
    TRAYS,
    AlbumId,
    Availability,
    Email,
    OwnerId,
    scope_of,
)
from satchel.features.albums.service.album_census import take_census
from satchel.features.albums.service.album_days import kept_days, recount_days
from satchel.features.albums.service.album_share import remove_person
from satchel.features.albums.service.context import Albums
from satchel.features.albums.service.day_counts import read_days
from satchel.features.albums.service.library import read_library
from satchel.features.albums.service.library_state import Library, count_key
from satchel.features.albums.service.photo_quota import right_usage, stored_usage
from satchel.stores.ports.expressions import And, assign, attr
from satchel.stores.ports.table import Delete, Put, TransactionCancelled, Update, Write

DriftKind = Literal["missing", "wrong", "unexpected", "grant-missing", "grant-unexpected", "bytes", "days", "timeline"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """What is wrong for one person and one album. It is not `repaired` if it has changed meanwhile."""

    kind: DriftKind
    album_id: AlbumId
    email: Email
    stored: int = 0
    counted: int = 0
    repaired: bool = False


async def check_library(albums: Albums, owner: OwnerId, *, repair: bool) -> list[Drift]:
    """Count all medias of an owner, and compare. On DynamoDB an index may lag: run it when nobody uploads.

    Who is on an album's list and has lost the grant was revoked elsewhere, so they are taken off the list.
    """
    library = await read_library(albums, owner)
    found: list[Drift] = []
    async for drift, fix in _drifts(albums, library):
        repaired = False
        if repair and fix is not None:
            # What has changed since may be right by now.
            with suppress(TransactionCancelled):
                await albums.tables.transact([library.unchanged(), fix])
                repaired = True
        elif repair and drift.kind == "days":
            await recount_days(albums, owner, drift.album_id)
            repaired = True
        elif repair:
            await remove_person(albums, owner, drift.album_id, drift.email)
            repaired = True
        found.append(replace(drift, repaired=repaired))
    return found


async def _drifts(albums: Albums, library: Library) -> AsyncIterator[tuple[Drift, Write | None]]:
    emails = {library.row.email, *(email for album in library.albums.values() for email in album.people)}
    grants = await albums.grants.of_owner(library.owner, "album:")
    emails |= {Email(each.granted_to) for each in grants}
    stored = {_place(row): row for email in sorted(emails) for row in await _stored(albums, library, email)}
    # Before the medias: whoever adds one meanwhile changes them, and the repair finds that.
    usage = await stored_usage(albums, library.owner)
    timeline = await read_days(albums, owner_days(library.owner))
    shown = Counter[str]()
    files = size_bytes = 0
    drifted: list[Drift] = []
    for album_id in (*library.albums, *TRAYS):
        expected = library.counts_of(album_id)
        census = await take_census(albums, library.owner, album_id)
        number = census.medias
        shown += census.days if album_id != BIN else Counter()
        files, size_bytes = files + census.files, size_bytes + census.size_bytes
        found = library.albums.get(album_id)
        if found is not None and found.days and (kept := await kept_days(albums, found)) != census.days:
            drifted.append(
                Drift(
                    kind="days",
                    album_id=album_id,
                    email=library.row.email,
                    stored=sum(kept.values()),
                    counted=census.days.total(),
                )
            )
        for row in expected:
            known = stored.pop(_place(row), None)
            changes = 0 if known is None else known.changes + 1
            right = msgspec.structs.replace(row, count=number, changes=changes)
            if known is None and (number or album_id not in TRAYS):
                drift = Drift(kind="missing", album_id=album_id, email=row.email, counted=number)
                yield drift, COUNT.put(right, when=attr("PK").absent())
            elif known is not None and known.count != number:
                drift = Drift(kind="wrong", album_id=album_id, email=row.email, stored=known.count, counted=number)
                yield drift, Put(COUNT.table, COUNT.item(right), still("Count", known.count))
    if (usage.files, usage.used_bytes) != (files, size_bytes):
        drift = Drift(
            kind="bytes", album_id=AlbumId(""), email=library.row.email, stored=usage.used_bytes, counted=size_bytes
        )
        yield drift, right_usage(usage, files, size_bytes)
    for drift, fix in _timeline_drifts(library, timeline, shown):
        yield drift, fix
    for row in stored.values():
        drift = Drift(kind="unexpected", album_id=row.album_id, email=row.email, stored=row.count)
        yield drift, Delete(COUNT.table, count_key(row))
    granted = {(Email(each.granted_to), each.type, AlbumId(each.resource_id)) for each in grants}
    wanted = {
        (email, scope_of(role), album.album_id)
        for album in library.albums.values()
        for email, role in album.people.items()
    }
    for email, scope, album_id in sorted(granted - wanted):
        drift = Drift(kind="grant-unexpected", album_id=album_id, email=email)
        yield drift, albums.grants.delete(library.owner, email, scope, album_id)
    # These change the version of the library, so they come last.
    for drift in drifted:
        yield drift, None
    for email, _, album_id in sorted(wanted - granted):
        yield Drift(kind="grant-missing", album_id=album_id, email=email), None


def _timeline_drifts(
    library: Library, stored: Mapping[str, int], counted: Mapping[str, int]
) -> Iterator[tuple[Drift, Write]]:
    """One for each month of which a day is wrong."""
    wrong = {day for day in {*stored, *counted} if stored.get(day, 0) != counted.get(day, 0)}
    for month in sorted({month_of(day) for day in wrong}):
        days = sorted(day for day in wrong if month_of(day) == month)
        known, right = ([counts.get(day, 0) for day in days] for counts in (stored, counted))
        as_read = reduce(And, (still(day_name(day), count) for day, count in zip(days, known, strict=True)))
        actions = [assign(day_name(day), count) for day, count in zip(days, right, strict=True)]
        key = month_key(owner_days(library.owner), month)
        drift = Drift(
            kind="timeline", album_id=AlbumId(""), email=library.row.email, stored=sum(known), counted=sum(right)
        )
        yield drift, Update(MONTH.table, key, actions, as_read)


async def _stored(albums: Albums, library: Library, email: Email) -> list[CountRow]:
    """What is stored for one person of this library."""
    kind: Availability = "OWNED" if email == library.row.email else "VISITOR"
    found: list[CountRow] = []
    cursor: str | None = None
    while True:
        page = await COUNT.list(
            albums.tables, email=email, availability=kind, owner=library.owner, limit=1000, cursor=cursor
        )
        found += page.records
        if (cursor := page.cursor) is None:
            return found


def _place(row: CountRow) -> tuple[str, str, str]:
    return row.email, row.availability, row.album_id
