"""A page's pixels as a file: PNG of 16 greys for what was drawn or scanned in black and white, JPEG for the rest.

Notes on white paper take a quarter of a JPEG's bytes as such a PNG, in the same time, and without a blur around them.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

from satchel.media.decoders.vips_library import from_pixels, vips
from satchel.media.score_jobs import PageKind

QUALITY = 85
_GREYS_BITS = 4
_PNG_EFFORT = 2
# A page of drawn notes is white nearly everywhere. Paper that a scanner saw is not.
_WHITE = 250
_MOSTLY_WHITE = 0.6
_COLOURFUL = 32
_PIXELS_BETWEEN, _ROWS_BETWEEN = 4, 2


def encoded(pixels: bytes, width: int, height: int, bands: int, *, blue_first: bool = False) -> tuple[PageKind, bytes]:
    """Without metadata. The pixels have one band or three, of 8 bits, without gaps between rows."""
    image = from_pixels(pixels, width, height, bands)
    sampled = [_sample(pixels, width, height, bands, band) for band in range(bands)]
    if bands >= 3 and not _is_colourful(sampled):
        image = image[1].copy(interpretation="b-w")
    elif blue_first and bands >= 3:
        image = image[2].bandjoin([image[1], image[0]]).copy(interpretation="srgb")
    if image.bands == 1 and _is_drawn(sampled[bands // 2]):
        greys = image.maplut(_greys())
        return "png", bytes(greys.pngsave_buffer(compression=_PNG_EFFORT, bitdepth=_GREYS_BITS, keep="none"))
    return "jpeg", bytes(image.jpegsave_buffer(Q=QUALITY, keep="none"))


def _sample(pixels: bytes, width: int, height: int, bands: int, band: int) -> bytes:
    """One band of every eighth pixel, which finds every line that can be seen.

    Slices take a tenth of the time that libvips takes for it.
    """
    row = width * bands
    starts = range(band, row * height, row * _ROWS_BETWEEN)
    return b"".join([pixels[start : start - band + row : bands * _PIXELS_BETWEEN] for start in starts])


def _is_colourful(bands: Sequence[bytes]) -> bool:
    red, green, blue = bands[:3]
    if red == green == blue:
        return False
    one, two, three = (from_pixels(band, len(band), 1, 1).cast("short") for band in (red, green, blue))
    return max((one - two).abs().max(), (two - three).abs().max()) > _COLOURFUL


def _is_drawn(sampled: bytes) -> bool:
    half = sampled[::2]
    white = sum(half.count(level) for level in range(_WHITE, 256))
    return white > _MOSTLY_WHITE * len(half)


@cache
def _greys() -> Any:
    """The nearest of the greys that a pixel may have. The encoder wants their numbers."""
    most = 2**_GREYS_BITS - 1
    return vips.Image.identity().linear(most / 255, 0.5).cast("uchar").copy(interpretation="b-w").copy_memory()
