"""Files on their way to the shelf in a real browser, and what comes between: lines, servers, sessions, proxies."""

import hashlib
import re
import subprocess
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest
from playwright.sync_api import Dialog, FilePayload, Locator, Page, Request, Route, expect

from tests.browser.conftest import (
    NARROW,
    PASSWORD,
    OpenPage,
    access_cookie,
    let_the_session_run_out,
    sign_in,
    sign_up,
)
from tests.fork_server import SATCHEL
from tests.server.process import ServerProcess, serving
from tests.services import python_environment

pytestmark = pytest.mark.services

EMAIL = "ann@example.org"
ONE_ADDRESS = "**/api/v1/uploads/*"
SLOW_BYTES_PER_SECOND = 2_000_000
# Long enough on its way to be interrupted, small enough for a test.
LARGE_BYTES = 12_000_000
ON_ITS_WAY = re.compile(r"^([1-9]|[1-6]\d)$")
WELL_UNDER_WAY = re.compile(r"^[2-7]\d$")

DROP = """(names) => {
  const transfer = new DataTransfer();
  for (const name of names) transfer.items.add(new File([`inside ${name}`], name));
  window.fire = (kind) => document.body.dispatchEvent(
    new DragEvent(kind, { dataTransfer: transfer, bubbles: true, cancelable: true }));
  window.fire('dragenter');
}"""
PASTE = """() => {
  const transfer = new DataTransfer();
  transfer.items.add(new File([new Uint8Array(5000)], 'image.png', { type: 'image/png' }));
  document.body.dispatchEvent(
    new ClipboardEvent('paste', { clipboardData: transfer, bubbles: true, cancelable: true }));
}"""


@pytest.fixture(scope="module")
def ann(server: ServerProcess) -> dict[str, str]:
    return sign_up(server, EMAIL, "Ann")


@pytest.fixture
def page(open_page: OpenPage, ann: dict[str, str]) -> Page:
    opened = open_page(may_fail=True)
    sign_in(opened, EMAIL)
    return opened


@pytest.fixture
def proxied(open_page: OpenPage, ann: dict[str, str]) -> Page:
    """A page whose requests a proxy can meddle with."""
    opened = open_page(may_fail=True, intercepted=True)
    sign_in(opened, EMAIL)
    return opened


@pytest.mark.first_journey
def test_files_are_chosen_and_stand_on_the_shelf_at_once_whatever_their_names(page: Page, tmp_path: Path) -> None:
    names = [
        "plain.txt",
        "“quotes” 'and' <b>tags</b> & more.txt",
        "emoji 🎒 👩‍👩‍👧.bin",
        "עברית.txt",
        "楽譜　一.pdf",
        f"{'long' * 62}.txt",
        "empty.dat",
    ]
    files = [written(tmp_path / name, 0 if name == "empty.dat" else 700_000) for name in names]
    choose(page, *files)
    for file in files:
        expect(shelf(page).get_by_text(file.name, exact=True)).to_be_visible()
    expect(tray(page)).to_contain_text("7 files uploaded")
    assert stored(page).items() >= {file.name: digest(file) for file in files}.items()


def test_names_that_would_deceive_are_kept_and_shown_with_a_sign_for_what_deceives(page: Page) -> None:
    name = "holiday\u202egpj.exe"
    page.locator("input[type=file]").first.set_input_files(
        FilePayload(name=name, mimeType="image/jpeg", buffer=b"not a picture")
    )
    expect(shelf(page).get_by_text("holiday\ufffdgpj.exe")).to_be_visible()
    open_tray(page)
    expect(tray(page).get_by_title("holiday\ufffdgpj.exe")).to_be_visible()
    assert stored(page)[name] == hashlib.sha256(b"not a picture").hexdigest()


def test_files_are_dropped_anywhere_on_the_page(page: Page) -> None:
    page.evaluate(DROP, ["dropped one.txt", "dropped two.txt"])
    expect(page.get_by_text("Release to upload")).to_be_visible()
    page.evaluate("window.fire('drop')")
    expect(page.get_by_text("Release to upload")).to_be_hidden()
    expect(shelf(page).get_by_text("dropped one.txt")).to_be_visible()
    expect(shelf(page).get_by_text("dropped two.txt")).to_be_visible()
    assert stored(page)["dropped two.txt"] == hashlib.sha256(b"inside dropped two.txt").hexdigest()


def test_a_screenshot_is_pasted_and_gets_a_name(page: Page) -> None:
    page.evaluate(PASTE)
    expect(shelf(page).get_by_text(re.compile(r"^Pasted \d{4}-\d\d-\d\d \d\d\.\d\d\.\d\d\.png$"))).to_be_visible()


def test_a_folder_is_uploaded_whole(page: Page, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    for number in range(60):
        written(folder / f"part {number % 3}" / f"note {number:02}.txt", 100 + number)
    paths: list[str] = []
    page.on("request", lambda request: paths.append(request.url) if request.method == "POST" else None)
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Upload folder").click()
    chooser.value.set_files(folder)
    expect(tray(page)).to_contain_text("60 files uploaded", timeout=60_000)
    assert [each.rpartition("/api/v1")[2] for each in paths if "/uploads" in each] == ["/uploads/bundle"]
    expect(shelf(page).get_by_text("notes", exact=True)).to_be_visible()
    found = page.request.get("/api/v1/shelf/search?q=note&limit=1000").json()["entries"]
    where = {entry["name"]: entry["path"] for entry in found}
    assert all(where[f"note {number:02}.txt"] == ["notes", f"part {number % 3}"] for number in range(60))


def test_an_upload_goes_on_where_it_was_when_the_server_is_killed_and_comes_back(
    open_page: OpenPage, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    file = written(tmp_path / "survivor.bin", 3 * LARGE_BYTES)
    with serving(data) as server:
        sign_up(server, EMAIL, "Ann")
        page = open_page(may_fail=True)
        # Whoever was sent to sign in comes back to where they were.
        page.goto(f"{server.url}/shelf")
        page.wait_for_url("**/sign-in*")
        enter(page)
        full_speed = slow_line(page, 5 * SLOW_BYTES_PER_SECOND)
        choose(page, file)
        expect(bar(page, file)).to_have_attribute("aria-valuenow", re.compile(r"^[5-9]\d$"))
        server.kill()
        expect(tray(page)).to_contain_text("The server does not respond")
        full_speed()
        offsets: list[int] = []
        page.on("request", lambda request: offsets.extend(offset_of(request)))
        with restarted(server, data):
            expect(shelf(page).get_by_text(file.name)).to_be_visible(timeout=60_000)
            assert min(offsets) > 0
            assert downloaded(page, file.name) == digest(file)
        page.close()


def test_an_upload_goes_on_where_it_was_after_a_reload_once_its_file_is_chosen_again(
    page: Page, tmp_path: Path
) -> None:
    file = written(tmp_path / "reloaded.bin", LARGE_BYTES)
    asked: list[str] = []

    def leave(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.accept()

    page.on("dialog", leave)
    full_speed = slow_line(page)
    choose(page, file)
    expect(bar(page, file)).to_have_attribute("aria-valuenow", WELL_UNDER_WAY)
    page.reload()
    assert asked == ["beforeunload"]
    expect(page.get_by_text("Choose the same file again")).to_be_visible()
    expect(page.get_by_role("main").get_by_text(file.name)).to_be_visible()

    full_speed()
    offsets: list[int] = []
    page.on("request", lambda request: offsets.extend(offset_of(request)))
    choose(page, file, button="Choose file")
    expect(shelf(page).get_by_text(file.name)).to_be_visible()
    assert min(offsets) > 0
    assert stored(page)[file.name] == digest(file)
    expect(page.get_by_text("Unfinished uploads")).to_be_hidden()


def test_an_unfinished_upload_that_the_server_has_forgotten_is_forgotten_here_too(page: Page, tmp_path: Path) -> None:
    file = written(tmp_path / "forgotten.bin", LARGE_BYTES)
    page.on("dialog", lambda dialog: dialog.accept())
    slow_line(page)
    with page.expect_request(lambda request: request.method == "PATCH") as sending:
        choose(page, file)
    expect(bar(page, file)).to_have_attribute("aria-valuenow", ON_ITS_WAY)
    page.get_by_role("button", name=f"Pause {file.name}").click()
    page.request.delete(sending.value.url, headers={"Tus-Resumable": "1.0.0"})
    with page.expect_response(sending.value.url) as looked:
        page.reload()
    assert looked.value.status == 410
    expect(page.get_by_text("Unfinished uploads")).to_be_hidden()
    choose(page, file)
    expect(bar(page, file)).to_have_attribute("aria-valuenow", ON_ITS_WAY)
    page.get_by_role("button", name="Cancel all").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel all").click()


def test_an_upload_is_paused_stays_so_on_other_pages_and_goes_on(page: Page, tmp_path: Path) -> None:
    file = written(tmp_path / "paused.bin", LARGE_BYTES)
    full_speed = slow_line(page)
    choose(page, file)
    expect(bar(page, file)).to_have_attribute("aria-valuenow", ON_ITS_WAY)
    expect(tray(page)).to_contain_text(re.compile(r"MB/s · \d+ sec left"))
    page.get_by_role("button", name=f"Pause {file.name}").click()
    page.get_by_role("link", name="Account", exact=True).click()
    page.wait_for_url("**/account")
    expect(tray(page)).to_contain_text("paused")
    full_speed()
    page.get_by_role("button", name=f"Resume {file.name}").click()
    expect(tray(page)).to_contain_text("One file uploaded")
    assert stored(page)[file.name] == digest(file)


def test_a_cancelled_upload_leaves_nothing_behind(page: Page, tmp_path: Path) -> None:
    file = written(tmp_path / "cancelled.bin", LARGE_BYTES)
    slow_line(page)
    choose(page, file)
    expect(bar(page, file)).to_have_attribute("aria-valuenow", ON_ITS_WAY)
    with page.expect_response(lambda answer: answer.request.method == "DELETE") as deleted:
        page.get_by_role("button", name=f"Cancel {file.name}").click()
    assert deleted.value.status == 204
    expect(tray(page)).to_be_hidden()
    page.reload()
    expect(page.get_by_role("heading", name="Shelf", exact=True)).to_be_visible()
    assert file.name not in stored(page)


def test_a_session_that_runs_out_in_the_middle_is_renewed(page: Page, tmp_path: Path) -> None:
    file = written(tmp_path / "patient.bin", LARGE_BYTES)
    full_speed = slow_line(page)
    choose(page, file)
    expect(bar(page, file)).to_have_attribute("aria-valuenow", ON_ITS_WAY)
    page.get_by_role("button", name=f"Pause {file.name}").click()
    stale = let_the_session_run_out(page)
    full_speed()
    page.get_by_role("button", name=f"Resume {file.name}").click()
    expect(shelf(page).get_by_text(file.name)).to_be_visible()
    assert access_cookie(page) != stale
    assert stored(page)[file.name] == digest(file)


def test_a_session_that_has_ended_holds_the_upload_until_somebody_signs_in(page: Page, tmp_path: Path) -> None:
    file = written(tmp_path / "held.bin", LARGE_BYTES)
    full_speed = slow_line(page)
    choose(page, file)
    expect(bar(page, file)).to_have_attribute("aria-valuenow", ON_ITS_WAY)
    page.get_by_role("button", name=f"Pause {file.name}").click()
    page.context.clear_cookies()
    page.get_by_role("button", name=f"Resume {file.name}").click()
    expect(tray(page)).to_contain_text("You are signed out.")
    full_speed()
    page.get_by_role("link", name="Sign in again").click()
    enter(page)
    expect(shelf(page).get_by_text(file.name)).to_be_visible()
    assert stored(page)[file.name] == digest(file)


def test_a_file_that_vanishes_in_the_middle_is_said_to_have_vanished(page: Page, tmp_path: Path) -> None:
    file = written(tmp_path / "vanishing.bin", LARGE_BYTES)
    slow_line(page)
    choose(page, file)
    expect(bar(page, file)).to_have_attribute("aria-valuenow", ON_ITS_WAY)
    file.write_bytes(b"something else")
    file.unlink()
    expect(tray(page)).to_contain_text("This file was moved, changed or deleted", timeout=30_000)


def test_an_upload_waits_while_the_line_is_down_and_goes_on_when_it_is_back(page: Page, tmp_path: Path) -> None:
    file = written(tmp_path / "offline.bin", LARGE_BYTES)
    slow_line(page)
    choose(page, file)
    expect(bar(page, file)).to_have_attribute("aria-valuenow", ON_ITS_WAY)
    page.context.set_offline(offline=True)
    expect(tray(page)).to_contain_text("You are offline.")
    page.context.set_offline(offline=False)
    expect(shelf(page).get_by_text(file.name)).to_be_visible()
    assert stored(page)[file.name] == digest(file)


def test_two_tabs_that_send_one_file_make_one_file_of_it(page: Page, tmp_path: Path) -> None:
    file = written(tmp_path / "twice.bin", LARGE_BYTES)
    full_speed = slow_line(page)
    choose(page, file)
    expect(bar(page, file)).to_have_attribute("aria-valuenow", ON_ITS_WAY)
    other = page.context.new_page()
    other.goto("/shelf")
    choose(other, file)
    expect(tray(other)).to_contain_text("Another tab is uploading this file.")
    full_speed()
    expect(shelf(page).get_by_text(file.name)).to_be_visible()
    expect(shelf(other).get_by_text(file.name)).to_be_visible()
    assert [name for name in stored(page) if name.startswith("twice")] == [file.name]


def test_a_proxy_that_takes_only_little_at_a_time_gets_little_at_a_time(proxied: Page, tmp_path: Path) -> None:
    file = written(tmp_path / "in pieces.bin", 2_000_000)
    sizes: list[int] = []

    def refuse_large(route: Route) -> None:
        length = len(route.request.post_data_buffer or b"")
        sizes.append(length)
        if length > 1_000_000:
            route.fulfill(status=413, content_type="text/html", body="<h1>Request Entity Too Large</h1>")
        else:
            route.continue_()

    proxied.route(ONE_ADDRESS, refuse_large)
    choose(proxied, file)
    expect(shelf(proxied).get_by_text(file.name)).to_be_visible()
    assert sizes[0] == 2_000_000
    assert sizes.count(512 * 1024) == 3
    assert stored(proxied)[file.name] == digest(file)


def test_where_no_patch_passes_the_bytes_come_by_post(proxied: Page, tmp_path: Path) -> None:
    file = written(tmp_path / "by post.bin", 2_000_000)

    def refuse_patch(route: Route) -> None:
        if route.request.method == "PATCH":
            route.fulfill(status=405, content_type="text/html", body="<h1>Not Allowed</h1>")
        else:
            route.continue_()

    proxied.route(ONE_ADDRESS, refuse_patch)
    choose(proxied, file)
    expect(shelf(proxied).get_by_text(file.name)).to_be_visible()
    assert stored(proxied)[file.name] == digest(file)


def test_a_proxy_that_answers_instead_of_the_server_is_said_to_be_in_the_way(proxied: Page, tmp_path: Path) -> None:
    file = written(tmp_path / "stopped.bin", 2_000_000)
    proxied.route(ONE_ADDRESS, lambda route: route.fulfill(status=403, content_type="text/html", body="<h1>No</h1>"))
    choose(proxied, file)
    expect(tray(proxied)).to_contain_text(
        "A proxy between you and Satchel answered instead of the server (status 403)."
    )
    proxied.unroute(ONE_ADDRESS)
    proxied.get_by_role("button", name=f"Retry {file.name} now").click()
    expect(shelf(proxied).get_by_text(file.name)).to_be_visible()


def test_the_tray_fits_on_a_narrow_screen(open_page: OpenPage, ann: dict[str, str], tmp_path: Path) -> None:
    page = open_page(size=NARROW, dark=True, may_fail=True)
    sign_in(page, EMAIL)
    file = written(tmp_path / f"{'narrow ' * 30}.bin", LARGE_BYTES)
    slow_line(page)
    choose(page, file)
    open_tray(page)
    expect(bar(page, file)).to_have_attribute("aria-valuenow", ON_ITS_WAY)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("button", name="Cancel all").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel all").click()
    expect(tray(page)).to_be_hidden()


def written(file: Path, size_bytes: int) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(Random(file.name).randbytes(size_bytes))
    return file


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def choose(page: Page, *files: Path, button: str = "Upload files") -> None:
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name=button).click()
    chooser.value.set_files(list(files))


def enter(page: Page) -> None:
    page.locator("input[type=email]").fill(EMAIL)
    page.locator("input[type=password]").fill(PASSWORD)
    page.locator("button[type=submit]").click()
    page.wait_for_url("**/shelf")


def tray(page: Page) -> Locator:
    return page.get_by_role("region", name="Uploads")


def open_tray(page: Page) -> None:
    summary = tray(page).locator("[aria-expanded]")
    expect(summary).to_be_visible()
    if summary.get_attribute("aria-expanded") == "false":
        summary.click()


def shelf(page: Page) -> Locator:
    return page.get_by_role("main").get_by_role("grid")


def bar(page: Page, file: Path) -> Locator:
    return tray(page).get_by_role("progressbar", name=file.name, exact=True)


def stored(page: Page) -> dict[str, str]:
    """The names on the shelf and the digests of what they hold, as the server has them."""
    answer = page.request.get("/api/v1/shelf/entries?limit=1000")
    return {file["name"]: file["sha256"] for file in answer.json()["entries"]}


def downloaded(page: Page, name: str) -> str:
    origin = re.sub(r"(?<=\d)/.*", "", page.url)
    files = page.request.get(f"{origin}/api/v1/shelf/entries").json()["entries"]
    (file_id,) = [file["id"] for file in files if file["name"] == name]
    return hashlib.sha256(page.request.get(f"{origin}/api/v1/shelf/files/{file_id}/content").body()).hexdigest()


def slow_line(page: Page, most: int = SLOW_BYTES_PER_SECOND) -> Callable[[], None]:
    """Slow down what this page sends; the answer makes it fast again."""
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")  # pyright: ignore[reportUnknownMemberType] -- Playwright leaves it open

    def limit(bytes_per_second: int) -> None:
        conditions = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": bytes_per_second}
        session.send("Network.emulateNetworkConditions", conditions)  # pyright: ignore[reportUnknownMemberType]

    limit(most)
    return lambda: limit(-1)


def offset_of(request: Request) -> list[int]:
    return [int(request.headers["upload-offset"])] if request.method == "PATCH" else []


@contextmanager
def restarted(killed: ServerProcess, data: Path) -> Generator[None]:
    """The same server at the same address once more."""
    command = [str(SATCHEL), "serve", "--data", str(data), "--port", killed.url.rpartition(":")[2]]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=python_environment())
    try:
        yield
    finally:
        process.kill()
        process.wait()
