"""What the tests of uploads are given: a desk that takes uploads over, on embedded stores, spoken to over HTTP."""

import asyncio
import base64
import hashlib
from collections.abc import AsyncGenerator, AsyncIterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import msgspec

from satchel.edge.api.identity import Identity
from satchel.edge.http.callers import Guest, Member
from satchel.edge.uploads.bundles import BUNDLE_TYPE
from satchel.edge.uploads.context import Uploads
from satchel.edge.uploads.destinations import Announced, Arrived, Small
from satchel.edge.uploads.records import UPLOAD, UploadRow
from satchel.edge.uploads.routes import routes
from satchel.kernel.clock import ManualClock
from satchel.kernel.errors import Invalid, SatchelError
from satchel.kernel.signature import Signer
from satchel.stores.embedded.ephemeral_memory import MemoryEphemeral
from satchel.stores.embedded.objects_folder import FolderObjects
from satchel.stores.embedded.table_sqlite import SqliteTables
from satchel.stores.ports.ephemeral import Ephemeral
from satchel.stores.ports.objects import MIN_PART_BYTES, ObjectMissing, Objects
from satchel.stores.ports.table import Tables
from satchel.tables import CATALOG
from tests.edge.given import ANN, Edge

TUS = {"tus-resumable": "1.0.0"}
SENDS = {**TUS, "content-type": "application/offset+octet-stream"}
MAX_BYTES = 64 * 1024 * 1024
PART = MIN_PART_BYTES


def pairs(**values: str) -> str:
    return ",".join(f"{key} {base64.b64encode(value.encode()).decode()}" for key, value in values.items())


def checksum(algorithm: str, data: bytes) -> str:
    return f"{algorithm} {base64.b64encode(hashlib.new(algorithm, data).digest()).decode()}"


@dataclass
class Desk:
    """A destination that puts what arrives on a pile.

    `refusal` is what it says to what is announced, `trouble` to what arrives; `dies` is what kills it after the pile
    has grown. While there is a `gate`, whoever announces something waits for it.
    """

    objects: Objects
    received: list[Arrived] = field(default_factory=list[Arrived])
    admitted: list[Announced] = field(default_factory=list[Announced])
    refusal: SatchelError | None = None
    trouble: SatchelError | None = None
    dies: Exception | None = None
    gate: asyncio.Event | None = None
    bundles: list[Sequence[Small]] = field(default_factory=list[Sequence[Small]])

    def place_of(self, announced: Announced) -> str:
        return announced.details.get("place", "")

    async def admit(self, announced: Announced) -> None:
        self.admitted.append(announced)
        refusal = self.refusal
        if self.gate is not None:
            await self.gate.wait()
        if refusal is not None:
            raise refusal

    async def receive(self, arrived: Arrived) -> str:
        self.received.append(arrived)
        if self.trouble is not None:
            raise self.trouble
        try:
            await self.objects.copy(arrived.key, f"pile/{arrived.upload_id}")
            await self.objects.delete(arrived.key)
        except ObjectMissing:
            await self.objects.head(f"pile/{arrived.upload_id}")
        if self.dies is not None:
            raise self.dies
        return f"pile-{arrived.upload_id}"

    async def receive_bundle(self, files: Sequence[Small]) -> Sequence[str | SatchelError]:
        """Of a bundle, what is called "no" is refused."""
        self.bundles.append(files)
        if self.trouble is not None:
            raise self.trouble
        return [Invalid("No.") if file.name == "no" else f"pile-{file.upload_id}" for file in files]


def a_bundle(*files: tuple[dict[str, Any], bytes], destination: str = "desk") -> bytes:
    """Bodies as clients make them: what is said of each file, then the bytes of all."""
    said = [{"size_bytes": len(data), **about} for about, data in files]
    return msgspec.json.encode({"destination": destination, "files": said}) + b"\n" + b"".join(d for _, d in files)


@dataclass
class Place:
    """A server that takes uploads, its stores, and whoever calls it."""

    edge: Edge
    uploads: Uploads
    desk: Desk
    tables: Tables
    objects: Objects
    clock: ManualClock

    def caller(self, who: Member | Guest | None = ANN) -> "Sender":
        client = self.edge.client()
        if who is not None:
            client.headers.update(self.edge.bearer(who))
        return Sender(client)

    async def row(self, url: str) -> UploadRow | None:
        return await UPLOAD.get(self.tables, upload_id=url.rpartition("/")[2])

    async def kept(self, url: str) -> bytes:
        """What the upload became."""
        async with self.objects.read(f"pile/{url.rpartition('/')[2]}") as reading:
            return b"".join([chunk async for chunk in reading])

    async def stored_keys(self) -> list[str]:
        return [info.key for info in (await self.objects.list()).objects]


@dataclass
class Sender:
    """A client that speaks tus by hand."""

    http: httpx.AsyncClient

    async def create(self, size: int, **more: Any) -> httpx.Response:
        headers = {
            **TUS,
            "upload-length": str(size),
            "upload-metadata": pairs(destination="desk", filename="a.txt"),
            **more.pop("headers", {}),
        }
        return await self.http.post("/api/v1/uploads", headers=headers, **more)

    async def begun(self, size: int) -> str:
        answer = await self.create(size)
        assert answer.status_code == 201, answer.text
        return answer.headers["location"]

    async def send(self, url: str, offset: int, data: bytes | AsyncIterable[bytes], **headers: str) -> httpx.Response:
        return await self.http.patch(url, content=data, headers={**SENDS, "upload-offset": str(offset), **headers})

    async def send_bundle(self, body: bytes | AsyncIterable[bytes], **headers: str) -> httpx.Response:
        headers = {"content-type": BUNDLE_TYPE, **headers}
        return await self.http.post("/api/v1/uploads/bundle", content=body, headers=headers)

    async def offset(self, url: str) -> int:
        answer = await self.http.head(url, headers=TUS)
        assert answer.status_code == 200, answer.headers
        return int(answer.headers["upload-offset"])


def desk_over(tables: Tables, objects: Objects, ephemeral: Ephemeral, clock: ManualClock, **chosen: Any) -> Place:
    """Another server on the same stores, if these are shared."""
    desk = Desk(objects)
    edge = Edge(Identity(Signer(b"k" * 32), ephemeral, clock=clock))
    uploads = Uploads(
        tables=tables,
        objects=objects,
        ephemeral=ephemeral,
        clock=clock,
        destinations={"desk": desk},
        max_bytes=MAX_BYTES,
        part_bytes=PART,
        **chosen,
    )
    edge.routers.append(routes(uploads))
    return Place(edge, uploads, desk, tables, objects, clock)


@asynccontextmanager
async def a_place(folder: Path, objects: Objects | None = None, **chosen: Any) -> AsyncGenerator[Place]:
    clock = ManualClock()
    async with AsyncExitStack() as opened:
        tables = await SqliteTables.open(folder / "table.db", clock=clock)
        opened.push_async_callback(tables.close)
        await tables.create(CATALOG)
        ephemeral = await MemoryEphemeral.open(clock=clock)
        opened.push_async_callback(ephemeral.close)
        if objects is None:
            signer = Signer(b"k" * 32)
            objects = await FolderObjects.open(folder / "objects", clock=clock, signer=signer, base_url="http://t")
            opened.push_async_callback(objects.close)
        yield desk_over(tables, objects, ephemeral, clock, **chosen)
