"""Links in real browsers: given from shelf and room, opened by strangers, counted while the owner looks, and ended."""

import time
import zipfile
from collections.abc import Callable, Generator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import FilePayload, Locator, Page, expect

from tests.browser.conftest import DESKTOP, NARROW, OpenPage, Serve, sign_in
from tests.browser.test_pages import complaints_of_axe
from tests.browser.test_transfers import Holder
from tests.server.process import ServerProcess

pytestmark = [pytest.mark.services, pytest.mark.without_service_worker]

PATIENCE_SECONDS = 20


@pytest.fixture(scope="module")
def server(serve: Serve, data: Path) -> Generator[ServerProcess]:
    with serve(data, "--sign-up", "open") as running:
        yield running


class Giver(Holder):
    """Somebody who gives links."""

    def give(self, kind: str, thing_id: str, **conditions: Any) -> dict[str, Any]:
        return self.ask("POST", "/links", json={"thing": {"kind": kind, "id": thing_id}, **conditions})

    def look(self, link: dict[str, Any]) -> dict[str, Any]:
        return self.ask("GET", f"/links/{link['link_id']}")

    def change(self, link: dict[str, Any], **change: Any) -> None:
        self.ask("PATCH", f"/links/{link['link_id']}", json=change)


def open_link(page: Page, link: dict[str, Any], heading: str) -> None:
    page.goto(f"/l/{link['token']}")
    expect(page.get_by_role("heading", level=1)).to_have_text(heading)


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def press_more(page: Page, name: str, act: str) -> None:
    """Do something with a link that was given."""
    press(page, f"More for {name}")
    page.get_by_role("dialog").get_by_text(act, exact=True).click()


def press_way(page: Page, name: str) -> None:
    """Choose one of the ways in the share sheet."""
    page.get_by_role("dialog").get_by_role("button", name=name).click()


def row(page: Page, name: str) -> Locator:
    return page.get_by_role("list", name="Links").get_by_role("article").filter(has_text=name)


def assert_everybody_can_use(page: Page) -> None:
    page.set_viewport_size(NARROW)
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
    assert complaints_of_axe(page) == [], page.url
    page.set_viewport_size(DESKTOP)


def downloaded(page: Page, start: Callable[[], None]) -> Path:
    with page.expect_download() as download:
        start()
    return Path(download.value.path())


@pytest.mark.first_journey
def test_a_link_is_given_opened_by_a_stranger_and_counted_while_its_owner_looks(
    server: ServerProcess, open_page: OpenPage
) -> None:
    ann = Giver(server, "Ann")
    ann.put("plan.txt", b"at eight", filetype="text/plain")
    owner, stranger = open_page(), open_page()
    sign_in(owner, ann.email)
    owner.get_by_role("checkbox", name="Select plan.txt").check()
    owner.get_by_role("toolbar").get_by_role("button", name="Share").click()
    expect(owner.get_by_role("dialog")).to_contain_text("A person")
    assert complaints_of_axe(owner) == []
    press_way(owner, "Link and QR code")
    made = owner.get_by_role("dialog").get_by_label("Link address")
    expect(made).to_be_visible()
    assert complaints_of_axe(owner) == []
    address = made.input_value()
    owner.goto("/links")
    expect(row(owner, "plan.txt")).to_contain_text("not opened yet")

    stranger.goto(address)
    expect(stranger.get_by_text("Ann shares a file with you")).to_be_visible()
    assert_everybody_can_use(stranger)
    (link,) = ann.ask("GET", "/links")["links"]
    assert (link["opens"], link["people"], link["downloads"]) == (0, 0, 0)
    assert downloaded(stranger, lambda: press(stranger, "Download")).read_bytes() == b"at eight"
    for figure in ("opened once", "1 person (visitors count anew each month)", "1 download"):
        expect(row(owner, "plan.txt")).to_contain_text(figure)
    assert stranger.context.cookies() == []


def test_a_folder_is_looked_through_and_loading_the_page_again_is_no_second_opening(
    server: ServerProcess, open_page: OpenPage
) -> None:
    giver = Giver(server, "Bea")
    folder = giver.folder("Parts")
    giver.put("viola.txt", b"do re mi", folder=folder, filetype="text/plain")
    giver.put("lake.bin", b"blue", folder=folder, relativePath="Lakes/lake.bin")
    link = giver.give("folder", folder, note="For Thursday.")
    page = open_page()
    open_link(page, link, "Parts")
    expect(page.get_by_text("2 files")).to_be_visible()
    expect(page.get_by_text("For Thursday.")).to_be_visible()
    press(page, "View viola.txt")
    expect(page.get_by_role("dialog").get_by_text("do re mi")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("button", name="View viola.txt")).to_be_focused()
    page.reload()
    with zipfile.ZipFile(downloaded(page, lambda: press(page, "Download all"))) as archive:
        assert {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")} == {
            "Parts/viola.txt": b"do re mi",
            "Parts/Lakes/lake.bin": b"blue",
        }
    assert downloaded(page, lambda: press(page, "Download lake.bin")).read_bytes() == b"blue"
    assert_everybody_can_use(page)
    wait_until(lambda: giver.look(link)["downloads"] == 2)
    figures = giver.look(link)
    assert (figures["opens"], figures["people"]) == (1, 1)


def test_before_the_password_not_even_the_name_is_told(server: ServerProcess, open_page: OpenPage) -> None:
    giver = Giver(server, "Cem")
    link = giver.give("file", giver.put("secret plan.txt", b"at nine"), password="open sesame")
    page = open_page(may_fail=True)
    open_link(page, link, "A file")
    page.get_by_label("Password", exact=True).fill("open barley")
    press(page, "Open")
    expect(page.get_by_text("This password is wrong")).to_be_visible()
    assert "secret plan" not in page.content()
    assert_everybody_can_use(page)
    page.get_by_label("Password", exact=True).fill("open sesame")
    press(page, "Open")
    expect(page.get_by_role("heading", level=1)).to_have_text("secret plan.txt")
    assert downloaded(page, lambda: press(page, "Download")).read_bytes() == b"at nine"


def test_where_somebody_has_guessed_the_right_password_gets_in_by_a_proof_of_work(
    server: ServerProcess, open_page: OpenPage
) -> None:
    giver = Giver(server, "Cleo")
    link = giver.give("file", giver.put("plan.txt", b"at ten"), password="open sesame")
    while server.client.post(f"/api/v1/open/{link['token']}/enter", json={"password": "x"}).status_code != 429:
        pass
    page = open_page(may_fail=True)
    open_link(page, link, "A file")
    page.get_by_label("Password", exact=True).fill("open sesame")
    press(page, "Open")
    expect(page.get_by_role("heading", level=1)).to_have_text("plan.txt", timeout=30_000)


def test_of_two_who_want_the_only_download_one_gets_it(server: ServerProcess, open_page: OpenPage) -> None:
    giver = Giver(server, "Dov")
    link = giver.give("file", giver.put("ticket.txt", b"row 5"), downloads=1)
    first, second = open_page(), open_page(may_fail=True)
    for page in (first, second):
        open_link(page, link, "ticket.txt")
        expect(page.get_by_text("1 download left")).to_be_visible()
    downloaded(first, lambda: press(first, "Download"))
    wait_until(lambda: giver.look(link)["state"] == "used-up")
    press(second, "Download")
    expect(second.get_by_role("heading", level=1)).to_have_text("Download limit reached")
    assert_everybody_can_use(second)


def test_files_are_asked_for_and_come_from_somebody_without_an_account(
    server: ServerProcess, open_page: OpenPage
) -> None:
    giver = Giver(server, "Eve")
    giver.folder("Something")
    owner, stranger = open_page(), open_page()
    sign_in(owner, giver.email)
    press(owner, "Request files")
    owner.get_by_label("Folder for the files").fill("Homework")
    press(owner, "Create link")
    stranger.goto(owner.get_by_label("Link address").input_value())
    expect(stranger.get_by_text("Eve is asking you for files")).to_be_visible()
    assert_everybody_can_use(stranger)
    stranger.get_by_label("Your name").fill("Fay")
    files = [FilePayload(name=f"page {n}.txt", mimeType="text/plain", buffer=b"x" * n) for n in (1, 700_000)]
    stranger.locator("input[type=file]").first.set_input_files(files)
    expect(stranger.get_by_text("Eve has received your 2 files.")).to_be_visible()
    assert_everybody_can_use(stranger)
    owner.goto("/shelf")
    for folder in ("Homework", "Fay"):
        owner.get_by_role("link", name=folder).press("Enter")
        expect(owner.get_by_role("heading", level=1)).to_have_text(folder)
    expect(owner.get_by_role("link", name="page 700000.txt")).to_be_visible()
    assert stranger.context.cookies() == []


def test_a_room_is_reached_by_its_link(server: ServerProcess, open_page: OpenPage) -> None:
    giver = Giver(server, "Gus")
    room = giver.ask("POST", "/rooms", json={"name": "Rehearsal"})
    owner, stranger = open_page(), open_page()
    sign_in(owner, giver.email, at=f"/rooms/{room['room_id']}")
    press(owner, "Create a link to this room")
    press(owner, "Create link")
    stranger.goto(owner.get_by_label("Link address").input_value())
    expect(stranger.get_by_role("heading", level=1)).to_have_text("Rehearsal")
    press(stranger, "Go to the room")
    stranger.wait_for_url("**/join/*")
    stranger.get_by_label("Your name").fill("Hal")
    press(stranger, "Join")
    expect(stranger.get_by_role("heading", level=1)).to_have_text("Rehearsal")


def test_coming_back_from_a_room_needs_no_password_again_and_is_no_second_opening(
    server: ServerProcess, open_page: OpenPage
) -> None:
    giver = Giver(server, "Lea")
    room = giver.ask("POST", "/rooms", json={"name": "Cellar"})
    link = giver.give("room", room["room_id"], password="open sesame", name="Downstairs")
    page = open_page()
    open_link(page, link, "Downstairs")
    page.get_by_label("Password", exact=True).fill("open sesame")
    press(page, "Open")
    page.wait_for_url("**/join/*")
    page.go_back()
    press(page, "Go to the room")
    page.wait_for_url("**/join/*")
    wait_until(lambda: giver.look(link)["opens"] > 0)
    assert giver.look(link)["opens"] == 1


def test_whoever_may_not_copy_is_told_and_can_do_it_by_hand(server: ServerProcess, open_page: OpenPage) -> None:
    giver = Giver(server, "Mia")
    link = giver.give("file", giver.put("flyer.txt", b"f"))
    page = open_page()
    page.add_init_script(
        "navigator.clipboard.writeText = () => Promise.reject(new DOMException('', 'NotAllowedError'))"
    )
    page.add_init_script("document.execCommand = () => false")
    sign_in(page, giver.email, at="/links")
    press(page, "Copy the address of flyer.txt")
    expect(page.get_by_text(f"Copy it yourself: {link['address']}")).to_be_visible()
    press_more(page, "flyer.txt", "QR code and counter")
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Copy").first.click()
    expect(dialog.get_by_role("alert")).to_contain_text("copy it yourself")
    assert page.evaluate("getSelection().toString()") == link["address"]


def test_a_phone_passes_a_link_on_in_its_own_way(server: ServerProcess, open_page: OpenPage) -> None:
    giver = Giver(server, "Nia")
    link = giver.give("file", giver.put("song.txt", b"la"))
    page = open_page()
    page.add_init_script("navigator.share = async (shared) => { window.shared = shared }")
    sign_in(page, giver.email, at="/links")
    press_more(page, "song.txt", "QR code and counter")
    press(page, "Share")
    assert page.evaluate("window.shared") == {"url": link["address"], "title": "song.txt"}


def test_a_link_is_there_at_once_and_gets_its_conditions_afterwards(server: ServerProcess, open_page: OpenPage) -> None:
    giver = Giver(server, "Oda")
    giver.put("list.txt", b"l")
    page = open_page()
    sign_in(page, giver.email)
    page.get_by_role("checkbox", name="Select list.txt").check()
    page.get_by_role("button", name="Share list.txt").click()
    press_way(page, "Link and QR code")
    press(page, "Change conditions")
    page.get_by_label("Download limit").fill("3")
    page.get_by_role("dialog").locator("input[type=password]").fill("swordfish")
    press(page, "Save")
    expect(page.get_by_text("Whoever has the link and the password can open it.")).to_be_visible()
    (link,) = giver.ask("GET", "/links")["links"]
    assert (link["downloads_limit"], link["has_password"]) == (3, True)
    page.get_by_role("dialog").get_by_role("button", name="Close").last.click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    # One for anybody is another link.
    page.get_by_role("row").filter(has_text="list.txt").click(button="right", position={"x": 300, "y": 20})
    press_way(page, "Link and QR code")
    expect(page.get_by_text("Anybody with the link can open it, until you stop sharing.")).to_be_visible()
    assert len(giver.ask("GET", "/links")["links"]) == 2


def test_asking_for_files_once_more_after_a_broken_line_makes_no_second_folder(
    server: ServerProcess, open_page: OpenPage
) -> None:
    giver = Giver(server, "Pia")
    giver.folder("Something")
    page = open_page(intercepted=True, may_fail=True)
    sign_in(page, giver.email)
    press(page, "Request files")
    # The page asks twice more by itself.
    page.route("**/api/v1/links", lambda route: route.abort(), times=3)
    press(page, "Create link")
    expect(page.get_by_role("dialog").get_by_role("alert")).to_be_visible()
    press(page, "Create link")
    expect(page.get_by_label("Link address")).to_be_visible()
    page.goto("/shelf")
    expect(page.get_by_role("link", name="Sent to me")).to_have_count(1)


def test_every_link_that_leads_nowhere_says_why_on_a_page_of_its_own(
    server: ServerProcess, open_page: OpenPage
) -> None:
    giver = Giver(server, "Ina")
    kept, doomed = giver.put("kept.txt", b"k"), giver.put("doomed.txt", b"d")
    soon = (datetime.now(UTC) + timedelta(seconds=1)).isoformat()
    paused, revoked, gone = giver.give("file", kept), giver.give("file", kept), giver.give("file", doomed)
    expired = giver.give("file", kept, expires_at=soon)
    giver.change(paused, paused=True)
    assert giver.client.delete(f"/api/v1/links/{revoked['link_id']}", headers=giver.headers).is_success
    assert giver.client.delete(f"/api/v1/shelf/files/{doomed}", headers=giver.headers).is_success
    wait_until(lambda: giver.look(expired)["state"] == "expired")
    page = open_page(may_fail=True)
    for link, heading in (
        ({"token": "x" * 22}, "Link not found"),
        (revoked, "This link was revoked"),
        (gone, "The content is no longer available"),
        (expired, "This link has expired"),
        (paused, "This link is paused"),
    ):
        open_link(page, link, heading)
        assert_everybody_can_use(page)
    giver.change(paused, paused=False)
    press(page, "Try again")
    expect(page.get_by_role("heading", level=1)).to_have_text("kept.txt")


def test_the_owner_pauses_changes_finds_and_revokes_a_link_and_shows_its_counter(
    server: ServerProcess, open_page: OpenPage
) -> None:
    giver = Giver(server, "Jon")
    link = giver.give("file", giver.put("poster.txt", b"p"), note="Old words")
    giver.give("file", giver.put("ticket.txt", b"t"))
    page = open_page()
    sign_in(page, giver.email, at="/links")
    press_more(page, "poster.txt", "Pause")
    expect(row(page, "poster.txt")).to_contain_text("paused")
    press_more(page, "poster.txt", "Resume")
    expect(row(page, "poster.txt")).to_contain_text("active")
    assert_everybody_can_use(page)

    press_more(page, "poster.txt", "Change conditions")
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Note").fill("New words")
    dialog.get_by_label("Download limit").fill("3")
    dialog.get_by_text("7 days").click()
    assert complaints_of_axe(page) == []
    press(page, "Save")
    expect(row(page, "poster.txt")).to_contain_text("0 of 3 downloads")
    changed = giver.look(link)
    assert (changed["note"], changed["downloads_limit"], changed["has_password"]) == ("New words", 3, False)
    assert changed["expires_at"] is not None

    press_more(page, "poster.txt", "QR code and counter")
    dialog.get_by_text("On", exact=True).click()
    expect(dialog.get_by_role("img", name="Counter")).to_be_visible()
    counter = f'<img src="{giver.look(link)["badge_address"]}" alt="Openings of poster.txt">'
    expect(dialog.get_by_label("HTML for a web page")).to_have_value(counter)
    assert complaints_of_axe(page) == []
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)

    expect(row(page, "ticket.txt")).to_be_visible()
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Search").fill("poster")
    page.get_by_role("option", name="poster.txt").filter(has_text="Link").click()
    page.wait_for_url("**/links?q=poster.txt")
    expect(row(page, "ticket.txt")).to_have_count(0)
    expect(page.get_by_role("searchbox")).to_have_value("poster.txt")

    press_more(page, "poster.txt", "Revoke")
    expect(page.get_by_text("Revoke this link?")).to_be_visible()
    press(page, "Revoke")
    expect(row(page, "poster.txt")).to_contain_text("revoked")
    assert giver.look(link)["state"] == "revoked"


def test_links_are_given_ordered_and_filtered_where_they_are_listed(server: ServerProcess, open_page: OpenPage) -> None:
    giver = Giver(server, "Ivo")
    for name in ("b.txt", "c.txt"):
        giver.give("file", giver.put(name, b"x" + name.encode()))
    giver.put("apple.txt", b"a")
    page = open_page()
    sign_in(page, giver.email, at="/links")
    press(page, "New link")
    dialog = page.get_by_role("dialog")
    assert complaints_of_axe(page) == []
    dialog.get_by_role("searchbox").fill("apple")
    dialog.get_by_role("button", name="apple.txt").click()
    press(page, "Create link")
    expect(dialog.get_by_text("Your link is ready")).to_be_visible()
    page.keyboard.press("Escape")
    headings = page.get_by_role("list", name="Links").get_by_role("heading")
    expect(headings).to_contain_text(["apple.txt", "c.txt", "b.txt"])
    page.get_by_label("Order").select_option("By name")
    expect(headings).to_contain_text(["apple.txt", "b.txt", "c.txt"])
    press_more(page, "b.txt", "Pause")
    expect(row(page, "b.txt")).to_contain_text("paused")
    page.get_by_label("Which links").select_option("Paused")
    expect(headings).to_contain_text(["b.txt"])
    page.get_by_label("Which links").select_option("Revoked")
    expect(page.get_by_text("No link is in this state.")).to_be_visible()


def test_whoever_has_given_no_links_learns_what_they_are_for(server: ServerProcess, open_page: OpenPage) -> None:
    page = open_page()
    sign_in(page, Giver(server, "Kit").email)
    page.get_by_role("link", name="Links", exact=True).first.click()
    expect(page.get_by_text("You have no links yet")).to_be_visible()
    assert_everybody_can_use(page)


def wait_until(happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.05)
