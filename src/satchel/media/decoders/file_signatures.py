"""What a file is by its first bytes. SVG and everything else that could name other files is never anything here."""

import re
from typing import Literal

from satchel.media.picture_kinds import RAW_ENDINGS

ImageKind = Literal["jpeg", "png", "webp", "gif", "avif", "tiff"]
VideoKind = Literal["mov", "matroska", "ogg", "avi", "mpegts", "mpeg"]
FileKind = ImageKind | VideoKind | Literal["heic", "raw", "pdf"]

HEAD_BYTES = 1024
# The second half is of files that may have more than four gigabytes.
_TIFF = rb"II\*\0|MM\0\*|II\+\0|MM\0\+"
_RAW = re.compile(_TIFF + rb"|II\x1a\0\0\0HEAPCCDR|IIR[OS]|IIU\0|FUJIFILMCCD-RAW|FOVb|\0MRM|....ftypcrx ", re.DOTALL)
_SIGNATURES: tuple[tuple[bytes, FileKind], ...] = (
    (rb"\xff\xd8\xff", "jpeg"),
    (rb"\x89PNG\r\n\x1a\n", "png"),
    (rb"GIF8[79]a", "gif"),
    (rb"RIFF....WEBP", "webp"),
    (rb"RIFF....AVI ", "avi"),
    (rb"....ftypavi[fs]", "avif"),
    (rb"....ftyp(?:hei[cxms]|hev[cxms])", "heic"),
    # Some cameras name only the family first. The brands that follow say which member it is.
    (rb"....ftypmi[fs]1.{0,40}?avif", "avif"),
    (rb"....ftypmi[fs]1", "heic"),
    (rb"....ftypM4[AB]", "mov"),
    (rb"....(?:ftyp|moov|mdat|wide|free)", "mov"),
    (rb"\x1a\x45\xdf\xa3", "matroska"),
    (rb"OggS", "ogg"),
    (rb"G.{187}G.{187}G", "mpegts"),
    (rb"....G.{191}G.{191}G", "mpegts"),
    (rb"\0\0\x01\xba", "mpeg"),
    (rb"%PDF-", "pdf"),
    (_TIFF, "tiff"),
)
_MARKS: list[tuple[re.Pattern[bytes], FileKind]] = [(re.compile(mark, re.DOTALL), kind) for mark, kind in _SIGNATURES]


def file_kind(head: bytes, name: str) -> FileKind | None:
    """None for what has no picture. Most raw photos begin like TIFF, so there the name decides."""
    ending = name.rpartition(".")[2].lower()
    if ending in RAW_ENDINGS and _RAW.match(head):
        return "raw"
    return next((kind for mark, kind in _MARKS if mark.match(head)), None)
