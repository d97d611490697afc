"""Many tiny files from a browser: in bundles, beside one upload each, which a proxy that refuses bundles leads to."""

import asyncio
import itertools
import os
import time
from contextlib import ExitStack
from pathlib import Path

from playwright.sync_api import Browser, Page, Route, expect, sync_playwright

from bench.figures import Figure, Sample, at_least, compare
from bench.processes import cpu_seconds_of_tree, scratch_folder
from bench.rounds import Effort, Measure, in_turn
from bench.satchel_server import PASSWORD, SatchelServer, satchel_server
from tests.services import tool

_FILES = 200
_FILE_BYTES = 200
_MOST_ROUNDS = 3
_NUMBERS = itertools.count()


async def measure(effort: Effort) -> list[Figure]:
    with ExitStack() as opened:
        folder = opened.enter_context(scratch_folder())
        satchel = opened.enter_context(satchel_server(folder / "satchel"))
        satchel.sign_up("ann@example.org")
        contestants = {
            "satchel": _sending(satchel, folder, bundled=True),
            "one each": _sending(satchel, folder, bundled=False),
        }
        samples = await in_turn("browser", min(effort.rounds, _MOST_ROUNDS), contestants)
    what = f"{_FILES} files of {_FILE_BYTES} bytes from Chromium, until the page says that they are there"
    return [compare(what, "files/s", samples, peer="one each", target=at_least(5.0))]


def _sending(satchel: SatchelServer, folder: Path, *, bundled: bool) -> Measure:
    async def run() -> Sample:
        return await asyncio.to_thread(_send, satchel, folder / f"files-{next(_NUMBERS)}", bundled)

    return run


def _send(satchel: SatchelServer, source: Path, bundled: bool) -> Sample:
    source.mkdir()
    files = [source / f"{number:03}.txt" for number in range(_FILES)]
    for file in files:
        file.write_bytes(os.urandom(_FILE_BYTES))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=tool("chromium-headless-shell"), args=["--no-sandbox"])
        try:
            page = _open(browser, satchel, source.name, bundled)
            cpu_before, started = cpu_seconds_of_tree(satchel.pid), time.perf_counter()
            page.locator("input[type=file]").first.set_input_files(files)
            expect(page.get_by_role("region", name="Uploads")).to_contain_text(
                f"{_FILES} files uploaded", timeout=300_000
            )
            return Sample(_FILES, time.perf_counter() - started, cpu_seconds_of_tree(satchel.pid) - cpu_before)
        finally:
            browser.close()


def _open(browser: Browser, satchel: SatchelServer, folder: str, bundled: bool) -> Page:
    """A folder of its own, so that no name is there already."""
    page = browser.new_context(base_url=satchel.url, locale="en", service_workers="block").new_page()
    who = {"email": "ann@example.org", "password": PASSWORD, "keep": "cookie"}
    page.request.post("/api/v1/sessions", data=who)
    made = page.request.post("/api/v1/shelf/folders", data={"name": folder}).json()
    if not bundled:
        page.route("**/api/v1/uploads/bundle", _refuse)
    page.goto(f"/shelf/{made['id']}")
    expect(page.get_by_role("heading", level=1)).to_have_text(folder)
    return page


def _refuse(route: Route) -> None:
    route.fulfill(status=413, content_type="text/plain", body="")
