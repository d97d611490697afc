"""Bundles: many small files in one request. What tus costs per file, a bundle costs once.

The body is a line of JSON (`Bundle`), then the bytes of the files, one after the other. All of it is in memory until
it is kept: nothing is stored of a bundle that breaks off.
"""

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Annotated

import msgspec
from starlette.requests import Request

from satchel.edge.api.endpoints import Body
from satchel.edge.api.validation import json_decoder
from satchel.edge.http.callers import Guest, Member
from satchel.edge.http.problems import Malformed, TooSlow, WrongMediaType
from satchel.edge.http.request_body import declared_length
from satchel.edge.uploads.body_buffers import BUFFER_BYTES, Held, Incoming
from satchel.edge.uploads.context import Uploads
from satchel.edge.uploads.destinations import BundleDestination, Small
from satchel.edge.uploads.refusals import KeyReused, UnknownDestination
from satchel.edge.uploads.tus_headers import MAX_METADATA_BYTES, has_zero_character
from satchel.edge.uploads.upload_claims import Claim, begun_key, read_claim, said_of, written
from satchel.edge.uploads.upload_lock import UploadLock
from satchel.kernel.errors import SatchelError, TooLarge
from satchel.kernel.ids import new_id
from satchel.kernel.unfit import CombinationUnfit, TextUnfit
from satchel.stores.object_rules import known_content_type
from satchel.stores.patterns.idempotency_key import KEY_PATTERN, claim_all, release_all, settle_all

BUNDLE_TYPE = "application/vnd.satchel.bundle"
MAX_FILES = 256
MAX_FILE_BYTES = 1024 * 1024
# A bundle and its files fit into one buffer.
MAX_BUNDLE_BYTES = BUFFER_BYTES // 2
_SERVER_ERROR = 500


class BundledFile(Body, frozen=True, kw_only=True):
    """One file of a bundle: what `Upload-Length`, `Upload-Metadata` and `Idempotency-Key` say of an upload."""

    size_bytes: Annotated[int, msgspec.Meta(ge=0, le=MAX_FILE_BYTES)]
    filename: str = ""
    filetype: str = ""
    details: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    key: Annotated[str, msgspec.Meta(pattern=f"^{KEY_PATTERN}$")] | None = None


class Bundle(Body, frozen=True, kw_only=True):
    """The first line of the body."""

    destination: str
    files: Annotated[list[BundledFile], msgspec.Meta(min_length=1, max_length=MAX_FILES)]


class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    """Why a file was refused, as a problem."""

    type: str
    title: str
    status: int
    detail: str


class KeptFile(msgspec.Struct, frozen=True, kw_only=True):
    """What a file became, or why it was refused."""

    became: str | None = None
    problem: Refusal | None = None


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """One outcome per file, in their order."""

    files: list[KeptFile]


_read_bundle = json_decoder(Bundle)


async def keep_bundle(uploads: Uploads, owner: Member | Guest, request: Request) -> Kept:
    """Read a bundle and hand it to its destination. Whatever it reports as stored is durable when this returns."""
    if request.headers.get("content-type", "").lower() != BUNDLE_TYPE:
        raise WrongMediaType(f"Send the bundle with the header `Content-Type: {BUNDLE_TYPE}`.")
    lock = UploadLock()
    await uploads.buffers.take(lock)
    try:
        body = await _whole_body(uploads, lock, request)
        content_at = body.find(b"\n") + 1 or len(body)
        bundle: Bundle = _read_bundle(body[:content_at])
        return Kept(files=await _keep(uploads, owner, bundle, memoryview(body)[content_at:]))
    finally:
        uploads.buffers.release()


async def _whole_body(uploads: Uploads, lock: UploadLock, request: Request) -> bytes:
    length = declared_length(request.scope)
    if length is None:
        raise Malformed("Send the length of the bundle in the header `Content-Length`.")
    if length > MAX_BUNDLE_BYTES:
        raise TooLarge(f"A bundle may have at most {MAX_BUNDLE_BYTES} bytes.", limit_bytes=MAX_BUNDLE_BYTES)
    held = Held()
    await Incoming(request.receive, lock, uploads.buffers).fill(held, length, last=True)
    if held.size_bytes < length:
        raise TooSlow("The bundle arrived too slowly while others were waiting. Send it again.")
    return b"".join(held.chunks)


async def _keep(uploads: Uploads, owner: Member | Guest, bundle: Bundle, content: memoryview) -> list[KeptFile]:
    destination = uploads.destinations.get(bundle.destination)
    if not isinstance(destination, BundleDestination):
        taking = [name for name, each in uploads.destinations.items() if isinstance(each, BundleDestination)]
        raise UnknownDestination("Name a `destination` that takes bundles.", destinations=sorted(taking))
    keys = [file.key for file in bundle.files if file.key is not None]
    if len(set(keys)) != len(keys):
        raise CombinationUnfit("Every file of a bundle has a `key` of its own.", field="files")
    if sum(file.size_bytes for file in bundle.files) != len(content):
        raise Malformed("The bytes after the first line have to be exactly those of the files it lists.")
    small = await asyncio.to_thread(_cut, uploads, owner, bundle.files, content)
    claims = await _claim(uploads, owner, bundle, small)
    small = [
        msgspec.structs.replace(file, upload_id=claim.upload_id) for file, claim in zip(small, claims, strict=True)
    ]
    refused = {
        file.upload_id: error
        for file, claim in zip(small, claims, strict=True)
        if (error := _fault(file) or _misuse(bundle.destination, file, claim)) is not None
    }
    accepted = [file for file in small if file.upload_id not in refused]
    became = iter(await destination.receive_bundle(accepted) if accepted else ())
    outcomes = [refused.get(file.upload_id) or next(became) for file in small]
    await _settle(uploads, owner, bundle.files, claims, outcomes)
    return [_told(outcome) for outcome in outcomes]


async def _claim(uploads: Uploads, owner: Member | Guest, bundle: Bundle, small: Sequence[Small]) -> list[Claim]:
    """What the key of each file stands for: the file itself, or an earlier one with the same key."""
    new = [
        Claim(file.upload_id, said_of(bundle.destination, file.name, file.size_bytes, file.details), file.sha256)
        for file in small
    ]
    places = [None if file.key is None else begun_key(owner, file.key) for file in bundle.files]
    texts = {place: written(claim) for place, claim in zip(places, new, strict=True) if place is not None}
    stored = await claim_all(uploads.ephemeral, texts)
    return [claim if place is None else read_claim(stored[place]) for place, claim in zip(places, new, strict=True)]


def _misuse(destination: str, file: Small, claim: Claim) -> SatchelError | None:
    try:
        claim.check(said_of(destination, file.name, file.size_bytes, file.details), file.sha256)
    except SatchelError as error:
        return error
    return None


async def _settle(
    uploads: Uploads,
    owner: Member | Guest,
    files: Sequence[BundledFile],
    claims: Sequence[Claim],
    outcomes: Sequence[str | SatchelError],
) -> None:
    """Let each key lead to what its file became. The key of a refused file is free again.

    After an error of the server a file may be stored all the same, so its key stays.
    """
    became: dict[str, str] = {}
    free: list[str] = []
    for file, claim, outcome in zip(files, claims, outcomes, strict=True):
        if file.key is None:
            continue
        if isinstance(outcome, str):
            became[begun_key(owner, file.key)] = written(msgspec.structs.replace(claim, became=outcome))
        elif outcome.status < _SERVER_ERROR and not isinstance(outcome, KeyReused):
            free.append(begun_key(owner, file.key))
    await settle_all(uploads.ephemeral, became)
    await release_all(uploads.ephemeral, free)


def _cut(uploads: Uploads, owner: Member | Guest, files: Sequence[BundledFile], content: memoryview) -> list[Small]:
    ends = accumulate(file.size_bytes for file in files)
    cut: list[Small] = []
    for file, end in zip(files, ends, strict=True):
        data = bytes(content[end - file.size_bytes : end])
        cut.append(
            Small(
                owner=owner,
                name=file.filename,
                content_type=known_content_type(file.filetype),
                size_bytes=file.size_bytes,
                details=file.details,
                upload_id=new_id(uploads.clock),
                data=data,
                sha256=hashlib.sha256(data).hexdigest(),
            )
        )
    return cut


def _fault(file: Small) -> SatchelError | None:
    """A refusal that every upload would get, whatever its destination."""
    if has_zero_character(file.name):
        return TextUnfit("A `filename` has no zero characters.", field="filename")
    if _length({"": file.name, **file.details}) > MAX_METADATA_BYTES:
        return TextUnfit(f"The details of a file may have at most {MAX_METADATA_BYTES} bytes.", field="details")
    return None


def _length(said: Mapping[str, str]) -> int:
    return sum(len(name.encode()) + len(value.encode()) for name, value in said.items())


def _told(outcome: str | SatchelError) -> KeptFile:
    if isinstance(outcome, str):
        return KeptFile(became=outcome)
    return KeptFile(
        problem=Refusal(
            type=f"/problems#{outcome.slug}", title=outcome.title, status=outcome.status, detail=outcome.detail
        )
    )
