"""Files that have arrived on a shelf, stores that let something happen in between, and what must always hold."""

import hashlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

from satchel.features.shelf.model import FileId, UserId
from satchel.features.shelf.records import BLOB, FILE, NAME, USAGE, FileRow, object_key
from satchel.features.shelf.service.arrivals import Upload, keep_upload
from satchel.features.shelf.service.context import Shelf
from satchel.kernel.ids import new_id
from satchel.stores.ports.objects import Objects
from satchel.stores.ports.table import StartsWith, Tables
from tests.application import Caller, Satchel

STAGED = "uploads/"


class Killed(BaseException):
    """What a test raises where the power goes out: nothing below may handle it."""


@dataclass
class Meddling:
    """Does something just before or just after the n-th call of the stores that it wraps, and counts them."""

    number: int
    meddle: Callable[[], Awaitable[None]]
    afterwards: bool = False
    calls: int = 0

    async def around(self, call: Callable[..., Awaitable[Any]], *positional: Any, **named: Any) -> Any:
        self.calls += 1
        is_it = self.calls == self.number
        if is_it and not self.afterwards:
            await self.meddle()
        answer = await call(*positional, **named)
        if is_it and self.afterwards:
            await self.meddle()
        return answer

    def shelf(self, shelf: Shelf) -> Shelf:
        return Shelf(
            tables=cast("Tables", _Meddled(shelf.tables, self)),
            objects=cast("Objects", _Meddled(shelf.objects, self)),
            ephemeral=shelf.ephemeral,
            clock=shelf.clock,
        )


class _Meddled:
    def __init__(self, store: Any, meddling: Meddling) -> None:
        self._store = store
        self._meddling = meddling

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._store, name)
        return partial(self._meddling.around, call)


async def kill() -> None:
    raise Killed


def shelf_of(satchel: Satchel) -> Shelf:
    stores = satchel.stores
    return Shelf(tables=stores.tables, objects=stores.objects, ephemeral=stores.ephemeral, clock=satchel.clock)


async def staged(
    satchel: Satchel, caller: Caller, name: str, content: bytes, content_type: str = "text/plain"
) -> Upload:
    """An upload that is complete and waits to be taken over."""
    upload_id = new_id(satchel.clock)
    await satchel.stores.objects.put(STAGED + upload_id, _stream(content), content_type=content_type)
    return Upload(
        user_id=UserId(caller.user_id),
        file_id=FileId(upload_id),
        key=STAGED + upload_id,
        name=name,
        content_type=content_type,
        size_bytes=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
    )


async def uploaded(
    satchel: Satchel, caller: Caller, name: str, content: bytes, content_type: str = "text/plain"
) -> FileRow:
    return await keep_upload(shelf_of(satchel), await staged(satchel, caller, name, content, content_type))


async def stored_keys(satchel: Satchel, prefix: str = "user/") -> list[str]:
    return [info.key for info in (await satchel.stores.objects.list(prefix)).objects]


async def check_shelf(satchel: Satchel, caller: Caller, *, leftovers: bool = False) -> list[FileRow]:
    """Every file can be read, names and counts agree with the files, and, unless left over, nothing else is stored."""
    tables, person = satchel.stores.tables, caller.user_id
    files = (await FILE.list(tables, user_id=person, limit=1000)).records
    for file in files:
        assert await _read(satchel.stores.objects, object_key(file)) == file.sha256
    names = (await NAME.list(tables, user_id=person, limit=1000)).records
    assert {row.file_id for row in names} == {file.file_id for file in files}
    assert len({file.name.casefold() for file in files}) == len(names) == len(files)
    referenced = {file.sha256: file.size_bytes for file in files}
    blobs = (await BLOB.list(tables, user_id=person, limit=1000)).records
    counted = {blob.sha256: blob.references for blob in blobs if blob.references}
    assert counted == {sha256: [file.sha256 for file in files].count(sha256) for sha256 in referenced}
    usage = await USAGE.get(tables, user_id=person)
    used = (usage.used_bytes, usage.files) if usage else (0, 0)
    assert used == (sum(referenced.values()), len(files))
    if not leftovers:
        assert set(await stored_keys(satchel, f"user/{person}/")) == {object_key(file) for file in files}
        page = await tables.query(FILE.table, f"User#{person}", StartsWith("Blob#"))
        assert len(page.items) == len(referenced)
    return files


async def _read(objects: Objects, key: str) -> str:
    digest = hashlib.sha256()
    async with objects.read(key) as reading:
        async for piece in reading:
            digest.update(piece)
    return digest.hexdigest()


async def _stream(content: bytes) -> AsyncGenerator[bytes]:
    yield content
