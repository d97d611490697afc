"""Where the bars of engraved music are on its pages, as the process that engraves says it."""

import msgspec


class StaffPlace(msgspec.Struct, frozen=True, kw_only=True):
    """One staff in one bar: the part that it belongs to, its upper line, and its height."""

    part: int
    staff: int
    y: int
    h: int


class BarPlace(msgspec.Struct, frozen=True, kw_only=True):
    """A bar, counted from 0 over all pages. `number` is what is printed. `box` is left, top, width and height.

    A beat is how many quarters after the bar's beginning, and where that is. Places are ten-thousandths of the page.
    """

    bar: int
    number: str
    box: tuple[int, int, int, int]
    staves: list[StaffPlace]
    beats: list[tuple[float, int]]


class PageMap(msgspec.Struct, frozen=True, kw_only=True):
    """The bars of one page."""

    bars: list[BarPlace]


class LayoutMap(msgspec.Struct, frozen=True, kw_only=True):
    """All pages of one layout, and the names of the parts that it shows."""

    parts: list[str]
    pages: list[PageMap]


decode_page = msgspec.json.Decoder(PageMap).decode
decode_layout = msgspec.json.Decoder(LayoutMap).decode
encode_layout = msgspec.json.Encoder().encode
