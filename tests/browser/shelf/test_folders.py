"""Folders in a real browser: opened, filled, and things moved between them by dialog and by dragging."""

from pathlib import Path

import pytest
from playwright.sync_api import FilePayload, Locator, Page, expect

from tests.browser.shelf.conftest import Shelf
from tests.browser.shelf.listing import deed, heading_is, open_entry, row, rows
from tests.browser.test_pages import complaints_of_axe

pytestmark = [pytest.mark.services, pytest.mark.without_service_worker]

# A folder with a file and an empty folder. Scripts can make no drop of folders, so this looks like one.
DROP_FOLDERS = """() => {
  const entry = (fullPath, entries) => ({
    fullPath,
    isDirectory: entries !== undefined,
    createReader: () => ({ readEntries: (found) => found(entries.splice(0)) }),
    file: (found) => found(new File(['inside'], fullPath.split('/').at(-1))),
  });
  const trip = entry('/trip', [entry('/trip/a.txt'), entry('/trip/ページ .', [])]);
  const items = [{ kind: 'file', webkitGetAsEntry: () => trip, getAsFile: () => null }];
  const drop = new DragEvent('drop', { bubbles: true, cancelable: true });
  Object.defineProperty(drop, 'dataTransfer', { value: { types: ['Files'], items } });
  document.body.dispatchEvent(drop);
}"""
DROP_ON = """(row, name) => {
  const transfer = new DataTransfer();
  transfer.items.add(new File([`inside ${name}`], name));
  for (const kind of ['dragenter', 'dragover', 'drop'])
    row.dispatchEvent(new DragEvent(kind, { dataTransfer: transfer, bubbles: true, cancelable: true }));
}"""


def test_folders_have_addresses_and_the_back_button_leads_out_of_them(page: Page) -> None:
    page.goto("/shelf")
    make_folder(page, "Journeys")
    open_entry(page, "Journeys")
    heading_is(page, "Journeys")
    expect(page.get_by_text("This folder is empty")).to_be_visible()
    make_folder(page, "2026 夏")
    open_entry(page, "2026 夏")
    heading_is(page, "2026 夏")
    page.reload()
    heading_is(page, "2026 夏")
    way = page.get_by_role("navigation", name="Location")
    expect(way.get_by_role("link")).to_have_text(["Shelf", "Journeys"])
    page.go_back()
    heading_is(page, "Journeys")
    page.go_back()
    heading_is(page, "Shelf")
    page.go_forward()
    expect(row(page, "2026 夏")).to_be_visible()
    way.get_by_role("link", name="Shelf").click()
    heading_is(page, "Shelf")


def test_files_come_into_the_open_folder_and_onto_the_one_that_they_are_dropped_on(page: Page, shelf: Shelf) -> None:
    outer = shelf.folder("Outer")
    inner = shelf.folder("Inner", outer)
    page.goto(f"/shelf/{outer}")
    choose_files(page, "chosen.txt", b"chosen")
    expect(row(page, "chosen.txt")).to_be_visible()
    row(page, "Inner").evaluate(DROP_ON, "dropped.txt")
    open_entry(page, "Inner")
    expect(row(page, "dropped.txt")).to_be_visible()
    assert shelf.names(outer) == ["Inner", "chosen.txt"]
    assert shelf.names(inner) == ["dropped.txt"]


def test_empty_folders_that_are_dropped_stand_on_the_shelf(page: Page, shelf: Shelf) -> None:
    page.goto(f"/shelf/{shelf.folder('Gaps')}")
    heading_is(page, "Gaps")
    page.evaluate(DROP_FOLDERS)
    open_entry(page, "trip")
    expect(row(page, "ページ .")).to_be_visible()
    expect(row(page, "a.txt")).to_be_visible()


def test_a_folder_that_is_uploaded_keeps_what_is_in_it(page: Page, shelf: Shelf, tmp_path: Path) -> None:
    target = shelf.folder("Target")
    for path in ("album/one.txt", "album/deep/two.txt", "album/deep/three.txt"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(path)
    page.goto(f"/shelf/{target}")
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Upload folder").click()
    chooser.value.set_files(tmp_path / "album")
    open_entry(page, "album")
    expect(row(page, "one.txt")).to_be_visible()
    open_entry(page, "deep")
    expect(rows(page)).to_have_count(2)


def test_entries_are_moved_by_the_dialog_and_that_is_taken_back(page: Page, shelf: Shelf) -> None:
    here = shelf.folder("Moving house")
    attic = shelf.folder("attic", shelf.folder("new house", here))
    for name in ("chair.txt", "table.txt"):
        shelf.put(name, b"", here)
    page.goto(f"/shelf/{here}")
    row(page, "chair.txt").get_by_role("checkbox").check()
    row(page, "table.txt").get_by_role("checkbox").check()
    deed(page, "Move").click()
    tree = page.get_by_role("tree", name="Folders")
    expect(tree.get_by_role("treeitem", name="Shelf")).to_be_focused()
    expect(page.get_by_role("button", name="Move here")).to_be_enabled()
    unfolded(tree, "Moving house").press("ArrowRight")
    unfolded(tree, "new house").press("ArrowRight")
    tree.get_by_role("treeitem", name="attic").click()
    assert complaints_of_axe(page) == []
    page.get_by_role("button", name="Move here").click()
    expect(rows(page)).to_have_count(1)
    assert shelf.names(attic) == ["chair.txt", "table.txt"]
    expect(page.get_by_text("2 items moved to attic.")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(rows(page)).to_have_count(3)
    assert shelf.names(attic) == []


def test_a_folder_is_not_offered_as_a_place_for_itself(page: Page, shelf: Shelf) -> None:
    here = shelf.folder("Round")
    shelf.folder("snake", here)
    page.goto(f"/shelf/{here}")
    row(page, "snake").click()
    deed(page, "Move").click()
    tree = page.get_by_role("tree", name="Folders")
    unfolded(tree, "Round").press("ArrowRight")
    expect(tree.get_by_role("treeitem", name="Round")).to_have_attribute("aria-expanded", "true")
    expect(page.get_by_role("button", name="Move here")).to_be_disabled()
    expect(tree.get_by_role("treeitem", name="snake")).to_have_count(0)


def test_entries_are_dragged_onto_a_folder_and_up_again(page: Page, shelf: Shelf) -> None:
    here = shelf.folder("Dragging")
    box = shelf.folder("box", here)
    for name in ("a.txt", "b.txt", "c.txt"):
        shelf.put(name, b"", here)
    page.goto(f"/shelf/{here}")
    row(page, "a.txt").click(position={"x": 500, "y": 20})
    row(page, "b.txt").click(modifiers=["ControlOrMeta"], position={"x": 500, "y": 20})
    row(page, "a.txt").drag_to(row(page, "box"))
    expect(rows(page)).to_have_count(2)
    assert shelf.names(box) == ["a.txt", "b.txt"]
    open_entry(page, "box")
    row(page, "b.txt").drag_to(page.get_by_role("link", name="Dragging"))
    expect(rows(page)).to_have_count(1)
    assert shelf.names(here) == ["box", "b.txt", "c.txt"]


def make_folder(page: Page, name: str) -> None:
    page.get_by_role("button", name="New folder").click()
    page.get_by_role("textbox", name="Name").fill(name)
    page.get_by_role("button", name="Create folder").click()
    expect(page.get_by_role("dialog")).to_have_count(0)


def choose_files(page: Page, name: str, content: bytes) -> None:
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Upload files").click()
    chooser.value.set_files(FilePayload(name=name, mimeType="", buffer=content))


def unfolded(tree: Locator, name: str) -> Locator:
    """A folder of the tree on which the keyboard is."""
    branch = tree.get_by_role("treeitem", name=name)
    branch.click()
    return branch
