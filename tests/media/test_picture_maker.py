"""Making pictures: a process that dies, hangs or needs too much memory costs its file a picture, and nothing else."""

import asyncio
import os
import signal
import struct
import tempfile
import zlib
from collections.abc import AsyncGenerator
from datetime import timedelta
from pathlib import Path

import pytest

from satchel.media.child import Child
from satchel.media.frames import Job, Made
from satchel.media.metadata_job import MetadataJob
from satchel.media.picture_maker import PictureMaker
from satchel.media.pictures import NoPicture, Pictured, PictureNotReady, Pictures
from satchel.media.records import PICTURE, VERSION, PictureRow
from satchel.stores.ports.objects import SmallObject
from tests.application import Satchel, running_satchel
from tests.media.given import pictures_of
from tests.media.samples import bomb, is_flag, jpeg, photo, taken

# Real pictures are made here, in processes of their own.
pytestmark = pytest.mark.slow


@pytest.fixture
async def satchel(tmp_path: Path) -> AsyncGenerator[Satchel]:
    async with running_satchel(tmp_path) as running:
        yield running


async def kept(pictures: Pictures, name: str, content: bytes) -> Pictured:
    """A source in the store, and in the queue."""
    source = Pictured(f"user/ann/{name}", name, "image/jpeg")
    await pictures.objects.put_many([SmallObject(source.key, content)])
    await pictures.make([source])
    return source


async def row_of(pictures: Pictures, source: Pictured) -> PictureRow:
    row = await PICTURE.get(pictures.tables, source=source.key)
    assert row is not None
    return row


class Killing(Child):
    """A process that is killed in the middle of its first jobs."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self.started: list[int] = []
        self._times = times

    async def _start(self) -> None:
        await super()._start()
        assert self.process_id is not None
        self.started.append(self.process_id)
        if len(self.started) <= self._times:
            os.kill(self.process_id, signal.SIGKILL)


async def made_by(pictures: Pictures, child: Child) -> int:
    maker = PictureMaker(pictures, {}, children=1)
    maker.children[0] = child
    try:
        return await maker.make_all()
    finally:
        await maker.stop()


async def test_a_job_whose_process_was_killed_is_repeated_once(satchel: Satchel) -> None:
    pictures, child = pictures_of(satchel), Killing(times=1)
    source = await kept(pictures, "flag.jpg", jpeg())
    assert await made_by(pictures, child) == 1
    assert len(child.started) == 2
    assert (await row_of(pictures, source)).state == "ready"


async def test_a_job_that_ends_its_process_twice_fails_and_is_not_tried_again(satchel: Satchel) -> None:
    pictures, child = pictures_of(satchel), Killing(times=2)
    source = await kept(pictures, "flag.jpg", jpeg())
    assert await made_by(pictures, child) == 1
    assert len(child.started) == 2
    row = await row_of(pictures, source)
    assert (row.state, row.reason) == ("failed", "the process ended twice")
    assert await pictures.describe_one(source) is None
    with pytest.raises(NoPicture):
        await pictures.find(source, "grid", VERSION)
    # Even if it comes into the queue again.
    await pictures.make([source])
    again = Killing(times=0)
    assert await made_by(pictures, again) == 1
    assert again.started == []


async def test_what_an_older_version_could_not_do_is_tried_again(satchel: Satchel) -> None:
    pictures = pictures_of(satchel)
    source = await kept(pictures, "flag.jpg", jpeg())
    await made_by(pictures, Killing(times=2))
    item = PICTURE.item(await row_of(pictures, source)) | {"PictureVersion": "0"}
    await pictures.tables.put(PICTURE.table, item)
    view = await pictures.describe_one(source)
    assert view is not None and view.state == "pending"
    with pytest.raises(PictureNotReady):
        await pictures.find(source, "grid", VERSION)
    assert await made_by(pictures, Child()) == 1
    assert (await row_of(pictures, source)).state == "ready"


async def test_a_job_that_takes_too_long_is_killed(satchel: Satchel) -> None:
    pictures = pictures_of(satchel)
    source = await kept(pictures, "photo.jpg", photo())
    after = await kept(pictures, "flag.jpg", jpeg())
    # The newest comes first, and has started the process by then.
    maker = PictureMaker(pictures, {}, children=1)
    assert await maker._make_next(maker.children[0])
    hurried = Child(timedelta(milliseconds=1))
    hurried._process, hurried._jobs = maker.children[0]._process, maker.children[0]._jobs
    process_id = hurried.process_id
    assert process_id is not None
    maker.children[0] = hurried
    assert await maker.make_all() == 1
    assert (await row_of(pictures, after)).state == "ready"
    row = await row_of(pictures, source)
    assert (row.state, row.reason) == ("failed", "it took too long")
    with pytest.raises(ProcessLookupError):
        os.kill(process_id, 0)


async def test_a_process_has_no_more_memory_than_it_may(satchel: Satchel) -> None:
    """Interlaced, so that all of it would have to be there at once."""
    pictures = pictures_of(satchel)
    header = bytearray(bomb(16_384, 16_384)[:33])
    header[24:29] = bytes((16, 6, 0, 0, 1))
    header[29:33] = struct.pack(">I", zlib.crc32(bytes(header[12:29])))
    greedy = await kept(pictures, "greedy.png", bytes(header) + bomb(1, 1)[33:])
    harmless = await kept(pictures, "flag.jpg", jpeg())
    assert await made_by(pictures, Child()) == 2
    assert (await row_of(pictures, greedy)).state == "failed"
    assert (await row_of(pictures, harmless)).state == "ready"


async def test_one_process_makes_many_and_a_bad_one_among_them_hurts_no_other(satchel: Satchel) -> None:
    pictures, child = pictures_of(satchel), Killing(times=0)
    sources = [
        await kept(pictures, name, content)
        for name, content in (
            ("1.jpg", jpeg()),
            ("2.png", bomb()),
            ("3.jpg", b"words"),
            ("4.jpg", b""),
            ("5.jpg", jpeg()),
        )
    ]
    assert await made_by(pictures, child) == 5
    states = [(await row_of(pictures, source)).state for source in sources]
    assert states == ["ready", "failed", "unsupported", "unsupported", "ready"]
    assert len(child.started) == 1


async def test_the_process_does_not_know_our_secrets(satchel: Satchel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SATCHEL_SECRET", "tell nobody")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "tell nobody")
    pictures, child = pictures_of(satchel), Child()
    await kept(pictures, "flag.jpg", jpeg())
    maker = PictureMaker(pictures, {}, children=1)
    maker.children[0] = child
    await maker.make_all()
    environment = Path(f"/proc/{child.process_id}/environ").read_bytes()
    await maker.stop()
    assert b"VIPS_BLOCK_UNTRUSTED=1" in environment
    assert b"tell nobody" not in environment


async def test_who_waits_for_a_picture_gets_it_when_it_is_made(satchel: Satchel) -> None:
    pictures = Pictures(
        satchel.stores.tables,
        satchel.stores.objects,
        satchel.stores.ephemeral,
        satchel.clock,
        longest_wait=timedelta(seconds=60),
    )
    source = Pictured("user/ann/flag.jpg", "flag.jpg", "image/jpeg")
    await pictures.objects.put_many([SmallObject(source.key, jpeg())])
    # As a file from before there were pictures: nobody has put it into the queue.
    assert await PictureMaker(pictures, {}).make_all() == 0
    maker = PictureMaker(pictures, {})
    running = asyncio.create_task(maker.run())
    try:
        found = await asyncio.gather(*(pictures.find(source, "grid", VERSION) for _ in range(5)))
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    assert {size for _, size in found} == {"grid"}
    async with pictures.objects.read(found[0][0]) as reading:
        assert is_flag(b"".join([piece async for piece in reading]))
    assert all(child.process_id is None for child in maker.children)


async def test_a_maker_that_is_stopped_in_the_middle_leaves_the_job_to_the_next(satchel: Satchel) -> None:
    pictures = pictures_of(satchel)
    source = await kept(pictures, "flag.jpg", jpeg())
    begun = asyncio.Event()

    class Stuck(Child):
        async def make(self, descriptor: int, size_bytes: int, name: str) -> Made:
            begun.set()
            await asyncio.sleep(3600)
            return await super().make(descriptor, size_bytes, name)

    maker = PictureMaker(pictures, {}, children=1)
    maker.children[0] = Stuck()
    running = asyncio.create_task(maker.run())
    await begun.wait()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert await PICTURE.get(pictures.tables, source=source.key) is None
    with pytest.raises(PictureNotReady):
        await pictures.find(source, "grid", VERSION)
    assert await made_by(pictures, Child()) == 1
    assert (await row_of(pictures, source)).state == "ready"


async def test_one_job_can_ask_for_picture_and_metadata_of_a_file() -> None:
    content, child = taken("2024:01:31 12:00:00"), Child()
    wanted = MetadataJob(name="flag.jpg", size_bytes=len(content), now=1_800_000_000.0)
    with tempfile.TemporaryFile() as file:
        file.write(content)
        file.flush()
        answer = await child.work(
            file.fileno(), Job(name="flag.jpg", size_bytes=len(content), picture=True, metadata=wanted)
        )
    await child.stop()
    assert answer.made is not None and answer.facts is not None and answer.facts.time is not None
    assert is_flag(answer.made.grid)
    assert answer.facts.time.local.isoformat() == "2024-01-31T12:00:00"
