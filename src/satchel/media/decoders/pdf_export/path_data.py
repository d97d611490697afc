"""The data of an SVG path as PDF operators."""

import re
from collections.abc import Iterator

from satchel.media.decoders.pdf_export.pdf_number import number

_TOKEN = re.compile(r"[A-Za-z]|[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_COUNTS = {"m": 2, "l": 2, "h": 1, "v": 1, "c": 6, "s": 4, "q": 4, "t": 2, "z": 0}


class _Pen:
    def __init__(self) -> None:
        self.x: float = 0
        self.y: float = 0
        self.first_x: float = 0
        self.first_y: float = 0
        # Where the last curve came from, which a smooth one goes on from.
        self.bend: tuple[float, float] | None = None
        self.bent_by = ""

    def move(self, command: str, values: list[float]) -> str:
        kind, relative = command.lower(), command.islower()
        if kind == "z":
            self.x, self.y, self.bend = self.first_x, self.first_y, None
            return "h"
        if kind in "hv":
            along = values[0]
            x = (self.x + along if relative else along) if kind == "h" else self.x
            y = (self.y + along if relative else along) if kind == "v" else self.y
            return self._line(x, y, "l")
        points = [
            (x + self.x, y + self.y) if relative else (x, y) for x, y in zip(values[::2], values[1::2], strict=True)
        ]
        if kind in "ml":
            if kind == "m":
                self.first_x, self.first_y = points[0]
            return self._line(*points[0], kind)
        return self._curve(kind, points)

    def _line(self, x: float, y: float, operator: str) -> str:
        self.x, self.y, self.bend = x, y, None
        return f"{number(x)} {number(y)} {operator}"

    def _curve(self, kind: str, points: list[tuple[float, float]]) -> str:
        here = (self.x, self.y)
        family = "cs" if kind in "cs" else "qt"
        if kind in "st":
            smooth = self.bend is not None and self.bent_by == family
            bend = (2 * here[0] - self.bend[0], 2 * here[1] - self.bend[1]) if smooth and self.bend else here
            points = [bend, *points]
        end = points[-1]
        self.bend, self.bent_by = points[-2], family
        if family == "qt":
            middle = points[0]
            first = (here[0] + (middle[0] - here[0]) * 2 / 3, here[1] + (middle[1] - here[1]) * 2 / 3)
            second = (end[0] + (middle[0] - end[0]) * 2 / 3, end[1] + (middle[1] - end[1]) * 2 / 3)
            points = [first, second, end]
        self.x, self.y = end
        return " ".join(f"{number(x)} {number(y)}" for x, y in points) + " c"


def path_operators(data: str) -> Iterator[str]:
    """Of lines and curves. Arcs, which engraved pages have none of, end the path."""
    tokens = _TOKEN.findall(data)
    pen, command, place = _Pen(), "", 0
    while place < len(tokens):
        if tokens[place].isalpha():
            command = tokens[place]
            place += 1
        count = _COUNTS.get(command.lower())
        if count is None or place + count > len(tokens):
            return
        yield pen.move(command, [float(value) for value in tokens[place : place + count]])
        place += count
        # Further pairs after a move are lines. After the end of a figure there are none.
        command = {"m": "l", "M": "L", "z": "", "Z": ""}.get(command, command)
