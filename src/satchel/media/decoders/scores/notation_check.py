"""Reads MusicXML and MEI once before Verovio does, which takes half a file for a whole one.

Entities are refused: music has none, and they are how small files become large ones or read others.
"""

import xml.parsers.expat as expat
from dataclasses import dataclass, field

from satchel.media.decoders.scores.refusal import ScoreRefused

MAX_DEPTH = 200
MAX_ELEMENTS = 4_000_000
_ROOTS = ("score-partwise", "score-timewise", "mei")
_BREAKS_OFF = (
    expat.errors.codes[expat.errors.XML_ERROR_NO_ELEMENTS],
    expat.errors.codes[expat.errors.XML_ERROR_UNCLOSED_TOKEN],
    expat.errors.codes[expat.errors.XML_ERROR_UNCLOSED_CDATA_SECTION],
)
_TEXTS = frozenset(("work-title", "movement-title", "creator", "part-name", "title", "composer", "persName"))


@dataclass
class Part:
    """A part of MusicXML, and which bytes are about it."""

    part_id: str
    name: str = ""
    is_listed: bool = False
    measures: int = 0
    ranges: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])


@dataclass
class Outline:
    """What a score says of itself."""

    root: str = ""
    title: str = ""
    movement: str = ""
    composer: str = ""
    measures: int = 0
    parts: dict[str, Part] = field(default_factory=dict[str, Part])
    # Brackets around several parts, which one part alone does not have.
    groups: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])


def outline_of(data: bytes) -> Outline:
    """What a whole, well-formed score says of itself. `data` is in UTF-8."""
    reader = _Reader(data)
    reader.read()
    outline = reader.outline
    if outline.root not in _ROOTS:
        raise ScoreRefused(
            "score-broken", f"The file is XML, but no music that can be engraved (<{outline.root[:40]}>)."
        )
    if outline.root == "score-partwise":
        _check_parts(outline)
    if not outline.measures:
        raise ScoreRefused("score-broken", "The file has no bar of music.")
    return outline


def _check_parts(outline: Outline) -> None:
    """Some programs give no ids, so only how many parts have bars is sure."""
    parts = outline.parts.values()
    if sum(part.measures > 0 for part in parts) >= sum(part.is_listed for part in parts):
        return
    for part in parts:
        if not part.measures:
            name = part.name or part.part_id
            raise ScoreRefused(
                "score-broken", f"The part “{name[:64]}” is listed, but has no bars. Save the file anew."
            )


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self.outline = Outline()
        self._path: list[str] = []
        self._starts: list[int] = []
        self._elements = 0
        self._part: Part | None = None
        self._text = ""
        self._wants_composer = False
        self._parser = expat.ParserCreate("utf-8")
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._parser.EntityDeclHandler = _refuse_entity

    def read(self) -> None:
        try:
            self._parser.Parse(self._data, True)
        except expat.ExpatError as error:
            place = f"line {error.lineno}, column {error.offset + 1}"
            if error.code in _BREAKS_OFF:
                raise ScoreRefused("score-broken", f"The file breaks off at {place}. Export it anew.") from error
            what = expat.ErrorString(error.code)
            raise ScoreRefused("score-broken", f"The file is damaged at {place}: {what}. Export it anew.") from error

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._elements += 1
        if len(self._path) >= MAX_DEPTH or self._elements > MAX_ELEMENTS:
            raise ScoreRefused("score-too-large", "The file has more elements, or deeper ones, than music has.")
        tag = tag.rpartition(":")[2]
        if not self._path:
            self.outline.root = tag
        self._path.append(tag)
        self._starts.append(self._parser.CurrentByteIndex)
        self._text = ""
        if tag in ("part", "score-part"):
            part_id = attributes.get("id", "")
            self._part = self.outline.parts.setdefault(part_id, Part(part_id))
            self._part.is_listed |= tag == "score-part"
        elif tag == "measure":
            self.outline.measures += 1
            if self._part is not None:
                self._part.measures += 1
        elif tag == "creator":
            self._wants_composer = attributes.get("type", "composer") == "composer"
        elif tag == "persName":
            self._wants_composer = attributes.get("role") in ("composer", "cmp")

    def _characters(self, text: str) -> None:
        if self._path[-1] in _TEXTS and len(self._text) < 1_000:
            self._text += text

    def _end(self, tag: str) -> None:
        tag = self._path.pop()
        start = self._starts.pop()
        if tag in _TEXTS:
            self._take(tag, self._text.strip())
        if tag in ("part", "score-part", "part-group"):
            stop = self._data.index(b">", self._parser.CurrentByteIndex) + 1
            if tag == "part-group":
                self.outline.groups.append((start, stop))
            elif self._part is not None:
                self._part.ranges.append((start, stop))
                self._part = None

    def _take(self, tag: str, text: str) -> None:
        outline = self.outline
        if tag == "part-name" and self._part is not None:
            self._part.name = text
        elif tag in ("work-title", "title"):
            outline.title = outline.title or text
        elif tag == "movement-title":
            outline.movement = text
        elif tag == "composer" or (tag in ("creator", "persName") and self._wants_composer):
            outline.composer = outline.composer or text


def _refuse_entity(*_: object) -> None:
    raise ScoreRefused("score-broken", "The file defines XML entities, which music has none of. Export it anew.")
