"""Blanks the place, makers' notes and serial numbers in JPEG, PNG and WebP files."""

import re
import zlib
from contextlib import suppress

from satchel.media.redaction.original import SPACE, Original, Unclear
from satchel.media.redaction.text_redact import redact_photoshop, redact_xmp
from satchel.media.redaction.tiff_redact import TiffRedactor

_EXIF, _XMP = b"Exif\0", b"http://ns.adobe.com/xap/1.0/\0"
_MORE_XMP, _PHOTOSHOP = b"http://ns.adobe.com/xmp/extension/\0", b"Photoshop 3.0\0"
# Of other segments of applications, those without which the picture looks different. All else is a maker's note.
_KEPT = {
    0xE0: (b"JFIF\0", b"JFXX\0"),
    0xE2: (b"ICC_PROFILE\0", b"MPF\0", b"urn:iso:std:iso:ts:21496"),
    0xEE: (b"Adobe",),
}
# Through megabytes that have neither, these go twice as fast as `bytes.find`.
_PICTURE, _VIDEO = re.compile(rb"\xff\xd8\xff"), re.compile(b"ftyp")
_WITHOUT_LENGTH = frozenset([0x01, *range(0xD0, 0xD9)])
_START_OF_SCAN, _END = 0xDA, 0xD9
_MARK_BYTES = 40
# A private chunk that all programs pass over, as PNG defines the letters.
_IGNORED_CHUNK = b"saTc"
_PNG_XMP = b"XML:com.adobe.xmp\0"


def redact_exif(original: Original, start: int, end: int, *, keeps_notes: bool = False) -> None:
    """A TIFF structure. A broken one goes as a whole."""
    found = len(original.patches)
    try:
        TiffRedactor(original, start, end, keeps_notes, redact_inner).redact()
    except Unclear:
        del original.patches[found:]
        original.blank(start, end - start)


def redact_inner(original: Original, start: int, length: int) -> None:
    """A JPEG inside of another file."""
    redact_jpeg(original, start, min(start + length, original.size))


def redact_jpeg(original: Original, start: int, end: int) -> int:
    """All segments before the pixels, which is where the answer is. A file that was cut off is over earlier."""
    at = start + 2
    while at + 4 <= end:
        head = original.at(at, 4)
        marker = head[1]
        if head[0] != 0xFF:
            raise Unclear
        if marker == 0xFF or marker in _WITHOUT_LENGTH:
            at += 1 if marker == 0xFF else 2
            continue
        if marker in (_START_OF_SCAN, _END):
            return at
        following = at + 2 + int.from_bytes(head[2:], "big")
        if following < at + 4:
            raise Unclear
        if 0xE0 <= marker <= 0xEF:
            _redact_segment(original, marker, at + 4, min(following, end))
        at = following
    return end


def _redact_segment(original: Original, marker: int, start: int, end: int) -> None:
    mark = original.at(start, min(end - start, _MARK_BYTES))
    if marker == 0xE1 and mark.startswith(_EXIF):
        redact_exif(original, min(start + 6, end), end)
    elif marker == 0xE1 and mark.startswith(_XMP):
        redact_xmp(original, start + len(_XMP), end - start - len(_XMP))
    elif marker == 0xE1 and mark.startswith(_MORE_XMP):
        # Parts of one text, cut anywhere.
        original.blank(start + len(_MORE_XMP), end - start - len(_MORE_XMP), SPACE)
    elif marker == 0xED and mark.startswith(_PHOTOSHOP):
        redact_photoshop(original, start + len(_PHOTOSHOP), end - start - len(_PHOTOSHOP))
    elif not mark.startswith(_KEPT.get(marker, ())):
        original.blank(start, end - start)


def redact_png(original: Original) -> None:
    at = 8
    while at + 12 <= original.size:
        head = original.at(at, 8)
        length, kind, start = int.from_bytes(head[:4], "big"), head[4:], at + 8
        if kind == b"IEND":
            return
        if start + length + 4 > original.size:
            # Cut off in the middle of a chunk. Pixels say nothing of a place.
            if kind != b"IDAT":
                original.blank(start, original.size - start)
            return
        if kind in (b"eXIf", b"iTXt", b"tEXt", b"zTXt"):
            _redact_chunk(original, kind, start, length)
        at = start + length + 4


def _redact_chunk(original: Original, kind: bytes, start: int, length: int) -> None:
    data, found = original.at(start, length), len(original.patches)
    key = data.partition(b"\0")[0]
    if kind == b"eXIf":
        redact_exif(original, start, start + length)
    elif kind == b"iTXt" and data.startswith(_PNG_XMP + b"\0"):
        # Language and translated name come first.
        text = len(data) - len(data[len(_PNG_XMP) + 2 :].split(b"\0", 2)[-1])
        redact_xmp(original, start + text, length - text)
    elif key == _PNG_XMP[:-1] or key.lower().startswith(b"raw profile type"):
        original.write(start - 4, _IGNORED_CHUNK)
        original.blank(start, length)
        kind = _IGNORED_CHUNK
    if len(original.patches) > found:
        changed = bytearray(data)
        for patch in original.patches[found:]:
            if patch.start >= start:
                changed[patch.start - start : patch.end - start] = patch.data * patch.length
        original.write(start + length, zlib.crc32(bytes(changed), zlib.crc32(kind)).to_bytes(4, "big"))


def redact_webp(original: Original) -> None:
    at = 12
    while at + 8 <= original.size:
        head = original.at(at, 8)
        length, kind, start = int.from_bytes(head[4:], "little"), head[:4], at + 8
        end = min(start + length, original.size)
        if kind == b"EXIF":
            has_mark = end - start >= 6 and original.at(start, 5) == _EXIF
            redact_exif(original, start + 6 * has_mark, end)
        elif kind == b"XMP ":
            redact_xmp(original, start, end - start)
        at = start + length + length % 2


def redact_all_of_jpeg(original: Original) -> list[int]:
    """The picture, and further ones behind it. The answer is where a video may begin that was put behind them.

    Among the pixels of a JPEG these bytes cannot stand.
    """
    pixels = redact_jpeg(original, 0, original.size)
    rest = original.at(pixels, original.size - pixels)
    for mark in _PICTURE.finditer(rest):
        # In a video behind the picture the bytes may stand by chance, and lead nowhere.
        with suppress(Unclear):
            redact_jpeg(original, pixels + mark.start(), original.size)
    boxes = [mark.start() - 4 for mark in _VIDEO.finditer(rest)]
    return [pixels + at for at in boxes if at >= 0 and 8 <= int.from_bytes(rest[at : at + 4], "big") <= 256]
