"""Albums and scores are shared from their cards; an album goes through a drop as a folder of its photos."""

import io
import re
from collections.abc import Generator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.conftest import OpenPage, Serve, keep_session, sign_in
from tests.browser.test_drop import join, spoken_code, taken
from tests.browser.test_transfers import Holder
from tests.features.albums.photos_given import photo
from tests.features.albums.test_photo_access import PLACED
from tests.features.albums.test_photo_places import has_place
from tests.server.process import ServerProcess

pytestmark = [pytest.mark.services, pytest.mark.without_service_worker]


@pytest.fixture(scope="module")
def server(serve: Serve, data: Path) -> Generator[ServerProcess]:
    with serve(data, "--sign-up", "open") as running:
        yield running


@pytest.fixture(scope="module")
def ann(server: ServerProcess) -> Holder:
    """Has an album with two photos, one of which says where it was taken, and a score."""
    ann = Holder(server, "Ann")
    ann.put("sea.jpg", photo("2024:01:12 10:00:00"), destination="photos")
    ann.put("home.jpg", PLACED, destination="photos")
    ann.ask("POST", "/scores", json={"title": "Air"})
    return ann


def sheet(page: Page, name: str) -> Locator:
    return page.get_by_role("dialog", name=f"Share {name}")


@pytest.mark.parametrize(("where", "name"), [("/albums", "Q1 2024"), ("/scores", "Air")])
def test_a_right_click_on_a_card_shares_it_and_on_its_name_it_is_the_links(
    ann: Holder, open_page: OpenPage, where: str, name: str
) -> None:
    page = open_page(may_fail=True)
    sign_in(page, ann.email, at=where)
    card = page.get_by_role("main").get_by_role("listitem").filter(has_text=name)
    card.get_by_role("heading").click(button="right")
    expect(page.get_by_role("dialog")).to_have_count(0)
    card.locator(".cover").click(button="right")
    expect(sheet(page, name)).to_contain_text("Link and QR code")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert page.url.endswith(where)
    card.get_by_role("button", name=f"Share {name}").click()
    sheet(page, name).get_by_role("button", name="Link and QR code").click()
    expect(page.get_by_role("dialog").get_by_role("img", name="QR code")).to_be_visible()


@pytest.mark.parametrize(("where", "name"), [("/albums", "Q1 2024"), ("/scores", "Air")])
def test_a_finger_that_stays_shares_and_one_that_lifts_opens(
    ann: Holder, chromium: Browser, server: ServerProcess, where: str, name: str
) -> None:
    context = chromium.new_context(
        base_url=server.url, viewport={"width": 390, "height": 844}, is_mobile=True, has_touch=True
    )
    page = context.new_page()
    keep_session(page, ann.email)
    page.goto(where)
    cover = page.get_by_role("main").get_by_role("listitem").filter(has_text=name).locator(".cover")
    box = cover.bounding_box()
    assert box
    finger: Any = context.new_cdp_session(page)
    place = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
    finger.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [place]})
    expect(sheet(page, name)).to_be_visible()
    finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    expect(sheet(page, name)).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    cover.tap()
    page.wait_for_url(re.compile(f"{where}/.+"))
    context.close()


def test_an_album_goes_through_a_drop_as_a_folder_without_places(ann: Holder, open_page: OpenPage) -> None:
    page, stranger = open_page(may_fail=True), open_page()
    sign_in(page, ann.email, at="/albums")
    page.get_by_role("button", name="Share Q1 2024").click()
    expect(sheet(page, "Q1 2024")).to_contain_text("By a drop, others get the photos without the place.")
    sheet(page, "Q1 2024").get_by_role("button", name=re.compile("^Drop")).click()
    page.wait_for_url("**/drop/**")
    join(stranger, spoken_code(page))
    with ZipFile(io.BytesIO(taken(stranger, "Q1 2024"))) as folder:
        photos = {name: folder.read(name) for name in folder.namelist() if not name.endswith("/")}
    assert sorted(name.rpartition("/")[2] for name in photos) == ["home.jpg", "sea.jpg"]
    assert not any(map(has_place, photos.values()))
    assert has_place(PLACED)


def test_a_photo_that_cannot_be_given_to_others_is_told_from_the_rest(
    server: ServerProcess, open_page: OpenPage
) -> None:
    ben = Holder(server, "Ben")
    ben.put("sea.jpg", photo("2024:01:12 10:00:00"), destination="photos")
    scan = ben.put("scan.tif", b"II*\0\xff\xff\xff\x7f and no picture", destination="photos")
    (album,) = ben.ask("GET", "/albums")["albums"]
    ben.ask("PUT", f"/albums/{album['album_id']}/pins/{scan}")
    page = open_page(may_fail=True)
    sign_in(page, ben.email, at="/albums")
    page.get_by_role("button", name="Share Q1 2024").click()
    sheet(page, "Q1 2024").get_by_role("button", name=re.compile("^Drop")).click()
    expect(page.get_by_text("A photo (No date) may say where it was taken")).to_be_visible()
    assert page.url.endswith("/albums")
