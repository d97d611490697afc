"""Works through the queue of pictures: in the server or, where all stores are shared, in `satchel worker`.

The server itself never decodes anything. A process is started when there is a job, and stopped after an idle minute.
"""

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from typing import BinaryIO, TypeAlias

from satchel.kernel.clock import iso
from satchel.kernel.errors import SatchelError
from satchel.media.child import TIME_LIMIT, Child, ChildDied, ChildTooSlow
from satchel.media.frames import Made
from satchel.media.picture_queue import WAKE, PictureJob
from satchel.media.pictures import Pictures
from satchel.media.records import PICTURE, SIZES, VERSION, PictureRow, Size, picture_key
from satchel.media.source_file import opened
from satchel.stores.patterns.optimistic_update import optimistic_update
from satchel.stores.ports.ephemeral import SubscriptionLost
from satchel.stores.ports.objects import ObjectMissing, Reading, SmallObject
from satchel.stores.ports.table import Tables, Write

MOST_CHILDREN = 2
IDLE = timedelta(seconds=60)
# A maker that has missed being told looks by itself.
LOOKS_EVERY = timedelta(seconds=5)
# A source in a store without files has to be copied.
MAX_COPY_BYTES = 1024**3
_AFTER_ERROR_SECONDS = 2.0

_log = logging.getLogger("satchel.media")

# What enters a picture where a slice lists it, besides the row of the picture. Its source has so many bytes. The writes
# have to fail if the source is not listed any more.
Note: TypeAlias = Callable[[Tables, PictureRow, int], Awaitable[Sequence[Write]]]


class PictureMaker:
    """Makes pictures until it is cancelled. `notes` are by the prefix of the keys of sources."""

    def __init__(
        self,
        pictures: Pictures,
        notes: Mapping[str, Note],
        children: int | None = None,
        time_limit: timedelta = TIME_LIMIT,
    ) -> None:
        count = children or min(MOST_CHILDREN, os.cpu_count() or 1)
        self._pictures = pictures
        self._notes = notes
        self.children = [Child(time_limit) for _ in range(count)]
        self._woken = [asyncio.Event() for _ in self.children]

    async def run(self) -> None:
        """Until cancelled, whatever goes wrong."""
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._listen())
                for child, woken in zip(self.children, self._woken, strict=True):
                    tasks.create_task(self._work(child, woken))
        finally:
            await self.stop()

    async def stop(self) -> None:
        await asyncio.gather(*(child.stop() for child in self.children))

    async def make_all(self) -> int:
        """Make what is in the queue now, one after the other; how many that were."""
        made = 0
        while await self._make_next(self.children[0]):
            made += 1
        return made

    async def _listen(self) -> None:
        while True:
            try:
                async with self._pictures.ephemeral.subscribe(WAKE) as told:
                    async for _ in told:
                        self._wake()
            except SubscriptionLost:
                self._wake()
            except SatchelError:
                await asyncio.sleep(_AFTER_ERROR_SECONDS)

    def _wake(self) -> None:
        for woken in self._woken:
            woken.set()

    async def _work(self, child: Child, woken: asyncio.Event) -> None:
        idle = timedelta()
        while True:
            woken.clear()
            try:
                if await self._make_next(child):
                    idle = timedelta()
                    continue
            except SatchelError as error:
                _log.warning("a picture was put off: %s", error.detail)
                await asyncio.sleep(_AFTER_ERROR_SECONDS)
            try:
                async with asyncio.timeout(LOOKS_EVERY.total_seconds()):
                    await woken.wait()
            except TimeoutError:
                idle += LOOKS_EVERY
                if idle >= IDLE:
                    await child.stop()

    async def _make_next(self, child: Child) -> bool:
        """Whether there was something to do."""
        job = await self._pictures.queue.take()
        if job is None:
            return False
        try:
            row = await self._pictures.row_of(job.source)
            if row is None or row.version != VERSION:
                await self._make(child, job)
        except ObjectMissing:
            _log.debug("a source was deleted before its picture was made")
        finally:
            await self._pictures.queue.done(job.source)
        return True

    async def _make(self, child: Child, job: PictureJob) -> None:
        async with self._pictures.objects.read(job.source) as reading:
            made, size_bytes = await self._decoded(child, job, reading), reading.length
        if made.state != "ready":
            _log.info("no picture", extra={"source": job.source, "state": made.state, "reason": made.reason})
        await self._keep(job.source, made, size_bytes)

    async def _decoded(self, child: Child, job: PictureJob, reading: Reading) -> Made:
        if reading.file is None and reading.length > MAX_COPY_BYTES:
            return Made(state="failed", reason=f"{reading.length} bytes are too many to be copied")
        async with opened(reading) as file:
            try:
                return await _repeated_once(child, file, reading.length, job.name)
            except ChildTooSlow:
                return Made(state="failed", reason="it took too long")
            except ChildDied:
                return Made(state="failed", reason="the process ended twice")

    async def _keep(self, source: str, made: Made, size_bytes: int) -> None:
        """Objects first, so that a row never names one that is not there.

        If we are interrupted before the row, whoever looks at the picture has it made again.
        """
        pictures = self._pictures
        bodies: dict[Size, bytes] = {"grid": made.grid, "preview": made.preview}
        if made.state == "ready":
            await pictures.objects.put_many(
                [SmallObject(picture_key(source, size, VERSION), bodies[size], SIZES[size]) for size in SIZES]
            )
        row = PictureRow(
            source=source,
            state=made.state,
            version=VERSION,
            made_at=iso(pictures.clock()),
            width=made.width,
            height=made.height,
            thumbhash=made.thumbhash,
            dhash=made.dhash,
            duration_ms=made.duration_ms,
            reason=made.reason,
        )
        if not await enter_picture(pictures.tables, self._notes, row, size_bytes):
            try:
                await pictures.objects.head(source)
            except ObjectMissing:
                # Deleted while we worked: whoever deleted it has not seen this picture.
                await pictures.delete([source])


@optimistic_update()
async def enter_picture(tables: Tables, notes: Mapping[str, Note], row: PictureRow, size_bytes: int) -> bool:
    """Whether a slice lists it, and so would delete it from now on."""
    writes: list[Write] = []
    for prefix, note in notes.items():
        if row.source.startswith(prefix):
            writes += await note(tables, row, size_bytes)
    await tables.transact([PICTURE.put(row), *writes])
    return bool(writes)


async def _repeated_once(child: Child, file: BinaryIO, size_bytes: int, name: str) -> Made:
    """A process may have been killed by somebody else, or for lack of memory. The second time, the file is to blame."""
    try:
        return await child.make(file.fileno(), size_bytes, name)
    except ChildDied:
        return await child.make(file.fileno(), size_bytes, name)
