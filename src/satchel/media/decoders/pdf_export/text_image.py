"""Text in any script, drawn by Pango with the fonts of this machine."""

from dataclasses import dataclass
from xml.sax.saxutils import escape

from satchel.media.decoders.vips_library import vips

_DOTS_PER_INCH = 600
_MAX_CHARACTERS = 500


@dataclass(frozen=True, slots=True)
class DrawnText:
    """A mask of 8 bits, and its size on paper. `below` is how far it reaches under the baseline."""

    pixels: bytes
    width: int
    height: int
    points_wide: float
    points_high: float
    below: float


def draw_text(text: str, size: float, *, serif: bool = False) -> DrawnText | None:
    """None if there is nothing to see."""
    shown = text[:_MAX_CHARACTERS].strip()
    if not shown or size <= 0:
        return None
    family = "serif" if serif else "sans"
    image = vips.Image.text(escape(shown), font=f"{family} {size:.1f}", dpi=_DOTS_PER_INCH)
    points = 72 / _DOTS_PER_INCH
    high = image.height * points
    # The image ends where the ink does. Letters that reach below the line reach about so far.
    below = max(0.0, high - size * 0.8) if high > size * 0.8 else 0.0
    return DrawnText(
        pixels=bytes(image.write_to_memory()),
        width=image.width,
        height=image.height,
        points_wide=image.width * points,
        points_high=high,
        below=min(below, size * 0.25),
    )
