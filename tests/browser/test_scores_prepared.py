"""Music is made ready in a browser: a photo is cropped, a set list dragged, a passage repeated, a link laid out."""

import re
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NARROW, OpenPage, sign_in
from tests.browser.test_pages import complaints_of_axe
from tests.browser.test_scores import TABLET, assert_everybody_can_use, pages, press, sheet
from tests.browser.test_transfers import Holder
from tests.media.made_scores import musicxml, page_photo
from tests.server.process import ServerProcess, serving

pytestmark = [pytest.mark.services, pytest.mark.without_service_worker]


@pytest.fixture(scope="module")
def server(data: Path) -> Generator[ServerProcess]:
    with serving(data, "--sign-up", "open") as running:
        yield running


def test_a_photo_is_cropped_and_a_set_list_is_dragged_transposed_and_heard(
    server: ServerProcess, open_page: OpenPage
) -> None:
    ann = Holder(server, "Ann")
    photo = ann.ask("POST", "/scores", json={"title": "Photo"})["score_id"]
    ann.put("photo.jpg", page_photo(), destination="score", score=photo)
    ann.put("page.png", sheet(240), destination="score", score=photo)
    suite = ann.put("suite.musicxml", musicxml(bars=120, title="Suite"), destination="score")
    page = open_page(size=TABLET)
    sign_in(page, ann.email, at=f"/scores/{photo}")
    crop_the_photo(page)
    page.goto(f"/scores/{suite}")
    expect(page.get_by_role("heading", name="Suite", level=1)).to_be_visible()
    expect(page.get_by_role("list", name="Pages in the making")).to_be_hidden()
    expect(pages(page).nth(1)).to_be_visible()

    concert = ann.ask(
        "POST", "/set-lists", json={"name": "Concert", "entries": [{"score_id": photo}, {"score_id": suite}]}
    )
    page.goto(f"/scores/lists/{concert['list_id']}")
    drag_and_transpose(page)
    page.get_by_role("link", name="Play").click()
    shown = page.get_by_role("img", name="Page 1 of")
    expect(shown).to_have_attribute("src", re.compile(r"\.t2\.p0\.normal\.0/content"))
    expect(page.get_by_label("Movements").locator("option").first).to_have_text("1. Suite (+2)")

    page.goto(f"/stage/{suite}")
    loop_over_the_turn(page, ann.ask("GET", f"/scores/{suite}/playback")["bars"])
    thing = {"kind": "score", "id": ann.ask("GET", f"/scores/{suite}")["link_thing"]}
    link = ann.ask("POST", "/links", json={"thing": thing})
    visitor = open_page(size=NARROW)
    visitor.goto(f"/l/{link['token']}")
    visitors_lay_music_out_and_hear_it(visitor)


def crop_the_photo(page: Page) -> None:
    """Before and after are seen side by side, and there is a way back."""
    press(page, "Open photo.jpg")
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Crop and level").click()
    expect(dialog.get_by_role("img", name="The photo")).to_be_visible()
    expect(dialog.get_by_role("img", name="Cropped and level")).to_be_visible()
    assert_everybody_can_use(page)
    dialog.get_by_role("button", name="Back to the photo").click()
    expect(dialog.get_by_role("img", name="The photo")).to_be_hidden()
    expect(dialog.get_by_role("button", name="Crop and level")).to_be_visible()


def drag_and_transpose(page: Page) -> None:
    entries = page.get_by_role("list", name="Scores in order").get_by_role("listitem")
    expect(entries.first).to_contain_text("Photo")
    grip = page.get_by_role("button", name="Move Suite")
    grip.scroll_into_view_if_needed()
    start, end = grip.bounding_box(), entries.first.bounding_box()
    assert start is not None and end is not None
    page.mouse.move(start["x"] + start["width"] / 2, start["y"] + start["height"] / 2)
    page.mouse.down()
    page.mouse.move(end["x"] + end["width"] / 2, end["y"] + end["height"] / 2, steps=5)
    expect(entries.first).to_contain_text("Suite")
    with page.expect_response(lambda answer: answer.request.method == "PUT" and "/set-lists/" in answer.url):
        page.mouse.up()
    with page.expect_response(lambda answer: answer.request.method == "PUT" and "/set-lists/" in answer.url):
        page.get_by_label("Transpose Suite").select_option("+2")
    page.reload()
    expect(entries.first).to_contain_text("Suite")
    expect(page.get_by_label("Transpose Suite")).to_have_value("2")
    # What is transposed has all its pages, and what was no notation stays as it is.
    expect(page.get_by_role("button", name="Pages of Suite")).to_be_hidden()
    expect(page.get_by_label("Transpose Photo")).to_be_hidden()
    assert complaints_of_axe(page) == []


def loop_over_the_turn(page: Page, bars: list[dict[str, Any]]) -> None:
    """Pages are turned to where the music is: on as it goes on, and back to where the loop begins."""
    press(page, "Play the music")
    expect(page.locator(".cursor")).to_be_visible()
    second = next(at for at, bar in enumerate(bars) if bar["page_id"] != bars[0]["page_id"])
    page.get_by_label("Repeat from bar").select_option(index=second)
    page.get_by_label("to bar").select_option(index=1)
    press(page, "Play")
    for number in (2, 1, 2):
        expect(page.get_by_text(re.compile(rf"^{number} / "))).to_be_visible()
        expect(page.locator(".cursor")).to_be_visible()
    press(page, "Pause")


def visitors_lay_music_out_and_hear_it(page: Page) -> None:
    """For themselves, without an account."""
    press(page, "Open the music")
    press(page, "Transpose and lay out")
    page.get_by_label("Semitones").select_option("+2")
    shown = page.get_by_role("img", name="Page 1 of")
    expect(shown).to_have_attribute("src", re.compile(r"\.t2\.p0\.normal\.0/preview"))
    page.get_by_label("Instrument").select_option("Viola")
    page.get_by_role("combobox", name="Notes").select_option("large")
    expect(shown).to_have_attribute("src", re.compile(r"\.t2\.p2\.large\.0/preview"))
    assert shown.evaluate("image => image.decode().then(() => image.naturalWidth > 0)")
    assert_everybody_can_use(page)
    press(page, "Play the music")
    expect(page.locator(".cursor")).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("img", name="Page 2 of")).to_be_visible()


def test_what_is_typed_about_a_score_stays_while_it_changes(server: ServerProcess, open_page: OpenPage) -> None:
    eva = Holder(server, "Eva")
    score = eva.ask("POST", "/scores", json={"title": "Air"})["score_id"]
    page = open_page(size=TABLET)
    sign_in(page, eva.email, at=f"/scores/{score}")
    page.get_by_role("button", name="Title and details").click()
    title = page.get_by_role("dialog").get_by_label("Title")
    expect(title).to_have_value("Air")
    title.fill("Air on the G string")
    eva.put("page.png", sheet(240), destination="score", score=score)
    expect(pages(page)).to_have_count(1)
    expect(title).to_have_value("Air on the G string")
