"""The live events of albums. They go to the owner's devices, and to those who may see the albums at that moment."""

from satchel.live import LiveEvent


class AlbumPhotosEvent(LiveEvent, tag="album.photos", frozen=True):
    """Photos came into these albums, left them, or were changed there. Read them again.

    For their owner, `undated` and `bin` are among the albums.
    """

    album_ids: list[str]


class AlbumChangedEvent(LiveEvent, tag="album.changed", frozen=True):
    """An album was made, renamed, dated, deleted, or is shared differently. Read it again; it may be gone for you."""

    album_id: str


LIVE_EVENTS = (AlbumPhotosEvent, AlbumChangedEvent)
