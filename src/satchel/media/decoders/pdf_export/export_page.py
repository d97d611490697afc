"""One page of the document: its image, its notes or the page of a PDF, and the ink on it."""

import mmap

from satchel.media.decoders.pdf_export.export_image import add_image
from satchel.media.decoders.pdf_export.export_ink import draw_ink
from satchel.media.decoders.pdf_export.export_svg import draw_svg, svg_size
from satchel.media.decoders.pdf_export.pdf_canvas import Canvas
from satchel.media.decoders.pdf_export.pdf_number import number
from satchel.media.decoders.pdf_export.pdf_writer import PdfWriter
from satchel.media.decoders.pdf_export.vector_pages import VectorPage
from satchel.media.export_plan import PlannedPage

# The number of its object, its width and its height.
PlacedImage = tuple[int, int, int]

# A4, in points. What is wider than high is as wide as A4 is high.
SHORT_EDGE, LONG_EDGE = 595.28, 841.89


def write_page(
    writer: PdfWriter,
    planned: PlannedPage,
    data: mmap.mmap,
    start: int,
    images: dict[int, PlacedImage],
    vector: VectorPage | None = None,
) -> None:
    page, canvas = planned.page, Canvas(writer)
    place = start + planned.start
    body = data[place : place + planned.length]
    if vector is not None:
        width, height = vector.width, vector.height
        canvas.add("q")
        canvas.place(vector.matrix)
        canvas.show(vector.form)
        canvas.add("Q")
    elif page.kind == "svg":
        width, height = _paper(*svg_size(body))
        draw_svg(canvas, body, width, height)
    else:
        image = images.get(place) or add_image(writer, body)
        images[place] = image
        width, height = _paper(image[1], image[2])
        canvas.add("q")
        canvas.place((width, 0, 0, height, 0, 0))
        canvas.show(image[0])
        canvas.add("Q")
    for mark in page.marks:
        draw_ink(canvas, mark, width, height)
    turned = f"/Rotate {page.rotation}" if page.rotation in (90, 180, 270) else ""
    fields = f"/MediaBox[0 0 {number(width)} {number(height)}]/Resources{canvas.resources()}{turned}"
    writer.add_page(fields, canvas.content(), page.bookmark)


def _paper(width: float, height: float) -> tuple[float, float]:
    edge = SHORT_EDGE if width <= height else LONG_EDGE
    return edge, edge * height / width
