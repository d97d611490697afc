"""Chromium at one end: what the page of the drop takes and sends, beside a bare `fetch` of as many bytes."""

import asyncio
import contextlib
import os
from collections.abc import AsyncGenerator
from pathlib import Path

from playwright.async_api import BrowserContext, Page, async_playwright

from bench.drop.commands import Goods, receiving, sending
from bench.drop.relay import Pair, Relay, upload_zeros
from bench.figures import Figure, Sample, at_least, compare
from bench.processes import output_of
from bench.rounds import Effort, Measure, in_turn
from bench.satchel_server import SatchelServer
from tests.services import tool

_SEGMENT_BYTES = 8 * 1024**2
_PATIENCE_MS = 200_000
# Without it, files go to the browser's private disk, as in every browser but Chromium.
_NO_PICKER = "delete window.showSaveFilePicker"
# The page would do so a minute later. Until then every round would take as much memory again, for what it has written.
_CLEAR_PRIVATE_DISK = """async () => {
    const root = await navigator.storage.getDirectory();
    for await (const name of root.keys()) await root.removeEntry(name, { recursive: true });
}"""
_FETCH = """async ([url, token]) => {
    const started = performance.now();
    const answer = await fetch(url, { headers: { authorization: `Bearer ${token}` }, credentials: 'omit' });
    const reader = answer.body.getReader();
    while (!(await reader.read()).done);
    return (performance.now() - started) / 1000;
}"""
# Seconds from when one thing is shown until another is, by the page's own clock: who asks it from outside learns of it
# up to half a second late.
_BETWEEN = """([from, until]) => new Promise((resolve) => {
    let started;
    const look = () => {
        if (document.querySelector(from)) started ??= performance.now();
        if (started === undefined || !document.querySelector(until)) return;
        observer.disconnect();
        resolve((performance.now() - started) / 1000);
    };
    const observer = new MutationObserver(look);
    observer.observe(document.body, { subtree: true, childList: true, attributeFilter: ['class'] });
    look();
})"""
_UPLOAD = """async ([url, token, size, segment]) => {
    const bytes = new Uint8Array(segment);
    for (let at = 0; at < segment; at += 65536) crypto.getRandomValues(bytes.subarray(at, at + 65536));
    const started = performance.now();
    const underWay = [];
    for (let at = 0; at < size; at += segment) {
        if (underWay.length > 1) await underWay.shift();
        const last = at + segment >= size ? '?last=true' : '';
        const headers = { authorization: `Bearer ${token}` };
        const body = new Blob([bytes]);
        underWay.push(fetch(`${url}/${at}${last}`, { method: 'PUT', body, headers, credentials: 'omit' }));
    }
    await Promise.all(underWay);
    return (performance.now() - started) / 1000;
}"""


async def measure(satchel: SatchelServer, relay: Relay, goods: Goods, folder: Path, effort: Effort) -> list[Figure]:
    size = goods.path.stat().st_size
    async with _browser(satchel, folder / "profile") as context:
        samples = await in_turn(
            "drop, Chromium",
            effort.rounds,
            {
                "taking": _taking(satchel, context, goods, folder),
                "bare fetch": _bare_fetch(relay, context, size),
                "sending": _sending(satchel, context, goods, folder),
                "bare upload": _bare_upload(relay, context, size),
            },
        )
    megabytes = f"{size // 1024**2} MiB"
    return [
        compare(
            f"{megabytes} into Chromium's disk",
            "MB/s",
            samples,
            ours="taking",
            peer="bare fetch",
            target=at_least(0.6),
            note="The fetch opens, digests and writes nothing, and what it reads are zeros that nobody had to seal.",
        ),
        compare(
            f"{megabytes} out of Chromium", "MB/s", samples, ours="sending", peer="bare upload", target=at_least(0.6)
        ),
    ]


@contextlib.asynccontextmanager
async def _browser(satchel: SatchelServer, profile: Path) -> AsyncGenerator[BrowserContext]:
    async with async_playwright() as playwright:
        context = await playwright.chromium.launch_persistent_context(
            profile, executable_path=tool("chromium"), args=["--no-sandbox"], base_url=satchel.url, locale="en"
        )
        await context.add_init_script(_NO_PICKER)
        try:
            yield context
        finally:
            await context.close()


@contextlib.asynccontextmanager
async def _page(context: BrowserContext) -> AsyncGenerator[Page]:
    # What earlier turns have written would otherwise reach the disk in this one's time.
    await asyncio.to_thread(os.sync)
    page = await context.new_page()
    await page.goto("/drop")
    try:
        yield page
    finally:
        await page.close()


def _taking(satchel: SatchelServer, context: BrowserContext, goods: Goods, folder: Path) -> Measure:
    """From when the bytes begin to flow until the page has written all of them, from `satchel send`."""

    async def run() -> Sample:
        async with sending(satchel, goods, folder) as offer, _page(context) as page:
            await page.get_by_label("Code or link").fill(offer["code"])
            await page.get_by_role("button", name="Join").click()
            take = page.get_by_role("button", name="Receive").first
            await take.wait_for(timeout=_PATIENCE_MS)
            async with page.expect_download(timeout=_PATIENCE_MS) as download:
                clock = asyncio.create_task(_seconds_between(page, ".flow.flowing", ".flow.saving, .flow.done"))
                await take.click()
                seconds = await clock
            await (await download.value).delete()
            await page.evaluate(_CLEAR_PRIVATE_DISK)
        return Sample(goods.work, seconds)

    return run


def _sending(satchel: SatchelServer, context: BrowserContext, goods: Goods, folder: Path) -> Measure:
    """From when the bytes begin to flow until `satchel receive` has confirmed them."""

    async def run() -> Sample:
        async with _page(context) as page:
            async with page.expect_file_chooser() as chooser:
                await page.get_by_role("button", name="Choose files").click()
            await (await chooser.value).set_files(goods.path)
            name = await page.locator(".spoken .name").inner_text()
            code = await page.locator(".spoken .code").inner_text()
            landing = folder / "from-chromium"
            command = receiving(satchel, folder, f"{name}-{code.replace(' ', '')}", landing)
            clock = asyncio.create_task(_seconds_between(page, ".flow.flowing", ".flow.done"))
            await output_of(*command)
            seconds = await clock
            await asyncio.to_thread((landing / goods.path.name).unlink)
        return Sample(goods.work, seconds)

    return run


async def _seconds_between(page: Page, begun: str, over: str) -> float:
    async with asyncio.timeout(_PATIENCE_MS / 1000):
        return await page.evaluate(_BETWEEN, [begun, over])


def _bare_fetch(relay: Relay, context: BrowserContext, size: int) -> Measure:
    async def run() -> Sample:
        pair, stream = await relay.new_stream(size)
        async with _page(context) as page:
            feeding = asyncio.create_task(upload_zeros(stream, pair, size))
            seconds = await page.evaluate(_FETCH, [f"{stream}/bytes", pair.receiver])
            await feeding
        return Sample(size / 1e6, seconds)

    return run


def _bare_upload(relay: Relay, context: BrowserContext, size: int) -> Measure:
    async def run() -> Sample:
        pair, stream = await relay.new_stream(size)
        async with _page(context) as page:
            draining = asyncio.create_task(_drain(stream, pair))
            seconds = await page.evaluate(_UPLOAD, [f"{stream}/bytes", pair.owner, size, _SEGMENT_BYTES])
            await draining
        return Sample(size / 1e6, seconds)

    return run


async def _drain(stream: str, pair: Pair) -> None:
    await output_of("curl", "-sf", "-H", f"authorization: Bearer {pair.receiver}", "-o", "/dev/null", f"{stream}/bytes")
