"""Reads what MP4 and QuickTime videos say: times, duration, size, turn, codec, place, and Apple's live photo id.

The sample tables of a long video take megabytes. Only the headers around them are read.
"""

import math
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from satchel.media.metadata.boxes import Box, boxes, first, inside
from satchel.media.metadata.byte_window import ByteWindow
from satchel.media.metadata.media_facts import Position

_EPOCH = datetime(1904, 1, 1, tzinfo=UTC)
_UUID_XMP = bytes.fromhex("be7acfcb97a942e89c71999491e3afac")
_MOST_TEXT_BYTES = 4096
# The corners of a track's matrix, and EXIF's number for the same turn.
_TURNS = {(1, 0, 0, 1): 1, (0, 1, -1, 0): 6, (-1, 0, 0, -1): 3, (0, -1, 1, 0): 8}
_ISO_6709 = re.compile(r"([+-]\d+(?:\.\d+)?)([+-]\d+(?:\.\d+)?)([+-]\d+(?:\.\d+)?)?")
_KEYS = {
    b"com.apple.quicktime.creationdate": "created",
    b"com.apple.quicktime.location.ISO6709": "place",
    b"com.apple.quicktime.content.identifier": "content_id",
    b"com.apple.quicktime.make": "make",
    b"com.apple.quicktime.model": "model",
    b"com.android.manufacturer": "make",
    b"com.android.model": "model",
}
_ATOMS = {b"\xa9xyz": "place", b"\xa9day": "created", b"\xa9mak": "make", b"\xa9mod": "model"}


@dataclass(slots=True)
class MovieHead:
    """What the headers of a video say. `created` is Apple's text, with an offset; `created_utc` the standard's."""

    created_utc: datetime | None = None
    created: str = ""
    duration_ms: int | None = None
    size: tuple[int, int] | None = None
    orientation: int = 1
    codec: str | None = None
    place: str = ""
    content_id: str = ""
    make: str = ""
    model: str = ""
    xmp: str = ""

    @property
    def position(self) -> Position | None:
        match = _ISO_6709.match(self.place)
        if match is None:
            return None
        latitude, longitude = _degrees(match[1], 2), _degrees(match[2], 3)
        if abs(latitude) > 90 or abs(longitude) > 180 or (latitude == 0 and longitude == 0):
            return None
        return Position(latitude, longitude, float(match[3]) if match[3] else None)


def read_movie(window: ByteWindow) -> MovieHead:
    head = MovieHead()
    for box in boxes(window, 0, window.size):
        if box.kind == b"moov":
            _read_moov(window, box, head)
        elif box.kind == b"uuid" and window.at(box.start, 16) == _UUID_XMP:
            head.xmp = window.at(box.start + 16, box.length - 16).decode(errors="replace")
    return head


def _read_moov(window: ByteWindow, moov: Box, head: MovieHead) -> None:
    for box in inside(window, moov):
        if box.kind == b"mvhd":
            _read_header(window, box, head)
        elif box.kind == b"trak" and head.codec is None:
            _read_track(window, box, head)
        elif box.kind == b"meta":
            _note(head, _keyed(window, box))
        elif box.kind == b"udta":
            _note(head, _user_data(window, box))


def _read_header(window: ByteWindow, box: Box, head: MovieHead) -> None:
    data = window.at(box.start, 36)
    if len(data) < 20:
        return
    if data[0] == 1 and len(data) >= 32:
        created, _, scale, duration = struct.unpack_from(">QQIQ", data, 4)
    else:
        created, _, scale, duration = struct.unpack_from(">IIII", data, 4)
    head.created_utc = _instant(created)
    # All ones mean that the duration is unknown.
    if scale and duration not in (0, 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF):
        head.duration_ms = round(duration * 1000 / scale)


def _instant(seconds: int) -> datetime | None:
    """Seconds since 1904; some programs count from 1970 instead, which would be before there were videos."""
    try:
        moment = _EPOCH + timedelta(seconds=seconds)
    except OverflowError:
        return None
    if seconds and moment.year < 1970:
        return datetime.fromtimestamp(seconds, UTC)
    return moment if seconds else None


def _read_track(window: ByteWindow, track: Box, head: MovieHead) -> None:
    media = first(window, track, b"mdia")
    handler = first(window, media, b"hdlr") if media else None
    if media is None or handler is None or window.at(handler.start + 8, 4) != b"vide":
        return
    head.codec = _codec(window, media) or ""
    box = first(window, track, b"tkhd")
    if box is None:
        return
    start = box.start + (88 if window.number(box.start, 1) == 1 else 76)
    data = window.at(start - 36, 44)
    if len(data) == 44:
        a, b, _, c, d, _, _, _, _, width, height = struct.unpack(">11i", data)
        if width > 0 and height > 0:
            head.size = width >> 16, height >> 16
        head.orientation = _TURNS.get((_sign(a), _sign(b), _sign(c), _sign(d)), 1)


def _codec(window: ByteWindow, media: Box) -> str | None:
    box: Box | None = media
    for kind in (b"minf", b"stbl", b"stsd"):
        box = first(window, box, kind) if box else None
    name = window.at(box.start + 12, 4) if box else b""
    return name.decode("latin-1").strip() if name.isalnum() else None


def _keyed(window: ByteWindow, meta: Box) -> Iterator[tuple[str, str]]:
    """Apple's and Android's list: the names in one box, the values in another, joined by number."""
    # QuickTime's box has no version and flags, MPEG's has.
    skipped = 0 if window.at(meta.start + 4, 4) == b"hdlr" else 4
    parts = {box.kind: box for box in inside(window, meta, skipped=skipped)}
    keys, values = parts.get(b"keys"), parts.get(b"ilst")
    if keys is None or values is None:
        return
    names = [
        _KEYS.get(window.at(box.start, min(box.length, 128)), "") for box in boxes(window, keys.start + 8, keys.end)
    ]
    for box in inside(window, values):
        number = int.from_bytes(box.kind, "big")
        data = first(window, box, b"data")
        if 0 < number <= len(names) and names[number - 1] and data is not None:
            yield names[number - 1], _text(window, data.start + 8, data.end)


def _user_data(window: ByteWindow, user_data: Box) -> Iterator[tuple[str, str]]:
    for box in inside(window, user_data):
        if box.kind in _ATOMS:
            length = window.number(box.start, 2) or 0
            yield _ATOMS[box.kind], _text(window, box.start + 4, min(box.start + 4 + length, box.end))
        elif box.kind == b"meta":
            yield from _keyed(window, box)


def _note(head: MovieHead, facts: Iterator[tuple[str, str]]) -> None:
    for name, value in facts:
        if value and not getattr(head, name):
            setattr(head, name, value)


def _text(window: ByteWindow, start: int, end: int) -> str:
    data = window.at(start, min(end - start, _MOST_TEXT_BYTES))
    return data.decode(errors="replace").strip("\0 ")


def _sign(value: int) -> int:
    return int(math.copysign(1, value)) if value else 0


def _degrees(text: str, digits: int) -> float:
    """ISO 6709 has degrees, or degrees and minutes, or seconds too; the number of digits says which."""
    sign, value = (-1 if text[0] == "-" else 1), text[1:]
    whole = value.partition(".")[0]
    if len(whole) == digits + 2:
        return sign * (int(whole[:digits]) + float(value[digits:]) / 60)
    if len(whole) == digits + 4:
        return sign * (int(whole[:digits]) + int(whole[digits : digits + 2]) / 60 + float(value[digits + 2 :]) / 3600)
    return sign * float(value)
