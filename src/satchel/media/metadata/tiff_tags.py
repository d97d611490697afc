"""Reads the tags of a TIFF structure: EXIF blocks, TIFF files, and the RAW formats built on TIFF.

Only the tags in use are decoded. The number of directories, of entries and the length of a value are bounded, so that
a loop of directories or a count of four billion costs nothing.
"""

import math
import struct
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from satchel.media.metadata.byte_window import ByteWindow

Value = str | bytes | tuple[float, ...]
Tags = dict[int, Value]

_MOST_ENTRIES = 500
_MOST_DIRECTORIES = 12
_MOST_VALUE_BYTES = 4096
_FORMATS = {1: "B", 3: "H", 4: "I", 5: "II", 6: "b", 8: "h", 9: "i", 10: "ii", 11: "f", 12: "d", 13: "I"}
_TEXT, _UNDEFINED, _FRACTIONS = 2, 7, (5, 10)
# TIFF itself, then Olympus, Panasonic.
_MARKS = (b"*\0", b"\0*", b"RO", b"RS", b"OR", b"SR", b"U\0", b"\0U")

MAKE, MODEL, ORIENTATION, CHANGED, XMP = 0x010F, 0x0110, 0x0112, 0x0132, 0x02BC
WIDTH, HEIGHT, SUBDIRECTORIES, EXIF_DIRECTORY, GPS_DIRECTORY, DNG = 0x0100, 0x0101, 0x014A, 0x8769, 0x8825, 0xC612
ORIGINAL, DIGITIZED, OFFSET, OFFSET_ORIGINAL, OFFSET_DIGITIZED = 0x9003, 0x9004, 0x9010, 0x9011, 0x9012
FRACTION, FRACTION_ORIGINAL, FRACTION_DIGITIZED = 0x9290, 0x9291, 0x9292
SECONDS, APERTURE, ISO, FOCAL, FOCAL_35, LENS = 0x829A, 0x829D, 0x8827, 0x920A, 0xA405, 0xA434
PIXEL_WIDTH, PIXEL_HEIGHT, MAKER_NOTE = 0xA002, 0xA003, 0x927C
DESCRIPTION, RATING = 0x010E, 0x4746
APPLE_CONTENT_ID = 0x0011
# Panasonic's RAW has the size of its sensor only.
SENSOR_HEIGHT, SENSOR_WIDTH = 0x0006, 0x0007

_IMAGE_TAGS = frozenset(
    [
        MAKE,
        MODEL,
        ORIENTATION,
        CHANGED,
        XMP,
        WIDTH,
        HEIGHT,
        SUBDIRECTORIES,
        EXIF_DIRECTORY,
        GPS_DIRECTORY,
        DNG,
        ORIGINAL,
        DESCRIPTION,
        RATING,
        SENSOR_HEIGHT,
        SENSOR_WIDTH,
    ]
)
EXIF_TAGS = frozenset(
    [
        ORIGINAL,
        DIGITIZED,
        OFFSET,
        OFFSET_ORIGINAL,
        OFFSET_DIGITIZED,
        FRACTION,
        FRACTION_ORIGINAL,
        FRACTION_DIGITIZED,
        SECONDS,
        APERTURE,
        ISO,
        FOCAL,
        FOCAL_35,
        LENS,
        PIXEL_WIDTH,
        PIXEL_HEIGHT,
        MAKER_NOTE,
    ]
)
GPS_TAGS = frozenset(range(32))
_SIZE_TAGS = frozenset([WIDTH, HEIGHT])


@dataclass(slots=True)
class TiffTags:
    """The tags of the first directory, of the EXIF and GPS directories, and the sizes of all pictures inside."""

    image: Tags = field(default_factory=dict[int, Value])
    exif: Tags = field(default_factory=dict[int, Value])
    gps: Tags = field(default_factory=dict[int, Value])
    sizes: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    content_id: str | None = None
    xmp: str = ""


@dataclass(frozen=True, slots=True)
class _Entry:
    tag: int
    form: int
    count: int
    offset: int


def read_tiff(window: ByteWindow, base: int) -> TiffTags:
    """The tags of the structure at this offset; none if there is no such structure."""
    tags = TiffTags()
    reader = _Reader.at(window, base)
    if reader is None:
        return tags
    first = reader.first()
    tags.image, following = reader.directory(first, _IMAGE_TAGS)
    tags.xmp = reader.long_text(first, XMP)
    tags.exif = _below(reader, tags.image, EXIF_DIRECTORY, EXIF_TAGS)
    tags.gps = _below(reader, tags.image, GPS_DIRECTORY, GPS_TAGS)
    tags.content_id = _content_id(reader, number(tags.image, EXIF_DIRECTORY))
    tags.sizes = list(_sizes(reader, tags, following))
    return tags


def read_first(window: ByteWindow, base: int, wanted: Collection[int]) -> Tags:
    """The wanted tags of the first directory only: Canon's RAW has a structure for each directory."""
    reader = _Reader.at(window, base)
    return {} if reader is None else reader.directory(reader.first(), wanted)[0]


def number(tags: Tags, tag: int) -> float | None:
    value = tags.get(tag)
    if isinstance(value, tuple) and value and math.isfinite(value[0]):
        return value[0]
    return None


def whole(tags: Tags, tag: int) -> int | None:
    value = number(tags, tag)
    return None if value is None else int(value)


def text(tags: Tags, tag: int) -> str | None:
    value = tags.get(tag)
    return (value or None) if isinstance(value, str) else None


def clean_text(data: bytes) -> str:
    """Up to the first zero byte. Cameras write UTF-8 or Latin-1, whatever the standard says."""
    data = data.split(b"\0", 1)[0]
    try:
        found = data.decode()
    except UnicodeDecodeError:
        found = data.decode("latin-1")
    return "".join(char for char in found if char.isprintable()).strip()


class _Reader:
    """Reads directories of one structure. All offsets in it count from its base."""

    def __init__(self, window: ByteWindow, base: int, order: str) -> None:
        self._window = window
        self._base = base
        self._order = order
        self._directories_left = _MOST_DIRECTORIES

    @classmethod
    def at(cls, window: ByteWindow, base: int) -> "_Reader | None":
        head = window.at(base, 8)
        if len(head) < 8 or head[:2] not in (b"II", b"MM") or head[2:4] not in _MARKS:
            return None
        return cls(window, base, "<" if head[:2] == b"II" else ">")

    def first(self) -> int:
        return self._unpack("I", self._window.at(self._base + 4, 4))[0]

    def note(self, base: int) -> "_Reader":
        """A reader of a maker's note, whose offsets count from its own beginning. Apple's is always big-endian."""
        return _Reader(self._window, base, ">")

    def starts_with(self, mark: bytes) -> bool:
        return self._window.at(self._base, len(mark)) == mark

    def directory(self, offset: int, wanted: Collection[int]) -> tuple[Tags, int]:
        """The wanted tags of a directory, and the offset of the next one: 0 for none."""
        found: Tags = {}
        if self._directories_left <= 0 or offset <= 0:
            return found, 0
        self._directories_left -= 1
        for entry in self._entries(offset):
            if entry.tag in wanted:
                value = self._value(entry)
                if value is not None:
                    found.setdefault(entry.tag, value)
        return found, self._following(offset)

    def place(self, offset: int, tag: int) -> tuple[int, int] | None:
        """Where the bytes of a value are, and how many."""
        for entry in self._entries(offset):
            if entry.tag == tag:
                return self._base + entry.offset, entry.count
        return None

    def long_text(self, offset: int, tag: int) -> str:
        place = self.place(offset, tag)
        return "" if place is None else self._window.at(*place).decode(errors="replace")

    def _entries(self, offset: int) -> Iterator[_Entry]:
        (count,) = self._unpack("H", self._window.at(self._base + offset, 2))
        table = self._window.at(self._base + offset + 2, 12 * min(count, _MOST_ENTRIES))
        for start in range(0, len(table) - 11, 12):
            tag, form, values = struct.unpack_from(self._order + "HHI", table, start)
            inline = offset + 2 + start + 8
            size = values * _width(form)
            (pointer,) = struct.unpack_from(self._order + "I", table, start + 8)
            yield _Entry(tag, form, values, pointer if size > 4 else inline)

    def _following(self, offset: int) -> int:
        (count,) = self._unpack("H", self._window.at(self._base + offset, 2))
        return self._unpack("I", self._window.at(self._base + offset + 2 + 12 * count, 4))[0]

    def _value(self, entry: _Entry) -> Value | None:
        size = _width(entry.form)
        if not size:
            return None
        length = min(entry.count * size, _MOST_VALUE_BYTES // size * size)
        data = self._window.at(self._base + entry.offset, length)
        if entry.form == _TEXT:
            return clean_text(data)
        if entry.form == _UNDEFINED:
            return data
        return self._numbers(entry.form, data[: len(data) // size * size])

    def _numbers(self, form: int, data: bytes) -> tuple[float, ...]:
        letter = _FORMATS[form]
        values = struct.unpack(f"{self._order}{len(data) // _width(form) * len(letter)}{letter[0]}", data)
        if form in _FRACTIONS:
            return tuple(
                over / under if under else math.nan for over, under in zip(values[::2], values[1::2], strict=True)
            )
        return values

    def _unpack(self, letter: str, data: bytes) -> tuple[int]:
        return struct.unpack(self._order + letter, data) if len(data) == struct.calcsize(letter) else (0,)


def _width(form: int) -> int:
    if form in (_TEXT, _UNDEFINED):
        return 1
    return struct.calcsize("=" + _FORMATS[form]) if form in _FORMATS else 0


def _below(reader: _Reader, image: Tags, tag: int, wanted: Collection[int]) -> Tags:
    return reader.directory(whole(image, tag) or 0, wanted)[0]


def _sizes(reader: _Reader, tags: TiffTags, following: int) -> Iterator[tuple[int, int]]:
    """A RAW has several pictures, and the first is often a small one."""
    pointers = tags.image.get(SUBDIRECTORIES)
    directories = [tags.image]
    directories += [
        reader.directory(int(pointer), _SIZE_TAGS)[0]
        for pointer in (pointers[:4] if isinstance(pointers, tuple) else ())
    ]
    while following:
        directory, following = reader.directory(following, _SIZE_TAGS)
        directories.append(directory)
    for directory in directories:
        for across, up in ((WIDTH, HEIGHT), (SENSOR_WIDTH, SENSOR_HEIGHT)):
            width, height = whole(directory, across), whole(directory, up)
            if width and height and width > 0 and height > 0:
                yield width, height


def _content_id(reader: _Reader, exif_offset: float | None) -> str | None:
    """What Apple writes into both halves of a live photo."""
    place = reader.place(int(exif_offset), MAKER_NOTE) if exif_offset else None
    if place is None:
        return None
    note = reader.note(place[0])
    if note.starts_with(b"Apple iOS\0"):
        return text(note.directory(14, [APPLE_CONTENT_ID])[0], APPLE_CONTENT_ID)
    return None
