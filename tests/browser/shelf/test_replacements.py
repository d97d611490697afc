"""Files that are on the shelf already, in a real browser: skipped, replaced, kept beside, and brought back."""

from pathlib import Path

import pytest
from playwright.sync_api import FilePayload, Page, expect

from tests.browser.shelf.conftest import Shelf
from tests.browser.shelf.listing import deed, heading_is, row

pytestmark = [pytest.mark.services, pytest.mark.without_service_worker]


def test_what_is_there_already_is_asked_about_once_and_can_be_brought_back(page: Page, shelf: Shelf) -> None:
    here = shelf.folder("Again")
    for name in ("same.txt", "a.txt", "b.txt"):
        shelf.put(name, f"first {name}".encode(), here)
    page.goto(f"/shelf/{here}")
    heading_is(page, "Again")
    choose(page, {"same.txt": b"first same.txt", "a.txt": b"second", "b.txt": b"other b.txt", "new.txt": b"new"})
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("2 files are on your shelf already")
    dialog.get_by_role("button", name="Continue").click()
    expect(page.get_by_text("with the same contents. It was skipped.")).to_be_visible()
    expect(page.get_by_role("region", name="Uploads")).to_contain_text("3 files uploaded")
    assert shelf.names(here) == ["a.txt", "b.txt", "new.txt", "same.txt"]
    row(page, "a.txt").get_by_role("checkbox").check()
    deed(page, "Versions").click()
    expect(dialog).to_contain_text("Versions of a.txt")
    with page.expect_download() as got:
        dialog.get_by_role("button", name="Download the version").click()
    assert Path(got.value.path()).read_bytes() == b"first a.txt"
    dialog.get_by_role("button", name="Restore the version").click()
    expect(page.get_by_text("Restored. What was there before is a version now.")).to_be_visible()
    expect(row(page, "a.txt")).to_contain_text("11 ")
    (version,) = shelf.versions(row_id(page, "a.txt"))
    assert version["size_bytes"] == len(b"second")


def test_both_are_kept_or_one_is_skipped_and_a_change_meanwhile_is_said(page: Page, shelf: Shelf) -> None:
    here = shelf.folder("Beside")
    file_id = shelf.put("a.txt", b"first", here)
    page.goto(f"/shelf/{here}")
    heading_is(page, "Beside")
    dialog = page.get_by_role("dialog")
    for choice, names in (("Skip", ["a.txt"]), ("Keep both", ["a (1).txt", "a.txt"])):
        choose(page, {"a.txt": b"second, longer"})
        dialog.get_by_role("radio", name=choice).check()
        dialog.get_by_role("button", name="Continue").click()
        expect(dialog).to_have_count(0)
        expect(page.get_by_role("main").get_by_role("row")).to_have_count(len(names))
        assert shelf.names(here) == names
    choose(page, {"a.txt": b"third"})
    expect(dialog).to_contain_text("This file is on your shelf already")
    shelf.put("a.txt", b"meanwhile", here, replaces=(file_id, b"first"))
    dialog.get_by_role("button", name="Continue").click()
    expect(page.get_by_text("a.txt was changed on your shelf meanwhile. Both are kept.")).to_be_visible()
    assert shelf.names(here) == ["a (1).txt", "a (2).txt", "a.txt"]


def choose(page: Page, files: dict[str, bytes]) -> None:
    payloads = [FilePayload(name=name, mimeType="text/plain", buffer=content) for name, content in files.items()]
    page.locator("input[type=file]").first.set_input_files(payloads)


def row_id(page: Page, name: str) -> str:
    link = row(page, name).get_by_role("link", name=name).get_attribute("href") or ""
    return link.rpartition("view=")[2]
