"""Marks as lines, curves and text. A pen's line is as wide as it was pressed."""

from collections.abc import Sequence
from itertools import pairwise

from satchel.kernel import ink
from satchel.media.decoders.pdf_export.path_data import path_operators
from satchel.media.decoders.pdf_export.pdf_canvas import Canvas, Colour, colour_of
from satchel.media.decoders.pdf_export.pdf_number import number
from satchel.media.decoders.scores.music_fonts import music_shape
from satchel.media.export_plan import Ink

_UNITS = 10_000
_FULL = 255
_LEAST_POINTS = 0.2
_LINE_HEIGHT = 1.25
_ASCENT = 0.8
_DEFAULT_TEXT, _DEFAULT_STAMP = 250, 350
# Signs of the music font (SMuFL). A stamp that is not here is written as text.
_SIGNS = {
    "down-bow": "\ue610",
    "up-bow": "\ue612",
    "breath": "\ue4ce",
    "caesura": "\ue4d1",
    "fermata": "\ue4c0",
    "accent": "\ue4a0",
    "staccato": "\ue4a2",
    "tenuto": "\ue4a4",
    "marcato": "\ue4ac",
    "trill": "\ue566",
    "turn": "\ue567",
    "mordent": "\ue56c",
    "sharp": "\ue262",
    "flat": "\ue260",
    "natural": "\ue261",
    "segno": "\ue047",
    "coda": "\ue048",
    "pedal": "\ue650",
    "pppp": "\ue529",
    "ppp": "\ue52a",
    "pp": "\ue52b",
    "p": "\ue520",
    "mp": "\ue52c",
    "mf": "\ue52d",
    "f": "\ue522",
    "ff": "\ue52f",
    "fff": "\ue530",
    "fp": "\ue534",
    "sf": "\ue536",
    "sfz": "\ue539",
}


def draw_ink(canvas: Canvas, mark: Ink, width: float, height: float) -> None:
    colour = colour_of(mark.colour)
    x, y = mark.x * width / _UNITS, height - mark.y * height / _UNITS
    match mark.kind:
        case "pen" | "highlighter":
            _stroke(canvas, mark, colour, width, height)
        case "text":
            size = (mark.size or _DEFAULT_TEXT) * width / _UNITS
            for row, line in enumerate(mark.text.splitlines()):
                canvas.text(line, x, y - size * (_ASCENT + row * _LINE_HEIGHT), size, "Helvetica", colour)
        case "stamp":
            _stamp(canvas, mark.stamp, x, y, (mark.size or _DEFAULT_STAMP) * width / _UNITS, colour)


def _stroke(canvas: Canvas, mark: Ink, colour: Colour, width: float, height: float) -> None:
    across, down = width / _UNITS, height / _UNITS
    points = [(x * across, height - y * down, pressure) for x, y, pressure in ink.decode(mark.stroke)]
    if not points:
        return
    if len(points) == 1:
        points.append((points[0][0] + 0.01, points[0][1], points[0][2]))
    broad = max(mark.width * across, _LEAST_POINTS)
    canvas.add("q", "1 J 1 j")
    canvas.stroke_colour(colour)
    curves = _curves([(x, y) for x, y, _ in points])
    if mark.kind == "highlighter":
        canvas.add("/Marker gs", f"{number(broad)} w", _moved(points[0]), *curves, "S")
    elif len({pressure for _, _, pressure in points}) == 1:
        canvas.add(f"{number(broad * _pressed(points[0][2]))} w", _moved(points[0]), *curves, "S")
    else:
        for (start, end), curve in zip(pairwise(points), curves, strict=True):
            pressed = _pressed((start[2] + end[2]) / 2)
            canvas.add(f"{number(max(broad * pressed, _LEAST_POINTS))} w", _moved(start), curve, "S")
    canvas.add("Q")


def _pressed(pressure: float) -> float:
    """Half as wide for the lightest touch, half wider for the strongest."""
    return 0.5 + pressure / _FULL


def _moved(point: tuple[float, float, int]) -> str:
    return f"{number(point[0])} {number(point[1])} m"


def _curves(points: Sequence[tuple[float, float]]) -> list[str]:
    """From each point to the next, bent so that the line has no corners (Catmull-Rom)."""
    curves: list[str] = []
    last = len(points) - 1
    for place in range(last):
        before, start = points[max(place - 1, 0)], points[place]
        end, after = points[place + 1], points[min(place + 2, last)]
        first = (start[0] + (end[0] - before[0]) / 6, start[1] + (end[1] - before[1]) / 6)
        second = (end[0] - (after[0] - start[0]) / 6, end[1] - (after[1] - start[1]) / 6)
        curves.append(" ".join(number(value) for value in (*first, *second, *end)) + " c")
    return curves


def _stamp(canvas: Canvas, name: str, x: float, y: float, size: float, colour: Colour) -> None:
    if name == "glasses":
        _glasses(canvas, x, y, size, colour)
        return
    shape = music_shape(_SIGNS[name]) if name in _SIGNS else None
    if shape is None:
        written = name.removeprefix("finger-")
        canvas.text(written, x, y - size * 0.35, size, "TimesB", colour, "middle")
        return
    data, width = shape
    scale = size / 1000
    canvas.add("q")
    canvas.fill_colour(colour)
    canvas.place((scale, 0, 0, scale, x - width * scale / 2, y))
    canvas.add(*path_operators(data), "f", "Q")


def _glasses(canvas: Canvas, x: float, y: float, size: float, colour: Colour) -> None:
    """Look up here: two lenses and a bridge."""
    radius = size * 0.24
    canvas.add("q", f"{number(size * 0.06)} w")
    canvas.stroke_colour(colour)
    for middle in (x - size * 0.3, x + size * 0.3):
        canvas.add(*ellipse(middle, y, radius, radius), "S")
    canvas.add(f"{number(x - size * 0.07)} {number(y)} m {number(x + size * 0.07)} {number(y)} l S", "Q")


def ellipse(x: float, y: float, across: float, down: float) -> list[str]:
    """Four curves, which differ from the ellipse by less than anybody sees."""
    bend = 0.5523
    a, b = across * bend, down * bend

    def curve(*values: float) -> str:
        return " ".join(number(value) for value in values) + " c"

    return [
        f"{number(x + across)} {number(y)} m",
        curve(x + across, y + b, x + a, y + down, x, y + down),
        curve(x - a, y + down, x - across, y + b, x - across, y),
        curve(x - across, y - b, x - a, y - down, x, y - down),
        curve(x + a, y - down, x + across, y - b, x + across, y),
    ]
