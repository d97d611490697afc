"""Metadata is read in a process of its own, which may die, hang or end without anybody losing a photo."""

import asyncio
import os
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from satchel.kernel.clock import system_clock
from satchel.kernel.signature import Signer
from satchel.media.metadata.media_facts import MediaFacts
from satchel.media.metadata_job import MetadataJob
from satchel.media.metadata_reader import HEAD_BYTES, TAIL_BYTES, MetadataReader
from satchel.stores.embedded.objects_folder import FolderObjects
from satchel.stores.ports.objects import Objects
from tests.media.made_files import jpeg, movie, tiff

# Real pictures are made here, in processes of their own.
pytestmark = pytest.mark.slow

PHOTO = jpeg(tiff({0x010F: "Canon"}, {0x9003: "2024:01:31 12:00:00"}))
NOW = 1_800_000_000.0


def job(data: bytes, name: str = "IMG_20230405_101112.jpg") -> MetadataJob:
    return MetadataJob(name=name, size_bytes=len(data), now=NOW)


@asynccontextmanager
async def reader_of(objects: Objects | None = None, **limits: timedelta) -> AsyncGenerator[MetadataReader]:
    reader = MetadataReader(cast("Objects", objects), **limits)
    try:
        yield reader
    finally:
        await reader.close()


async def gone(process_id: int) -> None:
    """Wait until a process has ended."""
    while Path(f"/proc/{process_id}").exists():
        await asyncio.sleep(0.01)


async def read(reader: MetadataReader, data: bytes = PHOTO) -> MediaFacts:
    facts, _ = await reader.describe_bytes(job(data), data)
    return facts


async def test_one_process_reads_one_file_after_the_other() -> None:
    async with reader_of() as reader:
        assert reader.process_id is None
        facts = await asyncio.gather(*(read(reader) for _ in range(5)))
        assert {each.make for each in facts} == {"Canon"}
        process_id = reader.process_id
        assert process_id is not None
        assert (await read(reader, b"")).kind == "image"
        assert reader.process_id == process_id
    await gone(process_id)


async def test_a_file_whose_process_is_killed_is_read_by_another() -> None:
    async with reader_of() as reader:
        facts, redaction = await reader.describe_bytes(job(PHOTO), PHOTO)
        assert (facts.make, redaction is not None and redaction.is_clear) == ("Canon", True)
        assert reader.process_id is not None
        os.kill(reader.process_id, signal.SIGSTOP)
        asked = asyncio.create_task(reader.describe_bytes(job(PHOTO), PHOTO))
        await asyncio.sleep(0.05)
        os.kill(reader.process_id, signal.SIGKILL)
        # What others get is found when the first of them asks.
        assert await asked == (facts, None)


async def test_a_file_that_takes_too_long_is_described_by_its_name() -> None:
    async with reader_of(time_limit=timedelta(seconds=0)) as reader:
        facts = await read(reader)
        assert facts.time is not None
        assert (facts.make, facts.time.source, facts.time.local.isoformat()) == (None, "name", "2023-04-05T10:11:12")
        assert reader.process_id is None


async def test_a_process_without_work_ends() -> None:
    async with reader_of(idle_limit=timedelta(seconds=0.05)) as reader:
        await read(reader)
        process_id = reader.process_id
        assert process_id is not None
        await gone(process_id)
        assert (await read(reader)).make == "Canon"


async def test_the_process_knows_none_of_our_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SATCHEL_SECRET", "hush")
    async with reader_of() as reader:
        await read(reader)
        assert "SATCHEL_SECRET" not in Path(f"/proc/{reader.process_id}/environ").read_text()


async def test_an_object_is_read_where_it_is_or_both_ends_are_fetched(tmp_path: Path) -> None:
    objects = await FolderObjects.open(tmp_path, clock=system_clock, signer=Signer(b"s" * 32), base_url="http://x")
    # The header stands behind more bytes than are fetched.
    frames = bytes(HEAD_BYTES + TAIL_BYTES)
    clip = movie(3_800_000_000)
    long = clip[:20] + (len(frames) + 8).to_bytes(4, "big") + b"mdat" + frames + clip[20:]

    async def body() -> AsyncGenerator[bytes]:
        yield long

    try:
        await objects.put("photo/clip", body())
        for store in (objects, cast("Objects", _Remote(objects))):
            async with reader_of(store) as reader:
                facts = await reader.read_object(job(long, "clip.mov"), "photo/clip")
                assert (facts.kind, facts.duration_ms, facts.width) == ("video", 3000, 1920)
    finally:
        await objects.close()


class _Remote:
    """A store whose objects are not files of this machine."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self.fetched = 0

    @asynccontextmanager
    async def read(self, key: str, **part: Any) -> AsyncGenerator[Any]:
        async with self._objects.read(key, **part) as reading:
            yield _WithoutFile(reading)


class _WithoutFile:
    file = None

    def __init__(self, reading: Any) -> None:
        self._reading = reading

    def __aiter__(self) -> Any:
        return self._reading.__aiter__()
