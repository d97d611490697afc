"""Blanks the place and what a camera measured in MP4 and QuickTime videos and Canon's CR3."""

from collections.abc import Iterator

from satchel.media.metadata.boxes import Box
from satchel.media.redaction.image_redact import redact_exif
from satchel.media.redaction.original import Original, Unclear
from satchel.media.redaction.sample_tables import sample_places
from satchel.media.redaction.text_redact import redact_xmp
from satchel.media.redaction.tiff_redact import TiffRedactor

_MOST_BOXES = 20_000
_XMP = bytes.fromhex("be7acfcb97a942e89c71999491e3afac")
_CANON = bytes.fromhex("85c0b687820f11e08111f4ce462b6a48")
_FREE = b"free"
# Tracks that people see and hear. Others have what the camera measured, such as where it was each second.
_KEPT_TRACKS = frozenset([b"vide", b"soun", b"text", b"sbtl", b"subt", b"clcp", b"tmcd", b"pict", b"auxv"])
# Texts that people write. All else among the user data is a maker's note.
_KEPT_TEXTS = frozenset(
    [
        *(b"\xa9nam", b"\xa9cmt", b"\xa9day", b"\xa9too", b"\xa9swr", b"\xa9mak", b"\xa9mod", b"\xa9des", b"\xa9cpy"),
        *(b"titl", b"dscp", b"cprt", b"auth", b"name", b"chpl", b"hinf", b"hnti", b"free", b"skip", b"meta"),
    ]
)
_KEPT_KEYS = (
    *(b"com.apple.quicktime.creationdate", b"com.apple.quicktime.make", b"com.apple.quicktime.model"),
    *(b"com.apple.quicktime.software", b"com.apple.quicktime.title", b"com.apple.quicktime.description"),
    *(b"com.apple.quicktime.author", b"com.apple.quicktime.comment", b"com.apple.quicktime.content.identifier"),
    *(b"com.apple.quicktime.live-photo", b"com.apple.quicktime.full-frame-rate", b"com.apple.quicktime.camera.lens"),
    *(b"com.android.version", b"com.android.manufacturer", b"com.android.model", b"com.android.capture.fps"),
)


def walk(original: Original, start: int, end: int) -> Iterator[Box]:
    """The boxes between two offsets, each whole. What is cut off is only known to begin here."""
    for _ in range(_MOST_BOXES):
        if start + 8 > end:
            return
        length, kind, content = original.number(start, 4), original.at(start + 4, 4), start + 8
        if length == 1:
            length, content = original.number(content, 8), content + 8
        elif length == 0:
            length = end - start
        if length < content - start:
            # Four zero bytes may end the user data.
            if not original.at(start, end - start).strip(b"\0"):
                return
            raise Unclear
        yield Box(kind, content, min(start + length, end))
        start += length
    raise Unclear


def redact_movie(original: Original, start: int = 0, *, is_canon: bool = False) -> None:
    fragments, measured = False, False
    for box in walk(original, start, original.size):
        fragments = fragments or box.kind == b"moof"
        if box.kind == b"moov":
            measured = _redact_moov(original, box, start, is_canon=is_canon)
        elif box.kind == b"uuid" and not is_canon:
            _redact_uuid(original, box)
        elif box.kind == b"meta":
            _redact_meta(original, box)
    if fragments and measured:
        raise Unclear


def _redact_moov(original: Original, moov: Box, base: int, *, is_canon: bool) -> bool:
    """Whether there is a track of measurements."""
    measured = False
    for box in walk(original, moov.start, moov.end):
        if box.kind == b"trak":
            measured = _redact_track(original, box, base, is_canon=is_canon) or measured
        elif box.kind == b"uuid" and is_canon and original.at(box.start, 16) == _CANON:
            _redact_canon(original, box)
        elif box.kind == b"uuid" and not is_canon:
            _redact_uuid(original, box)
        elif box.kind == b"meta":
            _redact_meta(original, box)
        elif box.kind == b"udta":
            _redact_user_data(original, box)
    return measured


def _redact_track(original: Original, track: Box, base: int, *, is_canon: bool) -> bool:
    kind, table = b"", None
    for box in walk(original, track.start, track.end):
        if box.kind == b"udta":
            _redact_user_data(original, box)
        elif box.kind == b"meta":
            _redact_meta(original, box)
        elif box.kind == b"mdia":
            parts = {each.kind: each for each in walk(original, box.start, box.end)}
            kind = original.at(parts[b"hdlr"].start + 8, 4) if b"hdlr" in parts else b""
            inner = parts.get(b"minf")
            tables = walk(original, inner.start, inner.end) if inner else ()
            table = next((each for each in tables if each.kind == b"stbl"), None)
    if kind in _KEPT_TRACKS or is_canon:
        return False
    if table is not None:
        parts = {each.kind: each for each in walk(original, table.start, table.end)}
        for place, length in sample_places(original, parts):
            # In a file that was cut off, the rest is not there.
            if base + place < original.size:
                original.blank(base + place, min(length, original.size - base - place))
    return True


def _redact_uuid(original: Original, box: Box) -> None:
    if original.at(box.start, 16) == _XMP:
        redact_xmp(original, box.start + 16, box.length - 16)
    else:
        original.blank(box.start + 16, box.length - 16)


def _redact_user_data(original: Original, user_data: Box) -> None:
    for box in walk(original, user_data.start, user_data.end):
        if box.kind == b"meta":
            _redact_meta(original, box)
        elif box.kind == b"XMP_":
            redact_xmp(original, box.start, box.length)
        elif box.kind not in _KEPT_TEXTS:
            original.write(box.start - 4, _FREE)
            original.blank(box.start, box.length)


def _redact_meta(original: Original, meta: Box) -> None:
    """Apple's and Android's list: the names in one box, the values in another, joined by number."""
    # QuickTime's box has no version and flags, MPEG's has.
    skipped = 0 if meta.length >= 8 and original.at(meta.start + 4, 4) == b"hdlr" else 4
    parts = {box.kind: box for box in walk(original, meta.start + skipped, meta.end)}
    if (text := parts.get(b"xml ") or parts.get(b"bxml")) is not None:
        original.blank(text.start, text.length)
    keys, values = parts.get(b"keys"), parts.get(b"ilst")
    if values is None:
        return
    names = [original.at(box.start, box.length) for box in walk(original, keys.start + 8, keys.end)] if keys else []
    for box in walk(original, values.start, values.end):
        number = int.from_bytes(box.kind, "big")
        name = names[number - 1] if 0 < number <= len(names) else b""
        if not (name.startswith(_KEPT_KEYS) or (not keys and box.kind in _KEPT_TEXTS)):
            for data in walk(original, box.start, box.end):
                original.blank(data.start + 8, max(data.length - 8, 0))


def _redact_canon(original: Original, box: Box) -> None:
    for part in walk(original, box.start + 16, box.end):
        if part.kind == b"CMT4":
            TiffRedactor(original, part.start, part.end).redact(only_place=True)
        elif part.kind in (b"CMT1", b"CMT2"):
            redact_exif(original, part.start, part.end, keeps_notes=True)
