"""A large score on a real server: how long it takes to open, to see another's stroke, and to be answered meanwhile."""

import asyncio
import statistics
import time
from collections.abc import Sequence
from typing import Any

import httpx
import msgspec
from websockets.asyncio.client import ClientConnection, connect

from bench.figures import Figure, alone, below
from bench.processes import cpu_seconds_of_tree, scratch_folder
from bench.rounds import Effort
from bench.satchel_server import satchel_server
from satchel.kernel import ink
from tests.media.made_scores import pdf, scanned_pdf
from tests.media.samples import jpeg
from tests.uploads.given import SENDS, pairs

_PAGES, _MARKS, _AT_ONCE = 200, 10_000, 200
_STROKES = 300
# As wide as a scanner at 200 dpi makes A4.
_SCANNED_SCALE = 4
_BREAK_SECONDS = 0.01


async def measure(effort: Effort) -> list[Figure]:
    pages, marks = (_PAGES, _MARKS) if effort.rounds > 2 else (_PAGES // 10, _MARKS // 10)
    with scratch_folder() as folder, satchel_server(folder / "satchel") as server:
        tokens = [server.sign_up(f"{name}@example.org") for name in ("ann", "bob")]
        ann, bob = (
            httpx.AsyncClient(base_url=f"{server.url}/api/v1", headers={"authorization": f"Bearer {each}"}, timeout=120)
            for each in tokens
        )
        async with ann, bob:
            path = await _filled(ann, pages, marks)
            opened = await _opened(ann, path, server.pid, effort)
            live = server.url.replace("http", "ws") + "/api/v1/live"
            async with connect(live, additional_headers=dict(bob.headers), proxy=None, max_size=2**22) as line:
                strokes = await _strokes(ann, bob, line)
            return [*opened, strokes, await _answered_meanwhile(ann, bob, pages)]


async def _filled(ann: httpx.AsyncClient, pages: int, marks: int) -> str:
    made = await _asked(ann, "POST", "/scores", json={"title": "Large"})
    path = f"/scores/{made['score_id']}"
    for number in range(pages):
        await _upload(ann, jpeg() + number.to_bytes(2, "big"), f"{number}.jpg", made["score_id"])
    layer = await _asked(ann, "POST", f"{path}/layers", json={"name": "All"})
    await _asked(ann, "PATCH", f"{path}/layers/{layer['layer_id']}", json={"published": True})
    ids = [page["page_id"] for page in (await _asked(ann, "GET", path))["pages"]]
    for first in range(0, marks, _AT_ONCE):
        add = [_stroke(ids[number % pages], number) for number in range(first, min(first + _AT_ONCE, marks))]
        await _asked(ann, "POST", f"{path}/layers/{layer['layer_id']}/marks", json={"add": add})
    return path


async def _opened(ann: httpx.AsyncClient, path: str, pid: int, effort: Effort) -> list[Figure]:
    seconds: list[float] = []
    answer = await ann.get(f"{path}?marks=true")
    before = cpu_seconds_of_tree(pid)
    times = 10 * effort.rounds
    for _ in range(times):
        started = time.perf_counter()
        answer = await ann.get(f"{path}?marks=true")
        seconds.append(time.perf_counter() - started)
        answer.raise_for_status()
    used = (cpu_seconds_of_tree(pid) - before) / times
    found = answer.json()
    what = f"a score of {len(found['pages'])} pages and {len(found['marks'])} marks"
    note = f"{len(answer.content) / 1e6:.2f} MB of JSON"
    return [
        alone(f"opening {what}", "ms", [each * 1000 for each in seconds], note=note),
        alone("the same, processor time of the server", "ms", [used * 1000]),
    ]


async def _strokes(ann: httpx.AsyncClient, bob: httpx.AsyncClient, line: ClientConnection) -> Figure:
    """From the moment in which somebody lifts the pen until another has the stroke, in a score of one page."""
    made = await _asked(ann, "POST", "/scores", json={"title": "Small", "access": "public"})
    path = f"/scores/{made['score_id']}"
    await _upload(ann, jpeg(), "page.jpg", made["score_id"])
    layer = await _asked(ann, "POST", f"{path}/layers", json={"name": "All"})
    await _asked(ann, "PATCH", f"{path}/layers/{layer['layer_id']}", json={"published": True})
    await _asked(bob, "PUT", f"{path}/presence", json={})
    delays: list[float] = []
    for number in range(_STROKES):
        started = time.perf_counter()
        sent = asyncio.create_task(
            _asked(ann, "POST", f"{path}/layers/{layer['layer_id']}/marks", json={"add": [_stroke(0, number)]})
        )
        await _heard(line)
        delays.append(time.perf_counter() - started)
        await sent
    return alone("a stroke on the other screen, p95", "ms", [_percentile(delays, 95) * 1000], target=below(100.0))


async def _heard(line: ClientConnection) -> None:
    while msgspec.json.decode(await line.recv())["type"] != "score.marks":
        pass


async def _answered_meanwhile(ann: httpx.AsyncClient, bob: httpx.AsyncClient, pages: int) -> Figure:
    """Somebody else asks for something small while pages are made of a scan."""
    scan = await asyncio.to_thread(scanned_pdf, pdf(pages // 2), _SCANNED_SCALE)
    made = await _asked(ann, "POST", "/scores", json={"title": "Scan"})
    await _upload(ann, scan, "scan.pdf", made["score_id"])
    delays: list[float] = []
    while True:
        started = time.perf_counter()
        (await bob.get("/whoami")).raise_for_status()
        delays.append(time.perf_counter() - started)
        await asyncio.sleep(_BREAK_SECONDS)
        if len(delays) % 20 == 0:
            imports = (await _asked(ann, "GET", f"/scores/{made['score_id']}"))["imports"]
            if all(each["state"] in ("ready", "failed") for each in imports):
                break
    usual = statistics.median(delays) * 1000
    note = f"{len(delays)} requests while {pages // 2} scanned pages were made; p50 {usual:.1f} ms"
    return alone(
        "another request meanwhile, p99", "ms", [_percentile(delays, 99) * 1000], target=below(100.0), note=note
    )


def _stroke(page_id: int, number: int) -> dict[str, Any]:
    points = [
        (100 + (number * 37 + step * 29) % 9000, 200 + (number * 53 + step * 7) % 9000, 128) for step in range(18)
    ]
    return {"page_id": page_id, "kind": "pen", "colour": "#cc0000", "width": 20, "stroke": ink.encode(points)}


async def _upload(who: httpx.AsyncClient, content: bytes, name: str, score_id: str) -> None:
    metadata = pairs(destination="score", filename=name, score=score_id)
    headers = {**SENDS, "upload-length": str(len(content)), "upload-metadata": metadata}
    (await who.post("/uploads", headers=headers, content=content)).raise_for_status()


async def _asked(who: httpx.AsyncClient, method: str, path: str, **sends: Any) -> Any:
    answer = await who.request(method, path, **sends)
    answer.raise_for_status()
    return answer.json() if answer.content else None


def _percentile(seconds: Sequence[float], wanted: int) -> float:
    return sorted(seconds)[min(len(seconds) - 1, len(seconds) * wanted // 100)]
