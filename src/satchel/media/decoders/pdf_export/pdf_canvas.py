"""What is drawn on one page, as PDF operators, and the resources that it needs."""

from collections.abc import Sequence

from satchel.media.decoders.pdf_export.pdf_number import number
from satchel.media.decoders.pdf_export.pdf_writer import PdfWriter, text_string
from satchel.media.decoders.pdf_export.text_image import draw_text
from satchel.media.decoders.scores.music_fonts import text_width

Colour = tuple[float, float, float]
BLACK: Colour = (0.0, 0.0, 0.0)


def colour_of(text: str) -> Colour:
    """Of `#rrggbb`; black for anything else."""
    try:
        red, green, blue = bytes.fromhex(text.removeprefix("#"))
    except ValueError:
        return BLACK
    return red / 255, green / 255, blue / 255


class Canvas:
    """A page under way. Places are points from the lower left corner."""

    def __init__(self, writer: PdfWriter) -> None:
        self.writer = writer
        self._operators: list[str] = []
        self._objects: dict[str, int] = {}
        # How many points the unit is that places are in.
        self.unit = 1.0

    def add(self, *operators: str) -> None:
        self._operators.extend(operators)

    def fill_colour(self, colour: Colour) -> None:
        self.add(f"{' '.join(number(part) for part in colour)} rg")

    def stroke_colour(self, colour: Colour) -> None:
        self.add(f"{' '.join(number(part) for part in colour)} RG")

    def place(self, matrix: Sequence[float]) -> None:
        self.add(f"{' '.join(f'{part:.5f}'.rstrip('0').rstrip('.') for part in matrix)} cm")

    def show(self, xobject: int) -> None:
        name = f"X{xobject}"
        self._objects[name] = xobject
        self.add(f"/{name} Do")

    def text(self, text: str, x: float, y: float, size: float, font: str, colour: Colour, anchor: str = "") -> None:
        """One line, its baseline at `y`."""
        bold, italic = "B" in font.removeprefix("Times"), font.endswith("I")
        width = text_width(text, size, bold=bold, italic=italic)
        moved = {"middle": width / 2, "end": width}.get(anchor, 0.0)
        try:
            plain = text.encode("cp1252")
        except UnicodeEncodeError:
            self._image_text(text, x, y, size, colour, anchor, serif=font.startswith("Times"))
            return
        self.fill_colour(colour)
        self.add(f"BT /{font} {number(size)} Tf {number(x - moved)} {number(y)} Td <{plain.hex()}> Tj ET")

    def _image_text(
        self, text: str, x: float, y: float, size: float, colour: Colour, anchor: str, *, serif: bool
    ) -> None:
        drawn = draw_text(text, size * self.unit, serif=serif)
        if drawn is None:
            return
        mask = self.writer.add_stream(
            f"/Type/XObject/Subtype/Image/Width {drawn.width}/Height {drawn.height}"
            "/ColorSpace/DeviceGray/BitsPerComponent 8",
            drawn.pixels,
        )
        image = self.writer.add_stream(
            f"/Type/XObject/Subtype/Image/Width 1/Height 1/ColorSpace/DeviceRGB/BitsPerComponent 8/SMask {mask} 0 R",
            bytes(round(part * 255) for part in colour),
        )
        wide, high, below = (part / self.unit for part in (drawn.points_wide, drawn.points_high, drawn.below))
        left = x - {"middle": wide / 2, "end": wide}.get(anchor, 0.0)
        self.add(f"/Span<</ActualText{text_string(text)}>>BDC q")
        self.place((wide, 0, 0, high, left, y - below))
        self.show(image)
        self.add("Q EMC")

    def resources(self) -> str:
        fonts = "".join(f"/{name} {font} 0 R" for name, font in self.writer.fonts.items())
        objects = "".join(f"/{name} {found} 0 R" for name, found in self._objects.items())
        return f"<</Font<<{fonts}>>/XObject<<{objects}>>/ExtGState<</Marker {self.writer.highlight} 0 R>>>>"

    def content(self) -> bytes:
        return "\n".join(self._operators).encode()
