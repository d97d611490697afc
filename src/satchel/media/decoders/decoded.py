"""What every decoder answers, and the limits that all of them keep."""

import mmap
from dataclasses import dataclass
from typing import Any, BinaryIO

PREVIEW_EDGE = 1440
GRID_EDGE = 320
# More than the largest sensors of phones have (200 million); a picture that is nothing but large has many more.
MAX_PIXELS = 2**28
MAX_IMAGE_BYTES = 512 * 1024 * 1024


class Undecodable(Exception):
    """The file is damaged, or too large to be decoded."""


class Unsupported(Exception):
    """No decoder for this kind of file is installed, or exists."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """An image of pyvips in sRGB, at most as large as a preview, and the size of the upright original.

    `orientation` says how the image has to be turned, as Exif does (1 to 8).
    """

    image: Any
    width: int
    height: int
    orientation: int = 1
    duration_ms: int = 0


def check_pixels(width: int, height: int) -> None:
    """Refuse by the header, before anything is decoded."""
    if width <= 0 or height <= 0 or width * height > MAX_PIXELS:
        raise Undecodable(f"{width} x {height} pixels are too many")


def mapped(file: BinaryIO, size_bytes: int) -> mmap.mmap:
    """The bytes of the source, without what may follow them in the file."""
    if not 0 < size_bytes <= MAX_IMAGE_BYTES:
        raise Undecodable(f"{size_bytes} bytes are too many for an image")
    return mmap.mmap(file.fileno(), size_bytes, prot=mmap.PROT_READ)
