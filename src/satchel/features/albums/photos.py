"""Photos as a slice: what takes care of the bytes, beside the albums that say where each photo belongs.

One request, an upload: `edge/uploads` stores the bytes and hands the object to `routes/photo_uploads.py`.
`service/media_add.py` has its metadata read in a process of its own, stores the original at a key that nothing else
ever has, and enters it everywhere in one transaction.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from satchel.declaration import Platform, RouteNeeds, Slice
from satchel.edge.api.endpoints import Router
from satchel.features.albums.routes import photo_contents
from satchel.features.albums.routes import photos as photo_routes
from satchel.features.albums.routes.photo_uploads import PhotosDestination
from satchel.features.albums.service.context import Albums
from satchel.features.albums.service.media_bin import sweep_bins
from satchel.features.albums.service.photo_garbage import sweep_photos
from satchel.features.albums.service.photos_context import Photos
from satchel.media.metadata_reader import MetadataReader


def _make(platform: Platform, albums: Albums) -> Photos:
    objects = platform.stores.objects
    return Photos(albums=albums, objects=objects, reader=MetadataReader(objects))


def _routes(photos: Photos, _: RouteNeeds) -> list[Router]:
    return [*photo_routes.routes(photos), photo_contents.routes(photos)]


@asynccontextmanager
async def _running(photos: Photos) -> AsyncGenerator[None]:
    try:
        yield
    finally:
        await photos.reader.close()


PHOTOS = Slice(
    name="photos",
    make=_make,
    routes=_routes,
    uploads={"photos": PhotosDestination},
    chores={"photos in the bin": sweep_bins, "orphaned originals": sweep_photos},
    running=_running,
)
