"""From the upload of a photo to both of its pictures: the server and its processes, beside bare pyvips and sigal.

All are measured by their processor time. That of the command which uploads is left out.
"""

import asyncio
import itertools
import resource
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx

from bench.figures import Figure, Sample, alone, at_least, compare
from bench.photos.made_photos import dated
from bench.processes import children, cpu_seconds, cpu_seconds_of_tree, output_of, scratch_folder
from bench.rounds import Effort, Measure, in_turn
from bench.satchel_server import PASSWORD, SatchelServer, satchel_server
from tests.services import tool

# A process ends after 500 jobs, and takes what it used with it. So many in all rounds stay below.
_PHOTOS, _QUICK_PHOTOS = 24, 8
_BETWEEN_LOOKS_SECONDS = 0.5
_PATIENCE_SECONDS = 300
# Several cost more processor time.
_ONE_THREAD = ("env", "VIPS_CONCURRENCY=1")
# The same two sizes, both as JPEG: sigal writes no WebP here.
_SIGAL = """
source, destination, theme, ignore_files = {source!r}, {destination!r}, "galleria", []
img_size, thumb_size, thumb_fit = (1440, 1440), (320, 320), False
img_processor, jpg_options = "ResizeToFit", {{"quality": 80}}
"""


@dataclass(slots=True)
class _Photos:
    """The photos of a run: the pixels are the same in each round, and the bytes are not."""

    folder: Path
    pixels: Sequence[bytes]
    rounds: "itertools.count[int]"

    def next_folder(self) -> Path:
        number = next(self.rounds)
        folder = self.folder / f"round-{number}"
        folder.mkdir()
        for place, pixels in enumerate(self.pixels):
            (folder / f"IMG_{place:04}.jpg").write_bytes(dated(pixels, number, place))
        return folder


async def measure(effort: Effort) -> list[Figure]:
    count = _PHOTOS if effort.rounds > 2 else _QUICK_PHOTOS
    with scratch_folder() as folder:
        photos = await _made(folder, count)
        with satchel_server(folder / "satchel") as server:
            uploading = await _Uploading.prepared(server, folder / "home", photos)
            await uploading()  # so that the processes have loaded their libraries
            contestants: dict[str, Measure] = {
                "satchel": uploading,
                "pyvips": lambda: _bare(photos),
                "sigal": lambda: _sigal(photos),
            }
            samples = await in_turn("photos", min(effort.rounds, 5), contestants)
    what = "photos of 12 megapixels, from upload to both pictures"
    unit = "photos per CPU second"
    return [
        compare(what, unit, samples, peer="pyvips", target=at_least(1 / 1.3)),
        compare("the same, beside sigal", unit, samples, peer="sigal", target=at_least(2.0)),
        alone("the same, share of the second core", "of the first", uploading.balance),
    ]


async def _made(folder: Path, count: int) -> _Photos:
    pixels = folder / "pixels"
    await asyncio.to_thread(pixels.mkdir)
    await output_of(sys.executable, "-m", "bench.photos.photo_pixels", str(pixels), str(count))
    files = sorted(await asyncio.to_thread(lambda: list(pixels.iterdir())))
    return _Photos(folder, [file.read_bytes() for file in files], itertools.count())


@dataclass
class _Uploading:
    """`satchel photos backup` of new photos, until the last of them has its pictures."""

    server: SatchelServer
    command: Sequence[str]
    photos: _Photos
    token: str
    # How much the less busy of the two processes that make pictures worked, beside the other.
    balance: list[float]
    stored: int = 0

    @classmethod
    async def prepared(cls, server: SatchelServer, home: Path, photos: _Photos) -> "_Uploading":
        await asyncio.to_thread(home.mkdir)
        program = ["env", f"HOME={home}", f"XDG_CONFIG_HOME={home}", tool("satchel")]
        who = ("--server", server.url, "--email", "ann@example.org", "--name", "Ann")
        await output_of("env", f"SATCHEL_PASSWORD={PASSWORD}", *program, "signup", *who)
        body = {"email": "ann@example.org", "password": PASSWORD}
        async with httpx.AsyncClient(base_url=server.url, timeout=30) as client:
            answer = (await client.post("/api/v1/sessions", json=body)).raise_for_status()
        token = str(answer.json()["tokens"]["access_token"])
        return cls(server, [*program, "photos", "backup", "--quiet"], photos, token, [])

    async def __call__(self) -> Sample:
        folder = await asyncio.to_thread(self.photos.next_folder)
        before, makers = cpu_seconds_of_tree(self.server.pid), self._children()
        await output_of(*self.command, str(folder))
        self.stored += len(self.photos.pixels)
        await self._until_ready()
        used = cpu_seconds_of_tree(self.server.pid) - before
        if makers:
            after = self._children()
            second, first = sorted(after[pid] - makers.get(pid, 0.0) for pid in after)[-2:]
            self.balance.append(second / first)
        return Sample(len(self.photos.pixels), used)

    def _children(self) -> dict[int, float]:
        return {pid: cpu_seconds(pid) for pid in children(self.server.pid)}

    async def _until_ready(self) -> None:
        deadline = time.monotonic() + _PATIENCE_SECONDS
        headers = {"authorization": f"Bearer {self.token}"}
        async with httpx.AsyncClient(base_url=self.server.url, headers=headers, timeout=30) as client:
            while time.monotonic() < deadline:
                page = (await client.get("/api/v1/photos", params={"limit": 1000})).raise_for_status().json()
                if len(page["ids"]) == self.stored and all(page["placeholders"]):
                    return
                await asyncio.sleep(_BETWEEN_LOOKS_SECONDS)
        raise RuntimeError("the pictures were not made")


async def _bare(photos: _Photos) -> Sample:
    folder = await asyncio.to_thread(photos.next_folder)
    seconds = await output_of(*_ONE_THREAD, sys.executable, "-m", "bench.photos.cascade_bare", str(folder))
    return Sample(len(photos.pixels), float(seconds))


async def _sigal(photos: _Photos) -> Sample:
    """A second build finds every picture made. What it takes is no part of making them."""
    folder = await asyncio.to_thread(photos.next_folder)
    config = folder.with_suffix(".conf.py")
    text = _SIGAL.format(source=str(folder), destination=str(folder.with_suffix(".built")))
    await asyncio.to_thread(config.write_text, text)
    first, again = [await _used_by(tool("sigal"), "build", "-n", "1", "-c", str(config)) for _ in range(2)]
    return Sample(len(photos.pixels), first - again)


async def _used_by(*command: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    await output_of(*command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
