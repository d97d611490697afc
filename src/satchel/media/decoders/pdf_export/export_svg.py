"""An engraved page as PDF operators: the few elements that `scores/svg_clean.py` writes."""

import re
from collections.abc import Callable
from xml.etree import ElementTree

from satchel.media.decoders.pdf_export.export_ink import ellipse
from satchel.media.decoders.pdf_export.path_data import path_operators
from satchel.media.decoders.pdf_export.pdf_canvas import BLACK, Canvas
from satchel.media.decoders.pdf_export.pdf_number import number

_SPACE = "{http://www.w3.org/2000/svg}"
_MOVE = re.compile(r"(translate|scale|rotate|matrix)\(([^)]*)\)")
_NUMBERS = re.compile(r"-?(?:\d+\.?\d*|\.\d+)(?:e-?\d+)?")
# Engraved pages nest a few levels deep.
_MAX_DEPTH = 60


def svg_size(data: bytes) -> tuple[float, float]:
    box = _box(_parsed(data))
    return box[2], box[3]


def draw_svg(canvas: Canvas, data: bytes, width: float, height: float) -> None:
    root = _parsed(data)
    inner = root.find(f"{_SPACE}svg")
    box = _box(root if inner is None else inner)
    canvas.add("q", "0 g 0 G")
    # SVG counts downwards, PDF upwards.
    canvas.place((width / box[2], 0, 0, -height / box[3], 0, height))
    canvas.unit = width / box[2]
    _Page(canvas, root).draw(root if inner is None else inner, 0)
    canvas.unit = 1.0
    canvas.add("Q")


def _parsed(data: bytes) -> ElementTree.Element:
    if b"<!" in data[:1000]:
        raise ValueError("an engraved page has no document type")
    return ElementTree.fromstring(data)  # noqa: S314 -- without a document type there are no entities


def _box(element: ElementTree.Element) -> list[float]:
    box = [float(value) for value in element.get("viewBox", "").split()]
    if len(box) != 4 or box[2] <= 0 or box[3] <= 0:
        raise ValueError("an engraved page has a size")
    return box


class _Page:
    def __init__(self, canvas: Canvas, root: ElementTree.Element) -> None:
        self._canvas = canvas
        self._signs = {
            group.get("id", ""): group for defs in root.iter(f"{_SPACE}defs") for group in defs.iter(f"{_SPACE}g")
        }
        # Each sign is one object of the page, however often it comes.
        self._objects: dict[str, int] = {}
        self._shapes: dict[str, Callable[[ElementTree.Element], list[str]]] = {
            "path": lambda element: list(path_operators(element.get("d", ""))),
            "polygon": lambda element: _polygon(element, closed=True),
            "polyline": lambda element: _polygon(element, closed=False),
            "line": _line,
            "rect": _rectangle,
            "ellipse": _ellipse,
            "circle": _ellipse,
        }

    def draw(self, element: ElementTree.Element, depth: int) -> None:
        if depth > _MAX_DEPTH:
            return
        for child in element:
            tag = child.tag.removeprefix(_SPACE)
            if tag == "g":
                self._group(child, depth)
            elif tag == "use":
                self._sign(child)
            elif tag == "text":
                self._text(child)
            elif tag in self._shapes:
                self._shape(child, self._shapes[tag](child))

    def _group(self, group: ElementTree.Element, depth: int) -> None:
        moved = group.get("transform")
        if moved:
            self._canvas.add("q")
            self._move(moved)
        self.draw(group, depth + 1)
        if moved:
            self._canvas.add("Q")

    def _move(self, transform: str) -> None:
        for kind, inside in _MOVE.findall(transform):
            values = [float(value) for value in _NUMBERS.findall(inside)]
            if kind == "translate" and values:
                self._canvas.place((1, 0, 0, 1, values[0], values[1] if len(values) > 1 else 0))
            elif kind == "scale" and values:
                self._canvas.place((values[0], 0, 0, values[1] if len(values) > 1 else values[0], 0, 0))
            elif kind == "matrix" and len(values) == 6:
                self._canvas.place(values)

    def _sign(self, use: ElementTree.Element) -> None:
        name = use.get("href", "").removeprefix("#")
        group = self._signs.get(name)
        if group is None:
            return
        if name not in self._objects:
            self._objects[name] = self._form(group)
        self._canvas.add("q")
        self._move(use.get("transform", ""))
        self._canvas.show(self._objects[name])
        self._canvas.add("Q")

    def _form(self, group: ElementTree.Element) -> int:
        content: list[str] = []
        for path in group.iter(f"{_SPACE}path"):
            # Signs of the font are upside down.
            content += ["q 1 0 0 -1 0 0 cm", *path_operators(path.get("d", "")), "f", "Q"]
        fields = "/Type/XObject/Subtype/Form/BBox[-4000 -4000 4000 4000]/Resources<<>>"
        return self._canvas.writer.add_stream(fields, "\n".join(content).encode())

    def _shape(self, element: ElementTree.Element, operators: list[str]) -> None:
        if not operators:
            return
        filled, stroked = element.get("fill") != "none", element.get("stroke") != "none"
        width = _value(element, "stroke-width", 1.0)
        moved = element.get("transform")
        self._canvas.add("q")
        if moved:
            self._move(moved)
        caps = {"round": "1 J", "square": "2 J"}.get(element.get("stroke-linecap", ""), "0 J")
        dashes = " ".join(_NUMBERS.findall(element.get("stroke-dasharray", "")))
        self._canvas.add(f"{number(width)} w {caps} 1 j", f"[{dashes}] 0 d" if dashes else "")
        ending = "B" if filled and stroked and width else "f" if filled else "S" if stroked else "n"
        self._canvas.add(*operators, ending, "Q")

    def _text(self, element: ElementTree.Element) -> None:
        text = "".join(element.itertext())
        x, y, size = (_value(element, name, 0) for name in ("x", "y", "font-size"))
        styles = ("B" if element.get("font-weight") == "bold" else "") + (
            "I" if element.get("font-style") == "italic" else ""
        )
        self._canvas.add("q")
        # Upright again, around the place of the text.
        self._canvas.place((1, 0, 0, -1, x, y))
        self._canvas.text(text, 0, 0, size, f"Times{styles}", BLACK, element.get("text-anchor", ""))
        self._canvas.add("Q")


def _value(element: ElementTree.Element, name: str, default: float) -> float:
    found = _NUMBERS.match(element.get(name, ""))
    return default if found is None else float(found[0])


def _polygon(element: ElementTree.Element, *, closed: bool) -> list[str]:
    values = [float(value) for value in _NUMBERS.findall(element.get("points", ""))]
    points = list(zip(values[::2], values[1::2], strict=False))
    drawn = [f"{number(x)} {number(y)} {'l' if place else 'm'}" for place, (x, y) in enumerate(points)]
    return [*drawn, "h"] if closed and drawn else drawn


def _line(element: ElementTree.Element) -> list[str]:
    x1, y1, x2, y2 = (number(_value(element, name, 0)) for name in ("x1", "y1", "x2", "y2"))
    return [f"{x1} {y1} m", f"{x2} {y2} l"]


def _rectangle(element: ElementTree.Element) -> list[str]:
    sides = (number(_value(element, name, 0)) for name in ("x", "y", "width", "height"))
    return [f"{' '.join(sides)} re"]


def _ellipse(element: ElementTree.Element) -> list[str]:
    radius = _value(element, "r", 0)
    across, down = _value(element, "rx", radius), _value(element, "ry", radius)
    return ellipse(_value(element, "cx", 0), _value(element, "cy", 0), across, down)
