"""Files of the shelf in a real browser: searched for, and looked at."""

import base64

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage, access_cookie, let_the_session_run_out, sign_in
from tests.browser.shelf.conftest import EMAIL, Shelf
from tests.browser.shelf.contents import picture, sound
from tests.browser.shelf.listing import deed, heading_is, is_true, open_entry, row
from tests.browser.test_pages import complaints_of_axe

pytestmark = [pytest.mark.services, pytest.mark.without_service_worker]

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
    expect(page.get_by_text("Nothing found for “no such thing”")).to_be_visible()
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


def test_a_file_can_be_looked_at_after_the_session_has_run_out(open_page: OpenPage, shelf: Shelf) -> None:
    shelf.put("tone.wav", sound(), "root", "audio/wav")
    page = open_page(may_fail=True)
    sign_in(page, EMAIL)
    expect(row(page, "tone.wav")).to_be_visible()
    stale = let_the_session_run_out(page)
    with page.expect_response("**/preview") as refused:
        open_entry(page, "tone.wav")
    assert refused.value.status == 401
    expect(page.get_by_role("dialog").locator("audio")).to_be_visible()
    page.wait_for_function("() => document.querySelector('audio')?.duration === 1")
    assert access_cookie(page) != stale
