"""The bytes of the drop in real browsers: each way to save them and to go on, and the command line at the other end."""

import hashlib
import json
import os
import struct
import subprocess
import zipfile
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Download, Page, Request, Route, expect

from tests.browser.conftest import OpenPage
from tests.browser.test_drop import in_session, join, offer, own, spoken_code
from tests.browser.test_uploads import restarted
from tests.fork_server import SATCHEL
from tests.server.process import ServerProcess, serving
from tests.services import python_environment, tool

pytestmark = pytest.mark.services

# Several segments and a chunk that is not whole.
BYTES = 20 * 2**20 + 12_345
# From here on pages ask where to save.
ASKED_BYTES = 2**28
WHOLE = "Received and verified"
PATIENCE_MS = 120_000

# As in private windows of some browsers.
NO_PRIVATE_DISK = "StorageManager.prototype.getDirectory = () => Promise.reject(new DOMException('', 'SecurityError'))"
# A handle like that of a file which was picked, to a place that a test can look into.
PICKER = """
    window.showSaveFilePicker = async ({ suggestedName }) => {
        const root = await navigator.storage.getDirectory();
        return root.getFileHandle(`picked ${suggestedName}`, { create: true });
    };
"""
SHA256_OF_PICKED = """
    async (name) => {
        const root = await navigator.storage.getDirectory();
        const file = await (await root.getFileHandle(`picked ${name}`)).getFile();
        const digest = await crypto.subtle.digest('SHA-256', await file.arrayBuffer());
        return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
    }
"""
LEFT_BEHIND = """
    async () => {
        const root = await navigator.storage.getDirectory();
        const folder = await root.getDirectoryHandle('drop', { create: true });
        const names = [];
        for await (const name of folder.keys()) names.push(name);
        return names;
    }
"""
# Of long ago, of now, and one whose note was cut off.
LEAVE_BEHIND = """
    async () => {
        const root = await navigator.storage.getDirectory();
        const folder = await root.getDirectoryHandle('drop', { create: true });
        const write = async (name, text) => {
            const file = await (await folder.getFileHandle(name, { create: true })).createWritable();
            await file.write(text);
            await file.close();
        };
        for (const [name, at] of [['left long ago', 0], ['left today', Date.now()]]) {
            await write(`${name}.json`, JSON.stringify({ content: name, isFinished: false, at }));
            await write(`${name}.part`, 'what came');
        }
        await write('left half.json', '{"content":');
        await write('left half.part', 'what came');
    }
"""


@pytest.fixture
def ann(open_page: OpenPage) -> Page:
    """Who brings something."""
    return open_page(may_fail=True)


@pytest.fixture
def ben(open_page: OpenPage) -> Page:
    """Who takes it."""
    return open_page(may_fail=True)


@pytest.fixture
def resident(chromium: Browser, server: ServerProcess, tmp_path: Path) -> Generator[BrowserContext]:
    """A browser with a disk of its own, as people have; the others keep everything in memory, and forget it."""
    context = chromium.browser_type.launch_persistent_context(
        tmp_path / "profile", executable_path=tool("chromium"), args=["--no-sandbox"], base_url=server.url, locale="en"
    )
    yield context
    context.close()


def test_a_file_comes_by_way_of_the_private_disk(ann: Page, ben: Page, tmp_path: Path) -> None:
    file = written(tmp_path / "photo: 1.raw", BYTES)
    meet(ann, ben, file)
    assert sha256(saved(ben, file.name)) == sha256(file)
    expect(offer(ben, file.name)).to_contain_text(WHOLE)
    expect(offer(ben, file.name)).to_contain_text("“photo: 1.raw” is called “photo_ 1.raw” here.")
    expect(own(ann, file.name)).to_contain_text("Received and verified by")


@pytest.mark.parametrize("length", [0, 1, 262_144, 8 * 2**20, 8 * 2**20 + 1])
def test_files_of_every_length_arrive_whole(ann: Page, ben: Page, tmp_path: Path, length: int) -> None:
    file = written(tmp_path / "exact.bin", length)
    meet(ann, ben, file)
    assert saved(ben, file.name).read_bytes() == file.read_bytes()
    expect(own(ann, file.name)).to_contain_text("Received and verified by")


def test_a_large_file_is_written_where_it_was_asked_for_and_neither_side_holds_it_in_memory(
    chromium: Browser, ann: Page, ben: Page, tmp_path: Path
) -> None:
    file = written(tmp_path / "film.mkv", ASKED_BYTES)
    ben.add_init_script(PICKER)
    meet(ann, ben, file)
    held_before = most_held_by_a_page(chromium)
    take(ben, file.name)
    expect(offer(ben, file.name)).to_contain_text(WHOLE, timeout=PATIENCE_MS)
    assert most_held_by_a_page(chromium) - held_before < ASKED_BYTES // 2
    assert ben.evaluate(SHA256_OF_PICKED, file.name) == sha256(file)
    assert ben.evaluate(LEFT_BEHIND) == []


def test_without_a_private_disk_it_is_downloaded_as_it_comes(ann: Page, ben: Page, tmp_path: Path) -> None:
    file = written(tmp_path / "Grüße 樂譜 (1).bin", BYTES)
    ben.add_init_script(NO_PRIVATE_DISK)
    ben.goto("/drop")
    ben.evaluate("navigator.serviceWorker.ready")
    meet(ann, ben, file)
    download = downloaded(ben, file.name)
    assert download.suggested_filename == file.name
    assert sha256(Path(download.path())) == sha256(file)
    expect(own(ann, file.name)).to_contain_text("Received and verified by")


def test_with_nothing_else_it_is_held_in_memory(ann: Page, open_page: OpenPage, tmp_path: Path) -> None:
    file = written(tmp_path / "a.bin", BYTES)
    ben = open_page(intercepted=True)
    ben.add_init_script(NO_PRIVATE_DISK)
    meet(ann, ben, file)
    assert sha256(saved(ben, file.name)) == sha256(file)


def test_a_folder_comes_as_an_archive_that_others_can_read(ann: Page, ben: Page, tmp_path: Path) -> None:
    folder = tmp_path / "songs"
    names = {f"part {number % 7}/{number:03} 樂譜.txt": number * 997 for number in range(300)}
    for name, length in {**names, "large.bin": BYTES, "empty": 0}.items():
        written(folder / name, length)
    meet(ann, ben, folder)
    with zipfile.ZipFile(saved(ben, "songs")) as archive:
        assert archive.testzip() is None
        files = [path for path in archive.namelist() if not path.endswith("/")]
        assert len(files) == 302
        for path in files:
            assert archive.read(path) == (tmp_path / path).read_bytes()


def test_it_goes_on_where_it_was_when_the_server_is_killed_and_comes_back(open_page: OpenPage, tmp_path: Path) -> None:
    file = written(tmp_path / "survivor.bin", BYTES)
    data = tmp_path / "data"
    with serving(data) as server:
        ann, ben = open_page(may_fail=True, intercepted=True), open_page(may_fail=True)
        lengths, held = stream_lengths(ann), end_held_back(ann)
        meet(ann, ben, file, at=server.url)
        with ben.expect_download(timeout=PATIENCE_MS) as download:
            take(ben, file.name)
            until_it_flows(ben)
            for _ in range(PATIENCE_MS // 50):
                if held:
                    break
                ann.wait_for_timeout(50)
            server.kill()
            held[0].continue_()
            expect(offer(ben, file.name)).to_contain_text("Connection lost", timeout=PATIENCE_MS)
            with restarted(server, data):
                expect(offer(ben, file.name)).to_contain_text(WHOLE, timeout=PATIENCE_MS)
                expect(own(ann, file.name)).to_contain_text("Received and verified by")
        assert sha256(Path(download.value.path())) == sha256(file)
        assert lengths[-1] < lengths[0]
        ann.close()
        ben.close()


def test_it_goes_on_where_it_was_after_a_reload(open_page: OpenPage, resident: BrowserContext, tmp_path: Path) -> None:
    file = written(tmp_path / "reloaded.bin", BYTES)
    ann, ben = open_page(may_fail=True, intercepted=True), resident.new_page()
    lengths = stream_lengths(ann)
    end_held_back(ann)
    meet(ann, ben, file)
    take(ben, file.name)
    until_it_flows(ben)
    ben.on("dialog", lambda dialog: dialog.accept())
    ben.reload()
    in_session(ben)
    assert sha256(saved(ben, file.name)) == sha256(file)
    assert lengths[-1] < lengths[0]
    expect(own(ann, file.name)).to_contain_text("Received and verified by")


def test_what_is_cancelled_leaves_nothing_behind_and_the_other_side_knows(
    open_page: OpenPage, ben: Page, tmp_path: Path
) -> None:
    file = written(tmp_path / "unwanted.bin", BYTES)
    ann = open_page(may_fail=True, intercepted=True)
    end_held_back(ann)
    meet(ann, ben, file)
    take(ben, file.name)
    until_it_flows(ben)
    offer(ben, file.name).get_by_role("button", name="Stop receiving").click()
    expect(offer(ben, file.name)).to_contain_text("Stopped")
    expect(own(ann, file.name)).to_contain_text("Stopped")
    assert ben.evaluate(LEFT_BEHIND) == []


def test_where_a_proxy_refuses_bodies_they_go_through_a_websocket(
    open_page: OpenPage, ben: Page, tmp_path: Path
) -> None:
    file = written(tmp_path / "a.bin", BYTES)
    ann = open_page(may_fail=True, intercepted=True)
    refused: list[str] = []

    def refuse(route: Route) -> None:
        refused.append(route.request.url)
        route.fulfill(status=413, body="<h1>Request Entity Too Large</h1>")

    ann.context.route("**/bytes/*", refuse)
    meet(ann, ben, file)
    assert sha256(saved(ben, file.name)) == sha256(file)
    assert refused
    expect(own(ann, file.name)).to_contain_text("Received and verified by")


def test_where_a_proxy_holds_answers_back_they_come_through_a_websocket(
    ann: Page, open_page: OpenPage, tmp_path: Path
) -> None:
    file = written(tmp_path / "a.bin", BYTES)
    ben = open_page(may_fail=True, intercepted=True)
    held: list[Route] = []
    ben.context.route("**/bytes", lambda route: held.append(route))
    meet(ann, ben, file)
    assert sha256(saved(ben, file.name)) == sha256(file)
    assert held
    expect(own(ann, file.name)).to_contain_text("Received and verified by")


def test_what_earlier_visits_have_left_is_swept_when_the_drop_is_opened(ben: Page) -> None:
    ben.goto("/drop")
    expect(ben.get_by_role("button", name="Choose files")).to_be_visible()
    ben.evaluate(LEAVE_BEHIND)
    ben.reload()
    for _ in range(200):
        if len(ben.evaluate(LEFT_BEHIND)) == 2:
            break
        ben.wait_for_timeout(50)
    assert sorted(ben.evaluate(LEFT_BEHIND)) == ["left today.json", "left today.part"]


def test_what_was_confirmed_while_its_owner_was_offline_is_shown_as_received(
    ann: Page, open_page: OpenPage, tmp_path: Path
) -> None:
    ben, confirmations = open_page(may_fail=True, intercepted=True), list[Route]()
    ben.route("**/done", lambda route: confirmations.append(route))
    file = written(tmp_path / "a.bin", BYTES)
    meet(ann, ben, file)
    with ben.expect_request("**/done"):
        take(ben, file.name)
    ann.context.set_offline(True)
    expect(ann.get_by_text("Connection lost.")).to_be_visible()
    confirmations[0].continue_()
    expect(offer(ben, file.name)).to_contain_text(WHOLE)
    ann.context.set_offline(False)
    expect(own(ann, file.name)).to_contain_text("Received and verified by")


def test_a_file_that_changed_since_it_was_chosen_is_not_sent(ann: Page, ben: Page, tmp_path: Path) -> None:
    file = written(tmp_path / "draft.txt", 1000)
    meet(ann, ben, file)
    file.write_bytes(b"something else")
    os.utime(file, (1, 1))
    take(ben, file.name)
    expect(own(ann, file.name)).to_have_count(0)
    expect(offer(ben, file.name)).to_have_count(0)


def test_the_command_line_takes_what_a_browser_brings(ann: Page, server: ServerProcess, tmp_path: Path) -> None:
    file = written(tmp_path / "from here" / "photo.raw", BYTES)
    bring(ann, file)
    into = tmp_path / "there"
    into.mkdir()
    done = run("receive", "--yes", "--into", str(into), spoken_code(ann), server=server)
    assert done.returncode == 0, done.stderr
    assert sha256(into / "photo.raw") == sha256(file)
    expect(own(ann, file.name)).to_contain_text("Received and verified by")


def test_the_command_line_takes_a_folder_from_a_browser(ann: Page, server: ServerProcess, tmp_path: Path) -> None:
    folder = tmp_path / "songs"
    for number in range(20):
        written(folder / "deep" / f"{number}.txt", number)
    bring(ann, folder)
    into = tmp_path / "there"
    into.mkdir()
    done = run("receive", "--yes", "--into", str(into), spoken_code(ann), server=server)
    assert done.returncode == 0, done.stderr
    for number in range(20):
        assert (into / "songs" / "deep" / f"{number}.txt").read_bytes() == (
            folder / "deep" / f"{number}.txt"
        ).read_bytes()


def test_a_browser_takes_what_the_command_line_sends(ben: Page, server: ServerProcess, tmp_path: Path) -> None:
    file = written(tmp_path / "photo.raw", BYTES)
    folder = tmp_path / "songs"
    for number in range(20):
        written(folder / "deep" / f"{number}.txt", number)
    for name in (".env", "README", "readme", "CON", "e\u0301:?.txt", "back\\slash"):
        written(folder / name, 1)
    (folder / ".env").chmod(0o755)
    for path in (folder / ".env", folder / "deep", folder):
        os.utime(path, (1_234_567_890, 1_234_567_890))
    command = [SATCHEL, "send", "--json", "--no-qr", "--server", server.url, file, folder]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=python_environment()) as sender:
        try:
            assert sender.stdout is not None
            join(ben, json.loads(sender.stdout.readline())["code"])
            assert sha256(saved(ben, file.name)) == sha256(file)
            with zipfile.ZipFile(saved(ben, "songs")) as archive:
                assert archive.testzip() is None
                assert archive.read("songs/deep/19.txt") == (folder / "deep" / "19.txt").read_bytes()
                found = {each.filename: (each.external_attr >> 16 & 0o100, each.extra) for each in archive.infolist()}
            assert {"songs/README", "songs/readme", "songs/CON", "songs/e\u0301:?.txt", "songs/back_slash"} <= {*found}
            stamp = struct.pack("<HHBi", 0x5455, 5, 1, 1_234_567_890)
            assert [found[name] for name in ("songs/", "songs/deep/", "songs/.env")] == [(0o100, stamp)] * 3
            assert found["songs/README"][0] == 0
            assert sender.wait(30) == 0
        finally:
            sender.kill()


def written(path: Path, length: int) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(os.urandom(length))
    return path


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def bring(page: Page, path: Path, *, at: str = "") -> None:
    """Open a session by handing a file or a folder over."""
    page.goto(f"{at}/drop")
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Choose a folder" if path.is_dir() else "Choose files").click()
    chooser.value.set_files(path)
    in_session(page)


def meet(owner: Page, receiver: Page, path: Path, *, at: str = "") -> None:
    bring(owner, path, at=at)
    if at:
        receiver.goto(f"{at}/drop")
        receiver.get_by_label("Code or link").fill(spoken_code(owner))
        receiver.get_by_role("button", name="Join").click()
        in_session(receiver)
    else:
        join(receiver, spoken_code(owner))


def take(page: Page, name: str) -> None:
    offer(page, name).get_by_role("button", name="Receive").click()


def downloaded(page: Page, name: str) -> Download:
    with page.expect_download(timeout=PATIENCE_MS) as download:
        take(page, name)
    return download.value


def saved(page: Page, name: str) -> Path:
    return Path(downloaded(page, name).path())


def until_it_flows(page: Page) -> None:
    page.locator('[role=progressbar]:not([aria-valuenow="0"])').wait_for()


def end_held_back(owner: Page) -> list[Route]:
    """Keep back the end of the first stream, so that there is a middle of it; it is in the answer once it was sent."""
    held: list[Route] = []

    def pass_on(route: Route) -> None:
        if not held and "last=true" in route.request.url:
            held.append(route)
        else:
            route.continue_()

    owner.context.route("**/bytes/*", pass_on)
    return held


def most_held_by_a_page(browser: Browser) -> int:
    """Bytes of memory, at the time when it was most."""
    devtools: Any = browser.new_browser_cdp_session()
    processes = devtools.send("SystemInfo.getProcessInfo")["processInfo"]
    devtools.detach()
    return max(peak_bytes(process["id"]) for process in processes if process["type"] == "renderer")


def peak_bytes(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024


def stream_lengths(owner: Page) -> list[int]:
    """How many bytes the owner agrees to send, each time somebody asks."""
    lengths: list[int] = []

    def note(request: Request) -> None:
        if request.url.endswith("/acknowledge"):
            lengths.append(json.loads(request.post_data or "{}")["bytes"])

    owner.on("request", note)
    return lengths


def run(*arguments: str, server: ServerProcess) -> "subprocess.CompletedProcess[str]":
    command = [str(SATCHEL), *arguments, "--server", server.url]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=python_environment(), check=False)
