"""libvips, loaded once with what a process that decodes one file at a time needs."""

from importlib import import_module
from typing import Any

# The library has no types, and finds its operations only when they are called.
vips: Any = import_module("pyvips")
# Nothing is decoded twice here.
vips.cache_set_max(0)

PROFILE = "icc-profile-data"


def from_pixels(pixels: object, width: int, height: int, bands: int) -> Any:
    """An image of 8-bit samples without gaps between rows."""
    return vips.Image.new_from_memory(pixels, width, height, bands, "uchar").copy(
        interpretation="srgb" if bands > 2 else "b-w"
    )


def as_pixels(image: Any) -> Any:
    """The decoded image without metadata, which every further step would copy: a fourth of a small step's time."""
    return from_pixels(image.write_to_memory(), image.width, image.height, image.bands)


def with_profile(image: Any, profile: bytes) -> Any:
    """The image with the colour profile that its pixels are in."""
    changed = image.copy()
    changed.set_type(vips.GValue.blob_type, PROFILE, profile)
    return changed


def without_profile(image: Any) -> Any:
    changed = image.copy()
    changed.remove(PROFILE)
    return changed


def packed(pixels: memoryview, width: int, height: int, bands: int, stride: int) -> bytes:
    """The rows without the gaps that some libraries leave between them."""
    row = width * bands
    if stride == row:
        return bytes(pixels[: row * height])
    return b"".join(pixels[start : start + row] for start in range(0, stride * height, stride))
