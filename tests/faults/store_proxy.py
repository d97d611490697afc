"""A proxy in front of a store: counts what is asked of it, and does harm when it is told to.

In front of a store that speaks HTTP (DynamoDB, S3) it sees requests and answers. In front of Redis it sees bytes that
go one way and then the other, which is a round trip, however many commands they carry.
"""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

# Before the store sees the request: refuse it, say that there is no room, cut the line, or wait. Afterwards: cut the
# line, or send half of the answer. Of a stream, send each record twice.
Harm: TypeAlias = Literal["refused", "full", "cut", "slow", "lost", "half", "twice"]
_SLOW_SECONDS = 0.3
_PIECE = 64 * 1024
_REFUSAL = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
_NO_ROOM = b"HTTP/1.1 507 Insufficient Storage\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


@dataclass
class StoreProxy:
    """What was asked, by name, and what becomes of the next request; `delay` is how long each waits, in seconds."""

    host: str
    port: int
    speaks_http: bool
    url: str = ""
    asked: "Counter[str]" = field(default_factory=Counter[str])
    # What DynamoDB charges for small items, without copies in indexes: `read` and `written`.
    units: "Counter[str]" = field(default_factory=Counter[str])
    harm: Callable[[str], Harm | None] = lambda _name: None
    delay: float = 0.0
    # moto undoes a cancelled transaction by putting back all tables as they were before: whatever others have written
    # meanwhile is lost. So the store sees one request at a time.
    in_order: asyncio.Lock = field(default_factory=asyncio.Lock)
    _lines: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])

    def take(self) -> "Counter[str]":
        """What was asked since the last time."""
        taken, self.asked = self.asked, Counter()
        self.units = Counter()
        return taken

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._lines.add(task)
        try:
            there, back = await asyncio.open_connection(self.host, self.port)
            try:
                await (self._exchange if self.speaks_http else self._pipe)(reader, writer, there, back)
            finally:
                back.close()
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError, _Cut):
            pass
        finally:
            writer.close()
            self._lines.discard(task)

    def cut_all(self) -> None:
        for task in self._lines:
            task.cancel()

    async def _exchange(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        there: asyncio.StreamReader,
        back: asyncio.StreamWriter,
    ) -> None:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            body = await _body(reader, head)
            name = _name(head)
            self.asked[name] += 1
            self.units += _units(name, body)
            await asyncio.sleep(self.delay)
            match harm := self.harm(name):
                case "refused" | "full":
                    writer.write(_REFUSAL if harm == "refused" else _NO_ROOM)
                    await writer.drain()
                    return
                case "cut":
                    return
                case _:
                    await asyncio.sleep(_SLOW_SECONDS if harm == "slow" else 0)
            async with self.in_order:
                back.write(head + body)
                answer = await there.readuntil(b"\r\n\r\n")
                content = b"" if name.startswith("HEAD") else await _body(there, answer)
            if harm == "lost":
                return
            if harm == "twice" and name == "GetRecords":
                answer, content = _doubled(answer, content)
            whole = answer + content
            writer.write(whole[: len(whole) // 2] if harm == "half" else whole)
            await writer.drain()
            if harm == "half" or b"connection: close" in answer.lower():
                return

    async def _pipe(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        there: asyncio.StreamReader,
        back: asyncio.StreamWriter,
    ) -> None:
        answered = True

        async def forth() -> None:
            nonlocal answered
            while data := await reader.read(_PIECE):
                if answered:
                    self.asked["round trip"] += 1
                    answered = False
                await asyncio.sleep(self.delay)
                match self.harm("round trip"):
                    case "cut" | "refused" | "full":
                        raise _Cut
                    case harm:
                        await asyncio.sleep(_SLOW_SECONDS if harm == "slow" else 0)
                        back.write(data)

        async def home() -> None:
            nonlocal answered
            while data := await there.read(_PIECE):
                answered = True
                if self.harm("answer") in ("lost", "half"):
                    raise _Cut
                writer.write(data)
                await writer.drain()

        ways = [asyncio.create_task(forth()), asyncio.create_task(home())]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)


class _Cut(Exception):
    """The line is cut on purpose."""


@asynccontextmanager
async def proxied(upstream: str) -> AsyncGenerator[StoreProxy]:
    """A proxy for a store at this address; `url` is what to use in its place."""
    parts = urlsplit(upstream)
    proxy = StoreProxy(parts.hostname or "", parts.port or 0, parts.scheme == "http")
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0, limit=2**20)
    port = server.sockets[0].getsockname()[1]
    proxy.url = f"{parts.scheme}://127.0.0.1:{port}{parts.path}"
    try:
        yield proxy
    finally:
        server.close()
        proxy.cut_all()
        with suppress(TimeoutError):
            await asyncio.wait_for(server.wait_closed(), 1)


def _name(head: bytes) -> str:
    """What is asked: an operation of DynamoDB, or a method."""
    target = _header(head, b"x-amz-target")
    return target.decode().rpartition(".")[2] if target else head.split(b" ", 1)[0].decode()


def _doubled(head: bytes, body: bytes) -> tuple[bytes, bytes]:
    """An answer of a stream with each record twice, as streams may deliver them."""
    answer = json.loads(body)
    answer["Records"] = [record for record in answer["Records"] for _ in range(2)]
    body = json.dumps(answer).encode()
    fields = [line for line in head.split(b"\r\n")[1:] if line and b":" in line]
    kept = [line for line in fields if not line.lower().startswith((b"content-length", b"x-amz-crc32"))]
    first = head.split(b"\r\n", 1)[0]
    return b"\r\n".join([first, *kept, b"Content-Length: %d" % len(body), b"", b""]), body


def _units(name: str, body: bytes) -> "Counter[str]":
    """Each item counts as one unit, and as two in a transaction. A query counts as one."""
    match name:
        case "GetItem" | "Query":
            return Counter(read=1)
        case "PutItem" | "UpdateItem" | "DeleteItem":
            return Counter(written=1)
        case "TransactWriteItems":
            return Counter(written=2 * len(json.loads(body)["TransactItems"]))
        case "BatchGetItem":
            return Counter(read=sum(len(each["Keys"]) for each in json.loads(body)["RequestItems"].values()))
        case "BatchWriteItem":
            return Counter(written=sum(map(len, json.loads(body)["RequestItems"].values())))
        case _:
            return Counter()


def _header(head: bytes, name: bytes) -> bytes:
    for line in head.split(b"\r\n")[1:]:
        found, _, value = line.partition(b":")
        if found.strip().lower() == name:
            return value.strip()
    return b""


async def _body(reader: asyncio.StreamReader, head: bytes) -> bytes:
    if b"chunked" in _header(head, b"transfer-encoding").lower():
        pieces: list[bytes] = []
        while True:
            size = await reader.readuntil(b"\r\n")
            piece = await reader.readexactly(int(size.split(b";")[0], 16) + 2)
            pieces += [size, piece]
            if piece == b"\r\n":
                return b"".join(pieces)
    length = int(_header(head, b"content-length") or b"0")
    return await reader.readexactly(length) if length else b""
