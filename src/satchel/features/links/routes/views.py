"""What clients see of links and their targets."""

import msgspec
from starlette.requests import Request

from satchel.edge.api.addresses import Addresses
from satchel.edge.api.endpoints import PREFIX
from satchel.features.links.model import State
from satchel.features.links.service.download_places import Place, PlaceState
from satchel.features.links.service.link_list import Given
from satchel.kernel.linked import ThingKind


class ThingView(msgspec.Struct, frozen=True, kw_only=True):
    """The target of a link. One that does not exist is deleted or in the bin. A room without a name has its code."""

    kind: ThingKind
    id: str
    name: str
    is_there: bool


class LinkView(msgspec.Struct, frozen=True, kw_only=True):
    """A link as its owner sees it.

    `opens`, `people`, `downloads` and `last_at` are counts. Of `people`, those without an account are told apart within
    a month only, so whoever comes in two months counts twice. `previews` is how often robots have read it, such as
    those that draw previews in chats. These are counted nowhere else. `downloads_open` is how many downloads have begun
    and not ended: each keeps a place in the limit.
    """

    link_id: str
    token: str
    address: str
    thing: ThingView
    name: str
    note: str
    has_password: bool
    starts_at: str | None
    alias: str | None
    expires_at: str | None
    downloads_limit: int | None
    downloads_used: int
    downloads_open: int
    max_bytes: int | None
    received_bytes: int
    may_add: bool
    state: State
    created_at: str
    badge_address: str | None
    opens: int
    people: int
    downloads: int
    last_at: str | None
    previews: int


class LinkList(msgspec.Struct, frozen=True):
    """A page of links, the newest first, and the cursor of the next."""

    links: list[LinkView]
    cursor: str | None


class PlaceView(msgspec.Struct, frozen=True, kw_only=True):
    """Downloads of one visitor that have begun and not ended, and how much of the file has gone out."""

    place_id: str
    state: PlaceState
    places: int
    gone_bytes: int
    size_bytes: int
    changed_at: str


class PlaceList(msgspec.Struct, frozen=True):
    """A page of downloads that have begun and not ended, and the cursor of the next. A page may be empty."""

    places: list[PlaceView]
    cursor: str | None


def place_view(place: Place) -> PlaceView:
    return PlaceView(
        place_id=place.place_id,
        state=place.state,
        places=place.places,
        gone_bytes=place.gone_bytes,
        size_bytes=place.size_bytes,
        changed_at=place.changed_at,
    )


def link_view(given: Given, addresses: Addresses, request: Request) -> LinkView:
    link, figures = given.link, given.figures
    return LinkView(
        link_id=link.link_id,
        token=link.token,
        address=addresses.of(f"/l/{link.alias or link.token}", request),
        thing=ThingView(kind=link.kind, id=link.thing_id, name=given.thing_name, is_there=given.is_there),
        name=link.name,
        note=link.note,
        has_password=bool(link.password),
        starts_at=link.starts_at or None,
        alias=link.alias or None,
        expires_at=link.expires_at or None,
        downloads_limit=link.downloads_limit or None,
        downloads_used=link.downloads_used,
        downloads_open=max(0, link.granted - link.downloads_used),
        max_bytes=link.max_bytes or None,
        received_bytes=link.received_bytes,
        may_add=link.may_add,
        state=given.state,
        created_at=link.created_at,
        badge_address=addresses.of(f"{PREFIX}/badges/{link.badge_id}", request) if link.badge_id else None,
        opens=figures.opens if figures else 0,
        people=figures.people if figures else 0,
        downloads=link.downloads_used,
        last_at=(figures.last_at or None) if figures else None,
        previews=link.previews,
    )
