"""Albums and their photos changed in a browser, by mouse and by fingers: renamed, dated, deleted, undone, pinned."""

import json
import re
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Route, ViewportSize, expect

from tests.browser.conftest import OpenPage, Serve, sign_in
from tests.browser.test_albums import album, assert_everybody_can_use, press, tiles
from tests.browser.test_pages import complaints_of_axe
from tests.browser.test_transfers import Holder
from tests.features.albums.photos_given import photo
from tests.features.albums.test_photo_access import PLACED
from tests.media import samples
from tests.server.process import ServerProcess

# Some photos are headers without pixels, which browsers cannot show; Chromium logs that nobody has a picture of them.
pytestmark = [pytest.mark.services, pytest.mark.without_service_worker]
TILES = "https://tiles.example/{z}/{x}/{y}.png"
PHONE = ViewportSize(width=390, height=844)


@pytest.fixture(scope="module")
def server(serve: Serve, data: Path) -> Generator[ServerProcess]:
    with serve(data, "--sign-up", "open", environment={"SATCHEL_MAP_TILES": TILES}) as running:
        yield running


class Fingers:
    """Fingers on the screen, in CSS pixels from the middle of the page."""

    def __init__(self, page: Page) -> None:
        self._devtools: Any = page.context.new_cdp_session(page)
        size = page.viewport_size or PHONE
        self._middle = size["width"] / 2, size["height"] / 2

    def move(self, *moments: tuple[tuple[float, float], ...]) -> None:
        """Each moment says where all fingers are."""
        for number, moment in enumerate(moments):
            self._send("touchMove" if number else "touchStart", moment)
        self._send("touchEnd", ())

    def swipe(self, x: float, y: float) -> None:
        self.move(((0, 0),), ((x / 2, y / 2),), ((x, y),))

    def _send(self, kind: str, places: tuple[tuple[float, float], ...]) -> None:
        (left, top) = self._middle
        points = [{"x": left + x, "y": top + y, "id": number} for number, (x, y) in enumerate(places)]
        self._devtools.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})


def given_album(owner: Holder, name: str, start: str, end: str) -> str:
    return owner.ask("POST", "/albums", json={"name": name, "start": start, "end": end})["album"]["album_id"]


def dropped(page: Page, folder: Path) -> None:
    """Dragged from another program onto the middle of the page."""
    devtools: Any = page.context.new_cdp_session(page)
    size = page.viewport_size or PHONE
    data = {"items": [], "files": [str(folder)], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", "drop"):
        at = {"x": size["width"] / 2, "y": size["height"] / 2}
        devtools.send("Input.dispatchDragEvent", {"type": kind, "data": data, **at})


def test_a_folder_is_dropped_with_all_that_describes_its_photos(
    server: ServerProcess, open_page: OpenPage, tmp_path: Path
) -> None:
    ola = Holder(server, "Ola")
    folder = tmp_path / "Exported" / "Winter"
    folder.mkdir(parents=True)
    dated = '<rdf:Description xmlns:exif="http://ns.adobe.com/exif/1.0/" exif:DateTimeOriginal="2023-02-03T10:00:00"/>'
    rdf = f'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">{dated}</rdf:RDF>'
    takeout = {"title": "b.jpg", "photoTakenTime": {"timestamp": "1675339200"}}
    for name, content in {
        "a.jpg": photo("", mark="a"),
        "a.xmp": f'<x:xmpmeta xmlns:x="adobe:ns:meta/">{rdf}</x:xmpmeta>'.encode(),
        "b.jpg": photo("", mark="b"),
        "b.jpg.supplemental-metada.json": json.dumps(takeout).encode(),
    }.items():
        (folder / name).write_bytes(content)
    page = open_page(may_fail=True)
    sign_in(page, ola.email, at="/photos")
    expect(page.get_by_text("No photos yet")).to_be_visible()
    dropped(page, tmp_path / "Exported")
    fates = page.get_by_role("region", name="What became of the files")
    expect(fates).to_contain_text("2 uploaded")
    expect(fates).to_contain_text("2 sidecars used")
    expect(page.get_by_role("button", name=re.compile("^Photo, Friday, February 3, 2023 at 10:00"))).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("^Photo, Thursday, February 2, 2023"))).to_be_visible()
    # The same folder again sends nothing.
    dropped(page, tmp_path / "Exported")
    expect(fates).to_contain_text("2 here already")
    expect(tiles(page)).to_have_count(2)


def test_an_album_is_renamed_dated_deleted_and_all_of_it_undone(server: ServerProcess, open_page: OpenPage) -> None:
    gil = Holder(server, "Gil")
    sea = given_album(gil, "Sea", "2025-07-10", "2025-07-21")
    gil.put("1.jpg", photo("2025:07:14 10:00:00"), destination="photos")
    gil.ask("PUT", f"/albums/{sea}/shares/hal@example.org", json={"role": "visitor"})
    page = open_page(may_fail=True)
    sign_in(page, gil.email, at=f"/albums/{sea}")
    expect(tiles(page)).to_have_count(1)

    press(page, "Rename album")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Folder")).to_have_value("/2025-07_Sea")
    dialog.get_by_label("Name").fill("Lake")
    dialog.get_by_label("Folder").fill("")
    expect(dialog).to_contain_text("No photos move.")
    assert complaints_of_axe(page) == []
    press(page, "Rename")
    expect(page.get_by_role("heading", level=1)).to_have_text("Lake")
    assert gil.ask("GET", f"/albums/{sea}")["folder"] == "/2025-07_Lake"

    # It begins after the photo was taken, and keeps its hours when the dialog opens again.
    press(page, "Dates")
    dialog.get_by_label("Exact times").check()
    expect(dialog.get_by_label("Ends at")).to_have_value("2025-07-21T00:00")
    dialog.get_by_label("Begins at").fill("2025-07-14T12:30")
    expect(dialog).to_contain_text("would be in no album")
    dialog.get_by_label("Make albums by quarter of a year for them").check()
    press(page, "Change dates")
    expect(tiles(page)).to_have_count(0)
    press(page, "Dates")
    expect(dialog.get_by_label("Begins at")).to_have_value("2025-07-14T12:30")
    page.keyboard.press("Escape")

    press(page, "Delete album")
    expect(dialog).to_contain_text("No photos move.")
    dialog.get_by_role("button", name="Delete album").click()
    expect(page).to_have_url(re.compile("/albums$"))
    expect(album(page, "Lake")).to_have_count(0)

    # Later nobody sees the notice with its button any more.
    page.reload()
    expect(album(page, "Q3 2025")).to_have_count(1)
    press(page, "Recent changes")
    changes = page.get_by_role("list", name="Recent changes").get_by_role("listitem")
    expect(changes.first).to_contain_text(re.compile(r"Lake\s*deleted"))
    press(page, "Undo: Lake, deleted")
    press(page, "Undo this change")
    expect(page.get_by_text("The change has been undone.")).to_be_visible()
    dated = page.get_by_role("button", name="Undo: Lake, other dates", exact=True)
    dated.click()
    expect(page.get_by_role("dialog")).to_contain_text(re.compile(r"One photo\s*Q3 2025\s*Lake"))
    expect(page.get_by_role("dialog")).to_contain_text("hal@example.org will newly see these.")
    assert complaints_of_axe(page) == []
    press(page, "Undo this change")
    expect(dated).to_have_count(0)
    page.keyboard.press("Escape")
    expect(album(page, "Lake")).to_contain_text("One photo")
    assert [each["email"] for each in gil.ask("GET", f"/albums/{sea}/shares")["shares"]] == ["hal@example.org"]
    assert_everybody_can_use(page)


def test_a_photo_leads_its_album_and_another_one_is_pinned_to_it(server: ServerProcess, open_page: OpenPage) -> None:
    ivy, jon = Holder(server, "Ivy"), Holder(server, "Jon")
    sea = given_album(ivy, "Sea", "2025-07-10", "2025-07-21")
    first = ivy.put("1.jpg", photo("2025:07:14 10:00:00", mark="1"), destination="photos")
    ivy.put("2.jpg", photo("2025:07:15 10:00:00", mark="2"), destination="photos")
    ivy.put("3.jpg", photo("2025:09:01 10:00:00", mark="3"), destination="photos")
    page = open_page(may_fail=True)
    sign_in(page, ivy.email, at=f"/albums/{sea}")
    press(page, "Share")
    page.get_by_role("dialog").get_by_role("button", name="A person").click()
    page.get_by_label("E-mail address").fill(jon.email)
    press(page, "Share album")
    may_add = page.get_by_role("button", name="Jon may add photos")
    expect(may_add).to_have_attribute("aria-pressed", "false")
    may_add.click()
    expect(may_add).to_have_attribute("aria-pressed", "true")
    assert [each["role"] for each in ivy.ask("GET", f"/albums/{sea}/shares")["shares"]] == ["contributor"]
    page.keyboard.press("Escape")
    page.get_by_role("button", name=re.compile("^Photo, Monday, July 14, 2025")).click()
    press(page, "Use as album cover")
    expect(page.get_by_text("This photo is now the album cover.")).to_be_visible()
    assert ivy.ask("GET", f"/albums/{sea}")["cover"]["media_id"] == first

    page.goto("/photos")
    page.get_by_role("checkbox", name=re.compile("September 1, 2025")).check()
    page.get_by_role("toolbar").get_by_role("button", name="Pin to album").click()
    # Who chooses an album is told that others see it.
    chosen = page.get_by_role("dialog").get_by_role("button", name=re.compile("^Sea"))
    expect(chosen).to_contain_text("shared with one person")
    chosen.click()
    expect(page.get_by_text("One photo pinned to Sea.")).to_be_visible()
    page.goto(f"/albums/{sea}")
    expect(tiles(page)).to_have_count(3)
    page.get_by_role("checkbox", name=re.compile("September 1, 2025")).check()
    page.get_by_role("toolbar").get_by_role("button", name="Unpin").click()
    expect(tiles(page)).to_have_count(2)

    visitor = open_page(may_fail=True)
    sign_in(visitor, jon.email, at=f"/albums/{sea}")
    expect(tiles(visitor)).to_have_count(2)
    # What they opened is counted, and the owner finds it from the album.
    press(visitor, "Leave album")
    visitor.get_by_role("dialog").get_by_role("button", name="Leave album").click()
    expect(visitor.get_by_text("No albums yet")).to_be_visible()
    page.get_by_role("link", name="How often it is opened").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sea")
    expect(page.get_by_role("main")).to_contain_text("one opening")


def test_fingers_lead_from_photo_to_photo_enlarge_one_and_put_it_away(
    server: ServerProcess, open_page: OpenPage
) -> None:
    kay = Holder(server, "Kay")
    for day in (1, 2):
        kay.put(f"{day}.jpg", samples.taken(f"2024:05:0{day} 10:00:00", day), destination="photos")
    page = open_page(may_fail=True, size=PHONE)
    fingers = Fingers(page)
    sign_in(page, kay.email, at="/photos")
    tiles(page).first.click()
    viewer = page.get_by_role("dialog")
    title, shown = viewer.get_by_role("heading", level=2), viewer.locator("img")
    expect(title).to_contain_text("May 2, 2024")
    fingers.swipe(-150, 5)
    expect(title).to_contain_text("May 1, 2024")
    # Too short to mean anything.
    fingers.swipe(30, 0)
    expect(shown).to_have_attribute("style", re.compile(r"translate\(0px, 0px\)"))
    expect(title).to_contain_text("May 1, 2024")
    fingers.swipe(150, -5)
    expect(title).to_contain_text("May 2, 2024")

    fingers.move(((-30, 0), (30, 0)), ((-60, 0), (60, 0)), ((-90, 0), (90, 0)))
    expect(shown).to_have_attribute("style", re.compile(r"scale\(3\)"))
    # An enlarged one is moved, and nothing leads on.
    fingers.swipe(-150, 5)
    expect(title).to_contain_text("May 2, 2024")
    press(page, "Fit to the window")
    fingers.swipe(10, 200)
    expect(viewer).to_have_count(0)


def test_a_map_shows_where_a_photo_was_taken_and_leads_to_others_near_it(
    server: ServerProcess, open_page: OpenPage
) -> None:
    ned = Holder(server, "Ned")
    ned.put("paris.jpg", PLACED, destination="photos")
    ned.put("elsewhere.jpg", photo("2024:02:01 10:00:00"), destination="photos")
    page = open_page(may_fail=True)
    asked: list[str] = []

    def answer(route: Route) -> None:
        asked.append(route.request.url)
        route.fulfill(body=samples.png(), content_type="image/png")

    page.route("https://tiles.example/**", answer)
    sign_in(page, ned.email, at="/photos")
    tiles(page).last.click()
    assert asked == []
    page.keyboard.press("i")
    tile = page.get_by_role("img", name="Map of where it was taken").locator("img").first
    expect(tile).to_be_visible()
    expect(tile).to_have_js_property("naturalWidth", 1200)
    # The tile at 48.85, 2.35 is among them.
    assert "https://tiles.example/14/8298/5637.png" in asked
    page.get_by_role("link", name="Photos from near here").click()
    expect(page.get_by_text("One photo found.")).to_be_visible()


def test_the_scrubber_leads_to_a_month_by_mouse_and_by_keys(server: ServerProcess, open_page: OpenPage) -> None:
    leo = Holder(server, "Leo")
    months = [(year, month) for year in (2021, 2022) for month in range(1, 13)]
    for year, month in months:
        leo.put("1.jpg", photo(f"{year}:{month:02}:05 10:00:00"), destination="photos")
    page = open_page(may_fail=True)
    sign_in(page, leo.email, at="/photos")
    scrubber = page.get_by_role("slider", name="Jump to a month")
    expect(scrubber).to_have_attribute("aria-valuetext", "Dec 2022")
    box = scrubber.bounding_box()
    assert box is not None
    middle = box["x"] + box["width"] / 2
    page.mouse.move(middle, box["y"] + 1)
    page.mouse.down()
    page.mouse.move(middle, box["y"] + box["height"] / 2 + 2, steps=5)
    expect(page.get_by_role("button", name=re.compile("^Photo, .*December 5, 2021"))).to_be_in_viewport()
    page.mouse.move(middle, box["y"] + box["height"] - 1, steps=5)
    page.mouse.up()
    expect(page.get_by_role("button", name=re.compile("^Photo, .*January 5, 2021"))).to_be_in_viewport()
    scrubber.press("Home")
    expect(page.get_by_role("button", name=re.compile("^Photo, .*December 5, 2022"))).to_be_in_viewport()
    scrubber.press("ArrowDown")
    expect(scrubber).to_have_attribute("aria-valuetext", "Nov 2022")


def test_of_two_photos_that_look_alike_one_is_kept(server: ServerProcess, open_page: OpenPage) -> None:
    mia = Holder(server, "Mia")
    for second in (1, 2):
        content = samples.taken(f"2024:05:01 10:00:0{second}")
        mia.put(f"{second}.jpg", content, destination="photos", filetype="image/jpeg")
    page = open_page(may_fail=True)
    sign_in(page, mia.email, at="/photos/duplicates")
    group = page.get_by_role("region", name="2 photos that look alike")
    # They are compared when their pictures are made.
    while not group.count():
        page.wait_for_timeout(100)
        page.reload()
        expect(page.get_by_text("No duplicates").or_(group)).to_be_visible()
    assert_everybody_can_use(page)
    press(page, "Keep one, move the rest to the bin")
    expect(group).to_have_count(0)
    expect(page.get_by_text("No duplicates")).to_be_visible()
    page.get_by_role("button", name="Undo", exact=True).last.click()
    expect(group).to_have_count(1)
    press(page, "These are different")
    expect(group).to_have_count(0)
    page.get_by_role("link", name="All photos").click()
    expect(tiles(page)).to_have_count(2)
