"""Hand-overs in a room that do not go straight: put aside, answered later, and left behind by a closed page."""

from pathlib import Path

import pytest
from playwright.sync_api import FilePayload, Locator, Page, expect

from tests.browser.conftest import OpenPage, sign_in, sign_up
from tests.browser.test_rooms import (
    ANN,
    PHONE,
    choose,
    come_as_guest,
    hand_to,
    in_room,
    offer,
    open_room,
    payload,
    row,
    tab,
    tile,
)
from tests.browser.test_uploads import LARGE_BYTES, slow_line, written
from tests.server.process import ServerProcess

pytestmark = [pytest.mark.services, pytest.mark.without_service_worker]


@pytest.fixture(scope="module", autouse=True)
def member(server: ServerProcess) -> None:
    sign_up(server, ANN, "Ann")


@pytest.fixture
def ann(open_page: OpenPage) -> Page:
    page = open_page(may_fail=True)
    sign_in(page, ANN)
    return page


@pytest.fixture
def ben(open_page: OpenPage) -> Page:
    return open_page(may_fail=True, size=PHONE)


@pytest.fixture
def cleo(open_page: OpenPage) -> Page:
    return open_page(may_fail=True)


def test_guests_hand_out_and_hand_in_though_they_came_later_or_closed_the_page(
    ann: Page, ben: Page, cleo: Page
) -> None:
    code = open_room(ann, "Class")
    come_as_guest(ben, code, "Ben")
    in_room(ben, "Class")
    tile(ben, "Everyone").click()
    ben.get_by_label("Collect answers").check()
    expect(ben.get_by_role("dialog")).to_contain_text("Answers stay in this room, and are deleted when it ends.")
    choose(ben, payload("exercise.txt", b"1 + 1"))
    expect(offer(ann, "Ben")).to_contain_text("exercise.txt")
    ann.reload()
    hand_in(ann, payload("anns.txt", b"2"))
    expect(row(ann, "exercise.txt")).to_contain_text("Hand in again")
    expect(offer(ben, "Ann hands in a file")).to_contain_text("anns.txt")

    come_as_guest(cleo, code, "Cleo")
    in_room(cleo, "Class")
    expect(row(cleo, "exercise.txt").get_by_role("button", name="Hand in your answer")).to_be_visible()

    tab(ben, "Files").click()
    row(ben, "exercise.txt").get_by_role("link", name="1 of 1 have handed in").click()
    expect(ben.get_by_role("heading", name="Still missing")).to_be_visible()
    expect(ben.get_by_text("Everybody has handed in.")).to_be_visible()
    ben.go_back()
    hand_in(cleo, payload("cleos.txt", b"two"))
    tab(ben, "Files").click()
    expect(row(ben, "exercise.txt")).to_contain_text("2 of 2 have handed in")


def test_what_a_closed_page_has_left_behind_is_handed_over_with_its_note(ann: Page, cleo: Page, tmp_path: Path) -> None:
    come_as_guest(cleo, open_room(ann, "Band"), "Cleo")
    in_room(cleo, "Band")
    slow_line(ann)
    tile(ann, "Everyone").click()
    ann.get_by_role("button", name="Add a note").click()
    ann.get_by_role("dialog").get_by_role("textbox").fill("Play it slowly")
    with ann.expect_file_chooser() as chooser:
        ann.get_by_role("dialog").get_by_role("button", name="Choose files").click()
    small = tmp_path / "small.txt"
    small.write_text("small")
    chooser.value.set_files([small, written(tmp_path / "large.bin", LARGE_BYTES)])
    expect(row(cleo, "small.txt")).to_be_visible()
    expect(left_behind(ann)).to_have_count(0)

    ann.on("dialog", lambda dialog: dialog.accept())
    ann.reload()
    expect(left_behind(ann)).to_be_visible()
    expect(offer(cleo, "Ann")).to_have_count(0)
    ann.get_by_role("button", name="Send to everyone").click()
    expect(offer(cleo, "Ann")).to_contain_text("Play it slowly")
    expect(left_behind(ann)).to_have_count(0)


def test_the_receipt_beside_a_file_leads_to_who_has_it(ann: Page, cleo: Page) -> None:
    come_as_guest(cleo, open_room(ann, "Choir"), "Cleo")
    in_room(cleo, "Choir")
    hand_to(ann, "Everyone", payload("song.txt", b"la"))
    row(ann, "song.txt").get_by_role("link", name="have it").click()
    expect(ann.get_by_role("heading", level=1, name="To Choir")).to_be_visible()


def hand_in(page: Page, file: FilePayload) -> None:
    with page.expect_file_chooser() as chooser:
        row(page, "exercise.txt").get_by_role("button", name="Hand in your answer").click()
        page.get_by_role("dialog").get_by_role("button", name="Choose files").click()
    chooser.value.set_files(file)


def left_behind(page: Page) -> Locator:
    return page.get_by_role("heading", name="Not sent yet")
