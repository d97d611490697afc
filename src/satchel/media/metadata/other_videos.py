"""Reads what AVI and Matroska videos say: date, duration, size and codec."""

import re
import struct
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from satchel.media.metadata.byte_window import ByteWindow
from satchel.media.metadata.date_text import read_written, wall_time
from satchel.media.metadata.movie_atoms import MovieHead

_MOST_CHUNKS = 500
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAY_FIRST = re.compile(r"\w{3}\s+(\w{3})\s+(\d{1,2})\s+(\d{1,2}):(\d{2}):(\d{2})\s+(\d{4})")
_SEGMENT, _INFO, _TRACKS, _TRACK, _VIDEO = 0x18538067, 0x1549A966, 0x1654AE6B, 0xAE, 0xE0
_SCALE, _DURATION, _DATE, _CODEC, _WIDTH, _HEIGHT = 0x2AD7B1, 0x4489, 0x4461, 0x86, 0xB0, 0xBA
_PARENTS = frozenset([_SEGMENT, _INFO, _TRACKS, _TRACK, _VIDEO])
_UNKNOWN_LENGTHS = frozenset((1 << 7 * width) - 1 for width in range(1, 9))


def read_avi(window: ByteWindow) -> tuple[MovieHead, datetime | None]:
    """Also the date that cameras write, which is wall time."""
    head, local = MovieHead(), None
    for kind, start, length in _chunks(window, 12, window.size):
        if kind == b"avih" and length >= 40:
            data = window.at(start, 40)
            if len(data) == 40:
                per_frame, frames = struct.unpack_from("<I", data)[0], struct.unpack_from("<I", data, 16)[0]
                width, height = struct.unpack_from("<II", data, 32)
                head.size = (width, height) if width and height else None
                head.duration_ms = round(per_frame * frames / 1000) or None
        elif kind == b"strh" and window.at(start, 4) == b"vids":
            head.codec = window.at(start + 4, 4).decode("latin-1").strip("\0 ") or None
        elif kind in (b"IDIT", b"ICRD") and local is None:
            local = _avi_date(window.at(start, min(length, 64)).decode("latin-1").strip("\0\n "))
    return head, local


def _chunks(window: ByteWindow, start: int, end: int) -> Iterator[tuple[bytes, int, int]]:
    """All chunks, going into lists. The frames are a list too, and are skipped."""
    for _ in range(_MOST_CHUNKS):
        data = window.at(start, 12)
        if len(data) < 8 or start >= end:
            return
        kind, length = data[:4], int.from_bytes(data[4:8], "little")
        if kind == b"LIST" and data[8:12] != b"movi":
            start += 12
            continue
        yield kind, start + 8, length
        start += 8 + length + length % 2


def _avi_date(text: str) -> datetime | None:
    written = read_written(text)
    if written is not None:
        return written.local
    match = _WEEKDAY_FIRST.fullmatch(text)
    if match is None or match[1].lower() not in _MONTHS:
        return None
    month = _MONTHS.index(match[1].lower()) + 1
    return wall_time(int(match[6]), month, int(match[2]), int(match[3]) % 24, int(match[4]), min(int(match[5]), 59))


def read_matroska(window: ByteWindow) -> MovieHead:
    head = MovieHead()
    scale, duration, width = 1_000_000, None, 0
    for element, start, length in _elements(window):
        if element == _SCALE:
            scale = window.number(start, length) or scale
        elif element == _DURATION and length in (4, 8):
            data = window.at(start, length)
            duration = struct.unpack(">f" if length == 4 else ">d", data)[0] if len(data) == length else None
        elif element == _DATE and length == 8:
            head.created_utc = _matroska_date(window.at(start, 8))
        elif element == _CODEC and head.codec is None:
            codec = window.at(start, min(length, 32)).decode("latin-1").strip("\0 ")
            head.codec = codec if codec.startswith("V_") else None
        elif element == _WIDTH and head.size is None:
            width = window.number(start, min(length, 8)) or 0
        elif element == _HEIGHT and width and head.size is None:
            head.size = width, window.number(start, min(length, 8)) or 0
    if duration and 0 < duration * scale < 1e18:
        head.duration_ms = round(duration * scale / 1_000_000)
    return head


def _elements(window: ByteWindow) -> Iterator[tuple[int, int, int]]:
    offset = 0
    for _ in range(_MOST_CHUNKS):
        element, start = _variable(window, offset, keep_mark=True)
        length, content = _variable(window, start)
        if not element or content >= window.size:
            return
        yield element, content, length
        offset = content if element in _PARENTS else content + length
        if length in _UNKNOWN_LENGTHS and element not in _PARENTS:
            return


def _variable(window: ByteWindow, offset: int, *, keep_mark: bool = False) -> tuple[int, int]:
    """A number whose first bits say how long it is, and the offset after it."""
    data = window.at(offset, 8)
    if not data or not data[0]:
        return 0, window.size
    width = 9 - data[0].bit_length()
    value = int.from_bytes(data[:width], "big")
    return (value if keep_mark else value & ((1 << 7 * width) - 1)), offset + width


def _matroska_date(data: bytes) -> datetime | None:
    if len(data) < 8:
        return None
    nanoseconds = int.from_bytes(data, "big", signed=True)
    return datetime(2001, 1, 1, tzinfo=UTC) + timedelta(microseconds=nanoseconds // 1000)
