"""Blanks the place, makers' notes and serial numbers in a TIFF structure: EXIF blocks, TIFF files, most RAW files."""

import struct
from collections.abc import Callable
from dataclasses import dataclass, field

from satchel.media.metadata.tiff_tags import EXIF_DIRECTORY, GPS_DIRECTORY, MAKER_NOTE, SUBDIRECTORIES, XMP
from satchel.media.redaction.original import Original, Unclear
from satchel.media.redaction.text_redact import redact_iptc, redact_photoshop, redact_xmp

_MOST_DIRECTORIES = 100
_WIDTHS = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4}
_ORDERS = {b"II": "<", b"MM": ">"}
# The owner's name, and the numbers of camera and lens.
_SERIALS = frozenset([0xA430, 0xA431, 0xA435, 0xC62F])
_DNG_PRIVATE, _IPTC, _PHOTOSHOP = 0xC634, 0x83BB, 0x8649
_INTEROPERABILITY = 0xA005
_DIRECTORIES = frozenset([SUBDIRECTORIES, EXIF_DIRECTORY, _INTEROPERABILITY])
_THUMBNAIL, _THUMBNAIL_LENGTH = 0x0201, 0x0202
# The camera's JPEG in a RAW file of Panasonic.
_PANASONIC_JPEG = 0x002E

Inner = Callable[[Original, int, int], None]


@dataclass(frozen=True, slots=True)
class _Entry:
    tag: int
    form: int
    count: int
    start: int
    length: int


@dataclass(slots=True)
class TiffRedactor:
    """One structure between two offsets. A RAW keeps its notes, since its pixels cannot be developed without them.

    `jpeg` redacts a whole JPEG inside.
    """

    original: Original
    base: int
    end: int
    keeps_notes: bool = False
    jpeg: Inner | None = None
    _order: str = "<"
    _seen: set[int] = field(default_factory=set[int])

    def redact(self, *, only_place: bool = False) -> None:
        """All directories; or, if the structure is nothing but one with the place, that one."""
        head = self.original.at(self.base, 8)
        if self.base + 8 > self.end or head[:2] not in _ORDERS:
            raise Unclear
        self._order = _ORDERS[head[:2]]
        (offset,) = struct.unpack(self._order + "I", head[4:])
        if only_place:
            self._blank_directory(offset)
            return
        while offset:
            offset = self._directory(offset)

    def _directory(self, offset: int) -> int:
        """Redact a directory and all below it. The answer is the offset of the next one, 0 for none."""
        if offset in self._seen:
            return 0
        if len(self._seen) >= _MOST_DIRECTORIES:
            raise Unclear
        self._seen.add(offset)
        entries = self._entries(offset)
        for entry in entries:
            self._entry(entry)
        self._inner_jpeg(entries)
        after = self.base + offset + 2 + 12 * len(entries)
        # Some programs leave out the offset of the next directory at the end of a block.
        return self._number("I", after) if after + 4 <= self.end else 0

    def _entry(self, entry: _Entry) -> None:
        if entry.tag == GPS_DIRECTORY:
            for offset in self._numbers(entry):
                self._blank_directory(offset)
        elif entry.tag in _DIRECTORIES:
            for offset in self._numbers(entry):
                if offset:
                    self._directory(offset)
        elif entry.tag in _SERIALS or (entry.tag in (MAKER_NOTE, _DNG_PRIVATE) and not self.keeps_notes):
            self.original.blank(entry.start, entry.length)
        elif entry.tag == XMP:
            redact_xmp(self.original, entry.start, entry.length)
        elif entry.tag == _IPTC:
            redact_iptc(self.original, entry.start, entry.length)
        elif entry.tag == _PHOTOSHOP:
            redact_photoshop(self.original, entry.start, entry.length)

    def _blank_directory(self, offset: int) -> None:
        """The directory stays, without any entry."""
        if not offset:
            return
        entries = self._entries(offset)
        for entry in entries:
            self.original.blank(entry.start, entry.length)
        self.original.blank(self.base + offset, 2 + 12 * len(entries))

    def _inner_jpeg(self, entries: list[_Entry]) -> None:
        if self.jpeg is None:
            return
        tags = {entry.tag: entry for entry in entries}
        if _PANASONIC_JPEG in tags:
            self.jpeg(self.original, tags[_PANASONIC_JPEG].start, tags[_PANASONIC_JPEG].length)
        if _THUMBNAIL in tags and _THUMBNAIL_LENGTH in tags:
            (start, *_), (length, *_) = self._numbers(tags[_THUMBNAIL]), self._numbers(tags[_THUMBNAIL_LENGTH])
            if length > 4 and self.original.at(self.base + start, 3) == b"\xff\xd8\xff":
                self.jpeg(self.original, self.base + start, length)

    def _entries(self, offset: int) -> list[_Entry]:
        count = self._number("H", self.base + offset)
        table = self.original.at(self.base + offset + 2, 12 * count)
        found: list[_Entry] = []
        for at in range(0, len(table), 12):
            tag, form, values, pointer = struct.unpack_from(self._order + "HHII", table, at)
            length = values * _WIDTHS.get(form, 0)
            start = self.base + (pointer if length > 4 else offset + 2 + at + 8)
            if start + length > self.end:
                if tag in _HARMLESS_IF_BROKEN:
                    continue
                raise Unclear
            found.append(_Entry(tag, form, values, start, length))
        return found

    def _numbers(self, entry: _Entry) -> tuple[int, ...]:
        letter = {3: "H", 4: "I", 13: "I"}.get(entry.form)
        if letter is None or not 0 < entry.count <= _MOST_DIRECTORIES:
            raise Unclear
        return struct.unpack(f"{self._order}{entry.count}{letter}", self.original.at(entry.start, entry.length))

    def _number(self, letter: str, offset: int) -> int:
        return struct.unpack(self._order + letter, self.original.at(offset, struct.calcsize(letter)))[0]


# Widths, offsets and colours of pixels: a file that was cut off has none of their bytes, and nothing of a place.
_HARMLESS_IF_BROKEN = frozenset([*range(0x0100, 0x010E), *range(0x0111, 0x0132), *range(0x013C, 0x014A)])
