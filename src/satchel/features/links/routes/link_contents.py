"""Downloads by a link: one file, or a folder file by file or as an archive."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace

from starlette.requests import Request
from starlette.responses import Response

from satchel.edge.api.endpoints import Router
from satchel.edge.files.archives import Archive, ArchiveEntry, modified_of
from satchel.edge.files.downloads import Download, Meter, Sent, attached_as
from satchel.edge.files.patched_objects import with_patches
from satchel.features.links.model import WITH_MANY_FILES
from satchel.features.links.routes.link_open import CLOSED, STATES
from satchel.features.links.routes.link_visitor import Anybody, PassQuery, visitor_of
from satchel.features.links.service import download_grants, link_contents, link_enter
from satchel.features.links.service.context import Links
from satchel.features.links.service.download_stop import while_standing
from satchel.features.links.service.grant_rules import ALL_FILES, Taking
from satchel.features.links.service.link_enter import Visit
from satchel.kernel.errors import Conflict, NotFound
from satchel.kernel.linked import LinkedFile

# No file is called so.
WHOLE_FOLDER = "archive"
BYTES = "application/octet-stream"


class FolderFileQuery(PassQuery, frozen=True, kw_only=True):
    """With `whole`, the file is part of a download of the whole folder."""

    whole: bool = False


def routes(links: Links) -> Router:
    router = Router("open links")

    async def let_in(caller: Anybody, token: str, query: PassQuery, request: Request) -> Visit:
        # A download that has begun may be resumed although the limit is reached by now.
        is_download = request.method == "GET"
        return await link_enter.let_in(links, token, visitor_of(caller, request), query.shown, even_used_up=is_download)

    async def download(visit: Visit, file: LinkedFile, taking: Taking) -> Response:
        await download_grants.check_place(links, visit, taking.file_id)
        return Download(
            with_patches(links.objects, await link_contents.patches_of(file)),
            file.key,
            disposition=attached_as(file.name),
            content_type=file.content_type,
            metered=_file_meter(links, taking),
            sha256=file.sha256,
        )

    @router.get("/open/{token}/content", produces=BYTES, raises=(*STATES, *CLOSED, Conflict))
    async def download_linked(caller: Anybody, token: str, query: PassQuery, request: Request) -> Response:
        """Download the one file of a link.

        Range and conditional requests are supported. Without a password no pass is needed, so this address works in any
        program that downloads files. That counts as an opening, too. A download counts once all bytes were sent.
        """
        visit = await let_in(caller, token, query, request)
        file = await link_contents.find_only_file(links, visit)
        return await download(visit, file, _taking(visit, file))

    @router.get("/open/{token}/files/{file_id}/content", produces=BYTES, raises=(*STATES, *CLOSED, Conflict))
    async def download_linked_file(
        caller: Anybody, token: str, file_id: str, query: FolderFileQuery, request: Request
    ) -> Response:
        """Download one file of a folder.

        To download all of them, set `whole` for each: that counts as one download, once as many bytes were sent as the
        folder has.
        """
        visit = await let_in(caller, token, query, request)
        file = await link_contents.find_file(links, visit, file_id)
        is_part = query.whole and visit.link.kind in WITH_MANY_FILES
        return await download(visit, file, await _taking_all(links, visit, file) if is_part else _taking(visit, file))

    @router.get("/open/{token}/archive", produces="application/zip", raises=(*STATES, *CLOSED, Conflict))
    async def download_linked_archive(caller: Anybody, token: str, query: PassQuery, request: Request) -> Response:
        """Download a folder as one zip file, which is streamed. It counts as one download once all was sent."""
        visit = await let_in(caller, token, query, request)
        await download_grants.check_place(links, visit, WHOLE_FOLDER)
        if visit.link.kind not in WITH_MANY_FILES:
            raise NotFound("Only a folder or an album can be downloaded as an archive. Download the file itself.")
        size_bytes = await link_contents.size_of_all(links, visit)
        return Archive(
            links.objects, visit.thing.name, _entries(links, visit), metered=_archive_meter(links, visit, size_bytes)
        )

    return router


def _taking(visit: Visit, file: LinkedFile) -> Taking:
    thing = link_contents.counted_thing(visit.link, file)
    return Taking(visit=visit, file_id=file.file_id, size_bytes=file.size_bytes, thing=thing)


async def _taking_all(links: Links, visit: Visit, file: LinkedFile) -> Taking:
    # Added up once, and not for each of thousands of files.
    size_bytes = await download_grants.known_size(links, visit, ALL_FILES) or await link_contents.size_of_every_file(
        links, visit
    )
    return Taking(visit=visit, file_id=ALL_FILES, size_bytes=size_bytes, part=file.file_id)


def _file_meter(links: Links, taking: Taking) -> Meter:
    @asynccontextmanager
    async def metered(start: int, length: int | None) -> AsyncGenerator[Sent]:
        sent, is_whole = Sent(), False
        # An empty file counts as sent once the answer is complete.
        async with download_grants.answering(
            links, taking, length or 0, lambda: max(sent.count, is_whole), start=start
        ) as sent.before_last:
            async with while_standing(links, taking.visit.link):
                yield sent
            is_whole = True

    return metered


def _archive_meter(links: Links, visit: Visit, size_bytes: int | None) -> Meter:
    taking = Taking(visit=visit, file_id=WHOLE_FOLDER, size_bytes=download_grants.SHARES, resumable=False)

    @asynccontextmanager
    async def metered(_start: int, _length: int | None) -> AsyncGenerator[Sent]:
        sent, is_whole = Sent(), False

        def share() -> int:
            return download_grants.SHARES if is_whole else download_grants.share_of(sent.count, size_bytes)

        async with download_grants.answering(links, taking, download_grants.SHARES, share) as sent.before_last:
            async with while_standing(links, visit.link):
                yield sent
            is_whole = True

    return metered


async def _entries(links: Links, visit: Visit) -> AsyncGenerator[ArchiveEntry]:
    cursor = None
    while True:
        page = await link_enter.list_files(links, visit.link, cursor)
        for folder in page.folders:
            path = f"{visit.thing.name}/{folder.path}".rstrip("/")
            yield ArchiveEntry(path, modified_of(folder.modified_at, folder.at), None)
        for file in page.files:
            yield await _entry(visit, file)
        if (cursor := page.cursor) is None:
            return


async def _entry(visit: Visit, file: LinkedFile) -> ArchiveEntry:
    entry = ArchiveEntry(
        f"{visit.thing.name}/{file.path}",
        modified_of(file.modified_at, file.at),
        file.key,
        executable=file.executable,
    )
    try:
        return replace(entry, patches=await link_contents.patches_of(file))
    except Conflict as withheld:
        return replace(entry, withheld=withheld.detail)
