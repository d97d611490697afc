"""The shelf in a real browser by keyboard, by touch, as tiles, when it is long and when it does not come."""

import math
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import DESKTOP, NARROW, OpenPage, sign_in
from tests.browser.shelf.conftest import EMAIL, Shelf
from tests.browser.shelf.contents import picture
from tests.browser.shelf.listing import are_chosen, deed, is_true, row, rows
from tests.browser.test_pages import complaints_of_axe

pytestmark = [pytest.mark.services, pytest.mark.without_service_worker]

TOUCH = """(row, kind) => row.dispatchEvent(
  new PointerEvent(kind, { pointerType: 'touch', clientX: 9, clientY: 9, bubbles: true }))"""


def test_everything_can_be_done_by_keyboard(page: Page, shelf: Shelf) -> None:
    here = shelf.folder("Keys")
    for name in ("a.txt", "b.txt", "c.txt", "d.txt"):
        shelf.put(name, b"text", here, "text/plain")
    page.goto(f"/shelf/{here}")
    # The keyboard can only go down to what has arrived.
    expect(row(page, "a.txt")).to_be_visible()
    page.get_by_role("textbox", name="Search the shelf").press("ArrowDown")
    expect(row(page, "a.txt")).to_be_focused()
    page.keyboard.press("Shift+ArrowDown")
    page.keyboard.press("Shift+ArrowDown")
    are_chosen(page, "a.txt", "b.txt", "c.txt")
    page.keyboard.press("Space")
    are_chosen(page, "a.txt", "b.txt")
    page.keyboard.press("Escape")
    are_chosen(page)
    page.keyboard.press("ControlOrMeta+a")
    are_chosen(page, "a.txt", "b.txt", "c.txt", "d.txt")
    page.keyboard.press("Escape")
    page.keyboard.press("End")
    page.keyboard.press("F2")
    page.get_by_role("textbox", name="Name").fill("renamed.txt")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(row(page, "renamed.txt")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog").locator("pre")).to_have_text("text")
    page.keyboard.press("Escape")
    expect(row(page, "renamed.txt")).to_be_focused()
    page.keyboard.press("Home")
    page.keyboard.press("Delete")
    expect(row(page, "b.txt")).to_be_focused()
    assert shelf.names(here) == ["b.txt", "c.txt", "renamed.txt"]
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Bin")).to_be_focused()


def test_tiles_and_order_are_remembered_and_arrows_go_in_four_directions(page: Page, shelf: Shelf) -> None:
    here = shelf.folder("Tiles")
    for number in range(9):
        shelf.put(f"{number}.png", picture(), here, "image/png")
    page.goto(f"/shelf/{here}")
    page.get_by_role("button", name="Show as grid").click()
    page.get_by_role("button", name="By name").click()
    expect(rows(page).first).to_contain_text("8.png")
    page.reload()
    expect(rows(page).first).to_contain_text("8.png")
    is_true(row(page, "8.png").locator("img").last, "each => each.naturalWidth === 20")
    page.get_by_role("textbox", name="Search the shelf").press("ArrowDown")
    page.keyboard.press("ArrowRight")
    expect(row(page, "7.png")).to_be_focused()
    page.keyboard.press("ArrowDown")
    below = page.evaluate("document.activeElement.getBoundingClientRect()")
    above = row(page, "7.png").bounding_box()
    assert above is not None
    assert math.isclose(below["x"], above["x"], abs_tol=1)
    assert below["y"] > above["y"]
    for size in (NARROW, DESKTOP):
        page.set_viewport_size(size)
        assert complaints_of_axe(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_long_folder_loads_while_one_goes_down_and_can_be_chosen_whole(page: Page, shelf: Shelf) -> None:
    here = shelf.folder("Long")
    for number in range(230):
        shelf.folder(f"part {number:03}", here)
    page.goto(f"/shelf/{here}")
    expect(rows(page).first).to_be_visible()
    assert rows(page).count() < 230
    page.mouse.move(700, 500)
    wheel_until(page, lambda: rows(page).count() == 230)
    rows(page).last.click()
    page.keyboard.press("ControlOrMeta+a")
    expect(page.get_by_role("toolbar")).to_contain_text("230 selected")
    with page.expect_download() as download:
        deed(page, "Download").click()
    # An address names at most 200 of them.
    expect(page.get_by_text("This comes as 2 archives.")).to_be_visible()
    assert download.value.suggested_filename.endswith(".zip")


def test_a_folder_that_cannot_be_read_says_so_and_is_tried_again(open_page: OpenPage, shelf: Shelf) -> None:
    here = shelf.folder("Trouble")
    shelf.put("there.txt", b"", here)
    page = open_page(may_fail=True, intercepted=True)
    sign_in(page, EMAIL)
    page.route("**/api/v1/shelf/entries?*", lambda route: route.abort())
    page.goto(f"/shelf/{here}")
    expect(page.get_by_role("alert")).to_contain_text("The server does not respond.")
    page.unroute("**/api/v1/shelf/entries?*")
    page.get_by_role("button", name="Try again").click()
    expect(row(page, "there.txt")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)
    page.goto("/shelf/no-such-folder")
    expect(page.get_by_text("Folder not found")).to_be_visible()


def test_on_a_phone_a_long_press_chooses_and_a_tap_opens(open_page: OpenPage, shelf: Shelf) -> None:
    here = shelf.folder("Pocket")
    shelf.put(f"{'long ' * 30}.txt", b"", here, "text/plain")
    shelf.put("short.txt", b"short", here, "text/plain")
    page = open_page(size=NARROW)
    sign_in(page, EMAIL, at=f"/shelf/{here}")
    tap(row(page, "short.txt"))
    expect(page.get_by_role("dialog").locator("pre")).to_have_text("short")
    assert complaints_of_axe(page) == []
    page.keyboard.press("Escape")
    row(page, "short.txt").evaluate(TOUCH, "pointerdown")
    are_chosen(page, "short.txt")
    row(page, "short.txt").evaluate(TOUCH, "pointerup")
    row(page, "short.txt").dispatch_event("click")
    tap(row(page, "long "))
    bar = page.get_by_role("toolbar")
    expect(bar).to_contain_text("2 selected")
    box = bar.bounding_box()
    assert box is not None
    assert (box["x"], box["width"], box["y"] + box["height"]) == (0, NARROW["width"], NARROW["height"])
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert complaints_of_axe(page) == []
    deed(page, "Delete").click()
    expect(page.get_by_text("This folder is empty")).to_be_visible()


def tap(target: Locator) -> None:
    target.evaluate(TOUCH, "pointerdown")
    target.evaluate(TOUCH, "pointerup")
    target.dispatch_event("click")


def wheel_until(page: Page, done: Callable[[], bool]) -> None:
    for _ in range(60):
        if done():
            return
        page.mouse.wheel(0, 3000)
        page.wait_for_load_state("networkidle")
    raise AssertionError("It did not come to an end.")
