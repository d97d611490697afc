"""Share an album by e-mail, with or without an account yet; list, stop sharing, leave."""

from dataclasses import dataclass

import msgspec

from satchel.features.albums.count_records import COUNT, CountRow
from satchel.features.albums.limits import MAX_PEOPLE
from satchel.features.albums.model import (
    ROLES,
    AlbumId,
    AlbumUnknown,
    Email,
    OwnerId,
    Role,
    TooManyPeople,
    is_album_id,
    scope_of,
)
from satchel.features.albums.records import ALBUM, ALBUM_OWNER
from satchel.features.albums.service.album_change import Owner
from satchel.features.albums.service.album_notify import tell_album
from satchel.features.albums.service.context import Albums
from satchel.features.albums.service.library import find_own, open_library, read_library
from satchel.features.albums.service.library_state import Library, count_key
from satchel.kernel.unfit import ChoiceUnfit
from satchel.stores.patterns.optimistic_update import optimistic_update
from satchel.stores.ports.expressions import attr
from satchel.stores.ports.table import Check, Delete, Write


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """Somebody who sees an album. No name if the address has no account."""

    email: Email
    role: Role
    name: str | None
    granted_at: str


async def share(albums: Albums, owner: Owner, album_id: AlbumId, written: str, role: Role) -> Share:
    """Let somebody see an album, or add to it. Repeated, it changes the role."""
    email = Email(albums.grants.address(written))
    if email == owner.email:
        raise ChoiceUnfit("This album is yours already. Enter somebody else's address.", field="email")
    await albums.limits.shares.count(owner.owner)
    await _share(albums, owner, album_id, email, role)
    await tell_album(albums, owner.owner, album_id)
    return (await _shown(albums, owner.owner, album_id, {email: role}))[0]


@optimistic_update()
async def _share(albums: Albums, owner: Owner, album_id: AlbumId, email: Email, role: Role) -> None:
    library = await open_library(albums, owner.owner, owner.email)
    album = library.album(album_id)
    known = album.people.get(email)
    if known == role and await albums.grants.has(owner.owner, email, [scope_of(role)], album_id):
        return
    if known is None and len(album.people) >= MAX_PEOPLE:
        raise TooManyPeople(f"An album can be shared with {MAX_PEOPLE} people.", at_most=MAX_PEOPLE)
    shared = msgspec.structs.replace(album, people={**album.people, email: role})
    others = [
        albums.grants.delete(owner.owner, email, scope_of(each), album_id) for each in ROLES if each != role and known
    ]
    counted = await _counted(albums, library, album_id, email) if known is None else []
    await albums.tables.transact(
        [
            library.changed(),
            ALBUM.put(shared, when=attr("PK").exists()),
            albums.grants.put(owner.owner, email, scope_of(role), album_id, album.name),
            *others,
            *counted,
        ]
    )


async def revoke(albums: Albums, owner: Owner, album_id: AlbumId, written: str) -> None:
    """Stop sharing an album with somebody. If it never was, that looks the same."""
    await find_own(albums, owner.owner, album_id)
    await remove_person(albums, owner.owner, album_id, Email(albums.grants.address(written)))


async def leave(albums: Albums, email: Email, album_id: str) -> None:
    """Give up seeing an album of somebody else."""
    found = await ALBUM_OWNER.get(albums.tables, album_id=album_id) if is_album_id(album_id) else None
    row = None if found is None else await ALBUM.get(albums.tables, owner=found.owner, album_id=found.album_id)
    if row is None or row.leaving or email not in row.people:
        raise AlbumUnknown("This album is not shared with you.")
    await remove_person(albums, row.owner, row.album_id, email)


async def remove_person(albums: Albums, owner: OwnerId, album_id: AlbumId, email: Email) -> None:
    """Take away the grant, the count, and the name on the album's list."""
    await _remove_person(albums, owner, album_id, email)
    await tell_album(albums, owner, album_id, [email])


@optimistic_update()
async def _remove_person(albums: Albums, owner: OwnerId, album_id: AlbumId, email: Email) -> None:
    library = await read_library(albums, owner)
    album = library.album(album_id)
    left = {each: role for each, role in album.people.items() if each != email}
    gone = CountRow(email=email, availability="VISITOR", owner=owner, album_id=album_id)
    await albums.tables.transact(
        [
            library.changed(),
            ALBUM.put(msgspec.structs.replace(album, people=left), when=attr("PK").exists()),
            *(albums.grants.delete(owner, email, scope_of(role), album_id) for role in ROLES),
            Delete(COUNT.table, count_key(gone)),
        ]
    )


async def list_shares(albums: Albums, owner: OwnerId, album_id: AlbumId) -> list[Share]:
    """Who sees an album besides its owner."""
    row = await find_own(albums, owner, album_id)
    return await _shown(albums, owner, album_id, row.people)


async def _shown(albums: Albums, owner: OwnerId, album_id: AlbumId, people: dict[Email, Role]) -> list[Share]:
    grants = await albums.grants.of_thing(owner, [scope_of(role) for role in ROLES], album_id)
    granted = {each.granted_to: each.granted_at for each in grants if each.resource_id == album_id}
    found: list[Share] = []
    for email, role in people.items():
        person = await albums.people.by_email(email)
        name = None if person is None else person.name
        # An index may lag behind: who was added just now was added now.
        found.append(Share(email=email, role=role, name=name, granted_at=granted.get(email) or albums.now()))
    return sorted(found, key=lambda each: (each.granted_at, each.email))


async def _counted(albums: Albums, library: Library, album_id: AlbumId, email: Email) -> list[Write]:
    """A count for a newcomer, if the owner's is still the same."""
    (owners,) = library.count_rows(album_id, ())
    item = await albums.tables.get(COUNT.table, count_key(owners))
    number: int = 0 if item is None else item.get("Count", 0)
    same = attr("Count") == number if number else (attr("Count").absent() | (attr("Count") == 0))
    new = CountRow(email=email, availability="VISITOR", owner=library.owner, album_id=album_id, count=number)
    return [Check(COUNT.table, count_key(owners), same), COUNT.put(new)]
