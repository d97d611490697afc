"""What makes the first minutes short: notices, a shelf that follows, a phone that gets files, and forms that say it."""

from collections.abc import Generator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import OpenPage, Serve, keep_session, sign_in
from tests.browser.test_transfers import Holder
from tests.media.samples import jpeg
from tests.server.process import ServerProcess

pytestmark = [pytest.mark.services, pytest.mark.without_service_worker]

# What Chromium without a window shows nobody is written down instead.
_TOLD = """
window.told = [];
window.Notification = class {
  static permission = 'default';
  static requestPermission() { return Promise.resolve((Notification.permission = 'granted')); }
  constructor(title, { body }) { window.told.push(`${title}: ${body}`); }
};
document.hasFocus = () => false;
"""


@pytest.fixture(scope="module")
def server(serve: Serve, data: Path) -> Generator[ServerProcess]:
    with serve(data, "--sign-up", "open") as running:
        yield running


@pytest.fixture
def phone(chromium: Browser, server: ServerProcess) -> Generator[Page]:
    """A browser with a finger for a mouse."""
    context = chromium.new_context(
        base_url=server.url,
        viewport={"width": 390, "height": 844},
        is_mobile=True,
        has_touch=True,
        service_workers="block",
    )
    yield context.new_page()
    context.close()


def test_a_bell_tells_of_offers_while_one_looks_elsewhere(open_page: OpenPage, server: ServerProcess) -> None:
    ann, ben = Holder(server, "Ann"), Holder(server, "Ben")
    page = open_page()
    page.add_init_script(_TOLD)
    sign_in(page, ben.email, at="/links")
    page.get_by_role("button", name="Notifications: off").click()
    dialog = page.get_by_role("dialog", name="Notifications")
    dialog.get_by_role("button", name="Turn on notifications").click()
    expect(dialog).to_contain_text("Notifications are on for this device.")
    dialog.get_by_role("checkbox", name="Quiet hours").uncheck()
    dialog.get_by_role("contentinfo").or_(dialog).get_by_role("button", name="Close").last.click()
    expect(page.get_by_role("button", name="Notifications: on")).to_be_visible()
    page.wait_for_load_state("networkidle")
    ann.send(ben, ann.put("notes.txt", b"for Ben"))
    told = "async () => { while (!told.length) await new Promise((wake) => setTimeout(wake, 100)); return told }"
    assert page.evaluate(told) == ["Ann sends you a file: notes.txt"]


def test_an_open_shelf_follows_what_is_done_elsewhere(open_page: OpenPage, server: ServerProcess) -> None:
    ann = Holder(server, "Dora")
    page = open_page()
    sign_in(page, ann.email)
    expect(page.get_by_role("heading", name="Your shelf is empty")).to_be_visible()
    page.wait_for_load_state("networkidle")
    ann.put("from the terminal.txt", b"hello")
    expect(page.get_by_role("grid")).to_contain_text("from the terminal.txt")
    expect(page.get_by_role("complementary", name="Space used")).to_contain_text("Shelf in all: One file")


def test_a_phone_gets_several_files_as_files(phone: Page, server: ServerProcess) -> None:
    ann = Holder(server, "Fay")
    files = [ann.put(f"{name}.jpg", jpeg()) for name in ("one", "two")]
    selection = ann.ask("POST", "/shelf/selections", json={"files": files})["selection_id"]
    thing = {"kind": "selection", "id": selection}
    link = ann.ask("POST", "/links", json={"thing": thing, "downloads": 1})
    saved: list[str] = []
    phone.on("download", lambda download: saved.append(download.suggested_filename))
    phone.goto(f"/l/{link['token']}")
    # What is there is seen at once, and counts as nothing.
    expect(phone.get_by_text("two.jpg")).to_be_visible()
    assert ann.ask("GET", f"/links/{link['link_id']}")["opens"] == 0
    phone.get_by_role("button", name="Download all").click()
    expect(phone.get_by_role("button", name="Download all")).to_be_enabled()
    phone.wait_for_timeout(2000)
    assert sorted(saved) == ["one.jpg", "two.jpg"]
    # One act is one download, and takes one place where there are few.
    figures = ann.ask("GET", f"/links/{link['link_id']}")
    assert (figures["downloads"], figures["downloads_used"]) == (1, 1)

    keep_session(phone, ann.email)
    phone.goto("/shelf")
    expect(phone.get_by_role("button", name="Take a photo")).to_be_visible()
    expect(phone.get_by_role("button", name="Upload folder")).to_have_count(0)


def test_a_link_to_a_picture_shows_it_at_once(open_page: OpenPage, server: ServerProcess) -> None:
    ann = Holder(server, "Gail")
    link = ann.ask("POST", "/links", json={"thing": {"kind": "file", "id": ann.put("harbour.jpg", jpeg())}})
    page = open_page(may_fail=True)
    for _ in range(20):
        page.goto(f"/l/{link['token']}")
        expect(page.get_by_role("button", name="Download")).to_be_visible()
        if page.get_by_role("img", name="harbour.jpg").count():
            break
        page.wait_for_timeout(500)
    expect(page.get_by_role("img", name="harbour.jpg")).to_be_visible()
    assert ann.ask("GET", f"/links/{link['link_id']}")["opens"] == 0
    page.get_by_role("button", name="View").first.click()
    expect(page.get_by_role("dialog")).to_be_visible()


def test_forms_say_what_they_miss_in_the_language_of_the_app(open_page: OpenPage, server: ServerProcess) -> None:
    page = open_page(locale="ja")
    page.goto("/sign-in")
    page.locator("input[type=email]").fill("ann")
    page.locator("button[type=submit]").click()
    said = "element => element.validationMessage"
    assert page.locator("input[type=email]").evaluate(said).startswith("メールアドレスを入力してください")
    page.locator("input[type=email]").fill("ann@example.org")
    page.locator("button[type=submit]").click()
    assert page.locator("input[type=email]").evaluate(said) == ""
    assert page.locator("input[type=password]").evaluate(said) == "入力してください。"


def test_an_empty_room_shows_its_letters_and_code_large(open_page: OpenPage, server: ServerProcess) -> None:
    ann = Holder(server, "Hana")
    page = open_page(may_fail=True)
    sign_in(page, ann.email, at="/rooms")
    page.get_by_role("button", name="Open room").click()
    page.wait_for_url("**/rooms/*")
    expect(page.get_by_role("heading", level=1)).to_have_text("Room")
    expect(page.get_by_role("region", name="People").get_by_role("img", name="QR code")).to_be_visible()
