"""Photos and albums in a browser: uploaded, found in their albums, shared, moved by dates, deleted and restored."""

import re
from collections.abc import Generator
from pathlib import Path

import pytest
from playwright.sync_api import FilePayload, Locator, Page, expect

from tests.browser.conftest import DESKTOP, NARROW, OpenPage, sign_in
from tests.browser.test_pages import complaints_of_axe
from tests.browser.test_transfers import Holder
from tests.features.albums.photos_given import photo
from tests.server.process import ServerProcess, serving

# The photos are headers without pixels, which browsers cannot show; Chromium logs that nobody has a picture of them.
pytestmark = [pytest.mark.services, pytest.mark.without_service_worker]


@pytest.fixture(scope="module")
def server(data: Path) -> Generator[ServerProcess]:
    with serving(data, "--sign-up", "open") as running:
        yield running


def taken(name: str, moment: str) -> FilePayload:
    return {"name": name, "mimeType": "image/jpeg", "buffer": photo(moment, mark=name)}


def tiles(page: Page) -> Locator:
    return page.get_by_role("main").get_by_role("button", name=re.compile("^Photo, "))


def album(page: Page, name: str) -> Locator:
    return page.get_by_role("list", name="Albums").get_by_role("link").filter(has_text=name)


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def assert_everybody_can_use(page: Page) -> None:
    for size in (NARROW, DESKTOP):
        page.set_viewport_size(size)
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"], page.url
        assert complaints_of_axe(page) == [], (page.url, size)


def test_photos_come_into_albums_by_date_and_move_with_them(server: ServerProcess, open_page: OpenPage) -> None:
    ann, bob = Holder(server, "Ann"), Holder(server, "Bob")
    page = open_page(may_fail=True)
    sign_in(page, ann.email, at="/photos")
    expect(page.get_by_text("No photos yet")).to_be_visible()
    files = [taken("a.jpg", "2025:07:14 10:00:00"), taken("b.jpg", "2025:08:01 11:00:00")]
    page.locator("input[type=file]").first.set_input_files(files)
    expect(tiles(page)).to_have_count(2)
    expect(page.get_by_text("2 photos", exact=True)).to_be_visible()
    assert_everybody_can_use(page)

    page.get_by_role("link", name="Albums").click()
    expect(album(page, "Q3 2025")).to_contain_text("2 photos")
    assert_everybody_can_use(page)

    press(page, "New album")
    page.get_by_label("Name").fill("Sea")
    page.get_by_label("First day").fill("2025-07-10")
    page.get_by_label("Last day").fill("2025-07-20")
    plan = page.get_by_role("dialog")
    expect(plan).to_contain_text(re.compile(r"One photo\s*Q3 2025"))
    assert complaints_of_axe(page) == []
    press(page, "Create album")
    expect(album(page, "Sea")).to_contain_text("One photo")
    expect(album(page, "Q3 2025")).to_contain_text("One photo")

    album(page, "Sea").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sea")
    expect(tiles(page)).to_have_count(1)
    press(page, "Share")
    page.get_by_label("E-mail address").fill(bob.email)
    press(page, "Share album")
    expect(page.get_by_role("list", name="Who sees this album")).to_contain_text("Bob")
    assert complaints_of_axe(page) == []
    page.keyboard.press("Escape")
    assert [each["name"] for each in bob.ask("GET", "/albums")["albums"]] == ["Sea"]

    # Longer, it wins the other photo, too; and it is said who will see that one.
    press(page, "Dates")
    page.get_by_label("Last day").fill("2025-08-10")
    expect(page.get_by_role("dialog")).to_contain_text("Bob will newly see these.")
    press(page, "Change dates")
    expect(tiles(page)).to_have_count(2)
    page.get_by_role("button", name="Undo", exact=True).last.click()
    expect(tiles(page)).to_have_count(1)
    assert_everybody_can_use(page)


def test_a_photo_is_looked_at_deleted_and_restored(server: ServerProcess, open_page: OpenPage) -> None:
    cas = Holder(server, "Cas")
    for day in (1, 2, 3):
        content = photo(f"2024:05:0{day} 10:00:00", mark=f"{day}")
        cas.put(f"IMG_{day}.JPG", content, destination="photos", filetype="image/jpeg")
    page = open_page(may_fail=True)
    sign_in(page, cas.email, at="/photos")
    tiles(page).first.click()
    viewer = page.get_by_role("dialog")
    expect(viewer.get_by_role("heading", level=2)).to_contain_text("May 3, 2024")
    page.keyboard.press("ArrowRight")
    expect(viewer.get_by_role("heading", level=2)).to_contain_text("May 2, 2024")
    page.keyboard.press("i")
    expect(viewer.get_by_role("complementary")).to_contain_text("IMG_2.JPG")
    assert complaints_of_axe(page) == []
    press(page, "Favourite")
    expect(viewer.get_by_role("button", name="Not a favourite")).to_be_visible()
    page.keyboard.press("Escape")
    expect(viewer).to_have_count(0)

    page.get_by_role("checkbox", name=re.compile("May 1, 2024")).check()
    page.get_by_role("toolbar").get_by_role("button", name="Delete").click()
    expect(tiles(page)).to_have_count(2)
    page.goto("/photos/bin")
    expect(tiles(page)).to_have_count(1)
    assert_everybody_can_use(page)
    page.get_by_role("checkbox", name=re.compile("May 1, 2024")).check()
    page.get_by_role("toolbar").get_by_role("button", name="Restore").click()
    expect(page.get_by_text("The bin is empty")).to_be_visible()
    page.goto("/photos")
    expect(tiles(page)).to_have_count(3)
