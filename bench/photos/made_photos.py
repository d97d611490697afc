"""Photos as a camera would write them: the same pixels at another moment are other bytes."""

import struct

from tests.media.made_files import tiff

_ORIENTATION, _ORIGINAL, _OFFSET = 0x0112, 0x9003, 0x9011
_ORIENTATIONS = (1, 3, 6, 8)


def dated(pixels: bytes, round_number: int, number: int) -> bytes:
    """A photo with Exif: a place, one of four rotations, and a moment of its own."""
    taken = f"2024:{1 + round_number % 12:02}:{1 + number % 28:02} {number // 28 % 24:02}:{round_number // 12:02}:00"
    exif = tiff(
        {0x010F: "Canon", 0x0110: "Canon EOS R5", _ORIENTATION: (_ORIENTATIONS[number % 4],)},
        {_ORIGINAL: taken, _OFFSET: "+01:00"},
        {1: "N", 2: [(47, 1), (22, 1), (30, 1)], 3: "E", 4: [(8, 1), (32, 1), (30, 1)]},
    )
    body = b"Exif\0\0" + exif
    return pixels[:2] + b"\xff\xe1" + struct.pack(">H", len(body) + 2) + body + pixels[2:]
