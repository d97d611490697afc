"""What people wait for while strangers attack: signing in, joining a room, a download; and the memory of the server."""

import asyncio
import json
import statistics
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx

from bench.abuse_strangers import HALF, LETTERS, TRIES, UNREAD
from bench.figures import Figure, Spread, Target, below
from bench.processes import resident_megabytes, scratch_folder
from bench.rounds import QUICK, Effort
from bench.satchel_server import PASSWORD, SatchelServer, satchel_server
from tests.uploads.given import SENDS, pairs

_LINK_PASSWORD = "the password of a link"
_TURNS = 40
_DOWNLOAD_BYTES = 1024**2
_PROMISED_MEGABYTES = 512 * 1024**2 / 1e6
_EVERY_SECONDS = 0.2

Act = Callable[[httpx.AsyncClient], Awaitable[object]]


class People:
    """What somebody does who has an account, from a network in which nobody attacks."""

    def __init__(self, server: SatchelServer) -> None:
        self.server = server
        headers = {"authorization": f"Bearer {server.sign_up('ann@example.org')}"}
        with httpx.Client(base_url=f"{server.url}/api/v1", headers=headers, timeout=30) as ann:
            folder = ann.post("/shelf/folders", json={"name": "Concert"}).raise_for_status().json()
            wanted = {"thing": {"kind": "folder", "id": folder["id"]}, "password": _LINK_PASSWORD}
            self.link: str = ann.post("/links", json=wanted).raise_for_status().json()["token"]
            self.code: str = ann.post("/rooms", json={}).raise_for_status().json()["code"]
            metadata = pairs(destination="shelf", filename="notes.bin")
            about = {**SENDS, "upload-length": str(_DOWNLOAD_BYTES), "upload-metadata": metadata}
            ann.post("/uploads", headers=about, content=b"x" * _DOWNLOAD_BYTES).raise_for_status()
            self.file: str = (
                ann.get("/shelf/search", params={"q": "notes"}).raise_for_status().json()["entries"][0]["id"]
            )
        self.acts: dict[str, Act] = {"signing in": self._sign_in, "joining a room": self._join, "a download": self._get}
        self._ben = {"authorization": f"Bearer {server.sign_up('ben@example.org')}"}
        self._ann = headers

    async def _sign_in(self, client: httpx.AsyncClient) -> None:
        body = {"email": "ann@example.org", "password": PASSWORD}
        (await client.post("/sessions", json=body)).raise_for_status()

    async def _join(self, client: httpx.AsyncClient) -> None:
        (await client.post("/rooms/join", json={"code": self.code}, headers=self._ben)).raise_for_status()

    async def _get(self, client: httpx.AsyncClient) -> None:
        path = f"/shelf/files/{self.file}/content"
        got = (await client.get(path, headers=self._ann, follow_redirects=True)).raise_for_status()
        if len(got.content) != _DOWNLOAD_BYTES:
            raise RuntimeError(f"a download has {len(got.content)} bytes")


async def measure(effort: Effort) -> list[Figure]:
    turns = 10 if effort is QUICK else _TURNS
    with scratch_folder() as folder, satchel_server(folder) as server:
        people = await asyncio.to_thread(People, server)
        quiet, _ = await _wait(people, turns)
        async with _strangers(server, people.link):
            attacked, most_megabytes = await _wait(people, turns)
    figures = [
        _figure(f"{what} beside strangers, p99", attacked[what], quiet[what], below(1000)) for what in people.acts
    ]
    memory = Spread.of([most_megabytes])
    return [
        *figures,
        Figure(
            what="resident while strangers attack, at most",
            unit="MB",
            ours=memory,
            target=below(_PROMISED_MEGABYTES),
            met=memory.median < _PROMISED_MEGABYTES,
            note=f"{UNREAD} connections that read nothing, {HALF} half requests, {TRIES} tries at a link's password at "
            f"once, each again after a second, and {LETTERS} wrong room codes in six seconds, all again and again.",
        ),
    ]


def _figure(what: str, attacked: list[float], quiet: list[float], target: Target) -> Figure:
    ours = Spread(_p99(attacked), min(attacked), max(attacked))
    note = f"Each on a new connection, {len(attacked)} times; median {statistics.median(attacked):.0f} ms."
    before = Spread(_p99(quiet), min(quiet), max(quiet))
    met = ours.median < target.value
    return Figure(what=what, unit="ms", ours=ours, peer_name="quiet", peer=before, target=target, met=met, note=note)


def _p99(times: list[float]) -> float:
    return sorted(times)[int(len(times) * 0.99) - 1 if len(times) > 1 else 0]


async def _wait(people: People, turns: int) -> tuple[dict[str, list[float]], float]:
    """Milliseconds that each act took, and the most memory that the server had meanwhile."""
    times: dict[str, list[float]] = {what: [] for what in people.acts}
    most = 0.0

    async def watch() -> None:
        nonlocal most
        while True:
            most = max(most, resident_megabytes(people.server.pid))
            await asyncio.sleep(_EVERY_SECONDS)

    watching = asyncio.create_task(watch())
    for _ in range(turns):
        for what, act in people.acts.items():
            async with httpx.AsyncClient(base_url=f"{people.server.url}/api/v1", timeout=30) as client:
                started = time.perf_counter()
                await act(client)
                times[what].append((time.perf_counter() - started) * 1000)
    watching.cancel()
    return times, most


@asynccontextmanager
async def _strangers(server: SatchelServer, link: str) -> AsyncGenerator[None]:
    arguments = ["-m", "bench.abuse_strangers", server.url, link, _LINK_PASSWORD]
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(sys.executable, *arguments, stdin=pipe, stdout=pipe)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        if await process.stdout.readline() != b"ready\n":
            raise RuntimeError("the strangers did not begin")
        yield
        process.stdin.close()
        answers: dict[str, Any] = json.loads(await process.stdout.readline() or b"{}")
        print(f"abuse: strangers were answered {answers}", file=sys.stderr)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
