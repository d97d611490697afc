"""Sheet music in a browser: pages from pictures, put in order, and played from on a stand."""

import re
import struct
import zlib
from collections.abc import Generator
from pathlib import Path

import pytest
from playwright.sync_api import FilePayload, Locator, Page, ViewportSize, expect

from tests.browser.conftest import NARROW, OpenPage, sign_in
from tests.browser.test_pages import complaints_of_axe
from tests.browser.test_transfers import Holder
from tests.server.process import ServerProcess, serving

pytestmark = [pytest.mark.services, pytest.mark.without_service_worker]
TABLET = ViewportSize(width=820, height=1180)


@pytest.fixture(scope="module")
def server(data: Path) -> Generator[ServerProcess]:
    with serving(data, "--sign-up", "open") as running:
        yield running


def sheet(dark: int, *, width: int = 124, height: int = 175) -> bytes:
    """A page of its own grey with a few staves, as a PNG."""
    rows = [
        bytes([0, *([0] * width)]) if line % 35 < 10 and line % 2 == 0 else bytes([0, *([dark] * width)])
        for line in range(height)
    ]

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    pixels = zlib.compress(b"".join(rows))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def picture(name: str, dark: int) -> FilePayload:
    return {"name": name, "mimeType": "image/png", "buffer": sheet(dark)}


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def pages(page: Page) -> Locator:
    return page.get_by_role("list", name="Pages").get_by_role("listitem")


def tap(page: Page, x: float, y: float) -> None:
    size = page.viewport_size or TABLET
    page.mouse.click(size["width"] * x, size["height"] * y)


def assert_everybody_can_use(page: Page) -> None:
    for size in (NARROW, TABLET):
        page.set_viewport_size(size)
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"], page.url
        assert complaints_of_axe(page) == [], (page.url, size)


def test_pictures_become_a_score_that_is_put_in_order_and_played_from(
    server: ServerProcess, open_page: OpenPage
) -> None:
    ann = Holder(server, "Ann")
    page = open_page(size=TABLET)
    sign_in(page, ann.email, at="/scores")
    expect(page.get_by_text("No music yet")).to_be_visible()
    assert_everybody_can_use(page)
    files = [picture("Bach - Air 2.png", 200), picture("Bach - Air 1.png", 230), picture("Bach - Air 3.png", 170)]
    page.locator("input[type=file]").first.set_input_files(files)
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Title")).to_have_value("Air")
    expect(dialog.get_by_label("Composer")).to_have_value("Bach")
    dialog.get_by_label("Title").fill("Air on the G String")
    assert complaints_of_axe(page) == []
    press(page, "Add score")
    expect(page.get_by_role("heading", level=1)).to_have_text("Air on the G String")
    expect(pages(page)).to_have_count(3)
    assert_everybody_can_use(page)

    put_in_order(page)
    page.get_by_role("link", name="Play", exact=True).click()
    play(page)
    page.get_by_role("link", name="Leave the stand").click()
    page.get_by_role("link", name="Scores").first.click()
    page.get_by_label("Find by title, composer or tag").fill("bach air")
    expect(page.get_by_role("list", name="Scores").get_by_role("link")).to_have_count(1)
    page.get_by_label("Find by title, composer or tag").fill("mozart")
    expect(page.get_by_text("No score matches.")).to_be_visible()


def put_in_order(page: Page) -> None:
    """Pages move by keys and by dragging, are named, and get a movement and a jump."""
    first, second, third = (f"Bach - Air {number}.png" for number in (1, 2, 3))
    expect(pages(page)).to_have_text([first, second, third])
    page.get_by_role("button", name=f"Move {first}").press("ArrowRight")
    expect(pages(page)).to_have_text([second, first, third])
    page.get_by_role("button", name=f"Move {third}").hover()
    page.mouse.down()
    pages(page).first.hover()
    expect(pages(page)).to_have_text([third, second, first])
    with page.expect_response(lambda answer: answer.request.method == "PUT" and answer.ok):
        page.mouse.up()
    page.reload()
    expect(pages(page)).to_have_text([third, second, first])

    page.get_by_role("button", name="Open Bach - Air 3.png").click()
    page.get_by_label("Name of this page").fill("Overture")
    press(page, "Save")
    expect(page.get_by_role("button", name="Open Overture")).to_be_visible()
    movements = page.locator("section").filter(has=page.get_by_role("heading", name="Movements"))
    movements.get_by_label("Name").fill("Air")
    movements.get_by_label("Begins on").select_option(index=1)
    movements.get_by_role("button", name="Add movement").click()
    expect(movements.get_by_role("listitem").filter(has_text="Air")).to_contain_text("Page 2")
    jumps = page.locator("section").filter(has=page.get_by_role("heading", name="Jumps"))
    jumps.get_by_label("Label").fill("D.C.")
    jumps.get_by_role("button", name="Add jump").click()
    expect(jumps.get_by_role("listitem").filter(has_text="D.C.")).to_contain_text("From page 3 to page 1")


def play(page: Page) -> None:
    """Keys, taps, jumps and layouts; the layout is remembered."""
    number = page.get_by_text(re.compile(r"^\d / 3$"))
    expect(number).to_have_text("1 / 3")
    expect(page.get_by_role("img", name="Page 1 of 3")).to_be_visible()
    assert complaints_of_axe(page) == []
    page.keyboard.press("PageDown")
    expect(number).to_have_text("2 / 3")
    tap(page, 0.5, 0.5)
    expect(number).to_be_hidden()
    page.keyboard.press(" ")
    expect(page.get_by_role("img", name="Page 3 of 3")).to_be_visible()
    tap(page, 0.1, 0.5)
    expect(page.get_by_role("img", name="Page 2 of 3")).to_be_visible()
    tap(page, 0.9, 0.3)
    press(page, "Jump: D.C.")
    expect(page.get_by_role("img", name="Page 1 of 3")).to_be_visible()
    tap(page, 0.5, 0.5)
    press(page, "Half-page turns")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("img", name="Page 2 of 3")).to_be_visible()
    expect(page.get_by_role("img", name="Page 1 of 3")).to_be_visible()
    page.reload()
    expect(page.get_by_role("button", name="Half-page turns")).to_have_attribute("aria-pressed", "true")
    press(page, "Metronome")
    page.get_by_label("Tempo").fill("72")
    press(page, "Start")
    expect(page.get_by_role("button", name="Stop", exact=True)).to_be_visible()
    press(page, "Stop")
