"""One large file down and up, through signed links and the shelf, beside nginx and copyparty, all with curl."""

import asyncio
import hashlib
import itertools
import os
import shutil
import time
from base64 import b64encode
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from urllib.parse import urljoin

import httpx

from bench.figures import Figure, Sample, at_least, compare
from bench.processes import cpu_seconds_of_tree, output_of, scratch_folder, serving
from bench.rounds import Effort, Measure, in_turn
from bench.satchel_server import SatchelServer, satchel_server
from satchel.stores.ports.objects import DEFAULT_TYPE
from tests.services import free_port, tool

_MEGA = 1e-6
# One takes a fraction of a second, so that a single disturbance would decide it.
_TRANSFERS_PER_ROUND = 3
_LINK_LIFETIME = timedelta(hours=1)
# What the web app sends in one request.
_REQUEST_BYTES = 32 * 1024 * 1024
_NGINX = """
daemon off; pid {folder}/pid; error_log {folder}/error.log; worker_processes 1; {user}
events {{}}
http {{
    access_log off; sendfile on; default_type application/octet-stream;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
    server {{ listen 127.0.0.1:{port}; root {folder}/served; }}
}}
"""


@dataclass(frozen=True, slots=True)
class Source:
    """The file that is sent."""

    path: Path
    size_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Peer:
    """Another server and the folder that it serves."""

    pid: int
    url: str
    folder: Path


async def measure(effort: Effort) -> list[Figure]:
    with ExitStack() as opened:
        folder = opened.enter_context(scratch_folder())
        source = await asyncio.to_thread(_fill, folder / "source", effort.file_bytes)
        satchel = opened.enter_context(satchel_server(folder / "satchel"))
        nginx = opened.enter_context(_nginx(folder / "nginx"))
        copyparty = opened.enter_context(copyparty_server(folder / "copyparty"))
        downloads = await _downloads(satchel, nginx, source, effort)
        return [*downloads, *await _uploads(satchel, copyparty, source, effort)]


def _fill(path: Path, size_bytes: int) -> Source:
    digest = hashlib.sha256()
    with path.open("wb") as output:
        for _ in range(size_bytes // 1024**2):
            chunk = os.urandom(1024**2)
            digest.update(chunk)
            output.write(chunk)
    return Source(path, size_bytes, digest.hexdigest())


@contextmanager
def _nginx(folder: Path) -> Generator[Peer]:
    served = folder / "served"
    served.mkdir(parents=True)
    port = free_port()
    # Debian keeps it where only root looks.
    program = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin") or "nginx"
    settings = folder / "nginx.conf"
    settings.write_text(_NGINX.format(folder=folder, port=port, user="user root;" if os.geteuid() == 0 else ""))
    with serving([program, "-c", str(settings), "-e", str(folder / "error.log")], port) as pid:
        yield Peer(pid, f"http://127.0.0.1:{port}", served)


@contextmanager
def copyparty_server(folder: Path) -> Generator[Peer]:
    served = folder / "served"
    served.mkdir(parents=True)
    port = free_port()
    command = [tool("copyparty"), "-q", "-i", "127.0.0.1", "-p", str(port), "-v", f"{served}::rw"]
    with serving(command, port, cwd=folder, environment={"HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}) as pid:
        yield Peer(pid, f"http://127.0.0.1:{port}", served)


async def _downloads(satchel: SatchelServer, nginx: Peer, source: Source, effort: Effort) -> list[Figure]:
    async with satchel.objects() as objects:
        link = await objects.sign_get("download", _LINK_LIFETIME)
        await _upload(await objects.sign_put("download", _LINK_LIFETIME), source)
    await asyncio.to_thread(shutil.copyfile, source.path, nginx.folder / "download")
    addresses = {"satchel": (link, satchel.pid), "nginx": (f"{nginx.url}/download", nginx.pid)}
    for name, (url, _) in addresses.items():
        # Besides, this warms up: the bytes are in memory for both.
        if await asyncio.to_thread(_digest_of, url) != source.sha256:
            raise RuntimeError(f"{name} sent other bytes than were stored")
    contestants = {name: _downloading(url, pid, source.size_bytes) for name, (url, pid) in addresses.items()}
    samples = await in_turn("files, download", _TRANSFERS_PER_ROUND * effort.rounds, contestants)
    what = f"download of {effort.file_size}"
    return [compare(what, "MB/s", samples, peer="nginx", target=at_least(0.8), scale=_MEGA)]


def _digest_of(url: str) -> str:
    digest = hashlib.sha256()
    with httpx.stream("GET", url, timeout=60) as response:
        response.raise_for_status()
        for chunk in response.iter_bytes():
            digest.update(chunk)
    return digest.hexdigest()


def _downloading(url: str, pid: int, size_bytes: int) -> Measure:
    async def run() -> Sample:
        cpu_before = cpu_seconds_of_tree(pid)
        seconds, moved = await _curl("size_download", "--output", "/dev/null", url)
        if moved != size_bytes:
            raise RuntimeError(f"{moved} bytes came instead of {size_bytes}")
        return Sample(moved, seconds, cpu_seconds_of_tree(pid) - cpu_before)

    return run


async def _uploads(satchel: SatchelServer, copyparty: Peer, source: Source, effort: Effort) -> list[Figure]:
    numbers = itertools.count()

    async def to_satchel() -> Sample:
        key = f"upload-{next(numbers)}"
        async with satchel.objects() as objects:
            link = await objects.sign_put(key, _LINK_LIFETIME)
            sample = await _uploading(link, source, satchel.pid)
            await objects.delete(key)
        return sample

    shelf = _Shelf(satchel)

    async def to_shelf() -> Sample:
        await asyncio.to_thread(os.sync)
        cpu_before = cpu_seconds_of_tree(satchel.pid)
        seconds = await shelf.upload(source)
        sample = Sample(source.size_bytes, seconds, cpu_seconds_of_tree(satchel.pid) - cpu_before)
        await shelf.clear()
        return sample

    async def to_copyparty() -> Sample:
        file = copyparty.folder / f"upload-{next(numbers)}"
        sample = await _uploading(f"{copyparty.url}/{file.name}", source, copyparty.pid)
        file.unlink()
        return sample

    async def to_copyparty_and_disk() -> Sample:
        file = copyparty.folder / f"upload-{next(numbers)}"
        sample = await _uploading(f"{copyparty.url}/{file.name}", source, copyparty.pid)
        flushing = await asyncio.to_thread(_flush, file)
        file.unlink()
        return Sample(sample.work, sample.seconds + flushing)

    contestants: dict[str, Measure] = {
        "satchel": to_satchel,
        "satchel, resumable": to_shelf,
        "copyparty": to_copyparty,
        "copyparty and fsync": to_copyparty_and_disk,
    }
    for contestant in contestants.values():
        await contestant()
    samples = await in_turn("files, upload", _TRANSFERS_PER_ROUND * effort.rounds, contestants)
    what = f"upload of {effort.file_size}, hashed"
    return [
        compare(what, "MB/s", samples, peer="copyparty", target=at_least(1.0), scale=_MEGA),
        compare(
            "the same, both on the disk",
            "MB/s",
            samples,
            peer="copyparty and fsync",
            scale=_MEGA,
            note="Satchel answers when the bytes are on the disk; copyparty does not wait for that, so fsync follows.",
        ),
        compare(
            "the same as a resumable upload to the shelf",
            "MB/s",
            samples,
            ours="satchel, resumable",
            peer="copyparty",
            scale=_MEGA,
            note="tus in requests of 32 MiB, as browsers send it; each is on the disk before the next is begun.",
        ),
        compare(
            "the same, both on the disk",
            "MB/s",
            samples,
            ours="satchel, resumable",
            peer="copyparty and fsync",
            target=at_least(0.9),
            scale=_MEGA,
        ),
    ]


class _Shelf:
    """Somebody's shelf, filled by the resumable protocol."""

    def __init__(self, satchel: SatchelServer) -> None:
        self._url = f"{satchel.url}/api/v1"
        self._headers = {"authorization": f"Bearer {satchel.sign_up('shelf@example.org')}", "tus-resumable": "1.0.0"}

    async def upload(self, source: Source) -> float:
        described = f"destination {b64encode(b'shelf').decode()},filename {b64encode(b'file').decode()}"
        async with httpx.AsyncClient(timeout=60) as client:
            sizes = {"upload-length": str(source.size_bytes), "upload-metadata": described}
            begun = await client.post(f"{self._url}/uploads", headers={**self._headers, **sizes})
            begun.raise_for_status()
        location = urljoin(self._url, begun.headers["location"])
        piece = source.path.with_name("piece")
        seconds = 0.0
        for offset in range(0, source.size_bytes, _REQUEST_BYTES):
            await asyncio.to_thread(_cut, source.path, offset, piece)
            headers = {**self._headers, "upload-offset": str(offset), "content-type": "application/offset+octet-stream"}
            arguments = [part for name, value in headers.items() for part in ("--header", f"{name}: {value}")]
            took, _ = await _curl("size_upload", "-X", "PATCH", "-T", str(piece), "-H", "expect:", *arguments, location)
            seconds += took
        return seconds

    async def clear(self) -> None:
        async with httpx.AsyncClient(timeout=60, headers=self._headers) as client:
            for file in (await client.get(f"{self._url}/shelf/entries")).raise_for_status().json()["entries"]:
                (await client.delete(f"{self._url}/shelf/files/{file['id']}")).raise_for_status()
            (await client.delete(f"{self._url}/shelf/bin")).raise_for_status()


def _cut(path: Path, offset: int, piece: Path) -> None:
    with path.open("rb") as source:
        source.seek(offset)
        piece.write_bytes(source.read(_REQUEST_BYTES))


async def _uploading(url: str, source: Source, pid: int) -> Sample:
    # What earlier turns left to be written must not be written during this one.
    await asyncio.to_thread(os.sync)
    cpu_before = cpu_seconds_of_tree(pid)
    seconds = await _upload(url, source)
    return Sample(source.size_bytes, seconds, cpu_seconds_of_tree(pid) - cpu_before)


async def _upload(url: str, source: Source) -> float:
    headers = ("--header", f"content-type: {DEFAULT_TYPE}", "--header", "expect:")
    seconds, moved = await _curl(
        "size_upload", "--upload-file", str(source.path), *headers, "--output", "/dev/null", url
    )
    if moved != source.size_bytes:
        raise RuntimeError(f"{url} took {moved} bytes")
    return seconds


async def _curl(counted: str, *arguments: str) -> tuple[float, int]:
    """How long it took, and how many bytes were moved in the direction that counts; refusals fail."""
    output = await output_of("curl", "-sSf", "--write-out", f"%{{time_total}} %{{{counted}}}", *arguments)
    seconds, moved = output.split()
    return float(seconds), int(moved)


def _flush(file: Path) -> float:
    started = time.perf_counter()
    with file.open("rb") as opened:
        os.fsync(opened.fileno())
    return time.perf_counter() - started
