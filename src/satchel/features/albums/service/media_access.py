"""Who may see a media: its owner, and who may see the album that it is in at this moment."""

from satchel.features.albums.media_records import MEDIA, MediaRow
from satchel.features.albums.model import AlbumUnknown, MediaUnknown, OwnerId, is_media_id
from satchel.features.albums.service.album_list import Person, find_album
from satchel.features.albums.service.context import Albums
from satchel.features.albums.service.photos_context import Photos


async def has_photo(photos: Photos, owner: str, media_id: str) -> bool:
    """Whether somebody has such a photo. One in the bin is still theirs."""
    if not is_media_id(media_id):
        return False
    key = MEDIA.key(owner=owner, media_id=media_id)
    return await photos.albums.tables.get(MEDIA.table, key) is not None


async def find_visible(albums: Albums, person: Person, owner: OwnerId, media_id: str) -> MediaRow:
    """A media that somebody may see. Owners see what is in their trays, too. Missing and denied look alike."""
    media = await MEDIA.get(albums.tables, owner=owner, media_id=media_id) if is_media_id(media_id) else None
    if media is not None and (person.user_id == owner or await _may_see(albums, person, media)):
        return media
    raise MediaUnknown("This photo does not exist, or you may not see it.")


async def _may_see(albums: Albums, person: Person, media: MediaRow) -> bool:
    """A tray is no album, so nobody else sees what is in it."""
    try:
        await find_album(albums, person, media.album_id)
    except AlbumUnknown:
        return False
    return True
