"""A score as a PDF: its pages with the marks that the caller sees, or the pages of one part."""

from importlib import import_module
from typing import Any

import pytest

from satchel.kernel import ink
from tests.application import Caller
from tests.features.scores.given import changed, created, read, sent
from tests.media.samples import jpeg

# Real pictures are made here, in processes of their own.
pytestmark = pytest.mark.slow

pdfium: Any = import_module("pypdfium2")
_STROKE = ink.encode([(1000, 5000, 128), (9000, 5000, 128)])


def is_marked(content: bytes, page: int) -> bool:
    """Whether a thick line in magenta crosses the middle of the page."""
    image = pdfium.PdfDocument(content)[page].render(scale=1).to_pil().convert("RGB")
    red, green, blue = image.getpixel((image.width // 2 + 5, image.height // 2))
    return red > 200 and green < 60 and blue > 200


async def test_a_score_is_exported_with_the_marks_that_somebody_sees(ann: Caller, bob: Caller) -> None:
    score = await created(ann, "Ave/verum", composer="Mozart", access="public")
    path = f"/scores/{score['score_id']}"
    assert (await ann("GET", f"{path}/export")).json()["type"].endswith("score-no-pages")
    for number in range(3):
        await sent(ann, jpeg() + bytes([number]), score=score["score_id"])
    pages = (await read(ann, score))["pages"]
    layer = (await ann("POST", f"{path}/layers", json={"name": "Mine"})).json()
    mark = {"kind": "pen", "colour": "#ff00ff", "width": 400, "stroke": _STROKE, "page_id": pages[1]["page_id"]}
    added = await ann("POST", f"{path}/layers/{layer['layer_id']}/marks", json={"add": [mark]})
    assert added.status_code == 200, added.text
    parts = [{"name": "Alto", "page_ids": [pages[1]["page_id"], pages[2]["page_id"]]}]
    movements = [{"name": "II", "page_id": pages[2]["page_id"]}]
    assert (await changed(ann, await read(ann, score), parts=parts, movements=movements)).status_code == 200

    answer = await ann("GET", f"{path}/export")
    assert answer.headers["content-type"] == "application/pdf"
    assert answer.headers["content-disposition"].startswith("attachment")
    document = pdfium.PdfDocument(answer.content)
    assert (len(document), document.get_metadata_value("Author")) == (3, "Mozart")
    assert [bookmark.get_title() for bookmark in document.get_toc()] == ["II"]
    assert [is_marked(answer.content, page) for page in range(3)] == [False, True, False]
    plain = await ann("GET", f"{path}/export?marks=false")
    assert not is_marked(plain.content, 1)
    # Until the layer is published, others do not see what is in it.
    assert not is_marked((await bob("GET", f"{path}/export")).content, 1)

    alto = (await read(ann, score))["parts"][0]["part_id"]
    of_part = (await ann("GET", f"{path}/export?part={alto}")).content
    assert len(pdfium.PdfDocument(of_part)) == 2 and is_marked(of_part, 0)
    assert (await ann("GET", f"{path}/export?part={alto + 1}")).status_code == 404
    assert (await changed(ann, await read(ann, score), access="private")).status_code == 200
    assert (await bob("GET", f"{path}/export")).status_code == 404
