"""Annotated PDFs: images stay as they were, ink and notes stay lines, and text in any script comes out."""

import io
import re
import zlib
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from satchel.kernel import ink
from satchel.media.export_file import ExportTooLarge
from satchel.media.score_pages import ExportPage, Ink, MadePage, PageOptions, PageSource, PagesRefused, ScorePages
from satchel.stores.ports.objects import SmallObject
from tests.application import Satchel, running_satchel
from tests.media.made_scores import locked_pdf, musicxml, pdf, pdfium
from tests.media.samples import flag, jpeg, png, turned

# Real pictures are made here, in processes of their own.
pytestmark = pytest.mark.slow

_LINE = ink.encode([(1000, 1000, 40), (5000, 1200, 200), (9000, 1000, 255)])
_EVEN = ink.encode([(1000, 5000, 128), (9000, 5000, 128)])


@pytest.fixture
async def satchel(tmp_path: Path) -> AsyncGenerator[Satchel]:
    async with running_satchel(tmp_path) as running:
        yield running


@pytest.fixture
async def pages(satchel: Satchel) -> AsyncGenerator[ScorePages]:
    made = ScorePages(satchel.stores.objects, children=1)
    yield made
    await made.close()


async def keep(satchel: Satchel, key: str, content: bytes) -> None:
    await satchel.stores.objects.put_many([SmallObject(key, content)])


async def exported(pages: ScorePages, plan: Sequence[ExportPage]) -> bytes:
    async with aclosing(pages.export("合唱", "Ann Bach", plan)) as pieces:
        return b"".join([piece async for piece in pieces])


async def engraved(satchel: Satchel, pages: ScorePages) -> bytes:
    await keep(satchel, "x/air", musicxml(title="交響曲"))
    async with aclosing(pages.make(PageSource("x/air", "air.musicxml", "musicxml"))) as making:
        (page,) = [made async for made in making if isinstance(made, MadePage)]
    return page.body


def colour_at(document: Any, page: int, x: float, y: float) -> tuple[int, int, int]:
    """At a place in ten-thousandths of the page as it is shown."""
    image = document[page].render(scale=1).to_pil().convert("RGB")
    return image.getpixel((int(x / 10_000 * image.width), int(y / 10_000 * image.height)))


def is_near(found: tuple[int, int, int], wanted: tuple[int, int, int]) -> bool:
    return max(abs(a - b) for a, b in zip(found, wanted, strict=True)) < 40


async def test_images_come_out_as_they_were_with_above_them(satchel: Satchel, pages: ScorePages) -> None:
    sources = {"x/jpeg": jpeg(), "x/png": png(), "x/turned": turned(6), "x/clear": png(flag().bandjoin(255))}
    for key, content in sources.items():
        await keep(satchel, key, content)
    marks = [
        Ink(kind="pen", colour="#ff00ff", width=300, stroke=_LINE),
        Ink(kind="highlighter", colour="#00ffff", width=400, stroke=_EVEN),
    ]
    body = await exported(
        pages,
        [
            ExportPage(key="x/jpeg", kind="jpeg", marks=marks, bookmark="Kyrie"),
            ExportPage(key="x/png", kind="png", rotation=90),
            ExportPage(key="x/turned", kind="jpeg"),
            ExportPage(key="x/clear", kind="png", bookmark="Gloria 栄光"),
            ExportPage(key="x/jpeg", kind="jpeg"),
        ],
    )
    document = pdfium.PdfDocument(body)
    assert len(document) == 5
    assert document.get_metadata_value("Title") == "合唱"
    assert [mark.get_title() for mark in document.get_toc()] == ["Kyrie", "Gloria 栄光"]
    # The image is in the document once, byte for byte.
    assert body.count(jpeg()) == 1
    red, green, blue, yellow = (200, 30, 30), (30, 160, 30), (30, 30, 200), (220, 210, 40)
    for page in (2, 3, 4):
        assert is_near(colour_at(document, page, 2000, 2000), red)
        assert is_near(colour_at(document, page, 8000, 8000), yellow)
    assert is_near(colour_at(document, 1, 2000, 2000), blue)
    assert is_near(colour_at(document, 1, 8000, 2000), red)
    assert is_near(colour_at(document, 0, 5000, 1200), (255, 0, 255))
    # A highlighter leaves what is below it to be seen: red with cyan on it is dark, and not cyan.
    marked = colour_at(document, 0, 2000, 5050)
    assert marked != blue and marked[1] < 160 and is_near(colour_at(document, 0, 8000, 2000), green)


async def test_ink_and_notes_are_lines_and_text_is_text(satchel: Satchel, pages: ScorePages) -> None:
    await keep(satchel, "x/page", await engraved(satchel, pages))
    texts = ["Langsam – süß", "ゆっくり", "العربية", "慢\nslowly"]
    marks = [Ink(kind="text", text=text, x=1000, y=6000 + 500 * row, size=300) for row, text in enumerate(texts)]
    marks += [
        Ink(kind="stamp", stamp=stamp, x=1000 + 1000 * column, y=5000, size=400)
        for column, stamp in enumerate(("down-bow", "glasses", "finger-3", "mf", "never-heard-of"))
    ]
    marks.append(Ink(kind="pen", colour="#ff0000", stroke=_LINE))
    body = await exported(pages, [ExportPage(key="x/page", kind="svg", marks=marks)])
    document = pdfium.PdfDocument(body)
    words = document[0].get_textpage().get_text_range()
    assert "Langsam – süß" in words and "slowly" in words and "Flute" in words
    # Only what no Western font has is an image, and it carries its words.
    contents = b"".join(zlib.decompress(found) for found in _packed(body))
    for text in ("交響曲", "ゆっくり", "العربية", "慢"):
        assert f"/ActualText<feff{text.encode('utf-16-be').hex()}>".encode() in contents
    assert body.count(b"/SMask") == 4
    # Each sign is one object, the stroke has a width for each piece, and the page has its curves.
    assert body.count(b"/Subtype/Form") >= 3
    assert contents.count(b" c\n") > 100
    assert is_near(colour_at(document, 0, 5000, 1200), (255, 0, 0))
    bitmap = document[0].render(scale=2, grayscale=True)
    ink_share = 1 - sum(bitmap.buffer) / 255 / len(bytes(bitmap.buffer))
    assert 0.005 < ink_share < 0.2


def _packed(body: bytes) -> list[bytes]:
    return re.findall(rb"/FlateDecode/Length \d+>>stream\n(.*?)\nendstream", body, re.DOTALL)


async def test_a_page_that_is_no_image_is_refused_and_the_next_export_works(
    satchel: Satchel, pages: ScorePages
) -> None:
    await keep(satchel, "x/bad", b"\x89PNG\r\n\x1a\n and no more")
    await keep(satchel, "x/entity", b'<!DOCTYPE svg [<!ENTITY a "b">]><svg xmlns="http://www.w3.org/2000/svg"/>')
    await keep(satchel, "x/good", png())
    with pytest.raises(PagesRefused):
        await exported(pages, [ExportPage(key="x/bad", kind="png")])
    with pytest.raises(PagesRefused):
        await exported(pages, [ExportPage(key="x/entity", kind="svg")])
    with pytest.raises(ExportTooLarge):
        await exported(pages, [ExportPage(key="x/good", kind="png")] * 2_001)
    assert len(pdfium.PdfDocument(await exported(pages, [ExportPage(key="x/good", kind="png")] * 3))) == 3


def source_of_turned_pages() -> bytes:
    """Four pages with a red box at the lower left, cropped at the left and turned by 0, 90, 180 and 270 degrees."""
    document = pdfium.PdfDocument(pdf(4))
    for number, page in enumerate(document):
        page.set_cropbox(20, 0, 420, 595)
        page.set_rotation(90 * number)
    out = io.BytesIO()
    document.save(out)
    return out.getvalue().replace(b"0 0 0 rg", b"1 0 0 rg")


async def test_pages_of_a_pdf_stay_lines_below_the_ink(satchel: Satchel, pages: ScorePages) -> None:
    content = source_of_turned_pages()
    await keep(satchel, "x/pdf", content)
    async with aclosing(pages.make(PageSource("x/pdf", "a.pdf", "pdf"), PageOptions(width=420))) as making:
        made = [page async for page in making if isinstance(page, MadePage)]
    for page in made:
        await keep(satchel, f"x/{page.number}", page.body)
    above = Ink(kind="pen", colour="#0000ff", width=300, stroke=_EVEN)
    plan = [
        ExportPage(key=f"x/{page.number}", kind=page.kind, source_key="x/pdf", source_page=page.number, marks=[above])
        for page in made
    ]
    body = await exported(pages, [*plan, plan[0]])
    document, source = pdfium.PdfDocument(body), pdfium.PdfDocument(content)
    # No page is an image, and each looks as in the source where there is no ink.
    assert b"/Subtype/Image" not in body
    assert body.count(b"/Subtype/Form") == 4
    for number in range(4):
        assert document[number].get_size() == pytest.approx(source[number].get_size(), abs=0.1)
        for x, y in ((300, 9300), (300, 300), (9700, 300), (9700, 9300), (800, 1500), (5000, 8000)):
            assert is_near(colour_at(document, number, x, y), colour_at(source, number, x, y)), (number, x, y)
        assert is_near(colour_at(document, number, 5000, 5000), (0, 0, 255))


async def test_a_source_that_cannot_be_read_leaves_the_images(satchel: Satchel, pages: ScorePages) -> None:
    await keep(satchel, "x/image", png())
    for name, content in (("torn", pdf(2)[:300]), ("locked", locked_pdf()), ("nothing", b"no PDF")):
        await keep(satchel, f"x/{name}", content)
        body = await exported(pages, [ExportPage(key="x/image", kind="png", source_key=f"x/{name}")])
        assert b"/Subtype/Image" in body and len(pdfium.PdfDocument(body)) == 1


async def test_rendered_pages_of_a_pdf_can_be_exported_again(satchel: Satchel, pages: ScorePages) -> None:
    await keep(satchel, "x/pdf", pdf(2))
    async with aclosing(pages.make(PageSource("x/pdf", "a.pdf", "pdf"), PageOptions(width=420))) as making:
        made = [page async for page in making if isinstance(page, MadePage)]
    for page in made:
        await keep(satchel, f"x/{page.number}", page.body)
    body = await exported(pages, [ExportPage(key=f"x/{page.number}", kind=page.kind) for page in made])
    document = pdfium.PdfDocument(body)
    # The black box of the source is at the lower left.
    assert is_near(colour_at(document, 1, 1300, 9000), (0, 0, 0))
    assert is_near(colour_at(document, 1, 5000, 5000), (255, 255, 255))
