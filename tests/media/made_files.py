"""Photos and videos that tests make: the smallest bytes that say what a real file says, and no picture."""

import struct
from collections.abc import Mapping
from datetime import UTC, datetime

Tag = str | bytes | int | tuple[int, ...] | list[tuple[int, int]]

EXIF_DIRECTORY, GPS_DIRECTORY = 0x8769, 0x8825
_MATRIX = {0: (1, 0, 0, 1), 90: (0, 1, -1, 0), 180: (-1, 0, 0, -1), 270: (0, -1, 1, 0)}


def tiff(
    image: Mapping[int, Tag] | None = None,
    exif: Mapping[int, Tag] | None = None,
    gps: Mapping[int, Tag] | None = None,
    *,
    order: str = "<",
) -> bytes:
    """A TIFF structure with up to three directories."""
    first = dict(image or {})
    parts: list[tuple[int, Mapping[int, Tag]]] = []
    if exif is not None:
        first[EXIF_DIRECTORY] = 0
        parts.append((EXIF_DIRECTORY, exif))
    if gps is not None:
        first[GPS_DIRECTORY] = 0
        parts.append((GPS_DIRECTORY, gps))
    offset = 8 + len(_directory(first, 8, order))
    below = b""
    for tag, tags in parts:
        first[tag] = offset + len(below)
        below += _directory(tags, offset + len(below), order)
    mark = b"II*\0" if order == "<" else b"MM\0*"
    return mark + struct.pack(order + "I", 8) + _directory(first, 8, order) + below


def _directory(tags: Mapping[int, Tag], start: int, order: str) -> bytes:
    table, values = b"", b""
    beyond = start + 2 + 12 * len(tags) + 4
    for tag, value in sorted(tags.items()):
        form, count, data = _encoded(value, order)
        if len(data) > 4:
            place = struct.pack(order + "I", beyond + len(values))
            values += data + b"\0" * (len(data) % 2)
        else:
            place = data.ljust(4, b"\0")
        table += struct.pack(order + "HHI", tag, form, count) + place
    return struct.pack(order + "H", len(tags)) + table + b"\0" * 4 + values


def _encoded(value: Tag, order: str) -> tuple[int, int, bytes]:
    match value:
        case str():
            data = value.encode() + b"\0"
            return 2, len(data), data
        case bytes():
            return 7, len(value), value
        case int():
            return 4, 1, struct.pack(order + "I", value)
        case tuple():
            return 3, len(value), struct.pack(f"{order}{len(value)}H", *value)
        case list():
            return 5, len(value), b"".join(struct.pack(order + "II", *each) for each in value)


def jpeg(exif: bytes = b"", *, xmp: str = "", width: int = 4000, height: int = 3000, before: bytes = b"") -> bytes:
    parts = [b"\xff\xd8", before]
    if exif:
        parts.append(segment(0xE1, b"Exif\0\0" + exif))
    if xmp:
        parts.append(segment(0xE1, b"http://ns.adobe.com/xap/1.0/\0" + xmp.encode()))
    parts.append(segment(0xC0, struct.pack(">BHHB", 8, height, width, 3) + bytes(9)))
    return b"".join(parts) + b"\xff\xda\0\x02" + bytes(64) + b"\xff\xd9"


def segment(marker: int, data: bytes) -> bytes:
    return struct.pack(">BBH", 0xFF, marker, len(data) + 2) + data


def png(exif: bytes = b"", *, xmp: str = "", width: int = 1170, height: int = 2532) -> bytes:
    chunks = [_chunk(b"IHDR", struct.pack(">II", width, height) + b"\x08\x02\0\0\0")]
    if exif:
        chunks.append(_chunk(b"eXIf", exif))
    if xmp:
        chunks.append(_chunk(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + xmp.encode()))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + bytes(4)


def webp(exif: bytes) -> bytes:
    body = b"VP8X" + struct.pack("<I", 10) + b"\x08\0\0\0" + (1599).to_bytes(3, "little") + (1199).to_bytes(3, "little")
    body += b"EXIF" + struct.pack("<I", len(exif)) + exif
    return b"RIFF" + struct.pack("<I", len(body) + 4) + b"WEBP" + body


def box(kind: bytes, *contents: bytes) -> bytes:
    content = b"".join(contents)
    return struct.pack(">I", len(content) + 8) + kind + content


def full_box(kind: bytes, *contents: bytes, version: int = 0) -> bytes:
    return box(kind, struct.pack(">I", version << 24), *contents)


def heic(exif: bytes, *, turn: int = 0, brand: bytes = b"heic") -> bytes:
    """A picture of 4032 by 3024, its thumbnail, and EXIF; `turn` is in quarters against the clock."""
    sizes = b"".join(full_box(b"ispe", struct.pack(">II", *size)) for size in ((512, 512), (4032, 3024), (320, 240)))
    block = struct.pack(">I", 6) + b"Exif\0\0" + exif
    head = box(b"ftyp", brand, bytes(4), b"mif1", brand)

    def meta(start: int) -> bytes:
        items = full_box(b"infe", struct.pack(">HH", 1, 0), b"hvc1\0", version=2)
        items += full_box(b"infe", struct.pack(">HH", 2, 0), b"Exif\0", version=2)
        places = struct.pack(">BBH", 0x44, 0x40, 2)
        for number, length in ((1, 16), (2, len(block))):
            places += struct.pack(">HHIHII", number, 0, 0, 1, start if number == 2 else start - 16, length)
        return full_box(
            b"meta",
            full_box(b"hdlr", bytes(4), b"pict", bytes(13)),
            full_box(b"iinf", struct.pack(">H", 2), items),
            full_box(b"iloc", places),
            box(b"iprp", box(b"ipco", sizes, box(b"irot", bytes([turn])))),
        )

    start = len(head) + len(meta(16)) + 8 + 16
    return head + meta(start) + box(b"mdat", bytes(16), block)


def movie(
    created: datetime | int = 0,
    *,
    seconds: int = 3,
    turn: int = 0,
    keys: Mapping[str, str] | None = None,
    place: str = "",
    brand: bytes = b"qt  ",
    header_last: bool = True,
) -> bytes:
    """A video of 1920 by 1080 in H.264."""
    since_1904 = (
        created if isinstance(created, int) else round((created - datetime(1904, 1, 1, tzinfo=UTC)).total_seconds())
    )
    a, b, c, d = (value << 16 for value in _MATRIX[turn])
    track_header = full_box(
        b"tkhd",
        bytes(36),
        struct.pack(">9i", a, b, 0, c, d, 0, 0, 0, 1 << 30),
        struct.pack(">II", 1920 << 16, 1080 << 16),
    )
    description = full_box(b"stsd", struct.pack(">I", 1), box(b"avc1", bytes(78)))
    media = box(b"mdia", full_box(b"hdlr", b"mhlr", b"vide", bytes(13)), box(b"minf", box(b"stbl", description)))
    header = full_box(b"mvhd", struct.pack(">IIII", since_1904, since_1904, 600, 600 * seconds), bytes(80))
    parts = [header, box(b"trak", track_header, media)]
    if place:
        parts.append(box(b"udta", box(b"\xa9xyz", struct.pack(">HH", len(place), 0x15C7), place.encode())))
    if keys:
        names = b"".join(box(b"mdta", key.encode()) for key in keys)
        values = b"".join(
            box(struct.pack(">I", number), box(b"data", struct.pack(">II", 1, 0), value.encode()))
            for number, value in enumerate(keys.values(), 1)
        )
        handler = full_box(b"hdlr", bytes(4), b"mdta", bytes(13))
        parts.append(
            box(b"meta", handler, full_box(b"keys", struct.pack(">I", len(keys)), names), box(b"ilst", values))
        )
    head, frames, moov = box(b"ftyp", brand, bytes(4), brand), box(b"mdat", bytes(5000)), box(b"moov", *parts)
    return head + frames + moov if header_last else head + moov + frames


def avchd(tags: Mapping[int, str], *, stamped: bool = True, before: int = 0) -> bytes:
    """A film of a camcorder: packets of one stream, with what the camera says after so many other bytes.

    Values are four bytes in hex. Three packets of nothing follow.
    """
    said = b"".join(bytes([tag]) + bytes.fromhex(value) for tag, value in tags.items())
    mark = bytes.fromhex("17ee8c60f84d11d98cd60800200c9a66") + b"MDPM"
    stream = bytes([0x55]) * before + mark + bytes([len(tags)]) + said
    stream += bytes([0xFF]) * (-len(stream) % 184)
    packets = [b"G\x50\x11\x10" + stream[start : start + 184] for start in range(0, len(stream), 184)]
    packets += [b"G\x1f\xff\x10" + bytes(184)] * 3
    return b"".join(bytes(4) * stamped + packet for packet in packets)
