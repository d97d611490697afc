"""A person's photos and videos are in albums that fill themselves by date, and share them with others.

Each media is in exactly one album. People create albums with dates, rename and delete them; see beforehand which medias
would move and who would newly see them; undo it; pin a media against its date; and share albums by e-mail.

One request, `PATCH /albums/{album_id}` with other dates: `routes/albums.py` hands it to `service/album_change.py`. The
change is planned there (`album_timeline.py`), refused if medias would be in no album (`service/album_plan.py`), and
begun in one transaction with its journal entry (`service/album_act.py`). Then medias move in batches
(`service/media_bulk.py`, `service/media_moves.py`). After a crash `service/act_recovery.py` goes on.
"""

from satchel.declaration import Platform, RouteNeeds, Slice
from satchel.edge.api.endpoints import Router
from satchel.features.albums.adapters import LinkedAlbums
from satchel.features.albums.limits import LIMITS, AlbumLimits
from satchel.features.albums.needs import Grants, Links, People
from satchel.features.albums.records import EPHEMERAL_KEYS, SHAPES
from satchel.features.albums.routes import routes
from satchel.features.albums.service.act_recovery import sweep_acts
from satchel.features.albums.service.context import Albums


def _make(platform: Platform, *, grants: Grants, people: People, links: Links) -> Albums:
    stores = platform.stores
    return Albums(
        tables=stores.tables,
        bulk=stores.bulk,
        ephemeral=stores.ephemeral,
        clock=platform.clock,
        grants=grants,
        people=people,
        links=links,
        limits=AlbumLimits(stores.ephemeral),
    )


def _routes(albums: Albums, _: RouteNeeds) -> list[Router]:
    return routes(albums)


ALBUMS = Slice(
    name="albums",
    make=_make,
    routes=_routes,
    records=SHAPES,
    ephemeral_keys=EPHEMERAL_KEYS,
    limits=LIMITS,
    things={"album": LinkedAlbums},
    chores={"album changes": sweep_acts},
)
