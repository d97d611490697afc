"""A person's photos and videos are in albums that fill themselves by date, and share them with others.

Each media is in exactly one album. People create albums with dates, rename and delete them; see beforehand which medias
would move and who would newly see them; undo it; pin a media against its date; and share albums by e-mail.

One request, `PATCH /albums/{album_id}` with other dates: `routes/albums.py` hands it to `service/album_change.py`. The
change is planned there (`album_timeline.py`), refused if medias would be in no album (`service/album_plan.py`), and
begun in one transaction with its journal entry (`service/album_act.py`). Then medias move in batches
(`service/media_bulk.py`, `service/media_moves.py`). After a crash `service/act_recovery.py` goes on.

Another one, an upload: `edge/uploads` stores the bytes and hands the object to `routes/photo_uploads.py`. There
`service/media_add.py` has the metadata read in a process of its own, stores the original at a key that nothing else
ever has, and enters it everywhere in one transaction. Its picture is made later, and noted by
`service/picture_note.py` where photos are listed.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

from satchel.declaration import Platform, RouteNeeds, Slice
from satchel.edge.api.endpoints import Router
from satchel.features.albums.adapters import AlbumSearch, LinkedAlbums
from satchel.features.albums.count_records import COUNT_SHAPES
from satchel.features.albums.events import LIVE_EVENTS
from satchel.features.albums.limits import LIMITS, AlbumLimits
from satchel.features.albums.linked_photos import LinkedPhotos
from satchel.features.albums.media_records import MEDIA_SHAPES, OBJECTS_PREFIX
from satchel.features.albums.model import AlbumUnknown, Email
from satchel.features.albums.needs import Grants, Links, People, Shelves
from satchel.features.albums.records import EPHEMERAL_KEYS, SHAPES
from satchel.features.albums.routes import photo_contents, routes
from satchel.features.albums.routes import photos as photo_routes
from satchel.features.albums.routes.photo_uploads import PhotosDestination
from satchel.features.albums.service.act_recovery import sweep_acts
from satchel.features.albums.service.album_erase import AlbumHoldings
from satchel.features.albums.service.album_share import leave
from satchel.features.albums.service.context import Albums
from satchel.features.albums.service.media_access import has_photo
from satchel.features.albums.service.media_bin import sweep_bins
from satchel.features.albums.service.photo_choice import sweep_choices
from satchel.features.albums.service.photo_garbage import sweep_photos
from satchel.features.albums.service.photos_context import Photos
from satchel.features.albums.service.picture_note import note_picture
from satchel.kernel.counted import Counted
from satchel.kernel.grant_refused import GrantRefused
from satchel.media.metadata_reader import MetadataReader


def _make(platform: Platform, *, grants: Grants, people: People, links: Links, shelves: Shelves) -> Photos:
    stores = platform.stores
    albums = Albums(
        tables=stores.tables,
        bulk=stores.bulk,
        ephemeral=stores.ephemeral,
        clock=platform.clock,
        grants=grants,
        people=people,
        links=links,
        limits=AlbumLimits(stores.ephemeral),
        events=platform.events,
        outbox=platform.outbox,
        quota_bytes=platform.settings.photo_quota or None,
        most_writes=platform.settings.most_writes,
        map_tiles=platform.settings.map_tiles,
        map_attribution=platform.settings.map_attribution,
    )
    reader = MetadataReader(stores.objects)
    return Photos(albums=albums, shelves=shelves, objects=stores.objects, reader=reader, pictures=platform.pictures)


def _routes(photos: Photos, _: RouteNeeds) -> list[Router]:
    return [*routes(photos.albums), *photo_routes.routes(photos), photo_contents.routes(photos)]


async def _sweep_acts(photos: Photos) -> int:
    return await sweep_acts(photos.albums)


@asynccontextmanager
async def _running(photos: Photos) -> AsyncGenerator[None]:
    try:
        yield
    finally:
        await photos.reader.close()


async def _leave_album(photos: Photos, refused: GrantRefused) -> None:
    if refused.scope_type.startswith("album:"):
        with suppress(AlbumUnknown):
            await leave(photos.albums, Email(refused.email), refused.resource_id)


ALBUMS = Slice(
    name="albums",
    make=_make,
    routes=_routes,
    records=(*SHAPES, *MEDIA_SHAPES, *COUNT_SHAPES),
    ephemeral_keys=EPHEMERAL_KEYS,
    limits=LIMITS,
    uploads={"photos": PhotosDestination},
    things={"album": LinkedAlbums, "photos": LinkedPhotos},
    counted={"photo": has_photo},
    holdings=AlbumHoldings,
    search=AlbumSearch,
    pictured={OBJECTS_PREFIX: note_picture},
    live_events=LIVE_EVENTS,
    states=(Counted,),
    hears={GrantRefused: _leave_album},
    chores={
        "album changes": _sweep_acts,
        "photos in the bin": sweep_bins,
        "photos chosen for links": sweep_choices,
        "orphaned originals": sweep_photos,
    },
    running=_running,
)
