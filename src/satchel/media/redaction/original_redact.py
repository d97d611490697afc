"""Finds the patches of one original, whatever its format, and the hash of what it is with them."""

import hashlib
import re
import struct
from typing import BinaryIO

from satchel.kernel.patches import Patch, merged, patched
from satchel.media.metadata.avchd import MARK, PACKET_BYTES, has_place
from satchel.media.metadata.boxes import boxes, inside
from satchel.media.metadata.containers import KNOWN_ENDINGS, RAW_ENDINGS, recognise
from satchel.media.metadata.heif_head import item_places, items
from satchel.media.redaction.image_redact import (
    redact_all_of_jpeg,
    redact_exif,
    redact_inner,
    redact_png,
    redact_webp,
)
from satchel.media.redaction.movie_redact import redact_movie, walk
from satchel.media.redaction.original import Original, Unclear
from satchel.media.redaction.redaction import Redaction
from satchel.media.redaction.text_redact import redact_xmp
from satchel.media.redaction.tiff_redact import TiffRedactor

_PIECE_BYTES = 1024 * 1024
# Formats into which no camera writes a place.
_WITHOUT_PLACE = frozenset(["gif", "avi", "matroska"])
_ENDINGS_WITHOUT_PLACE = frozenset(["bmp", "mpg", "mpeg"])


def redact(file: BinaryIO, size_bytes: int, name: str) -> Redaction:
    original = Original(file, size_bytes)
    try:
        _redact(original, name)
    except (Unclear, struct.error):
        return Redaction(sha256="")
    patches = merged(original.patches)
    return Redaction(sha256=_hash(file, size_bytes, patches), patches=patches)


def _redact(original: Original, name: str) -> None:
    found = recognise(original.window()) if original.size else ""
    ending = name.rpartition(".")[2].lower()
    if found == "jpeg":
        for video in redact_all_of_jpeg(original):
            redact_movie(original, video)
    elif found == "png":
        redact_png(original)
    elif found == "webp":
        redact_webp(original)
    elif found in ("heic", "avif"):
        _redact_heif(original)
    elif found in ("mp4", "mov", "cr3"):
        redact_movie(original, is_canon=found == "cr3")
        _redact_packets(original, is_canon=found == "cr3")
    elif found == "jxl":
        _redact_jxl(original)
    elif found == "raf":
        redact_inner(original, *struct.unpack(">II", original.at(84, 8)))
    elif found == "mpegts":
        _check_stream(original)
    elif found == "tiff":
        keeps_notes = ending in RAW_ENDINGS
        TiffRedactor(original, 0, original.size, keeps_notes, redact_inner).redact()
    elif found not in _WITHOUT_PLACE and (found or ending in KNOWN_ENDINGS - _ENDINGS_WITHOUT_PLACE):
        raise Unclear


def _redact_packets(original: Original, *, is_canon: bool) -> None:
    """XMP beside the movie in Canon's RAW, whose other boxes are needed to develop it."""
    if is_canon:
        for box in walk(original, 0, original.size):
            if box.kind == b"uuid" and original.at(box.start, 4) == b"\xbe\x7a\xcf\xcb":
                redact_xmp(original, box.start + 16, box.length - 16)


def _redact_heif(original: Original) -> None:
    window = original.window()
    for meta in (box for box in boxes(window, 0, window.size) if box.kind == b"meta"):
        parts = {box.kind: box for box in inside(window, meta, skipped=4)}
        places = dict(item_places(window, parts.get(b"iloc"), parts.get(b"idat")))
        for item, kind, content_type in items(window, parts.get(b"iinf")):
            if kind not in (b"Exif", b"mime"):
                continue
            if item not in places:
                raise Unclear
            start, length = places[item]
            if kind == b"Exif":
                tiff = start + 4 + original.number(start, 4)
                redact_exif(original, tiff, start + length)
            elif content_type == b"application/rdf+xml":
                redact_xmp(original, start, length)
            else:
                original.blank(start, length)
    if any(box.kind == b"moov" for box in walk(original, 0, original.size)):
        redact_movie(original)


def _redact_jxl(original: Original) -> None:
    for box in walk(original, 0, original.size):
        if box.kind == b"Exif":
            redact_exif(original, box.start + 4 + original.number(box.start, 4), box.end)
        elif box.kind == b"xml ":
            redact_xmp(original, box.start, box.length)
        elif box.kind in (b"brob", b"jumb"):
            original.write(box.start - 4, b"free")
            original.blank(box.start, box.length)


def _check_stream(original: Original) -> None:
    """A camcorder writes the place into one picture after the other. Such a film is withheld.

    The end of a packet leaves one half of the mark whole.
    """
    halves = re.compile(re.escape(MARK[:10]) + b"|" + re.escape(MARK[10:]))
    packet = PACKET_BYTES if original.at(0, 1) == b"G" else PACKET_BYTES + 4
    for start in range(0, original.size, _PIECE_BYTES):
        piece = original.at(start, min(_PIECE_BYTES + len(MARK), original.size - start))
        for match in halves.finditer(piece):
            begin = max(0, (start + match.start()) // packet - 1) * packet
            if has_place(original.at(begin, min(8 * packet, original.size - begin))):
                raise Unclear


def _hash(file: BinaryIO, size_bytes: int, patches: list[Patch]) -> str:
    """Both are in order, so each patch is looked at by the pieces that it touches."""
    digest, offset, first = hashlib.sha256(), 0, 0
    file.seek(0)
    while offset < size_bytes:
        piece = file.read(min(_PIECE_BYTES, size_bytes - offset))
        if not piece:
            break
        last = first
        while last < len(patches) and patches[last].start < offset + len(piece):
            last += 1
        digest.update(patched(piece, offset, patches[first:last]))
        offset += len(piece)
        while first < last and patches[first].end <= offset:
            first += 1
    return digest.hexdigest()
