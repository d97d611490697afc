"""Writes the objects of a PDF one after the other, and never holds more than one page."""

import zlib
from collections.abc import Callable

_HEADER = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"
CATALOG, PAGES, INFO, OUTLINES = 1, 2, 3, 4
_FONTS = {
    "Helvetica": "Helvetica",
    "Times": "Times-Roman",
    "TimesB": "Times-Bold",
    "TimesI": "Times-Italic",
    "TimesBI": "Times-BoldItalic",
}


def text_string(text: str) -> str:
    """Text for a dictionary, in any script."""
    return f"<feff{text.encode('utf-16-be', 'replace').hex()}>"


class PdfWriter:
    """Objects get numbers as they come; those of the first four are fixed."""

    def __init__(self, write: Callable[[bytes], None]) -> None:
        self._write = write
        self._offset = 0
        self._places: dict[int, int] = {}
        self._next = OUTLINES + 1
        self._pages: list[int] = []
        self._bookmarks: list[tuple[str, int]] = []
        self._put(_HEADER)
        encoding = "/Encoding/WinAnsiEncoding"
        self.fonts = {
            name: self.add(f"<</Type/Font/Subtype/Type1/BaseFont/{base}{encoding}>>") for name, base in _FONTS.items()
        }
        # What a highlighter leaves does not cover the notes below it.
        self.highlight = self.add("<</Type/ExtGState/BM/Multiply/CA 0.45/ca 0.45>>")

    def reserve(self) -> int:
        self._next += 1
        return self._next - 1

    def add(self, body: str, number: int | None = None) -> int:
        return self._object(body.encode(), number)

    def add_bytes(self, body: bytes, number: int) -> None:
        self._object(body, number)

    def add_stream(self, fields: str | bytes, data: bytes, *, packed: bool = False) -> int:
        """`packed` data is written as it is; its fields say how."""
        head = fields.encode() if isinstance(fields, str) else fields
        if not packed:
            data, head = zlib.compress(data, 6), head + b"/Filter/FlateDecode"
        return self._object(b"<<%b/Length %d>>stream\n" % (head, len(data)) + data + b"\nendstream", None)

    def add_page(self, fields: str, content: bytes, bookmark: str) -> None:
        contents = self.add_stream("", content)
        page = self.add(f"<</Type/Page/Parent {PAGES} 0 R/Contents {contents} 0 R{fields}>>")
        self._pages.append(page)
        if bookmark:
            self._bookmarks.append((bookmark, page))

    def finish(self, title: str, author: str) -> None:
        kids = " ".join(f"{page} 0 R" for page in self._pages)
        self.add(f"<</Type/Pages/Count {len(self._pages)}/Kids[{kids}]>>", PAGES)
        self.add(f"<</Title{text_string(title)}/Author{text_string(author)}/Producer(Satchel)>>", INFO)
        self._outline()
        shown = f"/Outlines {OUTLINES} 0 R/PageMode/UseOutlines" if self._bookmarks else ""
        self.add(f"<</Type/Catalog/Pages {PAGES} 0 R{shown}/ViewerPreferences<</DisplayDocTitle true>>>>", CATALOG)
        start = self._offset
        self._put(f"xref\n0 {self._next}\n0000000000 65535 f \n".encode())
        self._put(b"".join(b"%010d 00000 n \n" % self._places[number] for number in range(1, self._next)))
        trailer = f"<</Size {self._next}/Root {CATALOG} 0 R/Info {INFO} 0 R>>"
        self._put(f"trailer\n{trailer}\nstartxref\n{start}\n%%EOF\n".encode())

    def _outline(self) -> None:
        if not self._bookmarks:
            self.add("<</Type/Outlines/Count 0>>", OUTLINES)
            return
        numbers = [self.reserve() for _ in self._bookmarks]
        for place, (name, page) in enumerate(self._bookmarks):
            before = f"/Prev {numbers[place - 1]} 0 R" if place else ""
            after = f"/Next {numbers[place + 1]} 0 R" if place + 1 < len(numbers) else ""
            link = f"/Parent {OUTLINES} 0 R/Dest[{page} 0 R/Fit]{before}{after}"
            self.add(f"<</Title{text_string(name)}{link}>>", numbers[place])
        ends = f"/First {numbers[0]} 0 R/Last {numbers[-1]} 0 R"
        self.add(f"<</Type/Outlines/Count {len(numbers)}{ends}>>", OUTLINES)

    def _object(self, body: bytes, number: int | None) -> int:
        number = self.reserve() if number is None else number
        self._places[number] = self._offset
        self._put(b"%d 0 obj\n" % number + body + b"\nendobj\n")
        return number

    def _put(self, piece: bytes) -> None:
        self._offset += len(piece)
        self._write(piece)
