"""What is kept of a decoded image: both sizes without any metadata, a placeholder, and a hash of how it looks."""

from typing import Any

from satchel.media.decoders.decoded import GRID_EDGE, PREVIEW_EDGE, Decoded
from satchel.media.decoders.thumbhash import thumbhash
from satchel.media.frames import Made

QUALITY = 80
# A half of the time of the default, for pictures that are 3 % larger.
_GRID_EFFORT = 2
# Its cosines have seven waves at most, which so many pixels tell as well as more would.
_PLACEHOLDER_EDGE = 20
_DHASH_ROWS = 8


def render(decoded: Decoded) -> Made:
    image = decoded.image
    if max(image.width, image.height) > PREVIEW_EDGE:
        image = image.thumbnail_image(PREVIEW_EDGE, height=PREVIEW_EDGE, size="down", no_rotate=True).copy_memory()
    # The small one is turned by itself, and the large one while it is written: so neither is kept twice.
    small = image.thumbnail_image(GRID_EDGE, height=GRID_EDGE, size="down", no_rotate=True).copy_memory()
    grid = _upright(small, decoded.orientation).copy_memory()
    opaque = image.flatten(background=255) if image.hasalpha() else image
    return Made(
        state="ready",
        width=decoded.width,
        height=decoded.height,
        duration_ms=decoded.duration_ms,
        thumbhash=_placeholder(grid),
        dhash=_dhash(grid),
        grid=grid.webpsave_buffer(Q=QUALITY, effort=_GRID_EFFORT, keep="none"),
        preview=_upright(opaque, decoded.orientation).jpegsave_buffer(Q=QUALITY, keep="none"),
    )


def _upright(image: Any, orientation: int) -> Any:
    """What the camera meant as upright."""
    mirrored = image.fliphor() if orientation in (2, 4, 5, 7) else image
    angle = {3: "d180", 4: "d180", 5: "d270", 6: "d90", 7: "d90", 8: "d270"}.get(orientation)
    return mirrored.rot(angle) if angle else mirrored


def _placeholder(grid: Any) -> bytes:
    times = max(1, max(grid.width, grid.height) / _PLACEHOLDER_EDGE)
    if grid.hasalpha():
        small = grid.thumbnail_image(_PLACEHOLDER_EDGE, height=_PLACEHOLDER_EDGE, size="down", no_rotate=True)
    else:
        small = grid.shrink(min(times, grid.width), min(times, grid.height))
    return thumbhash(small.width, small.height, _rgba(small))


def _rgba(image: Any) -> bytes:
    """Colour and alpha of each pixel. Libvips would take as long for this as for making the image small."""
    pixels, bands = bytes(image.write_to_memory()), image.bands
    rgba = bytearray(b"\xff" * (4 * image.width * image.height))
    for band in range(bands):
        rgba[band::4] = pixels[band::bands]
    return bytes(rgba)


def _dhash(grid: Any) -> bytes:
    """Whether each of 8 x 8 fields is brighter than its right neighbour."""
    plain = grid.flatten(background=255) if grid.hasalpha() else grid
    columns = _DHASH_ROWS + 1
    small = plain.colourspace("b-w").thumbnail_image(columns, height=_DHASH_ROWS, size="force", no_rotate=True)
    pixels = bytes(small.cast("uchar").write_to_memory())
    bits = 0
    for row in range(_DHASH_ROWS):
        for column in range(_DHASH_ROWS):
            place = row * columns + column
            bits = bits << 1 | (pixels[place] > pixels[place + 1])
    return bits.to_bytes(_DHASH_ROWS, "big")
