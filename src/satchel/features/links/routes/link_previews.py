"""Previews and pictures by a link. A preview is not a download, and counts as a view."""

from typing import Annotated

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from satchel.edge.api.endpoints import Router
from satchel.edge.files.downloads import Download
from satchel.edge.files.patched_objects import with_patches
from satchel.edge.files.pictures import BYTES, RAISES, is_view, picture_answer
from satchel.edge.files.previews import PREVIEW_POLICY, NoPreview, is_look, preview
from satchel.features.links.model import NoOutline
from satchel.features.links.routes.link_open import CLOSED, STATES
from satchel.features.links.routes.link_visitor import Anybody, PassQuery, visitor_of
from satchel.features.links.service import link_contents, link_cover, link_enter, link_open
from satchel.features.links.service.context import Links
from satchel.features.links.service.link_enter import Visit
from satchel.kernel.errors import TooMany
from satchel.kernel.linked import LayoutSize, LinkedFile, WantedLayout
from satchel.media.pictures import NoPicture
from satchel.media.score_pages import PagesRefused

# Why music is not laid out or played.
MUSIC = (NoOutline, PagesRefused, TooMany)


class LayoutQuery(PassQuery, frozen=True, kw_only=True):
    """By how many semitones to transpose, which instrument to show (from 1; 0 is all), and how large."""

    transpose: Annotated[int, msgspec.Meta(ge=-12, le=12)] = 0
    instrument: Annotated[int, msgspec.Meta(ge=0, le=999)] = 0
    size: LayoutSize = "normal"


def routes(links: Links) -> Router:
    router = Router("open links")

    @router.get(
        "/open/{token}/outline", produces="application/json", raises=(*STATES, *CLOSED, NoOutline), whole_list=True
    )
    async def linked_outline(caller: Anybody, token: str, query: PassQuery, request: Request) -> Response:
        """Read the score that a link leads to, as `ScoreView`. Its pages are previews of files, by their item ids."""
        visit = await link_enter.let_in(links, token, visitor_of(caller, request), query.shown)
        return _json(await link_contents.outline_of(links, visit))

    @router.get("/open/{token}/layout", produces="application/json", raises=(*STATES, *CLOSED, *MUSIC))
    async def linked_layout(caller: Anybody, token: str, query: LayoutQuery, request: Request) -> Response:
        """Lay out the engraved score that a link leads to as you want it, as `ScoreLayoutView`.

        Its pages are previews of files, by their item ids.
        """
        visitor = visitor_of(caller, request)
        visit = await link_enter.let_in(links, token, visitor, query.shown)
        wanted = WantedLayout(transpose=query.transpose, instrument=query.instrument, size=query.size)
        return _json(await link_contents.layout_of(links, visit, wanted, visitor.address))

    @router.get("/open/{token}/playback", produces="application/json", raises=(*STATES, *CLOSED, *MUSIC))
    async def linked_playback(caller: Anybody, token: str, query: PassQuery, request: Request) -> Response:
        """Read what a player needs of the engraved score that a link leads to, as `ScorePlaybackView`."""
        visitor = visitor_of(caller, request)
        visit = await link_enter.let_in(links, token, visitor, query.shown)
        return _json(await link_contents.playback_of(links, visit, visitor.address))

    @router.get("/open/{token}/cover/{version}", produces=BYTES, raises=(*STATES, *RAISES))
    async def linked_cover(caller: Anybody, token: str, version: str, request: Request) -> Response:
        """Read the picture that chats show of a link. It counts as nothing, and robots may see it."""
        found = await link_open.find_landing(links, token, visitor_of(caller, request))
        cover = await link_cover.find_cover(links, found)
        if cover is None:
            raise NoPicture("This link has no picture to show before somebody enters it.")
        return await picture_answer(links.pictures, cover.file, "preview", version)

    @router.get("/open/{token}/preview", produces=BYTES, raises=(*STATES, *CLOSED, NoPreview))
    async def preview_linked(caller: Anybody, token: str, query: PassQuery, request: Request) -> Response:
        """Preview the one file of a link in the browser. No preview can run a script."""
        visit = await link_enter.look_in(links, token, visitor_of(caller, request), query.shown)
        return await _show(links, visit, await link_contents.find_only_file(links, visit), request)

    @router.get("/open/{token}/files/{file_id}/preview", produces=BYTES, raises=(*STATES, *CLOSED, NoPreview))
    async def preview_linked_file(
        caller: Anybody, token: str, file_id: str, query: PassQuery, request: Request
    ) -> Response:
        """Preview one file of a folder in the browser. No preview can run a script."""
        visit = await link_enter.look_in(links, token, visitor_of(caller, request), query.shown)
        return await _show(links, visit, await link_contents.find_file(links, visit, file_id), request)

    @router.get(
        "/open/{token}/files/{file_id}/picture/{size}/{version}", produces=BYTES, raises=(*STATES, *CLOSED, *RAISES)
    )
    async def linked_picture(
        caller: Anybody, token: str, file_id: str, size: str, version: str, query: PassQuery, request: Request
    ) -> Response:
        """Read the picture of a file: `grid` for lists, `preview` for looking at, which counts as a view."""
        visit = await link_enter.look_in(links, token, visitor_of(caller, request), query.shown)
        file = await link_contents.find_file(links, visit, file_id)
        if file.photo is None and not link_contents.can_look(visit.link):
            raise NoPicture("Downloads of this link are limited, so it has no pictures. Download the file instead.")
        answer = await picture_answer(links.pictures, file, size, version, request)
        if is_view(request, size, answer):
            await link_contents.count_view(links, visit, file)
        return answer

    return router


def _json(content: object) -> Response:
    headers = {"cache-control": "private, no-cache"}
    return Response(msgspec.json.encode(content), media_type="application/json", headers=headers)


async def _show(links: Links, visit: Visit, file: LinkedFile, request: Request) -> Response:
    if not link_contents.can_look(visit.link):
        raise NoPreview("Downloads of this link are limited, so it has no preview. Download the file instead.")
    objects = with_patches(links.objects, await link_contents.patches_of(file))
    if file.is_sheet:
        policy, kind = PREVIEW_POLICY, file.content_type
        shown = Download(objects, file.key, disposition="inline", content_type=kind, policy=policy)
    else:
        shown = await preview(objects, file.key, file.name, file.content_type)
    if is_look(request):
        await link_contents.count_view(links, visit, file)
    return shown
