"""Search of photos, in one's own albums and in those shared with one."""

from datetime import date, timedelta
from typing import Annotated

import msgspec

from satchel.edge.api.endpoints import PageQuery, Router
from satchel.edge.http.callers import Member
from satchel.features.albums.model import AlbumUnknown, MediaType
from satchel.features.albums.routes.albums import person_of
from satchel.features.albums.routes.photo_views import FoundPhotos, photo_columns
from satchel.features.albums.service import photo_search
from satchel.features.albums.service.context import Albums
from satchel.features.albums.service.photo_search import Circle, Wanted
from satchel.kernel.names import folded
from satchel.kernel.unfit import TextUnfit

Text = Annotated[str, msgspec.Meta(max_length=200)]


# What is over 90 or 180 degrees is `text-unfit`.
_PLACE = r"^(-?\d{1,3}(\.\d+)?,-?\d{1,3}(\.\d+)?)?$"


class PhotoSearchQuery(PageQuery, frozen=True, kw_only=True):
    """What to search for. Everything that is given has to match.

    Words of `q` are found in names of files and albums, in cameras, titles, descriptions and keywords; `2024-07` is
    a date, too. `near` is a latitude and a longitude, such as `48.85,2.35`; it and `favourite` find photos of your own
    only.
    """

    q: Text = ""
    album: Annotated[str, msgspec.Meta(max_length=64)] = ""
    first: date | None = msgspec.field(name="from", default=None)
    last: date | None = msgspec.field(name="to", default=None)
    camera: Text = ""
    type: MediaType | None = None
    favourite: bool = False
    near: Annotated[str, msgspec.Meta(max_length=60, extra_json_schema={"pattern": _PLACE})] = ""
    within_km: Annotated[float, msgspec.Meta(gt=0, le=20000)] = 10


def routes(albums: Albums) -> Router:
    router = Router("photos")

    @router.get("/photos/search", raises=(AlbumUnknown,))
    async def search_photos(member: Member, query: PhotoSearchQuery) -> FoundPhotos:
        """Search your photos and those of albums that are shared with you, the newest album first.

        A page may be empty though there is more: go on until `cursor` is null.
        """
        found = await photo_search.search(albums, person_of(member), _wanted(query), query.limit, query.cursor)
        return FoundPhotos(
            photos=photo_columns(found.items, member.user_id, None),
            names=[item["Filename"] for item in found.items],
            looked_at=found.looked_at,
            cursor=found.cursor,
        )

    return router


def _wanted(query: PhotoSearchQuery) -> Wanted:
    return Wanted(
        words=photo_search.words_of(query.q),
        album_id=query.album,
        first="" if query.first is None else query.first.isoformat(),
        end="" if query.last in (None, date.max) else (query.last + timedelta(days=1)).isoformat(),
        camera=folded(query.camera).strip(),
        type=query.type,
        favourite=query.favourite,
        near=_circle(query.near, query.within_km) if query.near else None,
    )


def _circle(written: str, km: float) -> Circle:
    try:
        latitude, longitude = (float(part) for part in written.split(","))
    except ValueError:
        latitude = longitude = 1000.0
    if not (-90 <= latitude <= 90 and -180 <= longitude <= 180):
        raise TextUnfit("Write a place as latitude and longitude, such as 48.85,2.35.", field="near")
    return Circle(latitude, longitude, km)
