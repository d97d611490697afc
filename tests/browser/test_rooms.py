"""Rooms in real browsers: two and three people who meet by a code, talk, hand files over, and leave nothing behind."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import FilePayload, Locator, Page, ViewportSize, expect

from tests.browser.conftest import (
    DESKTOP,
    NARROW,
    OpenPage,
    access_cookie,
    let_the_session_run_out,
    sign_in,
    sign_up,
)
from tests.browser.shelf.listing import is_true
from tests.browser.test_pages import LANGUAGES, complaints_of_axe
from tests.server.process import ServerProcess

pytestmark = [pytest.mark.services, pytest.mark.without_service_worker]

ANN, CLEO = "ann@example.org", "cleo@example.org"
PHONE = ViewportSize(width=390, height=844)
DROP_ON = """(tile, name) => {
  const transfer = new DataTransfer();
  transfer.items.add(new File([`inside ${name}`], name));
  for (const kind of ['dragenter', 'dragover', 'drop'])
    tile.dispatchEvent(new DragEvent(kind, { dataTransfer: transfer, bubbles: true, cancelable: true }));
}"""
PASTE = """(box, text) => {
  const transfer = new DataTransfer();
  transfer.setData('text', text);
  box.dispatchEvent(new ClipboardEvent('paste', { clipboardData: transfer, bubbles: true, cancelable: true }));
}"""


@pytest.fixture(scope="module", autouse=True)
def members(server: ServerProcess) -> None:
    ann = sign_up(server, ANN, "Ann")
    invited = server.client.post("/api/v1/invitations", headers=ann, json={}).json()
    sign_up(server, CLEO, "Cleo", invitation=invited["token"])


@pytest.fixture
def ann(open_page: OpenPage) -> Page:
    """Ann, who opens rooms. That she is in none yet is an answer that Chromium logs."""
    page = open_page(may_fail=True)
    sign_in(page, ANN)
    return page


@pytest.fixture
def ben(open_page: OpenPage) -> Page:
    return open_page(may_fail=True)


@pytest.fixture
def cleo(open_page: OpenPage) -> Page:
    page = open_page(may_fail=True)
    sign_in(page, CLEO)
    return page


@pytest.mark.first_journey
def test_three_people_meet_hand_things_over_and_leave_nothing_behind(
    ann: Page, ben: Page, cleo: Page, server: ServerProcess
) -> None:
    code = open_room(ann, "Physics 7b")
    come_as_guest_by_typing(ben, code.lower(), "Ben")
    say(ann, "Hello, Ben.\nThe plan: https://example.org/plan?week=3.")
    expect(chat(ben)).to_contain_text("Hello, Ben.")
    link = chat(ben).get_by_role("link")
    expect(link).to_have_attribute("href", "https://example.org/plan?week=3")
    expect(link).to_have_attribute("rel", re.compile("noopener"))
    say(ben, "Hello, Ann")
    expect(chat(ann)).to_contain_text(re.compile(r"Ben\s*guest.*Hello, Ann", re.DOTALL))
    expect(chat(ben)).not_to_contain_text("guest")

    hand_to(ann, "Ben", payload("for ben.txt", b"only the two of us"))
    expect(row(ben, "for ben.txt")).to_contain_text("only for you")
    expect(offer(ben, "Ann")).to_contain_text("for ben.txt")
    hand_to(ann, "Everyone", payload("for all.txt", b"everybody"))
    expect(row(ben, "for all.txt")).to_be_visible()

    come_as_member(cleo, code)
    in_room(cleo, "Physics 7b")
    expect(chat(cleo)).to_contain_text("Hello, Ben.")
    expect(chat(cleo)).to_contain_text("Hello, Ann")
    expect(row(cleo, "for all.txt")).to_be_visible()
    expect(row(cleo, "for ben.txt")).to_have_count(0)
    expect(tile(ann, "Cleo")).to_be_visible()
    expect(tile(ben, "Cleo")).to_be_visible()

    expect(row(ann, "for ben.txt")).to_contain_text("opened")
    with ben.expect_download() as download:
        offer(ben, "Ann").filter(has_text="for ben.txt").get_by_role("button", name="Download").click()
    assert Path(download.value.path()).read_bytes() == b"only the two of us"
    expect(row(ann, "for ben.txt")).to_contain_text("verified")
    with cleo.expect_download() as download:
        take_from_shelf(cleo, "for all.txt")
    assert Path(download.value.path()).read_bytes() == b"everybody"
    expect(row(ann, "for all.txt")).to_contain_text("1 of 2 have it")

    address = f"/api/v1/rooms/{ann.url.rpartition('/')[2]}"
    assert cleo.request.get(address).status == 200
    close_room(ann)
    for page in (ann, ben, cleo):
        expect(page.get_by_role("heading", name="This room is closed")).to_be_visible()
        assert page.request.get(address).status == 404
        assert page.request.get(f"{address}/chat").status == 404
        assert page.request.get("/api/v1/rooms/current").status == 404
    ben.goto(f"/join/{code}")
    expect(ben.get_by_role("alert")).to_be_visible()
    assert server.client.get(f"{address}/archive").status_code in (401, 404)


def test_the_owner_locks_admits_turns_away_and_removes(ann: Page, ben: Page, open_page: OpenPage) -> None:
    code = open_room(ann, "Council", knock=True)
    come_as_guest(ben, code, "Ben")
    expect(ben.get_by_text("Waiting to be admitted")).to_be_visible()
    ann.get_by_role("button", name="Admit Ben").click()
    in_room(ben, "Council")
    expect(ann.get_by_role("button", name="Admit Ben")).to_have_count(0)

    dora = open_page(may_fail=True)
    come_as_guest(dora, code, "Dora")
    ann.get_by_role("button", name="Decline Dora").click()
    expect(dora.get_by_text("The owner declined your request to join.")).to_be_visible()

    settings(ann, lock=True, knock=False)
    expect(ann.get_by_text("locked", exact=True)).to_be_visible()
    dora.get_by_role("button", name="Join").click()
    expect(dora.get_by_role("alert")).to_contain_text("locked")

    settings(ann, lock=False, knock=False)
    tile(ann, "Ben").click()
    ann.get_by_role("button", name="Remove from room").click()
    ann.get_by_role("dialog").get_by_role("button", name="Remove from room").click()
    expect(ben.get_by_role("heading", name="You were removed from this room")).to_be_visible()
    expect(tile(ann, "Ben")).to_have_count(0)
    # A guest could come back under another name, so the room has a new code.
    shown = ann.get_by_role("img", name="The code is")
    expect(shown).not_to_have_attribute("aria-label", re.compile(" ?".join(code)))
    ben.goto(f"/join/{code}")
    expect(ben.get_by_role("alert")).to_be_visible()
    dora.get_by_role("button", name="Join").click()
    expect(dora.get_by_role("alert")).to_contain_text("code")
    dora.goto(f"/join/{shown_code(ann)}")
    in_room(dora, "Council")


def test_a_lost_connection_puts_nobody_out_and_nothing_is_missed(ann: Page, ben: Page) -> None:
    code = open_room(ann, "Tunnel")
    come_as_guest(ben, code, "Ben")
    in_room(ben, "Tunnel")
    ben.context.set_offline(True)
    expect(ben.get_by_text("Reconnecting")).to_be_visible()
    say(ann, "said in the dark")
    hand_to(ann, "Everyone", payload("dark.txt", b"dark"))
    expect(row(ann, "dark.txt")).to_be_visible()
    expect(tile(ann, "Ben")).to_be_visible()
    ben.context.set_offline(False)
    expect(chat(ben)).to_contain_text("said in the dark")
    expect(row(ben, "dark.txt")).to_be_visible()
    expect(offer(ben, "Ann")).to_be_visible()
    expect(ben.get_by_text("Reconnecting")).to_have_count(0)
    say(ben, "here again")
    expect(chat(ann)).to_contain_text("here again")


def test_the_connection_comes_back_after_the_session_has_run_out(ann: Page, ben: Page) -> None:
    code = open_room(ann, "Long evening")
    come_as_guest(ben, code, "Ben")
    stale = let_the_session_run_out(ann)
    ann.context.set_offline(True)
    expect(ann.get_by_text("Reconnecting")).to_be_visible()
    ann.context.set_offline(False)
    expect(ann.get_by_text("Reconnecting")).to_have_count(0)
    assert access_cookie(ann) != stale
    say(ben, "still there?")
    expect(chat(ann)).to_contain_text("still there?")


def test_the_code_is_typed_pasted_and_corrected(ann: Page, ben: Page) -> None:
    code = open_room(ann, "Spelling")
    become_guest(ben, "Ben")
    boxes = ben.get_by_role("group", name="Room code").get_by_role("textbox")
    boxes.first.click()
    ben.keyboard.type("1x-y")
    assert [box.input_value() for box in boxes.all()] == ["X", "Y", "", "", ""]
    ben.keyboard.press("Backspace")
    ben.keyboard.press("Backspace")
    assert [box.input_value() for box in boxes.all()] == ["", "", "", "", ""]
    ben.keyboard.type("zzzzz")
    expect(ben.get_by_role("alert")).to_be_visible()
    boxes.nth(3).evaluate(PASTE, f"Come in: https://satchel.example/join/{code.lower()}")
    in_room(ben, "Spelling")


def test_files_are_dropped_on_a_person_and_folders_keep_what_is_in_them(ann: Page, ben: Page, tmp_path: Path) -> None:
    code = open_room(ann, "Album")
    come_as_guest(ben, code, "Ben")
    in_room(ben, "Album")
    tile(ann, "Ben").evaluate(DROP_ON, "dropped.txt")
    expect(row(ben, "dropped.txt")).to_contain_text("only for you")
    for path in ("trip/one.txt", "trip/day 2/two.txt"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(path)
    with ann.expect_file_chooser() as chooser:
        ann.get_by_role("button", name="Upload folder").click()
    chooser.value.set_files(tmp_path / "trip")
    expect(row(ben, "trip")).to_contain_text("2 files")
    expect(offer(ben, "Ann").filter(has_text="one.txt")).to_be_visible()
    row(ben, "trip").get_by_role("link").click()
    expect(row(ben, "one.txt")).to_be_visible()
    row(ben, "day 2").get_by_role("link").click()
    row(ben, "two.txt").get_by_role("link").click()
    expect(ben.get_by_role("dialog")).to_contain_text("trip/day 2/two.txt")
    ben.keyboard.press("Escape")
    expect(row(ben, "two.txt")).to_be_visible()
    ben.go_back()
    ben.go_back()
    expect(row(ben, "trip")).to_be_visible()
    with ben.expect_download() as download:
        ben.get_by_role("button", name="Download all").click()
    assert download.value.suggested_filename.endswith(".zip")


def test_what_one_brought_is_taken_away_again_for_everybody(ann: Page, ben: Page) -> None:
    code = open_room(ann, "Second thoughts")
    come_as_guest(ben, code, "Ben")
    hand_to(ben, "Everyone", payload("mistake.txt", b"oh"))
    hand_to(ann, "Everyone", payload("hers.txt", b"hers"))
    expect(row(ben, "hers.txt")).to_be_visible()
    row(ben, "hers.txt").get_by_role("checkbox").check()
    expect(ben.get_by_role("toolbar").get_by_role("button", name="Delete")).to_have_count(0)
    row(ben, "hers.txt").get_by_role("checkbox").uncheck()
    row(ben, "mistake.txt").get_by_role("checkbox").check()
    ben.get_by_role("toolbar").get_by_role("button", name="Delete").click()
    for page in (ann, ben):
        expect(row(page, "mistake.txt")).to_have_count(0)
        expect(row(page, "hers.txt")).to_be_visible()


def test_members_bring_from_their_shelf_and_save_to_it(ann: Page, cleo: Page) -> None:
    code = open_room(ann, "Library")
    ann.goto("/shelf")
    ann.locator("input[type=file]").first.set_input_files(payload("from my shelf.txt", b"kept"))
    expect(ann.get_by_role("row").filter(has_text="from my shelf.txt")).to_be_visible()
    ann.go_back()
    come_as_member(cleo, code)
    in_room(cleo, "Library")
    ann.get_by_role("button", name="From my shelf").click()
    ann.get_by_role("dialog").get_by_label("from my shelf.txt").check()
    ann.get_by_role("dialog").get_by_role("button", name="Send", exact=True).click()
    expect(row(cleo, "from my shelf.txt")).to_be_visible()
    offer(cleo, "Ann").get_by_role("button", name="shelf").click()
    expect(row(ann, "from my shelf.txt")).to_contain_text("1 of 1 have it")
    cleo.goto("/shelf?q=from+my+shelf")
    expect(cleo.get_by_role("row").filter(has_text="from my shelf.txt")).to_be_visible()


def test_a_hand_out_is_answered_privately(ann: Page, ben: Page, cleo: Page) -> None:
    code = open_room(ann, "Class")
    come_as_guest(ben, code, "Ben")
    come_as_member(cleo, code)
    in_room(cleo, "Class")
    tile(ann, "Everyone").click()
    ann.get_by_role("dialog").get_by_label(re.compile("Collect answers")).check()
    choose(ann, payload("exercise.txt", b"1 + 1"))
    with ben.expect_file_chooser() as chooser:
        ben.get_by_role("region", name="Sent to you").get_by_role("button", name="Hand in your answer").click()
        ben.get_by_role("dialog").get_by_role("button", name="Choose files").click()
    chooser.value.set_files(payload("answer.txt", b"2"))
    expect(row(ann, "answer.txt")).to_contain_text("only for you")
    expect(offer(ann, "Ben")).to_contain_text("answer.txt")
    expect(offer(ann, "Ben")).to_contain_text("guest")
    expect(offer(ann, "Ben")).to_contain_text("It is already on your shelf")
    expect(row(cleo, "exercise.txt")).to_be_visible()
    expect(row(cleo, "answer.txt")).to_have_count(0)


def test_an_owner_returns_to_an_open_room_and_a_stranger_finds_the_way_in(ann: Page, ben: Page) -> None:
    code = open_room(ann, "Open house")
    ann.get_by_role("button", name="Leave").click()
    ann.get_by_role("button", name="Return to Open house").click()
    in_room(ann, "Open house")
    ann.goto("/rooms")
    ann.get_by_role("link", name="Open house").click()
    in_room(ann, "Open house")
    ben.goto("/rooms")
    ben.get_by_role("link", name="Continue as a guest").click()
    ben.get_by_label("Name").fill("Ben")
    ben.get_by_role("button", name="Continue").click()
    expect(ben.get_by_role("navigation")).to_have_count(0)  # a guest sees rooms, and nothing of the app around them
    type_code(ben, code)
    in_room(ben, "Open house")


def test_whoever_is_in_a_room_is_asked_before_they_leave_it_for_another(ann: Page, cleo: Page) -> None:
    code = open_room(cleo, "Next door")
    open_room(ann, "At home")
    ann.goto(f"/join/{code}")
    expect(ann.get_by_text("You are in the room At home.")).to_be_visible()
    expect(tile(cleo, "Ann")).to_have_count(0)
    ann.get_by_role("button", name="Join").click()
    in_room(ann, "Next door")
    expect(tile(cleo, "Ann")).to_be_visible()


def test_on_a_phone_a_room_shows_one_thing_at_a_time_and_what_is_new_elsewhere(ann: Page, open_page: OpenPage) -> None:
    code = open_room(ann, "Pocket")
    ben = open_page(may_fail=True, size=PHONE)
    come_as_guest(ben, code, "Ben")
    in_room(ben, "Pocket")
    expect(tile(ben, "Ann")).to_be_visible()
    expect(chat(ben)).to_be_hidden()
    say(ann, "one")
    say(ann, "two")
    expect(tab(ben, "Chat")).to_have_accessible_name("Chat 2 new")
    tab(ben, "Chat").click()
    expect(chat(ben)).to_contain_text("two")
    expect(tab(ben, "Chat")).to_have_accessible_name("Chat")
    expect(tile(ben, "Ann")).to_be_hidden()
    hand_to(ann, "Everyone", payload("a.txt", b"a"))
    expect(offer(ben, "Ann")).to_be_visible()
    expect(tab(ben, "Files")).to_have_accessible_name("Files one new")
    tab(ben, "Files").click()
    expect(row(ben, "a.txt")).to_be_visible()
    assert ben.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_what_was_said_before_stays_where_it_is_read_and_more_of_it_is_fetched(
    ann: Page, open_page: OpenPage, server: ServerProcess
) -> None:
    code = open_room(ann, "Long talk")
    address = f"/api/v1/rooms/{ann.url.rpartition('/')[2]}/chat"
    # Nobody may say so much so fast alone.
    talkers = [guest_over_the_api(server, code, f"Guest {number}") for number in range(3)]
    for count in range(130):
        said = server.client.post(address, json={"text": f"word {count}."}, headers=talkers[count // 50])
        assert said.status_code == 201
    ben = open_page(may_fail=True)
    come_as_guest(ben, code, "Ben")
    expect(chat(ben).get_by_text("word 129.", exact=True)).to_be_in_viewport()
    expect(chat(ben).get_by_text("word 20.", exact=True)).to_have_count(0)
    chat(ben).evaluate("log => log.scrollTo(0, 0)")
    chat(ben).get_by_role("button", name="Show earlier messages").click()
    expect(chat(ben).get_by_text("word 0.", exact=True)).to_have_count(1)
    expect(chat(ben).get_by_text("word 30.", exact=True)).to_be_in_viewport()
    say(ann, "the newest")
    newest = ben.get_by_role("button", name="One new message")
    expect(chat(ben).get_by_text("the newest")).not_to_be_in_viewport()
    newest.click()
    expect(chat(ben).get_by_text("the newest")).to_be_in_viewport()


@pytest.mark.parametrize("dark", [False, True])
def test_the_pages_of_rooms_fit_and_can_be_used_by_everybody(ann: Page, open_page: OpenPage, *, dark: bool) -> None:
    code = open_room(ann, f"Wolfeschlegelsteinhausenbergerdorff {'dark' if dark else 'light'}")
    room = ann.url
    say(ann, f"see https://example.org/{'long' * 60}")
    hand_to(ann, "Everyone", payload(f"{'long' * 40}.txt", b"long"))
    expect(row(ann, "long")).to_be_visible()
    for locale, language in LANGUAGES.items():
        page = open_page(locale=locale, dark=dark, may_fail=True)
        page.goto(f"/join/{code}")
        fits(page, language)
        page.get_by_role("textbox").fill("Wolfeschlegelsteinhausenbergerdorff")
        page.locator("button[type=submit]").click()
        page.wait_for_url(room)
        expect(chat(page)).to_contain_text("example.org")
        fits(page, language)
        page.goto("/rooms")
        fits(page, language)
    tile(ann, "Everyone").click()
    assert complaints_of_axe(ann) == []
    ann.keyboard.press("Escape")
    expect(ann.get_by_role("dialog")).to_have_count(0)
    ann.get_by_role("button", name="Show QR code").click()
    expect(ann.get_by_role("img", name="QR code")).to_be_visible()
    is_true(ann.get_by_role("img", name="QR code"), "image => image.complete && image.naturalWidth > 0")
    assert complaints_of_axe(ann) == []


def fits(page: Page, language: str) -> None:
    expect(page.locator("h1")).to_be_visible()
    page.wait_for_load_state("networkidle")
    for size in (NARROW, DESKTOP):
        page.set_viewport_size(size)
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"], (page.url, language, size)
        if language == "en":
            assert complaints_of_axe(page) == [], (page.url, size)


def open_room(page: Page, name: str, *, knock: bool = False) -> str:
    """The code of a new room."""
    page.goto("/rooms")
    page.get_by_label("Room name").fill(name)
    if knock:
        page.get_by_label(re.compile("Knock first")).check()
    page.get_by_role("button", name="Open room").click()
    in_room(page, name)
    return shown_code(page)


def shown_code(page: Page) -> str:
    told = page.get_by_role("img", name="The code is").get_attribute("aria-label") or ""
    return told.removeprefix("The code is").replace(" ", "")


def in_room(page: Page, name: str) -> None:
    expect(page.get_by_role("heading", level=1, name=name)).to_be_visible()
    expect(page.get_by_role("img", name="The code is")).to_be_visible()


def become_guest(page: Page, name: str) -> None:
    page.goto("/guest?next=/rooms")
    page.get_by_label("Name").fill(name)
    page.get_by_role("button", name="Continue").click()
    page.wait_for_url("**/rooms")


def guest_over_the_api(server: ServerProcess, code: str, name: str) -> dict[str, str]:
    """Somebody who came without a browser: what they show the server."""
    token = server.client.post("/api/v1/guests", json={"name": name}).json()["token"]
    headers = {"authorization": f"Bearer {token}"}
    assert server.client.post("/api/v1/rooms/join", json={"code": code}, headers=headers).status_code == 200
    return headers


def come_as_guest(page: Page, code: str, name: str) -> None:
    page.goto(f"/join/{code}")
    page.get_by_label("Your name").fill(name)
    page.get_by_role("button", name="Join").click()


def come_as_member(page: Page, code: str) -> None:
    """By the link; whoever is in another room would be asked first."""
    here = page.request.get("/api/v1/rooms/current")
    if here.status == 200:
        page.request.post(f"/api/v1/rooms/{here.json()['room_id']}/leave")
    page.goto(f"/join/{code}")


def come_as_guest_by_typing(page: Page, code: str, name: str) -> None:
    become_guest(page, name)
    type_code(page, code)


def type_code(page: Page, code: str) -> None:
    page.get_by_label("Letter 1 of 5").click()
    page.keyboard.type(code)


def say(page: Page, text: str) -> None:
    page.get_by_label("Message", exact=True).fill(text)
    page.get_by_label("Message", exact=True).press("Enter")
    expect(page.get_by_label("Message", exact=True)).to_have_value("")


def chat(page: Page) -> Locator:
    return page.get_by_role("log")


def tile(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=re.compile(rf"\b{name}\b.* send files$"))


def tab(page: Page, name: str) -> Locator:
    return page.get_by_role("group", name="Room sections").get_by_role("button", name=re.compile(f"^{name}"))


def row(page: Page, name: str) -> Locator:
    return page.get_by_role("grid", name="Room files").get_by_role("row").filter(has_text=name)


def offer(page: Page, sender: str) -> Locator:
    return page.get_by_role("region", name="Sent to you").locator(".offer > section").filter(has_text=sender)


def payload(name: str, content: bytes) -> FilePayload:
    return FilePayload(name=name, mimeType="text/plain", buffer=content)


def hand_to(page: Page, name: str, file: FilePayload) -> None:
    tile(page, name).click()
    choose(page, file)


def choose(page: Page, file: FilePayload) -> None:
    with page.expect_file_chooser() as chooser:
        page.get_by_role("dialog").get_by_role("button", name="Choose files").click()
    chooser.value.set_files(file)
    expect(page.get_by_role("dialog")).to_have_count(0)


def take_from_shelf(page: Page, name: str) -> None:
    row(page, name).get_by_role("checkbox").check()
    page.get_by_role("toolbar").get_by_role("button", name="Download").click()


def settings(page: Page, *, lock: bool, knock: bool) -> None:
    page.get_by_role("button", name="Room settings").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label(re.compile("Locked")).set_checked(lock)
    dialog.get_by_label(re.compile("Knock first")).set_checked(knock)
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)


def close_room(page: Page) -> None:
    page.get_by_role("button", name="Room settings").click()
    page.get_by_role("button", name="Close room").click()
    page.get_by_role("button", name="Close for everybody").click()
