"""A timeline of 100,000 photos in Chromium, scrolled from the newest to the oldest: its longest task, and its heap.

A task that keeps the main thread of the page busy delays the next frame. Its processor time counts, taken from a trace
of Chromium: other programs on the machine change how long a frame takes, and hardly that.
"""

import asyncio
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Page, ViewportSize, expect, sync_playwright

from bench.figures import Figure, alone, below
from bench.photos.photo_library import email_of, fill, given_person
from bench.processes import scratch_folder
from bench.rounds import Effort
from bench.satchel_server import PASSWORD, SatchelServer, satchel_server
from tests.services import tool

_PHOTOS, _QUICK_PHOTOS = 100_000, 20_000
_MOST_ROUNDS = 3
_SIZE = ViewportSize(width=1280, height=800)
# Slowly at first, as one who looks; then by most of a screen in each frame, while all that passes is loaded; then by
# several screens, so that the end is reached.
_SLOW_FRAMES, _SLOW_PX, _BRISK_PX, _FAST_FRAMES = 300, 120, 600, 600
_SCROLL = """async ([slowFrames, slowPx, briskPx, fastFrames]) => {
  const frame = () => new Promise((shown) => requestAnimationFrame(shown));
  for (let each = 0; each < slowFrames; each++) { window.scrollBy(0, slowPx); await frame(); }
  for (let each = 0; each < slowFrames; each++) { window.scrollBy(0, briskPx); await frame(); }
  const most = document.documentElement.scrollHeight;
  for (let each = 0; each < fastFrames; each++) { window.scrollBy(0, most / fastFrames); await frame(); }
}"""
_TASKS = "RunTask"


@dataclass(frozen=True, slots=True)
class _Scrolled:
    longest_ms: float
    heap_before: float
    heap_after: float


async def measure(effort: Effort) -> list[Figure]:
    photos = _PHOTOS if effort.rounds > 2 else _QUICK_PHOTOS
    with scratch_folder() as folder:
        with satchel_server(folder) as server:
            person = given_person(server, "ann", photos)
        await fill(server.settings, person)
        with satchel_server(folder) as server:
            rounds = [await asyncio.to_thread(_scroll, server) for _ in range(min(effort.rounds, _MOST_ROUNDS))]
    what = f"scrolling through {photos:,} photos in Chromium"
    return [
        alone(f"{what}: longest task", "ms", [each.longest_ms for each in rounds], target=below(100)),
        alone(f"{what}: heap before", "MB", [each.heap_before for each in rounds]),
        alone(f"{what}: heap after", "MB", [each.heap_after for each in rounds], target=below(60)),
    ]


def _scroll(server: SatchelServer) -> _Scrolled:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=tool("chromium-headless-shell"), args=["--no-sandbox"])
        try:
            context = browser.new_context(base_url=server.url, locale="en", viewport=_SIZE, service_workers="block")
            page = context.new_page()
            who = {"email": email_of("ann"), "password": PASSWORD, "keep": "cookie"}
            page.request.post("/api/v1/sessions", data=who)
            session: Any = context.new_cdp_session(page)
            # The rows have no pictures behind them: placeholders are drawn.
            session.send("Network.enable")
            session.send("Network.setBlockedURLs", {"urls": ["*/picture/*"]})
            page.goto("/photos")
            expect(page.get_by_role("main").locator(".tile img").first).to_be_visible(timeout=60_000)
            before = _heap(session)
            events = _traced(session, page)
            return _Scrolled(_longest(events), before, _heap(session))
        finally:
            browser.close()


def _heap(session: Any) -> float:
    """Megabytes that scripts hold, after what nobody holds was collected."""
    session.send("HeapProfiler.enable")
    session.send("HeapProfiler.collectGarbage")
    session.send("Performance.enable")
    found: list[dict[str, Any]] = session.send("Performance.getMetrics")["metrics"]
    return next(each["value"] for each in found if each["name"] == "JSHeapUsedSize") / 1e6


def _traced(session: Any, page: Page) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = []
    ended: list[object] = []

    def collect(data: dict[str, Any]) -> None:
        events.extend(data["value"])

    def end(data: dict[str, Any]) -> None:
        ended.append(data)

    session.on("Tracing.dataCollected", collect)
    session.on("Tracing.tracingComplete", end)
    config = {"includedCategories": ["toplevel", "devtools.timeline", "disabled-by-default-devtools.timeline"]}
    session.send("Tracing.start", {"traceConfig": config, "transferMode": "ReportEvents"})
    page.evaluate(_SCROLL, [_SLOW_FRAMES, _SLOW_PX, _BRISK_PX, _FAST_FRAMES])
    session.send("Tracing.end")
    while not ended:
        page.wait_for_timeout(50)
    return events


def _longest(events: list[dict[str, Any]]) -> float:
    """The processor time of the longest task of the page's main thread, in milliseconds."""
    mains = {
        (each["pid"], each["tid"])
        for each in events
        if each["name"] == "thread_name" and each["args"]["name"] == "CrRendererMain"
    }
    tasks = [each for each in events if each["name"] == _TASKS and (each["pid"], each["tid"]) in mains]
    return max((each.get("tdur", each.get("dur", 0)) for each in tasks), default=0) / 1000
