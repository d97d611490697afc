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
    # In the order of the part, and without what is meant for others.
    parts = [
        {"part_id": alto, "name": "Alto", "page_ids": [pages[2]["page_id"], pages[1]["page_id"]]},
        {"name": "Bass", "page_ids": [pages[1]["page_id"]]},
    ]
    assert (await changed(ann, await read(ann, score), parts=parts)).status_code == 200
    bass = (await read(ann, score))["parts"][1]["part_id"]
    answer = await ann("GET", f"{path}/export?part={alto}")
    assert [is_marked(answer.content, page) for page in range(2)] == [False, True]
    assert "verum%20%E2%80%93%20Alto.pdf" in answer.headers["content-disposition"]
    assert (await ann("PATCH", f"{path}/layers/{layer['layer_id']}", json={"part_id": bass})).is_success
    of_alto, of_bass = [(await ann("GET", f"{path}/export?part={each}")).content for each in (alto, bass)]
    assert (is_marked(of_alto, 1), is_marked(of_bass, 0)) == (False, True)
    assert (await changed(ann, await read(ann, score), access="private")).status_code == 200
    assert (await bob("GET", f"{path}/export")).status_code == 404


async def test_a_set_list_is_one_document_with_a_bookmark_for_each_entry(ann: Caller, bob: Caller) -> None:
    first, second = await created(ann, "Ave", access="public"), await created(ann, "Kyrie", access="public")
    for score, count in ((first, 2), (second, 1)):
        for number in range(count):
            await sent(ann, jpeg() + bytes([number]), score=score["score_id"])
    pages = (await read(ann, first))["pages"]
    path = f"/scores/{first['score_id']}"
    layer = (await ann("POST", f"{path}/layers", json={"name": "Mine"})).json()
    mark = {"kind": "pen", "colour": "#ff00ff", "width": 400, "stroke": _STROKE, "page_id": pages[1]["page_id"]}
    assert (await ann("POST", f"{path}/layers/{layer['layer_id']}/marks", json={"add": [mark]})).is_success
    entries = [
        {"score_id": second["score_id"], "notes": "slowly " * 60},
        {"score_id": first["score_id"], "page_ids": [pages[1]["page_id"], pages[0]["page_id"], pages[1]["page_id"]]},
        {"score_id": second["score_id"]},
    ]
    made = (await ann("POST", "/set-lists", json={"name": "Concert", "entries": entries})).json()
    answer = await ann("GET", f"/set-lists/{made['list_id']}/export")
    assert "Concert.pdf" in answer.headers["content-disposition"]
    document = pdfium.PdfDocument(answer.content)
    assert [bookmark.get_title() for bookmark in document.get_toc()] == ["1. Kyrie", "2. Ave", "3. Kyrie"]
    assert [is_marked(answer.content, page) for page in range(len(document))] == [False, True, False, True, False]
    # Of a score that the reader may not read any more, nothing is in it; of marks, those that they see.
    assert (await ann("PUT", f"/set-lists/{made['list_id']}/shares/bob@example.org")).is_success
    assert (await changed(ann, await read(ann, second), access="private")).status_code == 200
    theirs = (await bob("GET", f"/set-lists/{made['list_id']}/export")).content
    assert [is_marked(theirs, page) for page in range(3)] == [False] * 3
    assert [each.get_title() for each in pdfium.PdfDocument(theirs).get_toc()] == ["2. Ave"]
