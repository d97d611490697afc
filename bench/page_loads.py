"""How soon a first visitor on a slow line sees what a page is about: the sign-in page, and that of a link."""

import asyncio
from contextlib import ExitStack
from typing import Any

import httpx
from playwright.sync_api import Browser, sync_playwright

from bench.figures import Figure, alone, below
from bench.processes import scratch_folder
from bench.rounds import Effort
from bench.satchel_server import SatchelServer, satchel_server
from tests.services import tool

# A phone on a poor 4G line: what Lighthouse takes for slow.
_LATENCY_MS = 150
_BYTES_PER_SECOND = 1_600_000 // 8
_LINE = {"offline": False, "latency": _LATENCY_MS, "downloadThroughput": _BYTES_PER_SECOND}
_MOST_ROUNDS = 5
# The heading's first frame: a page that draws it later than it says so would be found out.
_HEADING = """() => new Promise((done) => {
  const look = () => document.querySelector('h1')?.textContent.trim()
    ? requestAnimationFrame(() => done(performance.now())) : requestAnimationFrame(look);
  look();
})"""


async def measure(effort: Effort) -> list[Figure]:
    rounds = min(effort.rounds, _MOST_ROUNDS)
    with ExitStack() as opened:
        satchel = opened.enter_context(satchel_server(opened.enter_context(scratch_folder()) / "satchel"))
        return await asyncio.to_thread(_visit, satchel, rounds)


def _visit(satchel: SatchelServer, rounds: int) -> list[Figure]:
    pages = {"the sign-in page": "/sign-in", "the page of a link": _give_link(satchel)}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=tool("chromium-headless-shell"), args=["--no-sandbox"])
        try:
            found = {
                what: [_seconds(browser, satchel.url, path) for _ in range(rounds)] for what, path in pages.items()
            }
        finally:
            browser.close()
    line = f"{_LATENCY_MS} ms until an answer begins, 1.6 Mbit/s, nothing kept from before."
    return [alone(f"{what}, to its heading", "s", times, target=below(1.5), note=line) for what, times in found.items()]


def _seconds(browser: Browser, url: str, path: str) -> float:
    context = browser.new_context(base_url=url, locale="en")
    try:
        page = context.new_page()
        line: Any = context.new_cdp_session(page)
        line.send("Network.enable")
        line.send("Network.emulateNetworkConditions", {**_LINE, "uploadThroughput": _BYTES_PER_SECOND})
        page.goto(path, wait_until="commit")
        return float(page.evaluate(_HEADING)) / 1000
    finally:
        context.close()


def _give_link(satchel: SatchelServer) -> str:
    """The path of a link to a folder."""
    headers = {"authorization": f"Bearer {satchel.sign_up('ann@example.org')}"}
    with httpx.Client(base_url=f"{satchel.url}/api/v1", headers=headers, timeout=30) as client:
        folder = client.post("/shelf/folders", json={"name": "Concert"}).raise_for_status().json()
        wanted = {"thing": {"kind": "folder", "id": folder["id"]}}
        return f"/l/{client.post('/links', json=wanted).raise_for_status().json()['token']}"
