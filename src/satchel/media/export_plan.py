"""What an annotated PDF is made of: pages, each an image or engraved, and the marks on them."""

from typing import Literal

import msgspec

from satchel.media.score_jobs import PageKind

MAX_EXPORT_PAGES = 2_000
MAX_EXPORT_BYTES = 512 * 1024 * 1024
# A PDF whose pages are put in as they are is in memory meanwhile.
MAX_SOURCE_BYTES = 128 * 1024 * 1024


class Ink(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A mark. Places are ten-thousandths of the page's width and height, sizes of its width. `x`, `y` of a text is
    its upper left corner; of a stamp, its middle."""

    kind: Literal["pen", "highlighter", "text", "stamp"]
    colour: str = "#000000"
    width: int = 20
    # As `satchel.kernel.ink` writes it.
    stroke: str = ""
    x: int = 0
    y: int = 0
    text: str = ""
    stamp: str = ""
    size: int = 0


class ExportPage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A page by the key of its image. `bookmark` names what begins on it.

    A page that was made of a PDF has its key, and its number in it, counted from 0.
    """

    key: str
    kind: PageKind
    rotation: int = 0
    marks: list[Ink] = []
    bookmark: str = ""
    source_key: str = ""
    source_page: int = 0


class PlannedPage(msgspec.Struct, frozen=True, array_like=True):
    """A page, and where in the file that the process gets its image is, and the PDF that it is of."""

    start: int
    length: int
    page: ExportPage
    source_start: int = 0
    source_length: int = 0


class ExportPlan(msgspec.Struct, frozen=True, kw_only=True):
    """All of a document. It stands at the beginning of the file, before the images."""

    title: str
    composer: str = ""
    pages: list[PlannedPage]


encode_plan = msgspec.msgpack.Encoder().encode
decode_plan = msgspec.msgpack.Decoder(ExportPlan).decode
