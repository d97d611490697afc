"""Music is made ready in a browser: photos cropped, lists dragged, passages repeated, states compared, files taken."""

import re
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NARROW, OpenPage, Serve, sign_in
from tests.browser.test_pages import complaints_of_axe
from tests.browser.test_scores import TABLET, Pen, assert_everybody_can_use, marks, pages, press, sheet
from tests.browser.test_transfers import Holder
from tests.media.made_scores import musicxml, page_photo
from tests.server.process import ServerProcess

pytestmark = [pytest.mark.services, pytest.mark.without_service_worker]


@pytest.fixture(scope="module")
def server(serve: Serve, data: Path) -> Generator[ServerProcess]:
    with serve(data, "--sign-up", "open") as running:
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
    layout = ann.ask("GET", f"/scores/{suite}/layout?transpose=2&instrument=2&size=large")
    follow_in_a_layout(page, visitor, ann.ask("GET", f"/scores/{suite}/playback")["bars"], layout)


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


def follow_in_a_layout(leader: Page, visitor: Page, bars: list[dict[str, Any]], layout: dict[str, Any]) -> None:
    """Whoever leads is on other pages than whoever follows, and both are at the same bar."""
    visitor.get_by_label("Who turns pages").select_option("follow")
    leader.get_by_label("Who turns pages").select_option("lead")
    leader.get_by_role("slider", name=re.compile("^Page")).fill("0")
    own = [page["page_id"] for page in layout["pages"]]
    shown = list(dict.fromkeys(bar["page_id"] for bar in bars))
    for turned in shown[1:3]:
        leader.locator("header").click(position={"x": 200, "y": 20})
        leader.keyboard.press("PageDown")
        first = next(bar["bar"] for bar in bars if bar["page_id"] == turned)
        there = next(bar["page_id"] for bar in layout["bars"] if bar["bar"] == first)
        expect(visitor.get_by_role("img", name=f"Page {own.index(there) + 1} of")).to_be_visible()


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
    fay = Holder(server, "Fay")
    score = fay.ask("POST", "/scores", json={"title": "Air"})["score_id"]
    page = open_page(size=TABLET)
    sign_in(page, fay.email, at=f"/scores/{score}")
    page.get_by_role("button", name="Title and details").click()
    title = page.get_by_role("dialog").get_by_label("Title")
    expect(title).to_have_value("Air")
    title.fill("Air on the G string")
    fay.put("page.png", sheet(240), destination="score", score=score)
    expect(pages(page)).to_have_count(1)
    expect(title).to_have_value("Air on the G string")


def test_layers_are_chosen_states_compared_files_taken_away_and_a_folder_added(
    server: ServerProcess, open_page: OpenPage, tmp_path: Path
) -> None:
    eva = Holder(server, "Eva")
    score = eva.ask("POST", "/scores", json={"title": "Canon"})["score_id"]
    for number in (1, 2):
        eva.put(f"{number}.png", sheet(250 - 20 * number), destination="score", score=score)
    # That a file is still shown is refused.
    page = open_page(size=TABLET, may_fail=True)
    sign_in(page, eva.email, at=f"/scores/{score}")
    parts = page.locator("section").filter(has=page.get_by_role("heading", name="Parts"))
    parts.get_by_label("Instrument").fill("Viola")
    parts.get_by_role("button", name="Add part").click()
    expect(parts.get_by_role("listitem").filter(has_text="Viola")).to_be_visible()
    page.get_by_label("Name", exact=True).last.fill("Before")
    press(page, "Take snapshot")
    expect(page.get_by_role("list", name="Snapshots")).to_contain_text("Before")

    page.goto(f"/stage/{score}")
    draw_in_layers(page)
    replace_a_page(page, score)
    see_both_pages(page)
    page.goto(f"/scores/{score}")
    take_away(page)
    import_a_folder(page, tmp_path)


def draw_in_layers(page: Page) -> None:
    """One for everybody and one for violas; whoever plays another part does not see the latter at first."""
    press(page, "Layers")
    for name in ("Bowings", "Fingerings"):
        page.get_by_label("New layer").fill(name)
        if name == "Fingerings":
            page.get_by_label("For", exact=True).select_option("Viola")
        press(page, "Add layer")
        expect(page.get_by_role("list", name="Layers")).to_contain_text(name)
    expect(page.get_by_role("list", name="Layers")).to_contain_text("for Viola")
    assert_everybody_can_use(page)
    press(page, "Draw in Bowings")
    press(page, "Mark")
    pen = Pen(page)
    pen.stroke((0.2, 0.2), (0.4, 0.2))
    page.get_by_label("Layer to draw in").select_option("Fingerings")
    pen.stroke((0.2, 0.4), (0.4, 0.4))
    expect(marks(page, "pen")).to_have_count(2)
    press(page, "Done")
    press(page, "Layers")
    press(page, "Hide Fingerings")
    expect(marks(page, "pen")).to_have_count(1)


def replace_a_page(page: Page, score: str) -> None:
    page.goto(f"/scores/{score}")
    press(page, "Open 1.png")
    dialog = page.get_by_role("dialog")
    with page.expect_file_chooser() as chooser:
        dialog.get_by_role("button", name="Replace").click()
    with page.expect_response(lambda answer: answer.request.method == "PUT" and answer.url.endswith("/pages")):
        chooser.value.set_files([{"name": "new.png", "mimeType": "image/png", "buffer": sheet(120)}])
    expect(pages(page)).to_have_count(2)
    insert_turn_and_remove(page)
    page.get_by_role("link", name="Compare Before with now").click()


def insert_turn_and_remove(page: Page) -> None:
    press(page, "Open 2.png")
    dialog = page.get_by_role("dialog")
    with page.expect_file_chooser() as chooser:
        dialog.get_by_role("button", name="Insert before").click()
    chooser.value.set_files([{"name": "between.png", "mimeType": "image/png", "buffer": sheet(90)}])
    expect(pages(page)).to_have_text(["1.png", "between.png", "2.png"])
    press(page, "Open between.png")
    dialog.get_by_role("button", name="Rotate").click()
    expect(pages(page).nth(1).locator("img")).to_have_css("rotate", "90deg")
    dialog.get_by_role("button", name="Remove", exact=True).click()
    dialog.get_by_role("button", name="Remove page").click()
    expect(pages(page)).to_have_text(["1.png", "2.png"])


def see_both_pages(page: Page) -> None:
    """The page before fades over the page after."""
    expect(page.get_by_text("Eva: 2 marks")).to_be_visible()
    expect(page.get_by_role("img", name="Page 1", exact=True)).to_be_visible()
    before = page.get_by_role("img", name="The page before over the page after")
    expect(before).to_be_visible()
    page.get_by_label("How much of the page before shows").press("Home")
    over = page.locator(".before")
    expect(over).to_have_css("opacity", "0")
    page.get_by_label("Only what differs").check()
    expect(over).to_have_css("mix-blend-mode", "difference")
    assert_everybody_can_use(page)


def take_away(page: Page) -> None:
    """A PDF, the files as they came, and room where no page shows a file."""
    press(page, "Download")
    dialog = page.get_by_role("dialog")
    files = dialog.get_by_role("list", name="Files as they were added").get_by_role("listitem")
    expect(files).to_have_count(4)
    assert_everybody_can_use(page)
    dialog.get_by_label("Pages").select_option("Viola")
    with page.expect_download() as saved:
        dialog.get_by_role("link", name="Download PDF").click()
    assert saved.value.suggested_filename == "Canon – Viola.pdf"
    with page.expect_download() as saved:
        dialog.get_by_role("link", name="Download 2.png").click()
    assert saved.value.path().read_bytes() == sheet(210)
    dialog.get_by_role("button", name="Delete between.png").click()
    dialog.get_by_role("button", name="Delete", exact=True).click()
    expect(files).to_have_count(3)
    # A snapshot shows it.
    dialog.get_by_role("button", name="Delete 1.png").click()
    dialog.get_by_role("button", name="Delete", exact=True).click()
    expect(dialog.get_by_text("A snapshot shows this item.")).to_be_visible()


def import_a_folder(page: Page, folder: Path) -> None:
    """Pictures of one folder are one score. What is guessed is corrected, and what is not wanted is left out."""
    for place in ("Bach - Air/2.png", "Bach - Air/10.png", "Scans/1.png"):
        file = folder / "Library" / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(sheet(200))
    page.goto("/scores")
    with page.expect_file_chooser() as chooser:
        press(page, "Add a folder")
    chooser.value.set_files(folder / "Library")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("listitem")).to_have_count(2)
    expect(dialog.get_by_label("Composer").first).to_have_value("Bach")
    dialog.get_by_label("Title").first.fill("Air on the G string")
    press(page, "Leave out Scans")
    press(page, "Add score")
    expect(page.get_by_role("heading", level=1)).to_have_text("Air on the G string")
    expect(pages(page)).to_have_text(["2.png", "10.png"])
