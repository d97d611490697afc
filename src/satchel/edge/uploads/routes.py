"""The routes of tus 1.0: create, offset, append, cancel; and one in JSON that tells what an upload became."""

from collections.abc import Awaitable, Callable, Mapping
from typing import TypeAlias

import msgspec
from starlette.requests import Request

from satchel.edge.api.endpoints import PREFIX, PageQuery, Reply, Router
from satchel.edge.api.idempotency_key import idempotency_key_of
from satchel.edge.http.callers import Guest, Member, Stranger
from satchel.edge.http.problems import BadHeader, Malformed, MethodNotAllowed, WrongMediaType, bad_header
from satchel.edge.http.request_body import declared_length
from satchel.edge.http.request_context import client_of
from satchel.edge.uploads import tus_headers
from satchel.edge.uploads.bundles import BUNDLE_TYPE, Kept, keep_bundle
from satchel.edge.uploads.context import Uploads
from satchel.edge.uploads.records import UploadRow
from satchel.edge.uploads.refusals import (
    ChecksumMismatch,
    KeyReused,
    TooManyUploads,
    UnknownDestination,
    UploadBusy,
    UploadEnded,
    UploadMissing,
    UploadTakenOver,
    UploadTooLarge,
    UploadUnwanted,
    WrongOffset,
    WrongProtocol,
)
from satchel.edge.uploads.signed_parts import SIGNED_PARTS, PartsView, SentParts, next_parts, note_parts
from satchel.edge.uploads.tus_headers import BODY_TYPE
from satchel.edge.uploads.upload_append import write
from satchel.edge.uploads.upload_cancel import give_up
from satchel.edge.uploads.upload_create import begin, find
from satchel.edge.uploads.upload_finish import settle
from satchel.edge.uploads.upload_list import list_unfinished
from satchel.edge.uploads.upload_whole import send_whole
from satchel.kernel.clock import from_iso
from satchel.kernel.errors import Forbidden, NotFound, OutOfSpace, TooLarge

VERSION_HEADER = {"Tus-Resumable": f"`{tus_headers.VERSION}`"}
CHECKSUM_HEADER = {"Upload-Checksum": "of this body: algorithm, space, digest in base64; optional"}
STANDING = {"Upload-Offset": "how many bytes are stored", "Upload-Expires": "when the upload ends if nothing comes"}
REFUSALS = (WrongProtocol, UploadMissing, UploadEnded, UploadBusy)
SENDING = (*(BadHeader, WrongMediaType, UploadTooLarge, UploadTakenOver, ChecksumMismatch, OutOfSpace, UploadUnwanted),)

UploadHandler: TypeAlias = Callable[[str, Request, Stranger | Guest | Member], Awaitable[Reply[None]]]


class UploadState(msgspec.Struct, frozen=True, kw_only=True):
    """The progress of an upload. `became` is the id of what its destination made of it, once it is complete."""

    upload_id: str
    destination: str
    name: str
    size_bytes: int
    offset_bytes: int
    created_at: str
    expires_at: str
    became: str | None


class UploadList(msgspec.Struct, frozen=True):
    """A page of unfinished uploads, the newest first. Until it ends, each keeps space for all of its `size_bytes`."""

    uploads: list[UploadState]
    cursor: str | None


def routes(uploads: Uploads) -> Router:
    router = Router("uploads", headers={"Tus-Resumable": tus_headers.VERSION, "Tus-Version": tus_headers.VERSION})
    _declare_creation(router, uploads)
    _declare_override(router, _declare_methods(router, uploads))
    _declare_parts(router, uploads)
    _declare_progress(router, uploads)
    return router


def _declare_creation(router: Router, uploads: Uploads) -> None:
    """Routes that create: one upload, or many small files at once."""

    @router.options(
        "/uploads",
        answers={
            "Tus-Version": "the versions spoken here",
            "Tus-Extension": "the extensions offered",
            "Tus-Max-Size": "the largest upload in bytes",
            "Tus-Checksum-Algorithm": "what `Upload-Checksum` may use",
            SIGNED_PARTS: "larger files may be sent in parts by signed links; absent where all bytes go through here",
        },
    )
    async def describe_uploads() -> Reply[None]:
        """Ask which parts of the upload protocol tus 1.0 this server supports."""
        signs = {} if uploads.direct is None else {SIGNED_PARTS: str(uploads.part_bytes)}
        return Reply(
            None,
            headers={
                "Tus-Extension": tus_headers.EXTENSIONS,
                "Tus-Max-Size": str(uploads.max_bytes),
                "Tus-Checksum-Algorithm": ",".join(tus_headers.CHECKSUMS),
                **signs,
            },
        )

    @router.post(
        "/uploads",
        status=201,
        consumes=BODY_TYPE,
        raises=(WrongProtocol, UnknownDestination, KeyReused, TooManyUploads, Forbidden, NotFound, *SENDING),
        sends={
            **VERSION_HEADER,
            "Upload-Length": "the size of the file in bytes",
            "Upload-Metadata": "pairs of name and base64; `destination` says where it goes, `filename` and `filetype`"
            " what it is",
            **CHECKSUM_HEADER,
            "Idempotency-Key": "any letters, digits, - and _: asked again with the same, the same upload is answered",
        },
        answers={"Location": "the address of the upload", **STANDING},
    )
    async def begin_upload(request: Request, caller: Stranger | Guest | Member) -> Reply[None]:
        """Create an upload, with or without its first bytes as the body."""
        tus_headers.check_version(request)
        if "upload-defer-length" in request.headers:
            raise bad_header("Upload-Length", "known from the beginning: it cannot be deferred here")
        size_bytes = tus_headers.whole_number(request, "Upload-Length")
        wanted = tus_headers.checksum(request)
        described = tus_headers.metadata(request)
        has_body = declared_length(request.scope) != 0 if _is_announced(request) else False
        if has_body:
            tus_headers.check_body_type(request)
            _check_fits(request, 0, size_bytes)
        key = idempotency_key_of(request)
        address = client_of(request.scope).address
        row, is_new = await begin(uploads, caller, size_bytes, described, key, address=address)
        if not is_new:
            async with uploads.locks.hold(row.upload_id):
                row = await settle(uploads, await find(uploads, row.upload_id, caller))
        elif has_body or not size_bytes:
            row = await send_whole(uploads, row, request.receive, wanted, is_repeatable=key is not None)
        return Reply(None, headers={"Location": f"{PREFIX}/uploads/{row.upload_id}", **_standing(row)})

    @router.post(
        "/uploads/bundle",
        status=200,
        consumes=BUNDLE_TYPE,
        raises=(Malformed, WrongMediaType, UnknownDestination, TooLarge, OutOfSpace),
    )
    async def send_bundle(request: Request, caller: Member | Guest) -> Kept:
        """Send many small files in one request.

        The body is a line of JSON, then the bytes of all files one after the other. The answer says of each, in their
        order, what became of it; a file that is refused does not stop the others.
        """
        return await keep_bundle(uploads, caller, request)


def _declare_methods(router: Router, uploads: Uploads) -> Mapping[str, UploadHandler]:
    """Routes of tus for one upload. The answer has their handlers by method."""

    @router.head(
        "/uploads/{upload_id}",
        status=200,
        raises=REFUSALS,
        sends=VERSION_HEADER,
        answers={**STANDING, "Upload-Length": "the size of the file", "Upload-Metadata": "as it was given"},
    )
    async def look_at_upload(upload_id: str, request: Request, caller: Stranger | Guest | Member) -> Reply[None]:
        """Ask for the offset to continue from.

        A request that is still sending to this upload is stopped; what it had sent is kept.
        """
        tus_headers.check_version(request)
        await find(uploads, upload_id, caller)
        async with uploads.locks.hold(upload_id):
            row = await settle(uploads, await find(uploads, upload_id, caller))
        described = tus_headers.Metadata(row.destination, row.name, row.content_type, row.details)
        shown = {"Upload-Length": str(row.size_bytes), "Upload-Metadata": tus_headers.written(described)}
        return Reply(None, headers={**_standing(row), **shown})

    @router.patch(
        "/uploads/{upload_id}",
        consumes=BODY_TYPE,
        raises=(*REFUSALS, WrongOffset, *SENDING),
        sends={**VERSION_HEADER, "Upload-Offset": "how many bytes are stored already", **CHECKSUM_HEADER},
        answers=STANDING,
    )
    async def send_to_upload(upload_id: str, request: Request, caller: Stranger | Guest | Member) -> Reply[None]:
        """Append bytes at the offset.

        Whatever arrives is kept, even if the connection breaks; with a checksum, all of the body or nothing.
        """
        tus_headers.check_version(request)
        tus_headers.check_body_type(request)
        offset = tus_headers.whole_number(request, "Upload-Offset")
        wanted = tus_headers.checksum(request)
        await find(uploads, upload_id, caller)
        async with uploads.locks.hold(upload_id) as lock:
            row = await find(uploads, upload_id, caller)
            if offset != row.offset_bytes:
                raise WrongOffset(
                    f"{row.offset_bytes} bytes are stored; go on from there.", offset_bytes=row.offset_bytes
                )
            _check_fits(request, offset, row.size_bytes)
            row = await settle(uploads, await write(uploads, row, lock, request.receive, wanted))
        return Reply(None, headers=_standing(row))

    @router.delete("/uploads/{upload_id}", raises=REFUSALS, sends=VERSION_HEADER)
    async def give_up_upload(upload_id: str, request: Request, caller: Stranger | Guest | Member) -> Reply[None]:
        """Cancel an upload and free its bytes. What it has already become stays."""
        tus_headers.check_version(request)
        await find(uploads, upload_id, caller)
        async with uploads.locks.hold(upload_id):
            await give_up(uploads, await find(uploads, upload_id, caller))
        return Reply(None)

    return {"HEAD": look_at_upload, "PATCH": send_to_upload, "DELETE": give_up_upload}


def _declare_override(router: Router, by_method: Mapping[str, UploadHandler]) -> None:
    @router.post(
        "/uploads/{upload_id}",
        status=204,
        consumes=BODY_TYPE,
        raises=(*REFUSALS, WrongOffset, *SENDING, MethodNotAllowed),
        sends={**VERSION_HEADER, "X-HTTP-Method-Override": "`HEAD`, `PATCH` or `DELETE`, which is then done"},
        answers=STANDING,
    )
    async def override_method(upload_id: str, request: Request, caller: Stranger | Guest | Member) -> Reply[None]:
        """Do what another method does, for networks that let only POST through."""
        handler = by_method.get(request.headers.get("x-http-method-override", "").upper())
        if handler is None:
            raise MethodNotAllowed(["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST"])
        return await handler(upload_id, request, caller)


def _declare_parts(router: Router, uploads: Uploads) -> None:
    @router.post(
        "/uploads/{upload_id}/parts",
        status=200,
        raises=(*REFUSALS, UploadTakenOver, OutOfSpace, UploadUnwanted),
    )
    async def sign_parts(upload_id: str, body: SentParts, caller: Stranger | Guest | Member) -> PartsView:
        """Ask for signed links, to send the next parts of a large file straight to the bucket.

        Then ask again and name the parts that you have sent. Where the answer has no parts, send the rest with PATCH.
        """
        await find(uploads, upload_id, caller)
        async with uploads.locks.hold(upload_id):
            row = await note_parts(uploads, await find(uploads, upload_id, caller), body.sent)
            row = await settle(uploads, row)
            parts = await next_parts(uploads, row)
        return PartsView(offset_bytes=row.offset_bytes, became=row.became or None, parts=parts)


def _declare_progress(router: Router, uploads: Uploads) -> None:
    @router.get("/uploads/{upload_id}", raises=REFUSALS)
    async def read_upload(upload_id: str, caller: Stranger | Guest | Member) -> UploadState:
        """Get the progress of an upload, and what it became. This interrupts no other request."""
        row = await find(uploads, upload_id, caller)
        if row.is_whole and not row.became:
            async with uploads.locks.hold(upload_id):
                row = await settle(uploads, await find(uploads, upload_id, caller))
        return _state(row)

    @router.get("/uploads")
    async def list_uploads(caller: Guest | Member, query: PageQuery) -> UploadList:
        """List your unfinished uploads. `DELETE /uploads/{upload_id}` cancels one and frees its space."""
        page = await list_unfinished(uploads, caller, query.limit, query.cursor)
        return UploadList([_state(row) for row in page.uploads], page.cursor)


def _state(row: UploadRow) -> UploadState:
    return UploadState(
        upload_id=row.upload_id,
        destination=row.destination,
        name=row.name,
        size_bytes=row.size_bytes,
        offset_bytes=row.offset_bytes,
        created_at=row.created_at,
        expires_at=row.absolute_expiry,
        became=row.became or None,
    )


def _is_announced(request: Request) -> bool:
    """Whether the headers announce a body."""
    return "content-length" in request.headers or "transfer-encoding" in request.headers


def _check_fits(request: Request, offset_bytes: int, size_bytes: int) -> None:
    """Refuse a body that is too long before a byte of it is read."""
    if offset_bytes + (declared_length(request.scope) or 0) > size_bytes:
        raise UploadTooLarge(f"The body is too long: only {size_bytes - offset_bytes} bytes are missing.")


def _standing(row: UploadRow) -> dict[str, str]:
    standing = {"Upload-Offset": str(row.offset_bytes)}
    if not row.is_whole:
        standing["Upload-Expires"] = tus_headers.http_date(from_iso(row.absolute_expiry))
    return standing
