"""The drop in real browsers: strangers who meet by a spoken code or a link, and hand things over past the server."""

import re
from collections.abc import Generator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, FilePayload, Locator, Page, Route, expect

from tests.browser.conftest import DESKTOP, NARROW, OpenPage, sign_in, sign_up
from tests.browser.test_pages import LANGUAGES, complaints_of_axe
from tests.server.process import ServerProcess
from tests.services import tool

pytestmark = pytest.mark.services

CONTENT = b"what nobody in between can read\n" * 40_000
ELSEWHERE = "satchel.test"


@pytest.fixture(scope="module", autouse=True)
def member(server: ServerProcess) -> None:
    sign_up(server, "ann@example.org", "Ann")


@pytest.fixture
def ann(open_page: OpenPage) -> Page:
    """Who brings something; not signed in."""
    return open_page()


@pytest.fixture
def ben(open_page: OpenPage) -> Page:
    """Who takes it. What he types wrongly is refused, which Chromium logs."""
    return open_page(may_fail=True)


@pytest.mark.first_journey
def test_strangers_hand_a_file_over_by_a_spoken_code_and_nobody_gets_a_cookie(ann: Page, ben: Page) -> None:
    bring(ann, "letter.txt", CONTENT)
    join(ben, spoken_code(ann))
    expect(people(ann)).to_have_count(2)
    assert taken(ben, "letter.txt") == CONTENT
    expect(offer(ben, "letter.txt")).to_contain_text("Received and verified")
    expect(own(ann, "letter.txt")).to_contain_text("Received and verified by")
    assert ann.context.cookies() == []
    assert ben.context.cookies() == []


def test_a_link_lets_in_at_once_and_its_secret_leaves_the_address(ann: Page, ben: Page) -> None:
    bring(ann, "a.txt", b"by link")
    link = copied(ann, "Copy link")
    ben.goto(link)
    assert taken(ben, "a.txt") == b"by link"
    assert ben.url == link.partition("#")[0]
    ben.goto("/drop")
    ben.get_by_role("link", name=re.compile("You are in")).click()
    expect(offer(ben, "a.txt")).to_be_visible()


def test_a_link_can_be_pasted_where_a_code_is_typed(ann: Page, ben: Page) -> None:
    bring(ann, "a.txt", b"by link")
    join(ben, copied(ann, "Copy link"))
    assert taken(ben, "a.txt") == b"by link"


def test_a_code_of_words_is_as_good_as_one_of_digits(ann: Page, ben: Page) -> None:
    bring(ann, "a.txt", b"by words")
    before = spoken_code(ann)
    ann.get_by_role("button", name="Use words").click()
    expect(ann.locator(".spoken .code")).to_have_text(re.compile(r"^\w+-\w+-\w+$"))
    refused(ben, before, "wrong")
    join(ben, spoken_code(ann).replace("-", " ").upper())
    assert taken(ben, "a.txt") == b"by words"


def test_who_comes_while_somebody_else_is_at_the_door_waits_and_comes_in(ann: Page, open_page: OpenPage) -> None:
    bring(ann, "a.txt", b"patience")
    ben, knocks = open_page(may_fail=True, intercepted=True), 0

    def answered(route: Route) -> None:
        nonlocal knocks
        knocks += 1
        if knocks == 1:
            busy = {"type": "/problems#door-busy", "title": "Busy", "status": 409, "detail": "Wait."}
            route.fulfill(status=409, content_type="application/problem+json", json=busy)
        else:
            route.continue_()

    ben.route("**/knocks", answered)
    join(ben, spoken_code(ann))
    assert knocks == 2


def test_the_third_wrong_guess_kills_the_code_and_another_is_shown(ann: Page, ben: Page) -> None:
    bring(ann, "a.txt", b"kept")
    right = spoken_code(ann)
    wrong = right[:-6] + f"{(int(right[-6:]) + 1) % 10**6:06}"
    refused(ben, wrong, "wrong")
    expect(door(ann)).to_contain_text("One wrong code. This code stops working after 2 more")
    refused(ben, wrong, "wrong")
    refused(ben, wrong, "no longer")
    expect(door(ann)).to_contain_text("Somebody entered a wrong code three times")
    assert spoken_code(ann) != right
    refused(ben, right, "wrong")
    join(ben, spoken_code(ann))
    expect(offer(ben, "a.txt")).to_be_visible()


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("hello", "neither a code nor a complete link"),
        ("amber-otter-99", "only the session’s name"),
        ("amber-otter-99-123456", "No session has this name"),
        ("https://elsewhere.example/drop/amber-otter-27#AgAAAAAAAAAAAAAAAAAAAAA", "another server"),
        ("https://elsewhere.example/drop/amber-otter-27#CQAAAAAAAAAAAAAAAAAAAAA", "different versions"),
    ],
)
def test_what_was_typed_wrongly_is_said(ben: Page, typed: str, said: str) -> None:
    refused(ben, typed, said)


def test_while_the_door_is_away_nobody_comes_in_by_a_code_until_somebody_else_shows_one(
    ann: Page, ben: Page, open_page: OpenPage
) -> None:
    cleo = open_page()
    bring(ann, "a.txt", b"kept")
    code = spoken_code(ann)
    join(cleo, code)
    expect(door(cleo)).to_contain_text("shows the code")
    ann.goto("about:blank")
    expect(people(cleo).first).to_contain_text("you")
    expect(people(cleo).last).to_contain_text("away")
    expect(offer(cleo, "a.txt")).to_contain_text("is away")
    offer(cleo, "a.txt").get_by_role("button", name="Receive").click()
    expect(offer(cleo, "a.txt")).to_contain_text("Waiting for")
    refused(ben, code, "Nobody is showing a code")
    cleo.get_by_role("button", name="Show a code here").click()
    join(ben, spoken_code(cleo))
    expect(people(cleo)).to_have_count(3)


def test_a_text_is_shown_where_it_arrives_and_can_be_copied(ann: Page, ben: Page) -> None:
    ann.goto("/drop")
    ann.get_by_role("button", name="Write a text").click()
    ann.get_by_role("dialog").get_by_role("textbox").fill("The word is\n  “saddle”.")
    ann.get_by_role("dialog").get_by_role("button", name="Send", exact=True).click()
    in_session(ann)
    join(ben, spoken_code(ann))
    row = offer(ben, "The word is")
    row.get_by_role("button", name="Show").click()
    expect(row).to_contain_text("“saddle”")
    ben.context.grant_permissions(["clipboard-read", "clipboard-write"])
    row.get_by_role("button", name="Copy").click()
    expect(row.get_by_role("button", name="Copied")).to_be_visible()
    assert ben.evaluate("navigator.clipboard.readText()") == "The word is\n  “saddle”."


def test_both_sides_bring_something_and_all_of_it_is_taken_at_once(ann: Page, ben: Page) -> None:
    bring(ann, "one.txt", b"1")
    add(ann, "two.txt", b"2")
    join(ben, spoken_code(ann))
    add(ben, "three.txt", b"3")
    assert taken(ann, "three.txt") == b"3"
    downloads: list[str] = []
    ben.on("download", lambda download: downloads.append(download.suggested_filename))
    ben.get_by_role("button", name="Receive all 2").click()
    for name in ("one.txt", "two.txt"):
        expect(offer(ben, name)).to_contain_text("Received and verified")
    assert sorted(downloads) == ["one.txt", "two.txt"]


def test_a_folder_arrives_as_an_archive(ann: Page, ben: Page, tmp_path: Path) -> None:
    (tmp_path / "songs" / "deep").mkdir(parents=True)
    (tmp_path / "songs" / "deep" / "a.txt").write_bytes(b"inside")
    ann.goto("/drop")
    with ann.expect_file_chooser() as chooser:
        ann.get_by_role("button", name="Choose a folder").click()
    chooser.value.set_files(tmp_path / "songs")
    in_session(ann)
    expect(own(ann, "songs")).to_contain_text("1 file")
    join(ben, spoken_code(ann))
    archive = taken(ben, "songs")
    assert archive.startswith(b"PK")
    assert b"songs/deep/a.txt" in archive
    assert b"inside" in archive


def test_many_things_stand_in_the_order_of_their_names_and_a_text_waits_for_none(ann: Page, ben: Page) -> None:
    names = [f"{number}.txt" for number in range(1, 151)]
    ann.goto("/drop")
    ann.locator("input[type=file]").first.set_input_files([payload(name, b"x") for name in reversed(names)])
    in_session(ann)
    join(ben, spoken_code(ann))
    offers = ben.locator(".offer .name")
    expect(offers).to_have_text(names)
    ben.get_by_role("button", name="Receive all").click()
    ann.get_by_role("button", name="Write a text").click()
    ann.get_by_role("dialog").get_by_role("textbox").fill("~ quick\nwords")
    ann.get_by_role("button", name="Send", exact=True).click()
    offer(ben, "~ quick").get_by_role("button", name="Show").click()
    expect(offer(ben, "~ quick")).to_contain_text("words")
    expect(ben.get_by_text("Queued").first).to_be_visible()


def test_what_is_withdrawn_is_gone_for_everybody(ann: Page, ben: Page) -> None:
    bring(ann, "a.txt", b"no")
    join(ben, spoken_code(ann))
    expect(offer(ben, "a.txt")).to_be_visible()
    ann.get_by_role("button", name="Withdraw a.txt").click()
    expect(own(ann, "a.txt")).to_have_count(0)
    expect(offer(ben, "a.txt")).to_have_count(0)


def test_a_reload_brings_one_back_without_what_the_browser_has_lost(ann: Page, ben: Page) -> None:
    bring(ann, "a.txt", b"lost")
    code = spoken_code(ann)
    join(ben, code)
    expect(offer(ben, "a.txt")).to_be_visible()
    ann.reload()
    in_session(ann)
    assert spoken_code(ann) == code
    expect(people(ann)).to_have_count(2)
    expect(offer(ben, "a.txt")).to_have_count(0)
    add(ann, "b.txt", b"again")
    assert taken(ben, "b.txt") == b"again"


def test_a_duplicated_tab_is_a_member_of_its_own_and_leaves_the_first_alone(ann: Page) -> None:
    bring(ann, "a.txt", b"still here")
    with ann.expect_popup() as popup:
        ann.evaluate("void window.open(location.href)")
    copy = popup.value
    in_session(copy)
    expect(people(ann)).to_have_count(2)
    assert taken(copy, "a.txt") == b"still here"


def test_a_session_goes_on_while_its_owner_looks_at_other_pages(open_page: OpenPage, ben: Page) -> None:
    ann = open_page()
    sign_in(ann, "ann@example.org")
    ann.get_by_role("navigation").get_by_role("link", name="Drop").click()
    bring(ann, "a.txt", b"meanwhile", here=True)
    join(ben, spoken_code(ann))
    expect(ben.get_by_role("list", name="Who is here")).to_contain_text("Ann")
    ann.get_by_role("navigation").get_by_role("link", name="Shelf").click()
    ann.wait_for_url("**/shelf")
    assert taken(ben, "a.txt") == b"meanwhile"
    ann.get_by_role("navigation").get_by_role("link", name="Drop").click()
    ann.get_by_role("link", name=re.compile("You are in")).click()
    expect(own(ann, "a.txt")).to_contain_text("Received and verified by")


def test_the_line_breaks_and_what_is_offered_can_be_taken_afterwards(ann: Page, open_page: OpenPage) -> None:
    ben = open_page(may_fail=True)
    bring(ann, "a.txt", CONTENT)
    join(ben, spoken_code(ann))
    expect(offer(ben, "a.txt")).to_be_visible()
    ben.context.set_offline(True)
    expect(ben.get_by_text("Connection lost.")).to_be_visible()
    ben.context.set_offline(False)
    expect(ben.get_by_text("Connection lost.")).to_have_count(0)
    assert taken(ben, "a.txt") == CONTENT


def test_who_opened_a_session_closes_it_for_everybody(ann: Page, ben: Page) -> None:
    bring(ann, "a.txt", b"over")
    join(ben, spoken_code(ann))
    ann.get_by_role("button", name="Close", exact=True).click()
    ann.get_by_role("button", name="Close for everybody").click()
    ann.wait_for_url("**/drop")
    expect(ben.get_by_role("heading", level=1, name="This session has ended")).to_be_visible()
    ben.reload()
    expect(ben.get_by_role("heading", name="Receive something")).to_be_visible()


def test_who_leaves_is_gone_for_the_others(ann: Page, ben: Page) -> None:
    bring(ann, "a.txt", b"here")
    join(ben, spoken_code(ann))
    expect(people(ann)).to_have_count(2)
    ben.get_by_role("button", name="Leave").click()
    ben.get_by_role("dialog").get_by_role("button", name="Leave").click()
    ben.wait_for_url("**/drop")
    expect(people(ann)).to_have_count(1)


def test_who_is_removed_comes_back_only_when_the_host_unlocks(ann: Page, ben: Page) -> None:
    bring(ann, "a.txt", b"here")
    link = copied(ann, "Copy link")
    ben.goto(link)
    expect(people(ann)).to_have_count(2)
    ann.get_by_role("button", name=re.compile("^Remove ")).click()
    ann.get_by_role("dialog").get_by_role("button", name="Remove", exact=True).click()
    expect(ben.get_by_role("heading", level=1, name="You were removed from this session")).to_be_visible()
    ben.goto(link)
    expect(ben.get_by_text("The host lets nobody else join this session.")).to_be_visible()
    expect(people(ann)).to_have_count(1)
    ann.get_by_role("button", name="Let people join again").click()
    expect(ann.get_by_role("button", name="Copy link")).to_be_visible()
    ben.goto("/drop")
    ben.goto(link)
    expect(people(ann)).to_have_count(2)


@pytest.fixture
def elsewhere(chromium: Browser, server: ServerProcess) -> Generator[Page]:
    """A browser on another machine, for which the server is a plain http address and no loopback."""
    browser = chromium.browser_type.launch(
        executable_path=tool("chromium"),
        args=["--no-sandbox", f"--host-resolver-rules=MAP {ELSEWHERE} 127.0.0.1"],
    )
    yield browser.new_page(base_url=server.url.replace("127.0.0.1", ELSEWHERE))
    browser.close()


@pytest.mark.parametrize("path", ["/drop", "/drop/amber-otter-27#AgAAAAAAAAAAAAAAAAAAAAA"])
def test_over_plain_http_it_is_said_why_nothing_can_be_sealed_and_what_to_do(elsewhere: Page, path: str) -> None:
    elsewhere.goto(path)
    note = elsewhere.get_by_role("alert")
    expect(note).to_contain_text("cannot encrypt here")
    expect(note).to_contain_text("https://")
    expect(note).to_contain_text("satchel send")
    expect(elsewhere.get_by_role("button", name="Choose files")).to_have_count(0)


def test_what_the_server_sees_is_said_before_anything_is_handed_over(ann: Page) -> None:
    ann.goto("/drop")
    expect(ann.get_by_text("The server cannot see")).to_be_visible()
    expect(ann.get_by_text("this page itself comes from the server")).to_be_visible()


@pytest.mark.parametrize("locale", LANGUAGES)
@pytest.mark.parametrize("dark", [False, True])
def test_every_page_of_the_drop_fits_and_can_be_used_by_everybody(
    open_page: OpenPage, locale: str, *, dark: bool
) -> None:
    ann, ben = open_page(locale=locale, dark=dark), open_page(locale=locale, dark=dark)
    ann.goto("/drop")
    expect(ann.locator("form input")).to_be_visible()
    fits(ann, locale)
    ann.locator("input[type=file]").first.set_input_files([payload("a" * 90 + ".txt", b"x"), payload("b.txt", b"y")])
    in_session(ann)
    ben.goto("/drop")
    ben.locator("form input").fill(spoken_code(ann))
    ben.locator("form button").click()
    in_session(ben)
    ben.locator(".offer button").first.click()
    expect(ann.locator(".own .done")).to_be_visible()
    ann.locator("[aria-expanded=false]").first.click()
    fits(ann, locale)
    fits(ben, locale)


def fits(page: Page, locale: str) -> None:
    for size in (NARROW, DESKTOP):
        page.set_viewport_size(size)
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"], (page.url, locale, size)
        # What axe judges is the same in every language; colours and widths are not.
        if LANGUAGES[locale] == "en":
            assert complaints_of_axe(page) == [], (page.url, size)


def bring(page: Page, name: str, content: bytes, *, here: bool = False) -> None:
    """Open a session by handing something over."""
    if not here:
        page.goto("/drop")
    add(page, name, content)
    in_session(page)


def add(page: Page, name: str, content: bytes) -> None:
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Choose files").click()
    chooser.value.set_files(payload(name, content))
    expect(own(page, name)).to_be_visible()


def payload(name: str, content: bytes) -> FilePayload:
    return FilePayload(name=name, mimeType="text/plain", buffer=content)


def in_session(page: Page) -> None:
    expect(page.locator("h1")).to_have_text(re.compile(r"^[a-z]+-[a-z]+-\d+$"))
    expect(page.locator(".session")).to_be_visible()


def spoken_code(page: Page) -> str:
    name, code = page.locator(".spoken .name").inner_text(), page.locator(".spoken .code").inner_text()
    return f"{name}-{code.replace(' ', '')}"


def join(page: Page, code_or_link: str) -> None:
    page.goto("/drop")
    page.get_by_label("Code or link").fill(code_or_link)
    page.get_by_role("button", name="Join").click()
    in_session(page)


def refused(page: Page, code_or_link: str, said: str) -> None:
    page.goto("/drop")
    page.get_by_label("Code or link").fill(code_or_link)
    page.get_by_role("button", name="Join").click()
    expect(page.get_by_text(re.compile(said))).to_be_visible()


def copied(page: Page, button: str) -> str:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name=button).click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    return page.evaluate("navigator.clipboard.readText()")


def taken(page: Page, name: str) -> bytes:
    with page.expect_download() as download:
        offer(page, name).get_by_role("button", name="Receive").click()
    return Path(download.value.path()).read_bytes()


def offer(page: Page, name: str) -> Locator:
    return page.get_by_role("list", name="For you").get_by_role("listitem").filter(has_text=name)


def own(page: Page, name: str) -> Locator:
    return page.get_by_role("list", name="From you").locator("> li").filter(has_text=name)


def people(page: Page) -> Locator:
    return page.get_by_role("list", name="Who is here").get_by_role("listitem")


def door(page: Page) -> Locator:
    return page.get_by_role("region", name="Invite somebody")
