"""Albums over HTTP, one file per subject."""

from satchel.edge.api.endpoints import Router
from satchel.features.albums.routes import album_shares, albums, camera_clocks, photo_duplicates, photo_search
from satchel.features.albums.service.context import Albums


def routes(context: Albums) -> list[Router]:
    return [
        albums.routes(context),
        album_shares.routes(context),
        photo_search.routes(context),
        photo_duplicates.routes(context),
        camera_clocks.routes(context),
    ]
