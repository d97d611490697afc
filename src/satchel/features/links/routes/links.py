"""The owner's side of links: create, read, change, revoke."""

from datetime import datetime
from typing import Annotated

import msgspec
from msgspec import UNSET, UnsetType
from starlette.requests import Request

from satchel.edge.api.addresses import Addresses
from satchel.edge.api.endpoints import Body, PageQuery, Router
from satchel.edge.api.idempotency_key import idempotency_key_of
from satchel.edge.http.callers import Member
from satchel.features.links.model import (
    MAX_ALIAS_CHARACTERS,
    MAX_BYTES,
    MAX_DOWNLOADS,
    MAX_ID_CHARACTERS,
    MAX_NAME_CHARACTERS,
    MAX_NOTE_CHARACTERS,
    MAX_PASSWORD_CHARACTERS,
    MIN_ALIAS_CHARACTERS,
    MIN_PASSWORD_CHARACTERS,
    AliasTaken,
    LinkRevoked,
    LinkUnknown,
    OwnerId,
    PlaceInUse,
    PlaceUnknown,
)
from satchel.features.links.routes.views import LinkList, LinkView, PlaceList, link_view, place_view
from satchel.features.links.service import download_places, link_change, link_give, link_list
from satchel.features.links.service.context import Links
from satchel.kernel.errors import NotFound
from satchel.kernel.linked import ThingKind
from satchel.stores.patterns.idempotency_key import KeyReused

LinkName = Annotated[str, msgspec.Meta(max_length=MAX_NAME_CHARACTERS)]
Note = Annotated[str, msgspec.Meta(max_length=MAX_NOTE_CHARACTERS)]
# An empty one is none.
NewPassword = Annotated[
    str,
    msgspec.Meta(
        max_length=MAX_PASSWORD_CHARACTERS, extra_json_schema={"pattern": f"^(.{{{MIN_PASSWORD_CHARACTERS},}})?$"}
    ),
]
# Capital letters are taken for small ones, and two hyphens in a row are `text-unfit`.
_ALIAS = f"^([a-zA-Z0-9][a-zA-Z0-9-]{{{MIN_ALIAS_CHARACTERS - 2},{MAX_ALIAS_CHARACTERS - 2}}}[a-zA-Z0-9])?$"
WrittenAlias = Annotated[str, msgspec.Meta(max_length=64, extra_json_schema={"pattern": _ALIAS})]
Moment = Annotated[datetime, msgspec.Meta(tz=True)]
Downloads = Annotated[int, msgspec.Meta(ge=1, le=MAX_DOWNLOADS)]
Bytes = Annotated[int, msgspec.Meta(ge=1, le=MAX_BYTES)]


class ThingToLink(Body, frozen=True, kw_only=True):
    """A file or folder of your shelf, your room, or a folder that receives files."""

    kind: ThingKind
    id: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_ID_CHARACTERS)]


class NewLink(Body, frozen=True, kw_only=True):
    """What the link leads to, and how.

    With an `alias`, a word of yours stands in the address; others may guess it. Before `starts_at` it does not open.
    `name` is what visitors see instead of the thing's own name. `downloads` is the download limit. `max_bytes` is the
    size limit of a link that asks for files. With `may_add`, visitors may add photos to an album.
    """

    thing: ThingToLink
    name: LinkName = ""
    note: Note = ""
    password: NewPassword | None = None
    expires_at: Moment | None = None
    starts_at: Moment | None = None
    alias: WrittenAlias = ""
    downloads: Downloads | None = None
    max_bytes: Bytes | None = None
    may_add: bool = False


class LinkChange(Body, frozen=True, kw_only=True):
    """What to change. null removes a condition. `badge` is whether there is a public counter."""

    paused: bool | UnsetType = UNSET
    name: LinkName | UnsetType = UNSET
    note: Note | UnsetType = UNSET
    password: NewPassword | UnsetType | None = UNSET
    expires_at: Moment | UnsetType | None = UNSET
    starts_at: Moment | UnsetType | None = UNSET
    alias: WrittenAlias | UnsetType | None = UNSET
    downloads: Downloads | UnsetType | None = UNSET
    max_bytes: Bytes | UnsetType | None = UNSET
    may_add: bool | UnsetType = UNSET
    badge: bool | UnsetType = UNSET


class LinksQuery(PageQuery, frozen=True, kw_only=True):
    """Which links: all of yours, or those to one thing, such as `file:<id>`, `folder:<id>` or `room:<id>`."""

    thing: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_ID_CHARACTERS + 16)] | None = None


def routes(links: Links, addresses: Addresses) -> Router:
    router = Router("links")

    async def show(member: Member, link_id: str, request: Request) -> LinkView:
        given = await link_list.show_link(links, OwnerId(member.user_id), link_id)
        return link_view(given, addresses, request)

    @router.post(
        "/links",
        status=201,
        raises=(NotFound, KeyReused, AliasTaken),
        sends={"Idempotency-Key": "letters, digits, - and _: a retry with the same key is the same link"},
    )
    async def give_link(member: Member, body: NewLink, request: Request) -> LinkView:
        """Create a link to a file, a folder or a room, or one that asks for files."""
        wish = link_give.Wish(
            kind=body.thing.kind,
            thing_id=body.thing.id,
            name=body.name,
            note=body.note,
            password=body.password or "",
            expires_at=_moment(body.expires_at),
            starts_at=_moment(body.starts_at),
            alias=body.alias,
            downloads=body.downloads or 0,
            max_bytes=body.max_bytes or 0,
            may_add=body.may_add,
        )
        link_id = await link_give.give(links, OwnerId(member.user_id), wish, idempotency_key_of(request))
        return await show(member, link_id, request)

    @router.get("/links")
    async def list_links(member: Member, query: LinksQuery, request: Request) -> LinkList:
        """List your links, the newest first."""
        page = await link_list.list_links(links, OwnerId(member.user_id), query.thing, query.limit, query.cursor)
        return LinkList([link_view(each, addresses, request) for each in page.given], page.cursor)

    @router.get("/links/{link_id}", raises=(LinkUnknown,))
    async def read_link(member: Member, link_id: str, request: Request) -> LinkView:
        """Read one of your links, with its counts."""
        return await show(member, link_id, request)

    @router.patch("/links/{link_id}", raises=(LinkUnknown, LinkRevoked, AliasTaken))
    async def change_link(member: Member, link_id: str, body: LinkChange, request: Request) -> LinkView:
        """Pause or resume a link, extend it, limit it, and change its name and note."""
        change = link_change.Change(
            paused=None if body.paused is UNSET else body.paused,
            name=None if body.name is UNSET else body.name,
            note=None if body.note is UNSET else body.note,
            password=None if body.password is UNSET else body.password or "",
            expires_at=None if body.expires_at is UNSET else _moment(body.expires_at),
            starts_at=None if body.starts_at is UNSET else _moment(body.starts_at),
            alias=None if body.alias is UNSET else body.alias or "",
            downloads=None if body.downloads is UNSET else body.downloads or 0,
            max_bytes=None if body.max_bytes is UNSET else body.max_bytes or 0,
            may_add=None if body.may_add is UNSET else body.may_add,
            badge=None if body.badge is UNSET else body.badge,
        )
        await link_change.change(links, OwnerId(member.user_id), link_id, change)
        return await show(member, link_id, request)

    @router.delete("/links/{link_id}", raises=(LinkUnknown,))
    async def revoke_link(member: Member, link_id: str) -> None:
        """Revoke a link for good. Visitors are told so."""
        await link_change.revoke(links, OwnerId(member.user_id), link_id)

    @router.get("/links/{link_id}/places", raises=(LinkUnknown,))
    async def list_places(member: Member, link_id: str, query: PageQuery) -> PlaceList:
        """List the downloads by one of your links that have begun and not ended: in progress, or broken off.

        Each keeps a place in the download limit, so that its visitor can go on.
        """
        page = await download_places.list_places(links, OwnerId(member.user_id), link_id, query.limit, query.cursor)
        return PlaceList([place_view(each) for each in page.places], page.cursor)

    @router.delete("/links/{link_id}/places/{place_id}", raises=(LinkUnknown, PlaceUnknown, PlaceInUse))
    async def give_place_back(member: Member, link_id: str, place_id: str) -> None:
        """Give back the place of a download that was broken off, so that somebody else can have it."""
        await download_places.give_back(links, OwnerId(member.user_id), link_id, place_id)

    return router


def _moment(moment: datetime | None) -> float:
    return link_give.NEVER if moment is None else moment.timestamp()
