"""Home in real browsers: what one can do, what is going on, and how few acts bring a photo to the phone beside it."""

from collections.abc import Generator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NARROW, OpenPage, Serve, sign_in
from tests.browser.test_transfers import Holder
from tests.media.samples import jpeg
from tests.server.process import ServerProcess

pytestmark = [pytest.mark.services, pytest.mark.without_service_worker]

MOST_ACTS = 4


@pytest.fixture(scope="module")
def server(serve: Serve, data: Path) -> Generator[ServerProcess]:
    with serve(data, "--sign-up", "open") as running:
        yield running


def test_a_photo_is_on_the_phone_after_four_acts(open_page: OpenPage, server: ServerProcess, tmp_path: Path) -> None:
    photo = tmp_path / "harbour.jpg"
    photo.write_bytes(jpeg())
    ann = Holder(server, "Ann")
    desk, phone = open_page(), open_page(size=NARROW, may_fail=True)
    sign_in(desk, ann.email, at="/")
    expect(desk.get_by_role("heading", name="Three steps to begin")).to_be_visible()

    acts: list[str] = []
    with desk.expect_file_chooser() as chooser:
        acts.append("press the first thing on the page")
        desk.get_by_role("button", name="Send to a phone").click()
    acts.append("choose the photo")
    chooser.value.set_files(photo)
    dialog = desk.get_by_role("dialog")
    expect(dialog.get_by_role("img", name="QR code")).to_be_visible()
    acts.append("scan the code")
    phone.goto(dialog.get_by_label("Link address").input_value())
    with phone.expect_download() as saved:
        acts.append("press the first thing on the page")
        phone.get_by_role("button", name="Download").click()
    assert saved.value.suggested_filename == "harbour.jpg"
    assert Path(saved.value.path()).read_bytes() == photo.read_bytes()
    assert len(acts) <= MOST_ACTS

    expect(dialog).to_contain_text("Anybody with the link can open it until")
    dialog.get_by_role("button", name="Stop sharing").click()
    expect(dialog).to_contain_text("No longer shared.")
    phone.reload()
    expect(phone.get_by_role("heading", level=1)).to_have_text("This link was revoked")
    desk.keyboard.press("Escape")
    expect(desk.get_by_role("list", name="New on your shelf")).to_contain_text("Sent")
    expect(desk.get_by_role("heading", name="Three steps to begin")).to_have_count(0)


def test_home_shows_what_waits_and_passes_on_what_is_dropped(open_page: OpenPage, server: ServerProcess) -> None:
    ben, eve = Holder(server, "Ben"), Holder(server, "Eve")
    page = open_page()
    sign_in(page, ben.email, at="/")
    expect(page.get_by_role("heading", name="Waiting for you")).to_have_count(0)
    eve.send(ben, eve.put("notes.txt", b"for Ben"))
    offers = page.get_by_role("list", name="Waiting for you")
    expect(offers).to_contain_text("notes.txt")
    expect(page.get_by_role("link", name="Home 1").first).to_be_visible()

    drop_on(page, "one.txt", "two.txt")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("img", name="QR code")).to_be_visible()
    address = dialog.get_by_label("Link address").input_value()
    stranger = open_page(size=NARROW)
    stranger.goto(address)
    expect(stranger.get_by_text("two.txt")).to_be_visible()

    page.keyboard.press("Escape")
    # Before the room: its page shows what waits, and whoever sees that has opened it.
    offers.get_by_role("link", name="View").click()
    page.wait_for_url("**/transfers/*")
    page.goto("/")
    page.get_by_role("button", name="Open a room").click()
    page.wait_for_url("**/rooms/*")
    page.goto("/")
    expect(page.get_by_role("link", name="You are in")).to_be_visible()

    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Search").fill("ＮOTES")
    page.get_by_role("option", name="notes.txt File").click()
    page.wait_for_url("**/shelf/*?view=*")
    expect(page.get_by_role("dialog").get_by_role("heading", name="notes.txt")).to_be_visible()
    page.get_by_role("dialog").get_by_role("button", name="Share notes.txt").click()
    expect(page.get_by_role("dialog", name="Share notes.txt")).to_contain_text("A person")


def test_a_stranger_finds_the_drop_a_room_and_the_way_in(open_page: OpenPage, server: ServerProcess) -> None:
    Holder(server, "Fay")
    page = open_page(may_fail=True)  # who is in no room is told so by a refusal
    for way, heading in (("Send without an account", "Drop"), ("Sign in", "Sign in")):
        page.goto("/")
        page.get_by_role("main").get_by_role("link", name=way).click()
        expect(page.get_by_role("heading", level=1)).to_have_text(heading)
    page.goto("/")
    page.get_by_role("link", name="Join a room").click()
    page.get_by_label("Name").fill("Gus")
    page.get_by_role("button", name="Continue").click()
    page.wait_for_url("**/rooms")


def drop_on(page: Page, *names: str) -> None:
    """Drop files onto the page, as from a window of the system."""
    page.evaluate(
        """(names) => {
            const data = new DataTransfer();
            for (const name of names) data.items.add(new File([name], name));
            for (const kind of ['dragenter', 'drop'])
                document.querySelector('h1').dispatchEvent(
                    new DragEvent(kind, { dataTransfer: data, bubbles: true, cancelable: true }));
        }""",
        list(names),
    )
