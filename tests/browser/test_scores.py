"""Sheet music in a browser: pages from pictures, put in order, played from on a stand, and marked by two people."""

import re
import struct
import zlib
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import FilePayload, Locator, Page, ViewportSize, expect

from satchel.kernel import ink
from tests.browser.conftest import NARROW, OpenPage, Serve, sign_in
from tests.browser.test_pages import complaints_of_axe
from tests.browser.test_transfers import Holder
from tests.media.made_scores import musicxml, pdf
from tests.server.process import ServerProcess

pytestmark = [pytest.mark.services, pytest.mark.without_service_worker]
TABLET = ViewportSize(width=820, height=1180)


@pytest.fixture(scope="module")
def server(serve: Serve, data: Path) -> Generator[ServerProcess]:
    with serve(data, "--sign-up", "open") as running:
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


def document(name: str, count: int) -> FilePayload:
    return {"name": name, "mimeType": "application/pdf", "buffer": pdf(count)}


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def pages(page: Page) -> Locator:
    return page.get_by_role("list", name="Pages", exact=True).get_by_role("listitem")


def tap(page: Page, x: float, y: float) -> None:
    size = page.viewport_size or TABLET
    page.mouse.click(size["width"] * x, size["height"] * y)


def assert_everybody_can_use(page: Page) -> None:
    for size in (NARROW, TABLET):
        page.set_viewport_size(size)
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"], page.url
        assert complaints_of_axe(page) == [], (page.url, size)


@pytest.mark.first_journey
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
    press(page, "Share Air on the G String")
    page.get_by_role("dialog").get_by_role("button", name="A person").click()
    expect(page.get_by_role("button", name="Share score")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    assert_everybody_can_use(page)
    page.get_by_label("Find by title, composer or tag").fill("mozart")
    expect(page.get_by_text("No score matches.")).to_be_visible()
    music_becomes_pages(page)


def music_becomes_pages(page: Page) -> None:
    """Of notation and of PDFs. What cannot be read says why, and goes."""
    page.get_by_label("Find by title, composer or tag").fill("")
    notation: FilePayload = {"name": "bwv1068.musicxml", "mimeType": "text/xml", "buffer": musicxml(title="Suite")}
    page.locator("input[type=file]").first.set_input_files(notation)
    expect(page.get_by_role("dialog").get_by_label("Title")).to_have_value("bwv1068")
    press(page, "Add score")
    expect(pages(page)).to_have_count(1)
    # The file knows better than its name.
    expect(page.get_by_role("heading", level=1)).to_have_text("Suite")
    expect(page.get_by_text("Ann Bach")).to_be_visible()
    broken: FilePayload = {"name": "torn.pdf", "mimeType": "application/pdf", "buffer": b"%PDF-1.7 " + b"x" * 200}
    page.locator("input[type=file]").first.set_input_files([broken, document("two.pdf", 2)])
    making = page.get_by_role("list", name="Pages in the making")
    expect(making).to_contain_text("No pages can be made of torn.pdf")
    expect(pages(page)).to_have_count(3)
    assert_everybody_can_use(page)
    press(page, "Remove torn.pdf")
    expect(making).to_be_hidden()
    page.get_by_role("link", name="Play", exact=True).click()
    hear_and_transpose(page)


def hear_and_transpose(page: Page) -> None:
    """Engraved pages have a cursor, and are laid out for one instrument."""
    press(page, "Play the music")
    expect(page.get_by_role("list", name="Volume of each instrument").get_by_role("listitem")).to_have_count(2)
    expect(page.locator(".cursor")).to_be_visible()
    press(page, "Transpose and lay out")
    page.get_by_label("Instrument").select_option("Viola")
    shown = page.get_by_role("img", name="Page 1 of 3")
    expect(shown).to_have_attribute("src", re.compile(r"\.t0\.p2\.normal\.0/content"))
    assert complaints_of_axe(page) == []


def put_in_order(page: Page) -> None:
    """Pages move by keys and by dragging, are named, and get a movement and a jump."""
    first, second, third = (f"Bach - Air {number}.png" for number in (1, 2, 3))
    expect(pages(page)).to_have_text([first, second, third])
    # Its answer would else be taken for that of the next act.
    with page.expect_response(lambda answer: answer.request.method == "PUT" and answer.ok):
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
    jumps.get_by_role("button", name="Where the sign is").click(position={"x": 20, "y": 120})
    jumps.get_by_role("button", name="Where it leads").press("ArrowDown")
    with page.expect_response(lambda answer: answer.request.method == "PATCH" and answer.ok) as answered:
        jumps.get_by_role("button", name="Add jump").click()
    (jump,) = answered.value.json()["jumps"]
    assert (jump["x"] < 3000, jump["y"] > 6000, jump["to_y"]) == (True, True, 200)
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


class Pen:
    """A pen on the screen, which has pressure; and a finger beside it."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._devtools: Any = page.context.new_cdp_session(page)

    def stroke(self, *places: tuple[float, float]) -> None:
        """Over the page that is marked, in parts of its width and height."""
        (first, *_), (*_, last) = places, places
        self._send("mousePressed", first)
        for each in places:
            self._send("mouseMoved", each)
        self._send("mouseReleased", last)

    def finger(self, *places: tuple[float, float]) -> None:
        for kind, place in (("touchStart", places[0]), *(("touchMove", each) for each in places[1:])):
            x, y = self._point(place)
            self._devtools.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y}]})
        self._devtools.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    def _send(self, kind: str, place: tuple[float, float]) -> None:
        x, y = self._point(place)
        pressed = {"button": "left", "buttons": 0 if kind == "mouseReleased" else 1, "clickCount": 1}
        said = {"type": kind, "x": x, "y": y, "pointerType": "pen", "force": 0.7, **pressed}
        self._devtools.send("Input.dispatchMouseEvent", said)

    def _point(self, place: tuple[float, float]) -> tuple[float, float]:
        box = self._page.locator("[data-surface]").bounding_box()
        assert box is not None
        return box["x"] + box["width"] * place[0], box["y"] + box["height"] * place[1]


def marks(page: Page, kind: str) -> Locator:
    return page.locator(f"[data-mark={kind}]")


def test_two_people_mark_one_page_and_see_each_others_strokes(server: ServerProcess, open_page: OpenPage) -> None:
    cem, dora = Holder(server, "Cem"), Holder(server, "Dora")
    score = cem.ask("POST", "/scores", json={"title": "Canon"})["score_id"]
    cem.put("1.png", sheet(220), destination="score", score=score)
    here, there = open_page(size=TABLET), open_page(size=TABLET, dark=True)
    sign_in(here, cem.email, at=f"/scores/{score}")
    press(here, "Share")
    here.get_by_role("dialog").get_by_role("button", name="A person").click()
    here.get_by_label("E-mail address").fill(dora.email)
    press(here, "Share score")
    expect(here.get_by_role("list", name="Who plays from it")).to_contain_text("Dora")
    assert complaints_of_axe(here) == []
    here.keyboard.press("Escape")
    here.get_by_label("Name", exact=True).last.fill("Before rehearsal")
    press(here, "Take snapshot")
    expect(here.get_by_role("list", name="Snapshots")).to_contain_text("Before rehearsal")

    here.goto(f"/stage/{score}")
    sign_in(there, dora.email, at=f"/stage/{score}")
    for page in (here, there):
        press(page, "Mark")
        expect(page.locator("[data-surface]")).to_be_visible()
    pen = Pen(here)
    pen.finger((0.2, 0.4), (0.4, 0.5), (0.6, 0.5))
    expect(here.get_by_text("Fingers move the page")).to_be_visible()
    expect(marks(here, "pen")).to_have_count(0)
    pen.stroke((0.2, 0.2), (0.3, 0.25), (0.5, 0.2))
    expect(marks(here, "pen")).to_have_count(1)
    # Private until it is published.
    press(here, "Only you see it")
    expect(marks(there, "pen")).to_have_count(1)
    pen.stroke((0.2, 0.6), (0.4, 0.6))
    expect(marks(there, "pen")).to_have_count(2)
    press(here, "Undo")
    expect(marks(there, "pen")).to_have_count(1)
    press(here, "Redo")
    expect(marks(there, "pen")).to_have_count(2)
    assert complaints_of_axe(here) == []

    stamp_write_and_erase(there, here)
    press(here, "Done")
    here.reload()
    expect(marks(here, "pen")).to_have_count(2)
    here.goto(f"/scores/{score}")
    here.get_by_role("link", name="Compare Before rehearsal with now").click()
    expect(here.get_by_text("Cem: 2 marks")).to_be_visible()
    assert complaints_of_axe(here) == []
    see_what_is_new(there, cem, dora, score)


def see_what_is_new(page: Page, cem: Holder, dora: Holder, score: str) -> None:
    """What Cem marks after Dora has looked is new to her, until she says that she has seen it."""
    page.goto(f"/scores/{score}")
    expect(page.get_by_role("heading", level=1)).to_have_text("Canon")
    seen = dora.client.put(f"/api/v1/scores/{score}/news", headers=dora.headers)
    assert seen.status_code == 204, seen.text
    (layer,) = (each for each in cem.ask("GET", f"/scores/{score}/marks")["layers"] if each["author_name"] == "Cem")
    stroke = ink.encode([(100, 100, 128), (200, 150, 130)])
    mark = {"page_id": 0, "kind": "pen", "stroke": stroke}
    cem.ask("POST", f"/scores/{score}/layers/{layer['layer_id']}/marks", json={"add": [mark]})
    page.reload()
    news = page.get_by_role("region", name="What is new")
    expect(news).to_contain_text("Page 1: one mark by Cem")
    assert_everybody_can_use(page)
    press(page, "I have seen it")
    expect(news).to_be_hidden()


def stamp_write_and_erase(here: Page, there: Page) -> None:
    """What one writes, the other sees; only one's own can be erased."""
    pen = Pen(here)
    press(here, "Stamps")
    press(here, "Look out (glasses)")
    pen.stroke((0.7, 0.4))
    expect(marks(here, "stamp")).to_have_count(1)
    press(here, "Only you see it")
    expect(marks(there, "stamp")).to_have_count(1)
    press(here, "Text")
    pen.stroke((0.3, 0.8))
    here.get_by_label("What to write").fill("dolce")
    press(here, "Write")
    expect(marks(there, "text")).to_have_text("dolce")
    press(here, "Eraser")
    pen.stroke((0.7, 0.3), (0.7, 0.4), (0.2, 0.6), (0.4, 0.6))
    expect(marks(there, "stamp")).to_have_count(0)
    expect(marks(there, "pen")).to_have_count(2)
    # What was erased comes back as a new mark, and goes again with the step that drew it.
    for step, stamps, texts in (("Undo", 1, 1), ("Undo", 1, 0), ("Undo", 0, 0), ("Redo", 1, 0)):
        press(here, step)
        expect(marks(there, "stamp")).to_have_count(stamps)
        expect(marks(there, "text")).to_have_count(texts)
    for _ in ("text", "eraser"):
        press(here, "Redo")
    expect(marks(there, "text")).to_have_count(1)
    expect(marks(there, "stamp")).to_have_count(0)


def test_a_player_without_an_account_plays_the_own_part_by_a_link(server: ServerProcess, open_page: OpenPage) -> None:
    eva = Holder(server, "Eva")
    score = eva.ask("POST", "/scores", json={"title": "Canon"})["score_id"]
    for number in (1, 2, 3):
        eva.put(f"{number}.png", sheet(250 - 20 * number), destination="score", score=score)
    page = open_page(size=TABLET)
    sign_in(page, eva.email, at=f"/scores/{score}")
    parts = page.locator("section").filter(has=page.get_by_role("heading", name="Parts"))
    parts.get_by_label("Instrument").fill("Viola")
    parts.get_by_label("First page").select_option(index=1)
    parts.get_by_role("button", name="Add part").click()
    parts.get_by_role("button", name="Link and QR code for Viola").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Create link").click()
    expect(dialog.get_by_text("Your link is ready.")).to_be_visible()
    expect(dialog.get_by_role("img")).to_be_visible()
    assert complaints_of_axe(page) == []
    (link,) = eva.ask("GET", "/links")["links"]

    player = open_page(size=NARROW)
    player.goto(f"/l/{link['token']}")
    expect(player.get_by_role("heading", level=1)).to_have_text("Canon – Viola")
    expect(player.get_by_text("2 pages")).to_be_visible()
    assert_everybody_can_use(player)
    press(player, "Open the music")
    expect(player.get_by_role("img", name="Page 1 of 2")).to_be_visible()
    assert complaints_of_axe(player) == []
    player.keyboard.press("ArrowRight")
    expect(player.get_by_role("img", name="Page 2 of 2")).to_be_visible()
    expect(player.get_by_role("button", name="Mark")).to_have_count(0)
    follow_live(eva, score, player)
    press(player, "Leave the stand")
    expect(player.get_by_role("button", name="Open the music")).to_be_visible()


def follow_live(eva: Holder, score: str, player: Page) -> None:
    """Strokes in a published layer appear, and pages are turned, without anything being read again."""
    path = f"/scores/{score}"
    layer = eva.ask("POST", f"{path}/layers", json={"name": "All"})["layer_id"]
    published = eva.client.patch(f"/api/v1{path}/layers/{layer}", headers=eva.headers, json={"published": True})
    assert published.is_success, published.text
    stroke = {"page_id": 2, "kind": "pen", "stroke": ink.encode([(100, 100, 128), (200, 150, 130)])}
    for count in (1, 2):
        eva.ask("POST", f"{path}/layers/{layer}/marks", json={"add": [stroke]})
        expect(marks(player, "pen")).to_have_count(count)
    player.get_by_label("Who turns pages").select_option("follow")
    turned = eva.client.post(f"/api/v1{path}/turn", headers=eva.headers, json={"page_id": 1})
    assert turned.is_success, turned.text
    expect(player.get_by_role("img", name="Page 1 of 2")).to_be_visible()


def test_a_set_list_is_put_in_order_with_notes_and_pages_and_played(server: ServerProcess, open_page: OpenPage) -> None:
    lia = Holder(server, "Lia")
    for title, count in (("Air", 2), ("Gavotte", 1)):
        score = lia.ask("POST", "/scores", json={"title": title})["score_id"]
        for number in range(count):
            lia.put(f"{number}.png", sheet(250 - 20 * number), destination="score", score=score)
    page = open_page(size=TABLET)
    sign_in(page, lia.email, at="/scores")
    page.get_by_role("link", name="Set lists").click()
    page.get_by_label("Name of the set list").fill("Concert")
    press(page, "New set list")
    expect(page.get_by_role("heading", name="Concert")).to_be_visible()
    entries = page.get_by_role("list", name="Scores in order").get_by_role("listitem")
    for place, title in enumerate(("Air", "Gavotte"), 1):
        page.get_by_label("Add a score").select_option(label=title)
        expect(entries).to_have_count(place)

    press(page, "Pages of Air")
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Page 2").click()
    expect(dialog.get_by_label("Pages that are played")).to_have_value("2")
    dialog.get_by_role("button", name="Save").click()
    expect(entries.first).to_contain_text("One of 2 pages")
    page.get_by_label("Notes on Gavotte").fill("Without repeats")
    with page.expect_response(lambda answer: answer.request.method == "PUT" and "/set-lists/" in answer.url):
        page.get_by_label("Notes on Gavotte").press("Tab")
    page.get_by_role("button", name="Move Gavotte").press("ArrowUp")
    expect(entries.first).to_contain_text("Gavotte")
    expect(entries.nth(1)).to_contain_text("Air")
    page.reload()
    expect(entries.first).to_contain_text("Gavotte")
    expect(page.get_by_label("Notes on Gavotte")).to_have_value("Without repeats")
    assert_everybody_can_use(page)
    with page.expect_download() as saved:
        page.get_by_role("link", name="PDF").click()
    assert saved.value.suggested_filename == "Concert.pdf"

    page.get_by_role("link", name="Play").click()
    expect(page.get_by_text("1 / 2")).to_be_visible()
    expect(page.get_by_text("Without repeats")).to_be_visible()
    page.get_by_label("Movements").select_option(label="2. Air")
    expect(page.get_by_text("2 / 2")).to_be_visible()
