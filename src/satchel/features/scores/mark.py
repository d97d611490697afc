"""A mark on a page: what a pen, a highlighter, a text or a stamp leaves, and how it stands in an annotation."""

import re
import unicodedata
from typing import Annotated, Literal

import msgspec

from satchel.features.scores.annotation_text import MAX_CHARACTERS, MAX_PIECES, cut
from satchel.features.scores.model import PAGE_EDGE, PageId
from satchel.kernel import ink
from satchel.kernel.errors import Invalid
from satchel.kernel.unfit import TextUnfit

MarkKind = Literal["pen", "highlighter", "text", "stamp"]
MAX_TEXT = 2000
# A pen may leave the page a little.
_MARGIN = 1000
_MAX_PRESSURE = 255
# The size of text and stamps that name none, which is the one that the web app begins with.
_READABLE = 420
_COLOUR = re.compile(r"#[0-9a-f]{6}")
_STAMP = re.compile(r"[a-z0-9-]{1,32}")
_Place = Annotated[int, msgspec.Meta(ge=-_MARGIN, le=PAGE_EDGE + _MARGIN)]
_Size = Annotated[int, msgspec.Meta(ge=0, le=PAGE_EDGE)]
_Bar = Annotated[int, msgspec.Meta(ge=0, le=100_000)]
_Offset = Annotated[int, msgspec.Meta(ge=-2 * PAGE_EDGE, le=2 * PAGE_EDGE)]


class MarkTooLong(Invalid):
    """The mark has more points or letters than one mark can have. Draw it in several strokes."""

    slug = "mark-too-long"
    title = "This mark is too long"


class Anchor(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The place in engraved music that a mark keeps when it is laid out anew, and how far from there it is.

    Parts, the staves of a part, and bars count from 0. The beat is in thousandths of a quarter. `dx` and `dy` are
    ten-thousandths of the page, from the beat and the upper line of the staff.
    """

    part: _Bar
    bar: _Bar
    beat: Annotated[int, msgspec.Meta(ge=0, le=10_000_000)] = 0
    dx: _Offset = 0
    dy: _Offset = 0
    staff: _Bar = 0


class NewMark(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A mark to be made. Places and sizes are ten-thousandths of the page's width and height.

    Text and stamps without a size get one that can be read.
    """

    page_id: Annotated[int, msgspec.Meta(ge=0, le=2**31)]
    kind: MarkKind
    colour: Annotated[str, msgspec.Meta(max_length=16, extra_json_schema={"pattern": f"^{_COLOUR.pattern}$"})] = (
        "#000000"
    )
    width: _Size = 20
    stroke: Annotated[str, msgspec.Meta(max_length=1_000_000)] = ""
    x: _Place = 0
    y: _Place = 0
    text: Annotated[str, msgspec.Meta(max_length=100_000)] = ""
    stamp: Annotated[str, msgspec.Meta(max_length=64)] = ""
    size: _Size = 0
    anchor: Anchor | None = None


class StoredMark(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A mark as it stands in its annotation. `seq` is the change of its layer that wrote it."""

    layer_id: int = msgspec.field(name="y")
    page_id: PageId = msgspec.field(name="g")
    seq: int = msgspec.field(name="q")
    kind: Literal["p", "h", "t", "s"] = msgspec.field(name="k", default="p")
    colour: str = msgspec.field(name="c", default="#000000")
    width: int = msgspec.field(name="w", default=20)
    stroke: str = msgspec.field(name="s", default="")
    x: int = 0
    top: int = msgspec.field(name="v", default=0)
    text: str = msgspec.field(name="t", default="")
    stamp: str = msgspec.field(name="m", default="")
    size: int = msgspec.field(name="z", default=0)
    # Part, bar, beat, how far from there, and the staff of the part.
    anchor: list[int] = msgspec.field(name="n", default_factory=list[int])


class MarkView(msgspec.Struct, frozen=True, kw_only=True):
    """A mark. `seq` is the change of its layer that wrote it. Places are ten-thousandths of the page."""

    mark_id: int
    layer_id: int
    page_id: int
    seq: int
    kind: MarkKind
    colour: str
    width: int
    stroke: str
    x: int
    y: int
    text: str
    stamp: str
    size: int
    anchor: Anchor | None


_LETTERS: dict[MarkKind, Literal["p", "h", "t", "s"]] = {"pen": "p", "highlighter": "h", "text": "t", "stamp": "s"}
KINDS_OF_MARKS: dict[str, MarkKind] = {letter: kind for kind, letter in _LETTERS.items()}
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(StoredMark).decode


def write_mark(new: NewMark, layer_id: int, seq: int) -> str:
    """The text of its annotation. Raises what is wrong with it."""
    _check(new)
    anchor = new.anchor
    stored = StoredMark(
        layer_id=layer_id,
        page_id=PageId(new.page_id),
        seq=seq,
        kind=_LETTERS[new.kind],
        colour=new.colour,
        width=new.width,
        stroke=new.stroke,
        x=new.x,
        top=new.y,
        text=new.text,
        stamp=new.stamp,
        size=new.size or (_READABLE if new.kind in ("text", "stamp") else 0),
        anchor=[] if anchor is None else anchor_numbers(anchor),
    )
    text = encode_mark(stored)
    if len(text) > MAX_CHARACTERS or len(cut(text)) > MAX_PIECES:
        raise MarkTooLong("This mark is too long. Draw it in several strokes, or shorten the text.")
    return text


def encode_mark(mark: StoredMark) -> str:
    return _encode(mark).decode()


def read_mark(text: str) -> StoredMark:
    return _decode(text)


def mark_view(mark_id: int, mark: StoredMark) -> MarkView:
    return MarkView(
        mark_id=mark_id,
        layer_id=mark.layer_id,
        page_id=mark.page_id,
        seq=mark.seq,
        kind=KINDS_OF_MARKS[mark.kind],
        colour=mark.colour,
        width=mark.width,
        stroke=mark.stroke,
        x=mark.x,
        y=mark.top,
        text=mark.text,
        stamp=mark.stamp,
        size=mark.size,
        anchor=anchor_of(mark),
    )


def anchor_numbers(anchor: Anchor) -> list[int]:
    return [anchor.part, anchor.bar, anchor.beat, anchor.dx, anchor.dy, anchor.staff]


def anchor_of(mark: StoredMark) -> Anchor | None:
    if not mark.anchor:
        return None
    part, bar, beat, dx, dy, *staff = mark.anchor
    return Anchor(part=part, bar=bar, beat=beat, dx=dx, dy=dy, staff=staff[0] if staff else 0)


def _check(new: NewMark) -> None:
    if not _COLOUR.fullmatch(new.colour):
        raise TextUnfit("Give a colour such as #d00000.", field="colour")
    match new.kind:
        case "pen" | "highlighter":
            _check_stroke(new.stroke)
        case "text":
            if len(new.text) > MAX_TEXT:
                raise MarkTooLong(f"Use a text of up to {MAX_TEXT} characters.", field="text")
            if not new.text.strip() or any(unicodedata.category(letter) == "Cs" for letter in new.text):
                raise TextUnfit("Write a text.", field="text")
        case "stamp":
            if not _STAMP.fullmatch(new.stamp):
                raise TextUnfit("Name a stamp, such as `up-bow`.", field="stamp")


def _check_stroke(stroke: str) -> None:
    if len(stroke) > MAX_CHARACTERS:
        raise MarkTooLong("This stroke has too many points. Draw it in several strokes.", field="stroke")
    try:
        points = ink.decode(stroke)
    except ink.BadStroke as error:
        raise TextUnfit(f"This is no stroke. {error}", field="stroke") from None
    on_page = all(
        -_MARGIN <= x <= PAGE_EDGE + _MARGIN and -_MARGIN <= y <= PAGE_EDGE + _MARGIN and 0 <= pressure <= _MAX_PRESSURE
        for x, y, pressure in points
    )
    if not points or not on_page:
        raise TextUnfit("A stroke has at least one point, and its points are on the page.", field="stroke")
