"""What is done with chosen entries in a real browser: downloaded, renamed, ended, deleted and brought back."""

import io
import zipfile
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage, sign_in
from tests.browser.shelf.conftest import EMAIL, Shelf
from tests.browser.shelf.listing import deed, heading_is, row
from tests.browser.test_pages import complaints_of_axe

pytestmark = [pytest.mark.services, pytest.mark.without_service_worker]


def test_what_is_chosen_comes_as_one_archive_and_a_single_file_as_itself(page: Page, shelf: Shelf) -> None:
    here = shelf.folder("Packing")
    shelf.put("Ænø 楽譜.txt", b"music", here)
    shelf.put("left.txt", b"left out", here)
    inner = shelf.folder("inner", here)
    shelf.put("deep.txt", b"deep", inner)
    page.goto(f"/shelf/{here}")
    row(page, "Ænø 楽譜.txt").get_by_role("checkbox").check()
    with page.expect_download() as single:
        deed(page, "Download").click()
    assert single.value.suggested_filename == "Ænø 楽譜.txt"
    row(page, "inner").get_by_role("checkbox").check()
    with page.expect_download() as several:
        deed(page, "Download").click()
    assert several.value.suggested_filename.endswith(".zip")
    with zipfile.ZipFile(io.BytesIO(Path(several.value.path()).read_bytes())) as archive:
        assert archive.testzip() is None
        found = {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}
    assert found == {"Ænø 楽譜.txt": b"music", "inner/deep.txt": b"deep"}


def test_an_entry_is_renamed_and_a_name_that_is_taken_is_told_where_it_is_typed(
    open_page: OpenPage, shelf: Shelf
) -> None:
    here = shelf.folder("Naming")
    shelf.put("draft.txt", b"", here)
    shelf.put("taken.txt", b"", here)
    page = open_page(may_fail=True)
    sign_in(page, EMAIL, at=f"/shelf/{here}")
    row(page, "draft.txt").click(position={"x": 500, "y": 20})
    deed(page, "Rename").click()
    field = page.get_by_role("textbox", name="Name")
    expect(field).to_be_focused()
    assert page.evaluate("document.getSelection().toString()") == "draft"
    field.fill("taken.txt")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("dialog")).to_contain_text("Choose another name.")
    field.fill("final.txt")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(row(page, "final.txt")).to_be_visible()
    assert shelf.names(here) == ["final.txt", "taken.txt"]


def test_a_file_gets_an_end_that_everybody_can_read_and_loses_it_again(page: Page, shelf: Shelf) -> None:
    here = shelf.folder("Ending")
    shelf.put("draft.txt", b"draft", here)
    page.goto(f"/shelf/{here}")
    for choice, left in (("30 days", "30 days left"), ("1 day", "1 day left")):
        page.get_by_role("checkbox", name="Select draft.txt").check()
        page.get_by_role("toolbar").get_by_role("button", name="Expiry").click()
        page.get_by_role("radio", name=choice, exact=True).check()
        page.get_by_role("dialog").get_by_role("button", name="Save").click()
        expect(page.get_by_text(left, exact=True)).to_be_visible()
        page.reload()
    page.get_by_role("checkbox", name="Select draft.txt").check()
    page.get_by_role("toolbar").get_by_role("button", name="Expiry").click()
    page.get_by_role("radio", name="Forever").check()
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(page.get_by_text("1 day left")).to_have_count(0)


def test_what_is_deleted_comes_back_by_a_word_or_from_the_bin_until_it_is_gone_for_good(
    page: Page, shelf: Shelf
) -> None:
    here = shelf.folder("Regrets")
    for name in ("one.txt", "two.txt", "three.txt"):
        shelf.put(name, b"bytes", here)
    page.goto(f"/shelf/{here}")
    row(page, "one.txt").click(position={"x": 500, "y": 20})
    deed(page, "Delete").click()
    expect(row(page, "one.txt")).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(row(page, "one.txt")).to_be_visible()

    row(page, "one.txt").click(position={"x": 500, "y": 20})
    page.keyboard.press("ControlOrMeta+a")
    expect(page.get_by_role("toolbar")).to_contain_text("3 selected")
    deed(page, "Delete").click()
    expect(page.get_by_text("This folder is empty")).to_be_visible()
    page.get_by_role("link", name="Bin").click()
    heading_is(page, "Bin")
    expect(row(page, "two.txt")).to_contain_text("Shelf / Regrets")
    expect(row(page, "two.txt")).to_contain_text("30 days left")
    row(page, "two.txt").click()
    assert complaints_of_axe(page) == []
    deed(page, "Restore").click()
    expect(row(page, "two.txt")).to_have_count(0)
    assert shelf.names(here) == ["two.txt"]

    row(page, "one.txt").click()
    page.keyboard.press("Delete")
    page.get_by_role("dialog").get_by_role("button", name="Delete for good").click()
    expect(row(page, "one.txt")).to_have_count(0)
    page.get_by_role("button", name="Empty the bin").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete for good").click()
    expect(page.get_by_text("The bin is empty")).to_be_visible()
    assert shelf.names(here) == ["two.txt"]
