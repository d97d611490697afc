"""Tries every ability of the store of bytes that Satchel counts on, with an object of its own."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from datetime import timedelta
from http.client import HTTPException
from typing import Protocol, runtime_checkable

from satchel.cli.doctor.findings import Report, Step, Unfit
from satchel.cli.doctor.store_probe import StoreProbe
from satchel.cli.engine.terminal.output import without_password
from satchel.config import Settings
from satchel.kernel.clock import system_clock
from satchel.kernel.ids import new_id
from satchel.kernel.signature import Signer
from satchel.stores.connect import open_objects
from satchel.stores.ports.objects import Corrupted, ObjectMissing, Objects

PART = "objects"
_UNFIT = "Use the embedded folder, or a store that speaks S3 in full."
_CONTENT = b"Satchel was here. " * 100
_LIFETIME = timedelta(minutes=5)


@runtime_checkable
class ChecksItsLinks(Protocol):
    """A store whose links lead to our own server, which asks the store whether they are good."""

    def open_link(self, token: str, method: str) -> object: ...


async def examine_objects(settings: Settings, signer: Signer, report: Report) -> None:
    await _Probe(settings, signer).examine(PART, settings.objects_url, report)


async def _stream(content: bytes) -> AsyncIterator[bytes]:
    yield content


class _Probe(StoreProbe[Objects]):
    def __init__(self, settings: Settings, signer: Signer) -> None:
        self._settings = settings
        self._signer = signer
        self._prefix = f"doctor/{new_id(system_clock)}"
        self._key = f"{self._prefix}/object"
        self._broken = f"{self._prefix}/broken"

    def steps(self) -> Sequence[Step]:
        return (
            Step("open it", self.open, vital=True),
            Step("put an object", self.put),
            Step("get it back", self.get),
            Step("refuse bytes with another digest", self.refuse),
            Step("get a range of it", self.get_range),
            Step("list it", self.find),
            Step("sign a link to it and follow the link", self.sign),
            Step("delete the object", self.delete),
        )

    async def open(self) -> str:
        self.opened = await open_objects(self._settings, system_clock, self._signer)
        await self.opened.list(self._prefix, limit=1)
        return without_password(self._settings.objects_url)

    async def put(self) -> None:
        digest = hashlib.sha256(_CONTENT).hexdigest()
        await self.store.put(self._key, _stream(_CONTENT), length=len(_CONTENT), sha256=digest)

    async def get(self) -> None:
        if await self._read() != _CONTENT:
            raise Unfit("What came back is not what was stored.", _UNFIT)

    async def refuse(self) -> None:
        try:
            await self.store.put(self._broken, _stream(_CONTENT), sha256=hashlib.sha256(b"").hexdigest())
        except Corrupted:
            return
        raise Unfit("Bytes that were damaged on the way were accepted.", _UNFIT)

    async def get_range(self) -> None:
        if await self._read(start=8, length=3) != _CONTENT[8:11]:
            raise Unfit("Another part came back than was asked for.", _UNFIT)

    async def find(self) -> None:
        listed = await self.store.list(self._prefix)
        if [found.key for found in listed.objects] != [self._key]:
            raise Unfit("The list does not show the object.", _UNFIT)

    async def sign(self) -> str:
        link = await self.store.sign_get(self._key, _LIFETIME)
        if isinstance(self.store, ChecksItsLinks):
            self.store.open_link(link.rpartition("/")[2], "GET")
            return "checked here; your server answers such links itself"
        await _fetch(link)
        return "fetched"

    async def delete(self) -> None:
        await self.store.delete(self._key)
        with suppress(ObjectMissing):
            await self.store.head(self._key)
            raise Unfit("The object is still there.", _UNFIT)

    async def _read(self, *, start: int = 0, length: int | None = None) -> bytes:
        async with self.store.read(self._key, start=start, length=length) as reading:
            return b"".join([chunk async for chunk in reading])

    async def clean_up(self) -> None:
        await self.store.delete(self._key, self._broken)


async def _fetch(link: str) -> None:
    """As a browser would: without any keys, only with the link."""
    from satchel.cli.engine.http.http_connection import fetch

    try:
        answer = await asyncio.to_thread(fetch, link, 10.0)
    except (OSError, HTTPException) as error:
        raise Unfit(
            f"The link could not be followed from here: {error}.",
            "Browsers follow such links themselves, so the store's address has to be one that they can reach.",
        ) from error
    if answer.content != _CONTENT:
        raise Unfit(
            f"The link was answered with {answer.status} instead of the object.",
            f"Check that the clock of this machine is right and that its keys may read the bucket. {_UNFIT}",
        )
