"""Has the pictures of a whole album made as soon as one of them is missing: whoever looks at one looks at the next."""

from datetime import timedelta

from satchel.features.albums.media_records import MEDIA, MediaRow, pictured
from satchel.features.albums.records import WARMED
from satchel.features.albums.service.media_bin import list_tray
from satchel.features.albums.service.photos_context import Photos
from satchel.features.albums.service.picture_note import version_of
from satchel.stores.ports.ephemeral import Put

# Once in this time per album. What is lost meanwhile is made when it is asked for.
_EVERY = timedelta(minutes=10)
_MOST = 1000


async def warm_album(photos: Photos, media: MediaRow) -> None:
    """Queue the pictures that are missing in the album of this media, besides its own, which somebody waits for."""
    key = WARMED(owner=media.owner, album_id=media.album_id)
    if not await photos.albums.ephemeral.run(Put(key, b"1", ttl=_EVERY, only_if_absent=True)):
        return
    page = await list_tray(photos.albums, media.owner, media.album_id, _MOST, None)
    medias = [
        MEDIA.read(item) for item in page.items if not item.get("PictureVersion") and item["Id"] != media.media_id
    ]
    await photos.pictures.make([pictured(each) for each in medias if version_of(each.picture, each.no_picture)])
