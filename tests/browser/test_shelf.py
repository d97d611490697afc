"""The shelf in a real browser: folders, choosing, moving, archives, the bin, searching and looking, by every means."""

import base64
import io
import math
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import FilePayload, Locator, Page, expect

from tests.browser.conftest import DESKTOP, NARROW, OpenPage, access_cookie, let_the_session_run_out, sign_in, sign_up
from tests.browser.test_pages import complaints_of_axe
from tests.server.process import ServerProcess

pytestmark = pytest.mark.services

EMAIL = "ann@example.org"
DROP_ON = """(row, name) => {
  const transfer = new DataTransfer();
  transfer.items.add(new File([`inside ${name}`], name));
  for (const kind of ['dragenter', 'dragover', 'drop'])
    row.dispatchEvent(new DragEvent(kind, { dataTransfer: transfer, bubbles: true, cancelable: true }));
}"""
TOUCH = """(row, kind) => row.dispatchEvent(
  new PointerEvent(kind, { pointerType: 'touch', clientX: 9, clientY: 9, bubbles: true }))"""
# A film of a few moments, made by the browser that shall show it.
FILM = """async () => {
  const canvas = document.createElement('canvas');
  const paint = setInterval(() => canvas.getContext('2d').fillRect(0, 0, Math.random() * 90, 90), 30);
  const recorder = new MediaRecorder(canvas.captureStream(30), { mimeType: 'video/webm;codecs=vp8' });
  const parts = [];
  recorder.ondataavailable = ({ data }) => parts.push(data);
  const stopped = new Promise((resolve) => (recorder.onstop = resolve));
  recorder.start(100);
  await new Promise((resolve) => recorder.addEventListener('dataavailable', resolve, { once: true }));
  recorder.stop();
  await stopped;
  clearInterval(paint);
  const bytes = new Uint8Array(await new Blob(parts).arrayBuffer());
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
}"""


class Shelf:
    """What Ann has on her shelf, put there over the API."""

    def __init__(self, server: ServerProcess) -> None:
        self.client = server.client
        self.headers = sign_up(server, EMAIL, "Ann")

    def folder(self, name: str, within: str = "root") -> str:
        body = {"name": name, "folder_id": within}
        made = self.client.post("/api/v1/shelf/folders", headers=self.headers, json=body)
        assert made.status_code == 201, made.text
        return made.json()["id"]

    def put(self, name: str, content: bytes, folder: str, content_type: str = "") -> str:
        said = {"destination": "shelf", "folder": folder, "filename": name, "filetype": content_type}
        metadata = ",".join(
            f"{key} {base64.b64encode(value.encode()).decode()}" for key, value in said.items() if value
        )
        headers = {
            **self.headers,
            "tus-resumable": "1.0.0",
            "upload-length": str(len(content)),
            "upload-metadata": metadata,
            "content-type": "application/offset+octet-stream",
        }
        made = self.client.post("/api/v1/uploads", headers=headers, content=content)
        assert made.status_code == 201, made.text
        return made.headers["location"].rpartition("/")[2]

    def names(self, folder: str) -> list[str]:
        query = {"folder": folder, "limit": 1000}
        answer = self.client.get("/api/v1/shelf/entries", headers=self.headers, params=query)
        return [entry["name"] for entry in answer.json()["entries"]]


@pytest.fixture(scope="module")
def shelf(server: ServerProcess) -> Shelf:
    return Shelf(server)


@pytest.fixture
def page(open_page: OpenPage, shelf: Shelf) -> Page:
    opened = open_page()
    sign_in(opened, EMAIL)
    return opened


def test_folders_have_addresses_and_the_back_button_leads_out_of_them(page: Page) -> None:
    make_folder(page, "Journeys")
    open_entry(page, "Journeys")
    heading_is(page, "Journeys")
    expect(page.get_by_text("This folder is empty")).to_be_visible()
    make_folder(page, "2026 夏")
    open_entry(page, "2026 夏")
    heading_is(page, "2026 夏")
    page.reload()
    heading_is(page, "2026 夏")
    way = page.get_by_role("navigation", name="Where this is")
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
    expect(page.get_by_role("region", name="Uploads")).to_contain_text("dropped.txt")
    expect(row(page, "dropped.txt")).to_have_count(0)
    open_entry(page, "Inner")
    expect(row(page, "dropped.txt")).to_be_visible()
    assert shelf.names(outer) == ["Inner", "chosen.txt"]
    assert shelf.names(inner) == ["dropped.txt"]


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
    expect(page.get_by_text("2 entries are moved to attic.")).to_be_visible()
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
    sign_in(page, EMAIL)
    page.goto(f"/shelf/{here}")
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
    page.get_by_role("radio", name="For good").check()
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
    deed(page, "Bring back").click()
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


def test_searching_finds_while_one_types_and_leads_to_where_it_is(page: Page, shelf: Shelf) -> None:
    here = shelf.folder("Recipes")
    deep = shelf.folder("cakes", here)
    shelf.put("Crème brûlée, Grandma's.txt", b"", deep)
    page.goto(f"/shelf/{here}")
    expect(row(page, "cakes")).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type("grandma creme")
    expect(row(page, "Crème brûlée")).to_contain_text("Shelf / Recipes / cakes")
    heading_is(page, "Recipes")
    page.reload()
    expect(row(page, "Crème brûlée")).to_be_visible()
    row(page, "Crème brûlée").click()
    deed(page, "Show in folder").click()
    heading_is(page, "cakes")
    page.go_back()
    expect(row(page, "Crème brûlée")).to_be_visible()
    search = page.get_by_role("textbox", name="Search the shelf")
    search.fill("no such thing")
    expect(page.get_by_text("Nothing is called “no such thing”")).to_be_visible()
    search.press("Escape")
    expect(row(page, "cakes")).to_be_visible()


def test_files_are_looked_at_and_their_neighbours_by_arrow_keys(page: Page, shelf: Shelf) -> None:
    here = shelf.folder("Looking")
    shelf.put("1 picture.png", picture(), here, "image/png")
    shelf.put("2 sound.wav", sound(), here, "audio/wav")
    shelf.put("3 film.webm", base64.b64decode(page.evaluate(FILM)), here, "video/webm")
    shelf.put("4 text.txt", "<script>alert('harmless')</script> 楽譜".encode(), here, "text/plain")
    shelf.put("5 unknown.bin", b"\0\1\2", here)
    page.goto(f"/shelf/{here}")
    open_entry(page, "1 picture.png")
    viewer = page.get_by_role("dialog")
    expect(viewer.get_by_role("heading")).to_have_text("1 picture.png")
    expect(viewer).to_contain_text("1 of 5")
    is_true(viewer.get_by_role("img", name="1 picture.png"), "each => each.naturalWidth === 20")
    page.keyboard.press("ArrowRight")
    is_true(viewer.locator("audio"), "each => each.duration === 1")
    assert complaints_of_axe(page) == []
    page.keyboard.press("ArrowRight")
    is_true(viewer.locator("video"), "each => each.videoWidth > 0")
    page.keyboard.press("ArrowRight")
    expect(viewer.locator("pre")).to_have_text("<script>alert('harmless')</script> 楽譜")
    assert complaints_of_axe(page) == []
    page.keyboard.press("ArrowRight")
    expect(viewer).to_contain_text("There is no preview for this kind of file.")
    with page.expect_download() as download:
        viewer.get_by_role("button", name="Download", exact=True).click()
    assert download.value.suggested_filename == "5 unknown.bin"
    viewer.get_by_role("button", name="Previous file").click()
    page.reload()
    expect(viewer.get_by_role("heading")).to_have_text("4 text.txt")
    page.keyboard.press("Escape")
    expect(viewer).to_have_count(0)
    expect(row(page, "4 text.txt")).to_be_focused()
    open_entry(page, "1 picture.png")
    expect(viewer).to_be_visible()
    page.go_back()
    expect(viewer).to_have_count(0)
    heading_is(page, "Looking")


def test_a_file_can_be_looked_at_after_the_session_has_run_out(open_page: OpenPage, shelf: Shelf, data: Path) -> None:
    shelf.put("tone.wav", sound(), "root", "audio/wav")
    page = open_page(may_fail=True)
    sign_in(page, EMAIL)
    expect(row(page, "tone.wav")).to_be_visible()
    stale = let_the_session_run_out(page, data)
    with page.expect_response("**/preview") as refused:
        open_entry(page, "tone.wav")
    assert refused.value.status == 401
    expect(page.get_by_role("dialog").locator("audio")).to_be_visible()
    page.wait_for_function("() => document.querySelector('audio')?.duration === 1")
    assert access_cookie(page) != stale


def test_a_pdf_is_looked_at_in_the_browsers_own_viewer(page: Page, shelf: Shelf) -> None:
    here = shelf.folder("Reading")
    shelf.put("programme.pdf", pdf(), here, "application/pdf")
    page.goto(f"/shelf/{here}")
    with page.expect_response("**/preview") as shown:
        open_entry(page, "programme.pdf")
    assert shown.value.headers["content-type"] == "application/pdf"
    expect(page.get_by_role("dialog").locator("iframe")).to_have_attribute("title", "programme.pdf")


def test_everything_can_be_done_by_keyboard(page: Page, shelf: Shelf) -> None:
    here = shelf.folder("Keys")
    for name in ("a.txt", "b.txt", "c.txt", "d.txt"):
        shelf.put(name, b"text", here, "text/plain")
    page.goto(f"/shelf/{here}")
    page.get_by_role("textbox", name="Search the shelf").press("ArrowDown")
    expect(row(page, "a.txt")).to_be_focused()
    page.keyboard.press("Shift+ArrowDown")
    page.keyboard.press("Shift+ArrowDown")
    are_chosen(page, "a.txt", "b.txt", "c.txt")
    page.keyboard.press("Space")
    are_chosen(page, "a.txt", "b.txt")
    page.keyboard.press("Escape")
    are_chosen(page)
    page.keyboard.press("ControlOrMeta+a")
    are_chosen(page, "a.txt", "b.txt", "c.txt", "d.txt")
    page.keyboard.press("Escape")
    page.keyboard.press("End")
    page.keyboard.press("F2")
    page.get_by_role("textbox", name="Name").fill("renamed.txt")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(row(page, "renamed.txt")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog").locator("pre")).to_have_text("text")
    page.keyboard.press("Escape")
    expect(row(page, "renamed.txt")).to_be_focused()
    page.keyboard.press("Home")
    page.keyboard.press("Delete")
    expect(row(page, "b.txt")).to_be_focused()
    assert shelf.names(here) == ["b.txt", "c.txt", "renamed.txt"]
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Bin")).to_be_focused()


def test_tiles_and_order_are_remembered_and_arrows_go_in_four_directions(page: Page, shelf: Shelf) -> None:
    here = shelf.folder("Tiles")
    for number in range(9):
        shelf.put(f"{number}.png", picture(), here, "image/png")
    page.goto(f"/shelf/{here}")
    page.get_by_role("button", name="Show as tiles").click()
    page.get_by_role("button", name="By name").click()
    expect(rows(page).first).to_contain_text("8.png")
    page.reload()
    expect(rows(page).first).to_contain_text("8.png")
    is_true(row(page, "8.png").locator("img"), "each => each.naturalWidth === 20")
    page.get_by_role("textbox", name="Search the shelf").press("ArrowDown")
    page.keyboard.press("ArrowRight")
    expect(row(page, "7.png")).to_be_focused()
    page.keyboard.press("ArrowDown")
    below = page.evaluate("document.activeElement.getBoundingClientRect()")
    above = row(page, "7.png").bounding_box()
    assert above is not None
    assert math.isclose(below["x"], above["x"], abs_tol=1)
    assert below["y"] > above["y"]
    for size in (NARROW, DESKTOP):
        page.set_viewport_size(size)
        assert complaints_of_axe(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_long_folder_loads_while_one_goes_down_and_can_be_chosen_whole(page: Page, shelf: Shelf) -> None:
    here = shelf.folder("Long")
    for number in range(230):
        shelf.folder(f"part {number:03}", here)
    page.goto(f"/shelf/{here}")
    expect(rows(page).first).to_be_visible()
    assert rows(page).count() < 230
    page.mouse.move(700, 500)
    wheel_until(page, lambda: rows(page).count() == 230)
    rows(page).last.click()
    page.keyboard.press("ControlOrMeta+a")
    expect(page.get_by_role("toolbar")).to_contain_text("230 selected")
    deed(page, "Download").click()
    expect(page.get_by_text("These are too many for one download.")).to_be_visible()


def test_a_folder_that_cannot_be_read_says_so_and_is_tried_again(open_page: OpenPage, shelf: Shelf) -> None:
    here = shelf.folder("Trouble")
    shelf.put("there.txt", b"", here)
    page = open_page(may_fail=True, intercepted=True)
    sign_in(page, EMAIL)
    page.route("**/api/v1/shelf/entries?*", lambda route: route.abort())
    page.goto(f"/shelf/{here}")
    expect(page.get_by_role("alert")).to_contain_text("The server does not answer.")
    page.unroute("**/api/v1/shelf/entries?*")
    page.get_by_role("button", name="Try again").click()
    expect(row(page, "there.txt")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)
    page.goto("/shelf/no-such-folder")
    expect(page.get_by_text("This folder is not here")).to_be_visible()


def test_on_a_phone_a_long_press_chooses_and_a_tap_opens(open_page: OpenPage, shelf: Shelf) -> None:
    here = shelf.folder("Pocket")
    shelf.put(f"{'long ' * 30}.txt", b"", here, "text/plain")
    shelf.put("short.txt", b"short", here, "text/plain")
    page = open_page(size=NARROW)
    sign_in(page, EMAIL)
    page.goto(f"/shelf/{here}")
    tap(row(page, "short.txt"))
    expect(page.get_by_role("dialog").locator("pre")).to_have_text("short")
    assert complaints_of_axe(page) == []
    page.keyboard.press("Escape")
    row(page, "short.txt").evaluate(TOUCH, "pointerdown")
    are_chosen(page, "short.txt")
    row(page, "short.txt").evaluate(TOUCH, "pointerup")
    row(page, "short.txt").dispatch_event("click")
    tap(row(page, "long "))
    bar = page.get_by_role("toolbar")
    expect(bar).to_contain_text("2 selected")
    box = bar.bounding_box()
    assert box is not None
    assert (box["x"], box["width"], box["y"] + box["height"]) == (0, NARROW["width"], NARROW["height"])
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert complaints_of_axe(page) == []
    deed(page, "Delete").click()
    expect(page.get_by_text("This folder is empty")).to_be_visible()


def heading_is(page: Page, name: str) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text(name)


def rows(page: Page) -> Locator:
    return page.get_by_role("main").get_by_role("row")


def row(page: Page, name: str) -> Locator:
    return rows(page).filter(has_text=name)


def deed(page: Page, name: str) -> Locator:
    return page.get_by_role("toolbar").get_by_role("button", name=name)


def open_entry(page: Page, name: str) -> None:
    rows(page).get_by_role("link", name=name).click()


def unfolded(tree: Locator, name: str) -> Locator:
    """A folder of the tree on which the keyboard is."""
    branch = tree.get_by_role("treeitem", name=name)
    branch.click()
    return branch


def are_chosen(page: Page, *names: str) -> None:
    expect(page.get_by_role("row", selected=True)).to_have_count(len(names))
    for name in names:
        expect(row(page, name)).to_have_attribute("aria-selected", "true")


def make_folder(page: Page, name: str) -> None:
    page.get_by_role("button", name="New folder").click()
    page.get_by_role("textbox", name="Name").fill(name)
    page.get_by_role("button", name="Make the folder").click()
    expect(page.get_by_role("dialog")).to_have_count(0)


def choose_files(page: Page, name: str, content: bytes) -> None:
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Upload files").click()
    chooser.value.set_files(FilePayload(name=name, mimeType="", buffer=content))


def tap(target: Locator) -> None:
    target.evaluate(TOUCH, "pointerdown")
    target.evaluate(TOUCH, "pointerup")
    target.dispatch_event("click")


def wheel_until(page: Page, done: Callable[[], bool]) -> None:
    for _ in range(60):
        if done():
            return
        page.mouse.wheel(0, 3000)
        page.wait_for_load_state("networkidle")
    raise AssertionError("It did not come to an end.")


def is_true(element: Locator, condition: str) -> None:
    """Wait until a condition holds in the browser."""
    handle: Any = element.element_handle()
    element.page.wait_for_function(condition, arg=handle)


def picture() -> bytes:
    """A PNG of 20 × 20 points."""
    lines = b"".join(b"\0" + bytes([20 * line % 256, 120, 200]) * 20 for line in range(20))

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    size = struct.pack(">IIBBBBB", 20, 20, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", size) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")


def sound() -> bytes:
    """A second of silence as WAV."""
    samples = b"\0" * 16000
    form = struct.pack("<IHHIIHH", 16, 1, 1, 8000, 16000, 2, 16)
    return (
        b"RIFF"
        + struct.pack("<I", 36 + len(samples))
        + b"WAVEfmt "
        + form
        + b"data"
        + struct.pack("<I", len(samples))
        + samples
    )


def pdf() -> bytes:
    """An empty page."""
    written, places = b"%PDF-1.4\n", list[int]()
    for number, content in enumerate(
        (
            b"<</Type/Catalog/Pages 2 0 R>>",
            b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]>>",
        ),
        start=1,
    ):
        places.append(len(written))
        written += b"%d 0 obj%bendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = b"xref\n0 4\n0000000000 65535 f \n%btrailer<</Size 4/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n"
    return written + end % (table, len(written))
