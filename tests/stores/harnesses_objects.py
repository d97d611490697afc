"""The object stores that one suite runs against, and what each of the servers behind them can be held to."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from inspect import cleandoc, getmembers, isfunction
from pathlib import Path
from typing import TypeVar
from uuid import uuid4

import httpx
import pytest

from satchel.kernel.clock import ManualClock
from satchel.kernel.errors import SatchelError
from satchel.kernel.signature import Signer
from satchel.stores.distributed.objects_s3 import COPY_BYTES, S3Objects
from satchel.stores.embedded.objects_folder import FolderObjects
from satchel.stores.ports import objects as contract
from satchel.stores.ports.objects import ObjectInfo, Objects
from tests.services import S3Server

# What a server can be held to here; the contract asks for all of it.
#
# `rclone serve s3` stands on a folder of the machine's: a key that is a file there cannot also be a folder, and no
# segment can be longer than a file name. Where there is no file of a name, it takes one of another spelling of it.
NESTS_KEYS = "nests_keys"
TELLS_SPELLINGS_APART = "tells_spellings_apart"
LONG_SEGMENTS = "long_segments"
# It writes the parts of an upload straight into one file, so that they have to be numbered without gaps, all be used,
# and cannot be replaced by others; and it answers the completing request with another etag than every later one.
FREE_PART_NUMBERS = "free_part_numbers"
REPLACES_PARTS = "replaces_parts"
KEEPS_ETAGS = "keeps_etags"
# It cannot copy parts of objects, adds the metadata of a copy to that of its source and an `mtime`, and takes less
# than 2 KB of it.
COPIES_PARTS = "copies_parts"
REPLACES_METADATA = "replaces_metadata"
FULL_METADATA = "full_metadata"
# While an object is replaced from two sides at once, there is none for a moment.
REPLACES_IN_ONE_STEP = "replaces_in_one_step"
# moto takes any signature for a good one, whatever it was made for and however old it is. It says of every upload that
# it was begun in 2010, takes it for an upload to any key, and answers 500 to parts of one that was never begun.
CHECKS_SIGNATURES = "checks_signatures"
DATES_UPLOADS = "dates_uploads"
CHECKS_UPLOADS = "checks_uploads"

RCLONE = frozenset({CHECKS_SIGNATURES, DATES_UPLOADS, CHECKS_UPLOADS})
MOTO = frozenset(
    {
        NESTS_KEYS,
        TELLS_SPELLINGS_APART,
        LONG_SEGMENTS,
        FREE_PART_NUMBERS,
        REPLACES_PARTS,
        KEEPS_ETAGS,
        COPIES_PARTS,
        REPLACES_METADATA,
        FULL_METADATA,
        REPLACES_IN_ONE_STEP,
    }
)
EVERYTHING = RCLONE | MOTO

SECRET = b"a secret of thirty-two bytes, ok"
BASE_URL = "http://satchel.example"


@dataclass(frozen=True)
class Answer:
    """What came of using a signed link."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass
class ObjectsHarness:
    """One store that can be opened again and again, a way to use its links, and a way to let time pass."""

    promises: frozenset[str]
    _open: Callable[[], Awaitable[Objects]]
    use_link: Callable[[str, str, bytes, Mapping[str, str]], Awaitable[Answer]]
    advance: Callable[[float], Awaitable[None]]
    # Python that opens the same store in another process, and what that process needs to know.
    recipe: str
    # How much of a key's length the place of the store in a shared bucket takes.
    prefix_bytes: int = 0
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    _opened: list[Objects] = field(default_factory=list[Objects])

    async def open(self) -> Objects:
        store = await self._open()
        self._opened.append(store)
        return store

    def kept_in_copy(self, info: ObjectInfo, metadata: Mapping[str, str]) -> bool:
        """Whether a copy has this metadata, besides what the server adds."""
        if REPLACES_METADATA in self.promises:
            return info.metadata == metadata
        return metadata.items() <= info.metadata.items()

    async def close(self) -> None:
        for store in self._opened:
            await store.close()


def folder_objects(root: Path) -> ObjectsHarness:
    clock = ManualClock()
    opened: list[FolderObjects] = []

    async def open_store() -> FolderObjects:
        opened.append(await FolderObjects.open(root, clock=clock, signer=Signer(SECRET), base_url=BASE_URL))
        return opened[-1]

    async def advance(seconds: float) -> None:
        clock.advance(seconds)

    async def use_link(link: str, method: str, body: bytes, headers: Mapping[str, str]) -> Answer:
        """What the server's route does, without HTTP around it."""
        store = opened[0]
        try:
            claim = store.open_link(link.removeprefix(f"{BASE_URL}/objects/"), method)
            if method == "GET":
                async with store.read(claim.key) as reading:
                    content = b"".join([chunk async for chunk in reading])
                    sent = {"content-type": reading.info.content_type, "content-disposition": claim.disposition or ""}
                return Answer(200, content, sent)
            if headers.get("content-type") != claim.content_type:
                return Answer(403)
            await store.put(claim.key, stream(body), content_type=claim.content_type)
        except SatchelError as error:
            return Answer(error.status)
        return Answer(200)

    recipe = f"""
from pathlib import Path
from satchel.kernel.signature import Signer
from satchel.stores.embedded.objects_folder import FolderObjects
opening = FolderObjects.open(
    Path({str(root)!r}), clock=lambda: {clock()!r}, signer=Signer({SECRET!r}), base_url={BASE_URL!r}
)
"""
    return ObjectsHarness(EVERYTHING, open_store, use_link, advance, recipe)


def s3_objects(server: S3Server, promises: frozenset[str], *, copy_bytes: int = COPY_BYTES) -> ObjectsHarness:
    # All tests share one server: a prefix of its own keeps each store apart.
    prefix = f"test-{uuid4().hex[:12]}/"

    async def open_store() -> S3Objects:
        with pytest.MonkeyPatch.context() as patch:
            for name, value in server.environment().items():
                patch.setenv(name, value)
            return await S3Objects.open(
                server.bucket, region=server.region, endpoint=server.endpoint, prefix=prefix, copy_bytes=copy_bytes
            )

    async def use_link(link: str, method: str, body: bytes, headers: Mapping[str, str]) -> Answer:
        async with httpx.AsyncClient() as client:
            answer = await client.request(method, link, content=body or None, headers=headers)
        return Answer(answer.status_code, answer.content, answer.headers)

    recipe = f"""
from satchel.stores.distributed.objects_s3 import COPY_BYTES, S3Objects
opening = S3Objects.open(
    {server.bucket!r}, region={server.region!r}, endpoint={server.endpoint!r}, prefix={prefix!r}
)
"""
    return ObjectsHarness(promises, open_store, use_link, asyncio.sleep, recipe, len(prefix), server.environment())


async def stream(*chunks: bytes) -> AsyncIterator[bytes]:
    for chunk in chunks:
        yield chunk


async def content(store: Objects, key: str, **wanted: int | None) -> bytes:
    async with store.read(key, **wanted) as reading:  # pyright: ignore[reportArgumentType]
        return b"".join([chunk async for chunk in reading])


def digest(data: bytes) -> str:
    return sha256(data).hexdigest()


T = TypeVar("T", bound=Callable[..., object])
_proven: set[str] = set()


def proves(*names: str) -> Callable[[T], T]:
    """Say which clauses and methods of the contract, by name, a test proves."""
    _proven.update(names)

    def unchanged(test: T) -> T:
        return test

    return unchanged


def unproven() -> set[str]:
    return _promised() - _proven


def not_promised() -> set[str]:
    return _proven - _promised()


def _promised() -> set[str]:
    clauses = re.findall(r"^- \*(\w+)\*:", cleandoc(contract.__doc__ or ""), re.MULTILINE)
    return {*clauses, *(name for name, _ in getmembers(Objects, isfunction) if not name.startswith("_"))}
