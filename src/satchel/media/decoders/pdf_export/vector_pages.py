"""Pages of a stored PDF, put into another one as they are: lines stay lines, and letters stay letters.

PDFium writes the wanted pages anew, without encryption and with what others had drawn on them. Of that, the content and
resources of each page become a form, which a page of the new document shows below the ink.
"""

import io
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from satchel.media.decoders.pdf_export.pdf_values import NotPlain, Reader, Ref, Value, written
from satchel.media.decoders.pdf_export.pdf_writer import PdfWriter

_OBJECT = re.compile(rb"\s*(\d+)\s+0\s+obj\b")
_DEEPEST = 100
_MAX_CONTENT = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class VectorPage:
    """The number of its form, its size as it is shown, and the matrix that puts it upright at the lower left corner."""

    form: int
    width: float
    height: float
    matrix: tuple[float, float, float, float, float, float]


@dataclass(slots=True)
class VectorPages:
    """The pages of one PDF that are wanted. What two of them share is written once."""

    writer: PdfWriter
    data: bytes
    wanted: Sequence[int]
    _objects: dict[int, bytes] = field(init=False)
    _kids: list[Value] = field(init=False)
    _numbers: dict[int, int] = field(default_factory=dict[int, int])
    _made: dict[int, VectorPage | None] = field(default_factory=dict[int, "VectorPage | None"])

    def __post_init__(self) -> None:
        self._objects, self._kids = {}, []
        try:
            plain = _plain(self.data, self.wanted)
            self._objects, root = _objects(plain)
            pages = self._dict(self._dict(Ref(root))[b"/Pages"])
            kids = self._resolved(pages[b"/Kids"])
            self._kids = kids if isinstance(kids, list) else []
        except (NotPlain, KeyError, ValueError, IndexError, RuntimeError):
            # Then the images of the pages are shown.
            return

    def page(self, number: int) -> VectorPage | None:
        """None if it cannot be put into another document as it is."""
        if number not in self._made:
            try:
                self._made[number] = self._form(self._dict(self._kids[self.wanted.index(number)]))
            except (NotPlain, KeyError, ValueError, IndexError, zlib.error):
                self._made[number] = None
        return self._made[number]

    def _form(self, page: dict[bytes, Value]) -> VectorPage:
        x0, y0, x1, y1 = self._box(page)
        turned = int(_number(self._resolved(page.get(b"/Rotate", b"0")))) % 360
        width, height = x1 - x0, y1 - y0
        if width <= 0 or height <= 0:
            raise NotPlain("no size")
        resources = self._resolved(page.get(b"/Resources", {}))
        content = self._content(page.get(b"/Contents", []))
        # Checked before anything is written of it.
        self._check(resources, set(), _DEEPEST)
        box = " ".join(f"{each:.4f}" for each in (x0, y0, x1, y1))
        fields = f"/Type/XObject/Subtype/Form/BBox[{box}]/Group<</S/Transparency>>/Resources "
        form = self.writer.add_stream(fields.encode() + written(resources, self._copied), content)
        matrices = {
            0: (1, 0, 0, 1, -x0, -y0),
            90: (0, -1, 1, 0, -y0, x1),
            180: (-1, 0, 0, -1, x1, y1),
            270: (0, 1, -1, 0, y1, -x0),
        }
        if turned in (90, 270):
            width, height = height, width
        return VectorPage(form, width, height, matrices[turned])

    def _box(self, page: dict[bytes, Value]) -> tuple[float, float, float, float]:
        """What is seen of the page: the part of its paper that is not cropped."""
        paper = self._corners(page[b"/MediaBox"])
        seen = self._corners(page.get(b"/CropBox", page[b"/MediaBox"]))
        return max(paper[0], seen[0]), max(paper[1], seen[1]), min(paper[2], seen[2]), min(paper[3], seen[3])

    def _corners(self, value: Value) -> tuple[float, float, float, float]:
        numbers = self._resolved(value)
        if not isinstance(numbers, list):
            raise NotPlain("no box")
        x0, y0, x1, y1 = (_number(self._resolved(each)) for each in numbers)
        return min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)

    def _content(self, value: Value) -> bytes:
        found = self._resolved(value) if isinstance(value, Ref) and self._stream(value.number) is None else value
        refs = found if isinstance(found, list) else [found]
        return b"\n".join(self._unpacked(each) for each in refs)

    def _unpacked(self, ref: Value) -> bytes:
        if not isinstance(ref, Ref) or (parts := self._stream(ref.number)) is None:
            raise NotPlain("no content")
        fields, body = parts
        packed = self._resolved(fields.get(b"/Filter", []))
        names = packed if isinstance(packed, list) else [packed]
        if not names:
            return body
        if names != [b"/FlateDecode"] or b"/DecodeParms" in fields:
            raise NotPlain("packed in another way")
        unpacker = zlib.decompressobj()
        content = unpacker.decompress(body, _MAX_CONTENT)
        if unpacker.unconsumed_tail:
            raise NotPlain("too much content")
        return content

    def _check(self, value: Value, seen: set[int], deepest: int) -> None:
        """Nothing may be missing, and no layer may be hidden: that is said elsewhere in a document."""
        if not deepest:
            raise NotPlain("nested too deep")
        match value:
            case Ref(number):
                if number not in seen:
                    seen.add(number)
                    self._check(self._resolved(value), seen, deepest - 1)
            case dict():
                if value.get(b"/Type") in (b"/OCG", b"/OCMD", b"/Page", b"/Pages", b"/Catalog"):
                    raise NotPlain("more than a page")
                for each in value.values():
                    self._check(each, seen, deepest - 1)
            case list():
                for each in value:
                    self._check(each, seen, deepest - 1)
            case _:
                pass

    def _copied(self, number: int) -> int:
        """The number that an object has in the new document. It is written when it is first wanted."""
        if number not in self._numbers:
            self._numbers[number] = self.writer.reserve()
            stream = self._stream(number)
            if stream is None:
                body = written(self._resolved(Ref(number)), self._copied)
            else:
                fields = {**stream[0], b"/Length": b"%d" % len(stream[1])}
                body = written(fields, self._copied) + b"stream\n" + stream[1] + b"\nendstream"
            self.writer.add_bytes(body, self._numbers[number])
        return self._numbers[number]

    def _resolved(self, value: Value) -> Value:
        return Reader(self._objects[value.number]).value() if isinstance(value, Ref) else value

    def _dict(self, value: Value) -> dict[bytes, Value]:
        found = self._resolved(value)
        if not isinstance(found, dict):
            raise NotPlain("no dictionary")
        return found

    def _stream(self, number: int) -> tuple[dict[bytes, Value], bytes] | None:
        reader = Reader(self._objects[number])
        fields = reader.value()
        start = re.compile(rb"\s*stream\r?\n").match(reader.data, reader.at)
        if not isinstance(fields, dict) or start is None:
            return None
        length = int(_number(self._resolved(fields[b"/Length"])))
        return fields, reader.data[start.end() : start.end() + length]


def _number(value: Value) -> float:
    if not isinstance(value, bytes):
        raise NotPlain("no number")
    return float(value)


def _plain(data: bytes, wanted: Sequence[int]) -> bytes:
    """The wanted pages alone, as a document without any packed objects, with what was drawn upon them in it."""
    pdfium: Any = import_module("pypdfium2")
    raw: Any = import_module("pypdfium2.raw")
    source, target, out = pdfium.PdfDocument(data), pdfium.PdfDocument.new(), io.BytesIO()
    try:
        for number in set(wanted):
            page = source[number]
            raw.FPDFPage_Flatten(page, raw.FLAT_NORMALDISPLAY)
            page.close()
        target.import_pages(source, list(wanted))
        target.save(out)
    finally:
        target.close()
        source.close()
    return out.getvalue()


def _objects(plain: bytes) -> tuple[dict[int, bytes], int]:
    """Each object's bytes from its value on, and the number of the root."""
    start = int(plain[plain.rindex(b"startxref") + 9 :].split()[0])
    if not plain.startswith(b"xref", start):
        raise NotPlain("no table of objects")
    table, _, trailer = plain[start:].partition(b"trailer")
    lines = re.findall(rb"(\d{10}) (\d{5}) n", table)
    places = sorted(int(place) for place, _ in lines)
    ends = dict(zip(places, [*places[1:], start], strict=True))
    found: dict[int, bytes] = {}
    for place in places:
        head = _OBJECT.match(plain, place)
        if head is None:
            raise NotPlain("an object is not where it should be")
        found[int(head[1])] = plain[head.end() : ends[place]]
    fields = Reader(trailer).value()
    root = fields[b"/Root"] if isinstance(fields, dict) else None
    if not isinstance(root, Ref):
        raise NotPlain("no root")
    return found, root.number
