"""Small PDFs that unpack to gigabytes or never end: bounds hold, the answer says why, the next file works."""

import asyncio
import os
import signal
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from datetime import timedelta
from pathlib import Path

import pytest

from satchel.media.process import MAX_MEMORY_BYTES
from satchel.media.score_pages import ExportPage, MadePage, PageOptions, PageSource, PagesRefused, ScorePages
from satchel.stores.ports.objects import SmallObject
from tests.application import Satchel, running_satchel
from tests.media.made_bombs import content_bomb, form_bomb, huge_page, image_bomb, object_bomb, slow_page
from tests.media.made_scores import pdf
from tests.media.samples import png

# Real pictures are made here, in processes of their own.
pytestmark = pytest.mark.slow


@pytest.fixture
async def satchel(tmp_path: Path) -> AsyncGenerator[Satchel]:
    async with running_satchel(tmp_path) as running:
        yield running


@pytest.fixture
async def pages(satchel: Satchel) -> AsyncGenerator[ScorePages]:
    made = ScorePages(satchel.stores.objects, children=1)
    yield made
    await made.close()


async def made_of(satchel: Satchel, pages: ScorePages, content: bytes) -> list[MadePage]:
    await satchel.stores.objects.put_many([SmallObject("scores/x", content)])
    async with aclosing(pages.make(PageSource("scores/x", "x.pdf", "pdf"), PageOptions(width=420))) as making:
        return [each async for each in making if isinstance(each, MadePage)]


async def refusal(satchel: Satchel, pages: ScorePages, content: bytes) -> PagesRefused:
    with pytest.raises(PagesRefused) as caught:
        await made_of(satchel, pages, content)
    return caught.value


async def test_a_pdf_that_unpacks_to_gigabytes_is_too_large(satchel: Satchel, pages: ScorePages) -> None:
    for name, content in (("content", content_bomb()), ("forms", form_bomb()), ("objects", object_bomb())):
        assert len(content) < 5_000_000
        error = await refusal(satchel, pages, content)
        assert (error.slug, "memory" in error.detail) == ("score-too-large", True), name
        assert len(await made_of(satchel, pages, pdf(2))) == 2, name


async def test_a_huge_image_and_a_huge_page_are_drawn_small(satchel: Satchel, pages: ScorePages) -> None:
    for content in (image_bomb(), huge_page()):
        (page,) = await made_of(satchel, pages, content)
        assert page.width <= 420 and page.width * page.height <= 24_000_000


async def test_a_page_that_never_ends_is_too_slow(satchel: Satchel) -> None:
    hurried = ScorePages(satchel.stores.objects, children=1, time_limit=timedelta(seconds=3))
    try:
        assert (await refusal(satchel, hurried, slow_page())).slug == "score-too-slow"
        assert len(await made_of(satchel, hurried, pdf(1))) == 1
    finally:
        await hurried.close()


async def test_a_process_that_has_used_up_its_seconds_says_so(satchel: Satchel, pages: ScorePages) -> None:
    making = asyncio.create_task(refusal(satchel, pages, slow_page()))
    while pages.children[0].process_id is None:
        await asyncio.sleep(0.01)
    await _drawing(pages.children[0].process_id)
    # As the kernel does, once the seconds of a page or of the whole document are over.
    os.kill(pages.children[0].process_id, signal.SIGXCPU)
    assert (await making).slug == "score-too-slow"


async def _drawing(process_id: int) -> None:
    """Until PDFium is loaded."""
    while True:
        with suppress(OSError):
            if "pdfium" in Path(f"/proc/{process_id}/maps").read_text("utf-8"):
                return
        await asyncio.sleep(0.01)


async def test_the_kernel_ends_the_process_before_the_server(satchel: Satchel, pages: ScorePages) -> None:
    assert len(await made_of(satchel, pages, pdf(1))) == 1
    process = Path(f"/proc/{pages.children[0].process_id}")
    assert (process / "oom_score_adj").read_text("ascii").strip() == "1000"
    limits = (process / "limits").read_text("ascii")
    assert f"Max address space         {MAX_MEMORY_BYTES} " in limits


async def test_an_export_with_a_bomb_for_a_source_ends_with_a_reason(satchel: Satchel, pages: ScorePages) -> None:
    await satchel.stores.objects.put_many([SmallObject("x/image", png()), SmallObject("x/bomb", object_bomb())])
    plan = [ExportPage(key="x/image", kind="png", source_key="x/bomb")]
    with pytest.raises(PagesRefused) as caught:
        async with aclosing(pages.export("Air", "Ann", plan)) as pieces:
            assert [piece async for piece in pieces] == []
    assert caught.value.slug == "score-too-large"
