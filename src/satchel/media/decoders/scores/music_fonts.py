"""How wide text is, and what signs of music look like, by the fonts that Verovio comes with.

Without Verovio widths are guessed, and there are no signs.
"""

import re
import unicodedata
from functools import cache
from importlib.util import find_spec
from pathlib import Path

_found = find_spec("verovio")
_FOLDER = Path(_found.origin).parent / "data" if _found is not None and _found.origin else Path()
MUSIC = "Leipzig"
# Widths in these files are in such units, and shapes in thousandths.
_TEXT_UNITS, _MUSIC_UNITS = 2048, 1000

_WIDTH = re.compile(r'<g c="([0-9A-F]+)"[^>]*? h-a-x="([\d.]+)"')
_SHAPE = re.compile(r'<path[^>]*? d="([^"]+)"')


def text_width(text: str, size: float, *, bold: bool, italic: bool) -> float:
    """In the units of `size`. Times has no signs of Asia, which are as wide as high."""
    widths = _text_widths(bold, italic)
    total = 0.0
    for sign in text:
        wide = 1.0 if unicodedata.east_asian_width(sign) in "WF" else 0.5
        total += widths.get(sign, 0.0 if unicodedata.combining(sign) else wide)
    return total * size


@cache
def music_shape(sign: str) -> tuple[str, float] | None:
    """The outline of a sign of music, as the data of a path, and how far the next one stands, for a size of 1000."""
    code = f"{ord(sign):04X}"
    file = _FOLDER / MUSIC / f"{code}.xml"
    if not file.is_file() or (found := _SHAPE.search(file.read_text())) is None:
        return None
    return found[1], _music_widths().get(sign, 0.0) * _MUSIC_UNITS


@cache
def _text_widths(bold: bool, italic: bool) -> dict[str, float]:
    ending = "".join(("-bold" if bold else "", "-italic" if italic else ""))
    return _widths(_FOLDER / "text" / f"Times{ending}.xml", _TEXT_UNITS)


@cache
def _music_widths() -> dict[str, float]:
    return _widths(_FOLDER / f"{MUSIC}.xml", _MUSIC_UNITS)


def _widths(file: Path, units: int) -> dict[str, float]:
    if not file.is_file():
        return {}
    return {chr(int(code, 16)): float(width) / units for code, width in _WIDTH.findall(file.read_text())}
