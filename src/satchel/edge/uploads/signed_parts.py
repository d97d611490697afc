"""Let clients send the parts of an upload straight to the bucket, by signed links.

A client asks again and again. Each time it names the parts that it has sent, and is answered links for those that come
next. What has arrived moves the offset of the upload, as if the bytes had come through here. So every client can go on
with it in either way. At its end the server reads the object once, since nobody else's word for its SHA-256 counts.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Annotated

import msgspec

from satchel.edge.api.endpoints import Body
from satchel.edge.uploads.context import RESUME_WITHIN, Uploads
from satchel.edge.uploads.records import UploadRow
from satchel.edge.uploads.upload_finish import FINISH_WITHIN
from satchel.stores.ports.direct_links import DirectLinks
from satchel.stores.ports.expressions import assign
from satchel.stores.ports.objects import MAX_PARTS, ObjectMissing, Part

# What a client that dies has sent in vain is at most this, times the size of a part.
LINKS_AT_ONCE = 8
LINKS_LAST = timedelta(hours=1)
# By this header clients learn whether it is worth asking.
SIGNED_PARTS = "Satchel-Signed-Parts"


class SentParts(Body, frozen=True, kw_only=True):
    """The numbers of the parts that you have sent since you last asked."""

    sent: Annotated[list[Annotated[int, msgspec.Meta(ge=1, le=MAX_PARTS)]], msgspec.Meta(max_length=LINKS_AT_ONCE)] = (
        msgspec.field(default_factory=list[int])
    )


class SignedPart(msgspec.Struct, frozen=True, kw_only=True):
    """A part to send: PUT exactly these bytes of the file to the address, without any header of your own."""

    number: int
    start: int
    size_bytes: int
    url: str


class PartsView(msgspec.Struct, frozen=True, kw_only=True):
    """How far the upload is, what it became once it is complete, and the parts that come next.

    Without parts, send what is missing to this server.
    """

    offset_bytes: int
    became: str | None
    parts: list[SignedPart]


async def note_parts(uploads: Uploads, row: UploadRow, sent: Sequence[int]) -> UploadRow:
    """Move the upload over the parts that are named and have arrived, one after the other."""
    if not sent or not row.multipart or row.is_whole:
        return row
    try:
        stored = {part.number: part for part in await uploads.objects.parts(row.key, row.multipart)}
    except ObjectMissing:
        return row
    offset = _arrived(row, {number: stored[number] for number in sent if number in stored})
    if offset <= row.offset_bytes:
        return row
    used_up = [row.folder + piece.name for piece in row.pieces]
    actions = [assign("OffsetBytes", offset), assign("Pieces", [])]
    row = await uploads.change(row, actions, FINISH_WITHIN if offset == row.size_bytes else RESUME_WITHIN)
    if used_up:
        await uploads.objects.delete(*used_up)
    return row


async def next_parts(uploads: Uploads, row: UploadRow) -> list[SignedPart]:
    """Links for the parts that come next; none where bytes go through here, or when all are there."""
    direct = uploads.direct
    # A file of one part takes fewer requests through here.
    if direct is None or row.size_bytes <= row.part_bytes or row.is_whole:
        return []
    row = await _with_multipart(uploads, row)
    return [await _signed(direct, row, start) for start in _starts(row)[:LINKS_AT_ONCE]]


def _arrived(row: UploadRow, parts: Mapping[int, Part]) -> int:
    offset = row.offset_bytes
    for start in _starts(row):
        part = parts.get(_number(row, start))
        size_bytes = _size(row, start)
        if part is None or part.size_bytes != size_bytes:
            break
        offset = start + size_bytes
    return offset


async def _with_multipart(uploads: Uploads, row: UploadRow) -> UploadRow:
    if row.multipart:
        return row
    multipart = await uploads.objects.begin(row.key, content_type=row.content_type)
    try:
        return await uploads.change(row, [assign("MultipartId", multipart)])
    except BaseException:
        await uploads.objects.abort(row.key, multipart)
        raise


async def _signed(direct: DirectLinks, row: UploadRow, start: int) -> SignedPart:
    number, size_bytes = _number(row, start), _size(row, start)
    url = await direct.to_part(row.key, row.multipart, number, size_bytes, LINKS_LAST)
    return SignedPart(number=number, start=start, size_bytes=size_bytes, url=url)


def _starts(row: UploadRow) -> range:
    """Where the parts begin that are not stored. One of which some pieces are there is sent as a whole."""
    return range(row.offset_bytes - row.waiting_bytes, row.size_bytes, row.part_bytes)


def _number(row: UploadRow, start: int) -> int:
    return start // row.part_bytes + 1


def _size(row: UploadRow, start: int) -> int:
    return min(row.part_bytes, row.size_bytes - start)
