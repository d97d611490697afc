"""The visitor's side of a link: read what it is, then enter."""

import base64
from typing import Annotated, Literal

import msgspec
from starlette.requests import Request

from satchel.edge.api.endpoints import Body, Router
from satchel.edge.api.guess_work import SENDS_WORK
from satchel.edge.api.idempotency_key import idempotency_key_of
from satchel.edge.files.previews import Preview, preview_of
from satchel.features.links.model import (
    LinkExpired,
    LinkNotYet,
    LinkPassOver,
    LinkPasswordNeeded,
    LinkPasswordWrong,
    LinkPaused,
    LinkRevoked,
    LinkTargetGone,
    LinkUnknown,
    LinkUsedUp,
)
from satchel.features.links.records import LinkRow
from satchel.features.links.routes.link_visitor import Anybody, PassQuery, visitor_of
from satchel.features.links.service import link_enter, link_open
from satchel.features.links.service.context import Links
from satchel.features.links.service.link_contents import can_look
from satchel.kernel.clock import iso
from satchel.kernel.errors import Conflict, Forbidden, NotFound, TooMany
from satchel.kernel.linked import FILES_PAGE, LinkedFile, LinkedFiles, LinkedPhoto, ThingKind
from satchel.kernel.visit_source import MAX_REFERRER_CHARACTERS
from satchel.media.pictures import PictureView
from satchel.stores.patterns.guess_lane import WorkNeeded

STATES = (LinkUnknown, LinkNotYet, LinkPaused, LinkExpired, LinkUsedUp, LinkRevoked, LinkTargetGone, TooMany)
# The errors that can keep a visitor out of a working link.
CLOSED = (LinkPasswordNeeded, LinkPassOver, Forbidden)


class LandingView(msgspec.Struct, frozen=True, kw_only=True):
    """What a link is, before anything counts.

    While a password is needed, it says nothing of the content, not even its name, unless the owner gave the link a
    name. `downloads_left` is how many downloads are free. With a download limit there is no preview. With `may_add`,
    visitors may add photos to the album. `listing` are the first files of a file, a folder or a selection, for people
    who have not entered and need no password.
    """

    kind: ThingKind
    name: str | None
    size_bytes: int | None
    files: int | None
    content_type: str | None
    note: str
    shared_by: str
    needs_password: bool
    expires_at: str | None
    downloads_left: int | None
    max_bytes: int | None
    may_add: bool
    entered: bool
    listing: "LinkedFileList | None"


class LinkedPhotoView(msgspec.Struct, frozen=True, kw_only=True):
    """What a gallery shows of a photo. `ratio` is width over height in thousandths, 0 if unknown."""

    local_time: str | None
    type: Literal["IMAGE", "VIDEO", "OTHER"]
    ratio: int
    duration_ms: int


class LinkedFileView(msgspec.Struct, frozen=True, kw_only=True):
    """A file to download. `preview` is the kind of preview, and `picture` its picture, if there is one.

    The files of an album are photos. Visitors get originals without their place, and `sha256` is that of what they get.
    It may be empty until somebody has asked for them.
    """

    file_id: str
    path: str
    name: str
    size_bytes: int
    sha256: str
    content_type: str
    modified_at: str | None
    executable: bool
    preview: Preview | None
    picture: PictureView | None
    photo: LinkedPhotoView | None


class LinkedFolderView(msgspec.Struct, frozen=True, kw_only=True):
    """A folder, and when it was changed at its origin. The folder of the link itself has an empty path."""

    path: str
    modified_at: str | None


class LinkedFileList(msgspec.Struct, frozen=True, kw_only=True):
    """A page of files, and the cursor of the next. `folders` are those that begin on it, also with nothing in them."""

    files: list[LinkedFileView]
    folders: list[LinkedFolderView]
    cursor: str | None


class Entering(Body, frozen=True, kw_only=True):
    """The password, if the link has one. Of the address of the page before, only the host is kept."""

    password: Annotated[str, msgspec.Meta(max_length=1000)] | None = None
    referrer: Annotated[str, msgspec.Meta(max_length=MAX_REFERRER_CHARACTERS)] = ""


class EnteredView(msgspec.Struct, frozen=True, kw_only=True):
    """The pass for further requests, and what it opens: files, or a page of the app."""

    shown: str = msgspec.field(name="pass")
    expires_at: str
    listing: LinkedFileList | None
    goto: str | None


class FilesQuery(PassQuery, frozen=True, kw_only=True):
    """The pass, and which page. `cursor` comes from the previous answer.

    A page has at most `limit` files; one of a folder has fewer. A score comes whole.
    """

    cursor: Annotated[str, msgspec.Meta(max_length=4096)] | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=1000)] = FILES_PAGE


def routes(links: Links) -> Router:
    router = Router("open links")

    @router.get("/open/{token}", raises=STATES)
    async def look_at_link(caller: Anybody, token: str, query: PassQuery, request: Request) -> LandingView:
        """Read what a link is, before anything counts."""
        visitor = visitor_of(caller, request)
        found = await link_open.look(links, token, visitor, query.shown)
        link, thing = found.link, found.thing
        ahead = None if visitor.is_nobody else await link_open.list_ahead(links, found)
        return LandingView(
            kind=link.kind,
            name=link.name or (thing.name if thing else None),
            size_bytes=thing.size_bytes if thing else None,
            files=thing.files if thing else None,
            content_type=thing.content_type if thing else None,
            note=link.note,
            shared_by=found.shared_by,
            needs_password=bool(link.password),
            expires_at=link.expires_at or None,
            downloads_left=found.downloads_left,
            max_bytes=link.max_bytes or None,
            may_add=link.may_add,
            entered=found.entered,
            listing=None if ahead is None else await _list(links, link, ahead),
        )

    @router.post(
        "/open/{token}/enter",
        raises=(*STATES, LinkPasswordNeeded, LinkPasswordWrong, Forbidden, WorkNeeded),
        sends={
            "Idempotency-Key": "letters, digits, - and _: a retry with the same key counts as no second opening",
            **SENDS_WORK,
        },
    )
    async def enter_link(caller: Anybody, token: str, body: Entering, request: Request) -> EnteredView:
        """Enter a link, with its password if it has one. It counts as one opening.

        The pass is valid for twelve hours, and no longer than the link and its password.
        """
        entered = await link_enter.enter(
            links, token, visitor_of(caller, request, body.referrer), body.password, idempotency_key_of(request)
        )
        return EnteredView(
            shown=entered.given.value,
            expires_at=iso(entered.given.expires),
            listing=None if entered.listing is None else await _list(links, entered.link, entered.listing),
            goto=entered.thing.goto,
        )

    @router.get("/open/{token}/files", raises=(*STATES, *CLOSED, Conflict))
    async def list_linked_files(caller: Anybody, token: str, query: FilesQuery, request: Request) -> LinkedFileList:
        """List the files of a link that has been entered."""
        visit = await link_enter.let_in(links, token, visitor_of(caller, request), query.shown)
        if not link_enter.has_files(visit.link):
            raise NotFound("This link has no files to download.")
        return await _list(links, visit.link, await link_enter.list_files(links, visit.link, query.cursor, query.limit))

    return router


async def _list(links: Links, link: LinkRow, found: LinkedFiles) -> LinkedFileList:
    shown = can_look(link)
    pictures = await links.pictures.describe([each for each in found.files if shown and each.photo is None])
    files = [_file(each, _picture(each) or pictures.get(each.key), shown=shown) for each in found.files]
    folders = [LinkedFolderView(path=each.path, modified_at=each.modified_at or None) for each in found.folders]
    return LinkedFileList(files=files, folders=folders, cursor=found.cursor)


def _picture(file: LinkedFile) -> PictureView | None:
    """Albums know their pictures. Looking at small ones is no download, so they have them with a limit, too."""
    photo = file.photo
    if photo is None or photo.version is None:
        return None
    return PictureView(
        state="ready" if photo.thumbhash else "pending",
        version=photo.version,
        width=photo.width or None,
        height=photo.height or None,
        placeholder=base64.b64encode(photo.thumbhash).decode() if photo.thumbhash else None,
        duration_ms=photo.duration_ms or None,
    )


def _photo(photo: LinkedPhoto) -> LinkedPhotoView:
    return LinkedPhotoView(
        local_time=photo.local_time or None, type=photo.type, ratio=photo.ratio, duration_ms=photo.duration_ms
    )


def _file(file: LinkedFile, picture: PictureView | None, *, shown: bool) -> LinkedFileView:
    return LinkedFileView(
        file_id=file.file_id,
        path=file.path,
        name=file.name,
        size_bytes=file.size_bytes,
        sha256=file.sha256,
        content_type=file.content_type,
        modified_at=file.modified_at or None,
        executable=file.executable,
        preview=preview_of(file.name, file.content_type) if shown else None,
        picture=picture,
        photo=None if file.photo is None else _photo(file.photo),
    )
