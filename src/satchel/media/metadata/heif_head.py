"""Finds size, orientation, EXIF and XMP in HEIC and AVIF files, and the tags in Canon's CR3.

A HEIC is a list of items: tiles, the picture made of them, a thumbnail, EXIF. One box has their types, another their
places. The picture is the largest of the sizes, since tiles and thumbnails are smaller than it.
"""

from collections.abc import Iterator

from satchel.media.metadata.boxes import Box, boxes, first, inside
from satchel.media.metadata.byte_window import ByteWindow
from satchel.media.metadata.image_heads import ImageHead
from satchel.media.metadata.tiff_tags import EXIF_TAGS, GPS_TAGS, TiffTags, read_first, read_tiff

_MOST_ITEMS = 4096
_CANON = bytes.fromhex("85c0b687820f11e08111f4ce462b6a48")
_XMP = bytes.fromhex("be7acfcb97a942e89c71999491e3afac")
# Quarter turns against the clock, as EXIF's number.
_TURNS = {0: 1, 1: 8, 2: 3, 3: 6}


def read_heif(window: ByteWindow) -> ImageHead:
    head = ImageHead()
    meta = next((box for box in boxes(window, 0, window.size) if box.kind == b"meta"), None)
    if meta is None:
        return head
    parts = {box.kind: box for box in inside(window, meta, skipped=4)}
    _read_properties(window, parts.get(b"iprp"), head)
    places = dict(item_places(window, parts.get(b"iloc"), parts.get(b"idat")))
    for item, kind, content_type in items(window, parts.get(b"iinf")):
        start, length = places.get(item, (0, 0))
        if kind == b"Exif" and start:
            # The block begins with the distance from there to the TIFF structure.
            head.tags = read_tiff(window, start + 4 + (window.number(start, 4) or 0))
        elif kind == b"mime" and start and content_type == b"application/rdf+xml":
            head.xmp = window.at(start, length).decode(errors="replace")
    return head


def read_cr3(window: ByteWindow) -> ImageHead:
    head = ImageHead()
    for box in boxes(window, 0, window.size):
        if box.kind == b"moov":
            for part in inside(window, box):
                if part.kind == b"uuid" and window.at(part.start, 16) == _CANON:
                    head.tags = _canon_tags(window, part)
        elif box.kind == b"uuid" and window.at(box.start, 16) == _XMP:
            head.xmp = window.at(box.start + 16, box.length - 16).decode(errors="replace")
    head.size = max(head.tags.sizes, default=None)
    return head


def read_jxl(window: ByteWindow) -> ImageHead:
    head = ImageHead()
    for box in boxes(window, 0, window.size):
        if box.kind == b"Exif":
            head.tags = read_tiff(window, box.start + 4 + (window.number(box.start, 4) or 0))
        elif box.kind == b"xml ":
            head.xmp = window.at(box.start, box.length).decode(errors="replace")
    return head


def _canon_tags(window: ByteWindow, box: Box) -> TiffTags:
    tags = TiffTags()
    for part in inside(window, box, skipped=16):
        if part.kind == b"CMT1":
            tags = read_tiff(window, part.start)
        elif part.kind == b"CMT2":
            tags.exif = read_first(window, part.start, EXIF_TAGS)
        elif part.kind == b"CMT4":
            tags.gps = read_first(window, part.start, GPS_TAGS)
    return tags


def _read_properties(window: ByteWindow, box: Box | None, head: ImageHead) -> None:
    container = first(window, box, b"ipco") if box else None
    sizes: list[tuple[int, int]] = []
    for part in inside(window, container) if container else ():
        if part.kind == b"ispe":
            width, height = window.number(part.start + 4, 4), window.number(part.start + 8, 4)
            if width and height:
                sizes.append((width, height))
        elif part.kind == b"irot" and head.orientation is None:
            head.orientation = _TURNS[(window.number(part.start, 1) or 0) & 3]
    head.size = max(sizes, key=lambda size: size[0] * size[1], default=None)
    # Decoders turn the picture by its own property, and not by EXIF.
    head.orientation = head.orientation or 1


def items(window: ByteWindow, box: Box | None) -> Iterator[tuple[int, bytes, bytes]]:
    """The number, the type and the content type of each item."""
    if box is None:
        return
    wide = (window.number(box.start, 1) or 0) > 0
    for entry in list(inside(window, box, skipped=8 if wide else 6))[:_MOST_ITEMS]:
        data = window.at(entry.start, min(entry.length, 256))
        version = data[0] if data else 0
        if entry.kind == b"infe" and version in (2, 3):
            after = 6 if version == 2 else 8
            _, _, content_type = data[after + 6 :].partition(b"\0")
            yield int.from_bytes(data[4:after], "big"), data[after + 2 : after + 6], content_type.split(b"\0")[0]


def item_places(window: ByteWindow, box: Box | None, inline: Box | None) -> Iterator[tuple[int, tuple[int, int]]]:
    """Where each item is, if it is in one piece."""
    if box is None:
        return
    data = _Numbers(window.at(box.start, box.length))
    version = data.next(1)
    data.next(3)
    sizes = data.next(2)
    offset_size, length_size, base_size, index_size = (sizes >> shift & 15 for shift in (12, 8, 4, 0))
    for _ in range(min(data.next(4 if version == 2 else 2), _MOST_ITEMS)):
        item = data.next(4 if version == 2 else 2)
        method = data.next(2) & 15 if version in (1, 2) else 0
        data.next(2)
        start = data.next(base_size)
        extents = data.next(2)
        if extents > _MOST_ITEMS:
            return
        for extent in range(extents):
            data.next(index_size if version in (1, 2) else 0)
            offset, length = data.next(offset_size), data.next(length_size)
            if extents == 1 and extent == 0 and (method == 0 or inline is not None):
                shift = inline.start if inline is not None and method == 1 else 0
                yield item, (start + offset + shift, length)
        if data.is_over:
            return


class _Numbers:
    """Reads one number after the other. After the end, all are 0."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0

    @property
    def is_over(self) -> bool:
        return self._position > len(self._data)

    def next(self, length: int) -> int:
        start, self._position = self._position, self._position + length
        return int.from_bytes(self._data[start : self._position], "big")
