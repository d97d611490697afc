"""A page's pixels as a file: PNG of 16 greys for what was drawn or scanned in black and white, JPEG for the rest.

Notes on white paper take a quarter of a JPEG's bytes as such a PNG, in the same time, and without a blur around them.
"""

from functools import cache
from typing import Any

from satchel.media.decoders.vips_library import vips
from satchel.media.score_jobs import PageKind

QUALITY = 85
_GREYS_BITS = 4
_PNG_EFFORT = 3
# A page of drawn notes is white nearly everywhere. Paper that a scanner saw is not.
_WHITE = 250
_MOSTLY_WHITE = 0.6
_COLOURFUL = 32
_SAMPLED = 4


def encoded(image: Any, *, blue_first: bool = False) -> tuple[PageKind, bytes]:
    """Without metadata. The image has one band or three, of 8 bits."""
    if image.bands >= 3 and not is_colourful(image):
        image = image[1].copy(interpretation="b-w")
    elif blue_first and image.bands >= 3:
        image = image[2].bandjoin([image[1], image[0]]).copy(interpretation="srgb")
    if image.bands == 1 and _is_drawn(image):
        greys = image.maplut(_greys())
        return "png", bytes(greys.pngsave_buffer(compression=_PNG_EFFORT, bitdepth=_GREYS_BITS, keep="none"))
    return "jpeg", bytes(image.jpegsave_buffer(Q=QUALITY, keep="none"))


def is_colourful(image: Any) -> bool:
    """Every eighth pixel is looked at, which finds every line that can be seen."""
    across, down = min(_SAMPLED, image.width), min(_SAMPLED // 2, image.height)
    small = image.subsample(across, down).cast("short").copy_memory()
    return max((small[0] - small[1]).abs().max(), (small[1] - small[2]).abs().max()) > _COLOURFUL


def _is_drawn(image: Any) -> bool:
    across, down = min(_SAMPLED, image.width), min(_SAMPLED, image.height)
    counts = image.subsample(across, down).hist_find().write_to_memory()
    greys = memoryview(counts).cast("B").cast("I")
    return sum(greys[_WHITE:]) > _MOSTLY_WHITE * sum(greys)


@cache
def _greys() -> Any:
    """The nearest of the greys that a pixel may have. The encoder wants their numbers."""
    most = 2**_GREYS_BITS - 1
    return vips.Image.identity().linear(most / 255, 0.5).cast("uchar").copy(interpretation="b-w").copy_memory()
