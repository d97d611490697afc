"""Finds size, EXIF, XMP and the date of IPTC in JPEG, PNG, WebP and GIF files."""

from dataclasses import dataclass, field

from satchel.media.metadata.byte_window import ByteWindow
from satchel.media.metadata.date_text import Written
from satchel.media.metadata.iptc_date import PHOTOSHOP_MARK, read_iptc_date
from satchel.media.metadata.tiff_tags import TiffTags, read_tiff

_MOST_SEGMENTS = 2000
_XMP_MARK = b"http://ns.adobe.com/xap/1.0/\0"
_EXIF_MARK = b"Exif\0"
_WITHOUT_LENGTH = frozenset([0x01, *range(0xD0, 0xD9)])
_START_OF_FRAME = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_START_OF_SCAN, _END = 0xDA, 0xD9


@dataclass(slots=True)
class ImageHead:
    """What the beginning of an image file says. `size` is of its pixels as stored."""

    size: tuple[int, int] | None = None
    tags: TiffTags = field(default_factory=TiffTags)
    xmp: str = ""
    iptc_date: Written | None = None
    # Only formats whose own orientation decoders obey instead of EXIF's.
    orientation: int | None = None


def read_jpeg(window: ByteWindow, base: int = 0) -> ImageHead:
    head = ImageHead()
    has_exif = False
    offset = base + 2
    for _ in range(_MOST_SEGMENTS):
        start = window.at(offset, 4)
        if len(start) < 4 or start[0] != 0xFF:
            break
        marker = start[1]
        if marker == 0xFF or marker in _WITHOUT_LENGTH:
            # A marker may be preceded by any number of fill bytes.
            offset += 1 if marker == 0xFF else 2
            continue
        length = int.from_bytes(start[2:4], "big")
        if marker in (_START_OF_SCAN, _END) or length < 2:
            break
        if marker in _START_OF_FRAME:
            height, width = window.number(offset + 5, 2), window.number(offset + 7, 2)
            head.size = (width, height) if width and height else head.size
        elif marker == 0xE1 and window.at(offset + 4, len(_EXIF_MARK)) == _EXIF_MARK and not has_exif:
            head.tags = read_tiff(window, offset + 10)
            has_exif = bool(head.tags.image)
        elif marker == 0xE1 and window.at(offset + 4, len(_XMP_MARK)) == _XMP_MARK and not head.xmp:
            head.xmp = _text(window, offset + 4 + len(_XMP_MARK), length - 2 - len(_XMP_MARK))
        elif marker == 0xED and window.at(offset + 4, len(PHOTOSHOP_MARK)) == PHOTOSHOP_MARK:
            resources = window.at(offset + 4 + len(PHOTOSHOP_MARK), length - 2 - len(PHOTOSHOP_MARK))
            head.iptc_date = head.iptc_date or read_iptc_date(resources)
        offset += 2 + length
    return head


def read_png(window: ByteWindow) -> ImageHead:
    head = ImageHead()
    width, height = window.number(16, 4), window.number(20, 4)
    head.size = (width, height) if width and height else None
    offset = 8
    for _ in range(_MOST_SEGMENTS):
        start = window.at(offset, 8)
        if len(start) < 8 or start[4:] == b"IEND":
            break
        length, kind = int.from_bytes(start[:4], "big"), start[4:]
        if kind == b"eXIf":
            head.tags = read_tiff(window, offset + 8)
        elif kind == b"iTXt":
            key, _, rest = window.at(offset + 8, length).partition(b"\0")
            if key == b"XML:com.adobe.xmp" and rest[:1] == b"\0":
                head.xmp = rest[2:].split(b"\0", 2)[-1].decode(errors="replace")
        offset += 12 + length
    return head


def read_webp(window: ByteWindow) -> ImageHead:
    head = ImageHead()
    offset = 12
    for _ in range(_MOST_SEGMENTS):
        start = window.at(offset, 8)
        if len(start) < 8:
            break
        length, kind, content = int.from_bytes(start[4:], "little"), start[:4], offset + 8
        if kind in (b"VP8X", b"VP8L", b"VP8 ") and head.size is None:
            head.size = _webp_size(kind, window.at(content, 10))
        elif kind == b"EXIF":
            skipped = 6 if window.at(content, len(_EXIF_MARK)) == _EXIF_MARK else 0
            head.tags = read_tiff(window, content + skipped)
        elif kind == b"XMP ":
            head.xmp = _text(window, content, length)
        offset = content + length + length % 2
    return head


def read_gif(window: ByteWindow) -> ImageHead:
    data = window.at(6, 4)
    width, height = int.from_bytes(data[:2], "little"), int.from_bytes(data[2:], "little")
    return ImageHead(size=(width, height) if width and height else None)


def _webp_size(kind: bytes, data: bytes) -> tuple[int, int] | None:
    if len(data) < 10:
        return None
    if kind == b"VP8X":
        return 1 + int.from_bytes(data[4:7], "little"), 1 + int.from_bytes(data[7:10], "little")
    if kind == b"VP8L":
        bits = int.from_bytes(data[1:5], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    return int.from_bytes(data[6:8], "little") & 0x3FFF, int.from_bytes(data[8:10], "little") & 0x3FFF


def _text(window: ByteWindow, offset: int, length: int) -> str:
    return window.at(offset, length).decode(errors="replace")
