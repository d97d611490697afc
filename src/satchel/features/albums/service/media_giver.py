"""Who added a photo to an album of somebody else, and how they take it back."""

from dataclasses import dataclass
from typing import Literal

from satchel.features.albums.media_records import MediaRow
from satchel.features.albums.model import AlbumUnknown, MediaUnknown, OwnerId
from satchel.features.albums.service.album_list import Person, find_album
from satchel.features.albums.service.context import Albums
from satchel.features.albums.service.media_access import find_visible
from satchel.features.albums.service.media_bin import delete_media
from satchel.kernel.departure import DELETED_PERSON

# Before the name that a visitor of a link has given. No e-mail address begins so.
_BY_LINK = "by link"


@dataclass(frozen=True, slots=True)
class Giver:
    """Somebody with an account, who may have deleted it, or a guest by a link. Guests say what they are called."""

    kind: Literal["person", "guest", "deleted"]
    name: str


def by_link(name: str) -> str:
    """What is stored of a visitor of a link."""
    return f"{_BY_LINK} {name}".rstrip()


async def giver_of(albums: Albums, media: MediaRow) -> Giver | None:
    """None if it was the owner."""
    added_by = media.added_by
    if not added_by:
        return None
    if added_by == DELETED_PERSON:
        return Giver("deleted", "")
    person = None if added_by.startswith(_BY_LINK) else await albums.people.by_email(added_by)
    if person is not None:
        return Giver("person", person.name)
    return Giver("guest", added_by.removeprefix(_BY_LINK).strip())


async def may_take_back(albums: Albums, person: Person, media: MediaRow) -> bool:
    """Whoever added it may, while they may add to the album that it is in."""
    if media.owner == person.user_id or media.added_by != person.email:
        return False
    try:
        _, part = await find_album(albums, person, media.album_id)
    except AlbumUnknown:
        return False
    return part == "contributor"


async def take_back(albums: Albums, person: Person, owner: OwnerId, media_id: str) -> None:
    """Move a photo that somebody has added into the bin of its owner, who can restore it."""
    media = await find_visible(albums, person, owner, media_id)
    if not await may_take_back(albums, person, media):
        raise MediaUnknown("This photo is not yours, and you have not added it.")
    await delete_media(albums, owner, media_id)
