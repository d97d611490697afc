"""The relay alone: bytes from body to body without cipher or disk, parked streams, and many streams at once."""

import asyncio
import base64
import filecmp
import hashlib
import os
import secrets
import time
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from bench.figures import Figure, Sample, alone
from bench.processes import cpu_seconds_of_tree, output_of, resident_megabytes
from bench.rounds import Measure
from bench.satchel_server import SatchelServer

_DROP = "/api/v1/drop"
_KEY = "A" * 43
_SEALED = "A" * 400
_READ_BYTES = 256 * 1024
# More than every buffer between the two ends together.
_PARKED_BYTES = 16 * 1024**2
_SETTLING_SECONDS = 3
_TAKES_AT_MOST_SECONDS = 300
# A member may have some dozens of requests open, and an address some dozens of sessions.
_STREAMS_PER_PAIR = 20


def _new_id() -> str:
    return secrets.token_hex(16)


@dataclass(frozen=True, slots=True)
class Pair:
    """An owner and a receiver in one session, for whom what is sealed does not matter."""

    url: str
    owner: str
    receiver: str

    @classmethod
    async def meet(cls, satchel: SatchelServer) -> "Pair":
        admission, session_id = secrets.token_bytes(32), _new_id()
        async with httpx.AsyncClient(base_url=satchel.url + _DROP) as client:
            opened = await client.post(
                "/sessions",
                json={
                    "session_id": session_id,
                    "admission": _b64(hashlib.sha256(admission).digest()),
                    "member_id": _new_id(),
                    "sealed": _SEALED,
                },
            )
            joined = await client.post(
                f"/sessions/{session_id}/members",
                json={"member_id": _new_id(), "admission": _b64(admission), "sealed": _SEALED},
            )
        for answer in (opened, joined):
            answer.raise_for_status()
        return cls(f"{satchel.url}{_DROP}/sessions/{session_id}", opened.json()["token"], joined.json()["token"])

    async def stream(self, size: int) -> str:
        """A new stream of so many bytes; the address of its request."""
        file_id, request_id = _new_id(), _new_id()
        asked = {"request_id": request_id, "file_id": file_id, "public_key": _KEY, "sealed": _SEALED}
        yes = {"public_key": _KEY, "sealed": _SEALED, "chunks": 1, "bytes": size}
        async with httpx.AsyncClient() as client:
            for token, path, body in (
                (self.owner, "/files", {"files": [{"file_id": file_id, "sealed": _SEALED}]}),
                (self.receiver, "/requests", asked),
                (self.owner, f"/requests/{request_id}/acknowledge", yes),
            ):
                answer = await client.post(self.url + path, json=body, headers=_bearer(token))
                answer.raise_for_status()
        return f"{self.url}/requests/{request_id}"


class Relay:
    """The server's relay, with as few sessions as its limits want."""

    def __init__(self, satchel: SatchelServer) -> None:
        self._satchel = satchel
        self._pair: Pair | None = None
        self._streams = 0

    def pipe(self, source: Path, landing: Path) -> Measure:
        """A file to a file with curl at both ends: no cipher, no digest."""
        size = source.stat().st_size

        async def run() -> Sample:
            pair, stream = await self.new_stream(size)
            await asyncio.to_thread(os.sync)
            cpu_before, started = cpu_seconds_of_tree(self._satchel.pid), time.perf_counter()
            await asyncio.gather(
                output_of("curl", "-sf", "-H", _header(pair.receiver), "-o", str(landing), f"{stream}/bytes"),
                output_of("curl", "-sf", "-H", _header(pair.owner), "-T", str(source), f"{stream}/bytes/0?last=true"),
            )
            seconds = time.perf_counter() - started
            cpu_seconds = cpu_seconds_of_tree(self._satchel.pid) - cpu_before
            if not await asyncio.to_thread(filecmp.cmp, source, landing, shallow=False):
                raise RuntimeError("what came out of the pipe is not what went in")
            await asyncio.to_thread(landing.unlink)
            return Sample(size / 1e6, seconds, cpu_seconds)

        return run

    async def parked_megabytes(self, streams: int) -> float:
        """Resident memory while so many receivers do not read, and so many senders wait for them."""
        async with AsyncExitStack() as opened:
            for _ in range(streams):
                pair, stream = await self.new_stream(_PARKED_BYTES)
                await opened.enter_async_context(_request(f"{stream}/bytes", "GET", pair.receiver))
                sending = _request(f"{stream}/bytes/0?last=true", "PUT", pair.owner, _PARKED_BYTES)
                _, writer = await opened.enter_async_context(sending)
                writer.write(bytes(_PARKED_BYTES))
            await asyncio.sleep(_SETTLING_SECONDS)
            return resident_megabytes(self._satchel.pid)

    async def fairness(self, streams: int, size: int) -> Figure:
        """How evenly so many streams get on: Jain's index of what each has when half of all has arrived."""
        taken = [0] * streams
        at_half: list[int] = []

        async def take(number: int, stream: str, token: str) -> None:
            async with _request(f"{stream}/bytes", "GET", token) as (reader, _):
                await reader.readuntil(b"\r\n\r\n")
                while taken[number] < size:
                    piece = await reader.read(_READ_BYTES)
                    if not piece:
                        raise RuntimeError("a stream broke off")
                    taken[number] += len(piece)
                    if not at_half and sum(taken) >= streams * size / 2:
                        at_half.extend(taken)

        made = [await self.new_stream(size) for _ in range(streams)]
        started = time.perf_counter()
        async with asyncio.timeout(_TAKES_AT_MOST_SECONDS), asyncio.TaskGroup() as tasks:
            for number, (pair, stream) in enumerate(made):
                tasks.create_task(take(number, stream, pair.receiver))
                tasks.create_task(upload_zeros(stream, pair, size))
        seconds = time.perf_counter() - started
        index = sum(at_half) ** 2 / (streams * sum(each**2 for each in at_half))
        slowest, fastest, megabytes = min(at_half) / size, max(at_half) / size, streams * size / 1e6
        note = (
            f"1 is even. At half-time the slowest had {slowest:.0%} of its {size // 1024**2} MiB, the fastest "
            f"{fastest:.0%}; all of it took {seconds:.1f} s ({megabytes / seconds:,.0f} MB/s)."
        )
        return alone(f"fairness of {streams} streams at once", "of 1", [index], note=note)

    async def new_stream(self, size: int) -> tuple[Pair, str]:
        if self._pair is None or self._streams % _STREAMS_PER_PAIR == 0:
            self._pair = await Pair.meet(self._satchel)
        self._streams += 1
        return self._pair, await self._pair.stream(size)


async def upload_zeros(stream: str, pair: Pair, size: int) -> None:
    """The owner's end of a stream, with next to no work in it."""
    async with _request(f"{stream}/bytes/0?last=true", "PUT", pair.owner, size) as (reader, writer):
        for start in range(0, size, _READ_BYTES):
            writer.write(bytes(min(_READ_BYTES, size - start)))
            await writer.drain()
        await reader.readuntil(b"\r\n\r\n")


@asynccontextmanager
async def _request(
    url: str, method: str, token: str, length: int = 0
) -> AsyncGenerator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A request of which only the head is sent."""
    address = httpx.URL(url)
    reader, writer = await asyncio.open_connection(address.host, address.port, limit=_READ_BYTES)
    head = f"{method} {address.raw_path.decode()} HTTP/1.1\r\nhost: {address.netloc.decode()}\r\n{_header(token)}\r\n"
    writer.write(f"{head}content-length: {length}\r\n\r\n".encode())
    try:
        yield reader, writer
    finally:
        writer.transport.abort()


def _bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def _header(token: str) -> str:
    return f"authorization: Bearer {token}"


def _b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
