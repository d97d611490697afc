"""A page of Verovio as a page of ours: only known elements, no styles, no scripts, no addresses; and where things are.

Styles become attributes, since pages of the web app may have none of their own. What has no use there is left out.
"""

import re
import xml.parsers.expat as expat
from dataclasses import dataclass, field
from xml.sax.saxutils import quoteattr

from satchel.media.decoders.scores.svg_text import Line, Run

_SHAPES = frozenset(("path", "polygon", "polyline", "rect", "ellipse", "circle", "line", "use"))
_GEOMETRY = frozenset(
    (
        *("d", "points", "x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "r", "rx", "ry", "width", "height"),
        *("stroke-width", "stroke-linecap", "stroke-linejoin", "stroke-dasharray", "opacity", "fill-opacity"),
        *("stroke-opacity", "fill", "stroke", "transform", "color"),
    )
)
_FAMILY = "Times, 'Times New Roman', serif"
_VALUE = re.compile(r"[\w\s.,+#%()-]*")
_BOLD = frozenset(("ending", "fing", "reh", "tempo"))
_ITALIC = frozenset(("dir", "dynam", "mNum"))
_PLAIN = frozenset(("label",))
# Players light these up, and marks are placed by them.
_NAMED = frozenset(("note", "rest", "mRest", "measure", "staff"))
_SKIPPED = frozenset(("style", "title", "desc", "script", "image", "foreignObject", "a", "animate", "set"))
_PLACE = re.compile(r"translate\(\s*(-?[\d.]+)[\s,]+(-?[\d.]+)")
_LINE = re.compile(r"M\s*(-?[\d.]+)[\s,]+(-?[\d.]+)\s*L\s*(-?[\d.]+)[\s,]+(-?[\d.]+)")


@dataclass
class Staff:
    """The lines of one staff in one bar, in the units of the page."""

    number: int
    left: float = float("inf")
    top: float = float("inf")
    right: float = 0
    bottom: float = 0


@dataclass
class Bar:
    """A bar on the page. `number` is what is printed, or would be."""

    bar_id: str
    number: str
    staves: list[Staff] = field(default_factory=list[Staff])


@dataclass
class CleanPage:
    """The page, and where its bars and notes are. Of notes, by Verovio's ids, these are x and the staff's number."""

    svg: str
    width: float
    height: float
    bars: list[Bar]
    notes: dict[str, tuple[float, int]]


@dataclass
class _Open:
    """An element that has not ended."""

    tag: str
    closes: bool = False
    bold: bool = False
    italic: bool = False
    size: float = 0
    family: str = ""
    anchor: str = ""
    note: str = ""
    # How far elements within are moved, for knowing where they are.
    dx: float = 0
    dy: float = 0


class _Cleaner:
    def __init__(self) -> None:
        self.out: list[str] = []
        self.bars: list[Bar] = []
        self.notes: dict[str, tuple[float, int]] = {}
        self.width = self.height = 0.0
        self._open: list[_Open] = [_Open("")]
        self._skipped = 0
        self._in_defs = False
        self._lines: list[Line] = []
        self._staff: Staff | None = None

    def start(self, tag: str, given: dict[str, str]) -> None:
        kinds = given.get("class", "").split()
        if self._skipped or tag in _SKIPPED or "placeholder" in kinds or "bounding-box" in kinds:
            self._skipped += 1
            return
        opened = self._opened(tag, given, kinds[0] if kinds else "")
        if tag == "svg":
            self._start_svg(given, opened)
        elif tag == "defs":
            self._in_defs = opened.closes = True
            self.out.append("<defs>")
        elif tag in ("text", "tspan"):
            self._start_text(tag, given, opened)
        elif tag == "g":
            self._start_group(given, kinds[0] if kinds else "", opened)
        elif tag in _SHAPES:
            self._shape(tag, given)
        self._open.append(opened)

    def _opened(self, tag: str, given: dict[str, str], kind: str) -> _Open:
        above = self._open[-1]
        bold = kind in _BOLD or (above.bold and kind not in _PLAIN)
        italic = kind in _ITALIC or above.italic
        size = given.get("font-size", "").removesuffix("px")
        weight, style = given.get("font-weight"), given.get("font-style")
        return _Open(
            tag,
            bold=bold if weight is None else weight == "bold",
            italic=italic if style is None else style in ("italic", "oblique"),
            size=float(size) if size and size.replace(".", "", 1).isdigit() else above.size,
            family=given.get("font-family", above.family),
            anchor=given.get("text-anchor", above.anchor),
            note=above.note,
            dx=above.dx,
            dy=above.dy,
        )

    def _start_svg(self, given: dict[str, str], opened: _Open) -> None:
        opened.closes = True
        box = given.get("viewBox", "0 0 0 0")
        sides = [float(each) for each in box.split()]
        if len(self._open) == 1:
            self.out.append(
                f'<svg xmlns="http://www.w3.org/2000/svg" width="{sides[2]:g}" height="{sides[3]:g}" viewBox="{box}">'
            )
        else:
            self.width, self.height = sides[2], sides[3]
            self.out.append(f'<svg viewBox="{box}" color="black" stroke="currentColor" font-family="{_FAMILY}">')

    def _start_group(self, given: dict[str, str], kind: str, opened: _Open) -> None:
        kept: list[str] = []
        if self._in_defs:
            kept.append(f"id={quoteattr(given.get('id', ''))}")
        elif kind in _NAMED:
            kept.append(f"id={quoteattr(element_id(given.get('id', '')))} class={quoteattr(kind)}")
            self._enter(given, kind, opened)
        if (moved := given.get("transform")) and _VALUE.fullmatch(moved):
            kept.append(f'transform="{moved}"')
            if (place := _PLACE.match(moved)) is not None:
                opened.dx, opened.dy = opened.dx + float(place[1]), opened.dy + float(place[2])
        opened.closes = bool(kept)
        if kept:
            self.out.append(f"<g {' '.join(kept)}>")

    def _enter(self, given: dict[str, str], kind: str, opened: _Open) -> None:
        name = given.get("id", "")
        if kind == "measure":
            self.bars.append(Bar(name, given.get("data-n", "")))
        elif kind == "staff" and self.bars:
            number = given.get("data-n", "0")
            self._staff = Staff(int(number) if number.isdecimal() else 0)
            self.bars[-1].staves.append(self._staff)
        else:
            opened.note = name

    def _shape(self, tag: str, given: dict[str, str]) -> None:
        kept = {name: value for name, value in given.items() if name in _GEOMETRY and _VALUE.fullmatch(value)}
        if tag == "use":
            target = given.get("href") or given.get("xlink:href") or ""
            if not target.startswith("#"):
                return
            kept["href"] = target
            self._see_note(kept.get("transform", ""))
        elif self._open[-1].tag == "g" and self._staff is not None and tag == "path":
            self._see_line(kept.get("d", ""))
        self.out.append(f"<{tag}{''.join(f' {name}={quoteattr(value)}' for name, value in kept.items())}/>")

    def _see_note(self, transform: str) -> None:
        """The first sign of a note or a rest is its head."""
        above = self._open[-1]
        place = _PLACE.match(transform)
        if above.note and above.note not in self.notes and place is not None and self._staff is not None:
            self.notes[above.note] = (float(place[1]) + above.dx, self._staff.number)

    def _see_line(self, data: str) -> None:
        """The lines of a staff come first in it."""
        staff, line, above = self._staff, _LINE.fullmatch(data.strip()), self._open[-1]
        if staff is None or line is None or above.note:
            return
        x1, y1, x2, y2 = (float(each) for each in line.groups())
        if y1 == y2 and (staff.right == 0 or (staff.left, staff.right) == (x1 + above.dx, x2 + above.dx)):
            staff.left, staff.right = x1 + above.dx, x2 + above.dx
            staff.top, staff.bottom = min(staff.top, y1 + above.dy), max(staff.bottom, y1 + above.dy)

    def _start_text(self, tag: str, given: dict[str, str], opened: _Open) -> None:
        if tag == "text" or "x" in given or "y" in given:
            last = self._lines[-1] if self._lines else None
            x = float(given.get("x", last.x if last is not None else 0))
            y = float(given.get("y", last.y if last is not None else 0))
            self._lines.append(Line(x, y, opened.anchor))

    def characters(self, text: str) -> None:
        above = self._open[-1]
        if not self._skipped and above.tag in ("text", "tspan") and self._lines and above.size > 0:
            self._lines[-1].runs.append(Run(text, above.size, above.family, above.bold, above.italic))

    def end(self, tag: str) -> None:
        if self._skipped:
            self._skipped -= 1
            return
        closed = self._open.pop()
        if tag == "text":
            for line in self._lines:
                self.out.extend(line.written())
            self._lines = []
        if tag == "defs":
            self._in_defs = False
        if closed.closes:
            self.out.append(f"</{tag}>")


def element_id(name: str) -> str:
    """An id of the music as one of the page, which no element of the web app has."""
    return "v-" + re.sub(r"[^A-Za-z0-9_.-]", "_", name)


def clean(svg: str) -> CleanPage:
    cleaner = _Cleaner()
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = cleaner.start
    parser.EndElementHandler = cleaner.end
    parser.CharacterDataHandler = cleaner.characters
    parser.Parse(svg, True)
    return CleanPage("".join(cleaner.out), cleaner.width, cleaner.height, cleaner.bars, cleaner.notes)
