"""What slices do with pictures: have them made, describe them in lists, find their bytes, and delete them.

Files from before there were pictures, and those that the queue has lost, get theirs when somebody looks at them.
"""

import asyncio
import base64
import logging
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Literal, Protocol

import msgspec

from satchel.kernel.clock import Clock
from satchel.kernel.errors import NotFound, SatchelError
from satchel.media.picture_kinds import may_have_picture
from satchel.media.picture_queue import PictureJob, PictureQueue, channel_of
from satchel.media.records import PICTURE, SIZES, VERSION, PictureRow, Size, picture_key, source_of
from satchel.stores.ports.ephemeral import Ephemeral, SubscriptionLost
from satchel.stores.ports.objects import MAX_LIST, Objects
from satchel.stores.ports.table import Tables

# How long a request waits for a picture that is not made yet. A browser opens few connections, so not for long.
LONGEST_WAIT = timedelta(seconds=3)

_log = logging.getLogger("satchel.media")


class NoPicture(NotFound):
    """The file has no picture, or not of this version. Read its list again."""

    slug = "no-picture"
    title = "There is no such picture"


class PictureNotReady(Exception):
    """The picture is being made. It is no error, and shown to nobody: who asks again in a moment gets it."""


class PictureView(msgspec.Struct, frozen=True, kw_only=True):
    """The picture of a file: its grid size is for lists, its preview is for looking at.

    One that is `pending` has no size yet and is made when it is asked for. `placeholder` is a ThumbHash in base64.
    `duration_ms` is how long a video is. The `version` is a part of the address, under which a picture never changes.
    """

    state: Literal["ready", "pending"]
    version: str
    width: int | None
    height: int | None
    placeholder: str | None
    duration_ms: int | None


class Source(Protocol):
    """A stored object, and the file that it is."""

    @property
    def key(self) -> str: ...

    @property
    def name(self) -> str: ...

    @property
    def content_type(self) -> str: ...


class Pictured(msgspec.Struct, frozen=True):
    """A source by its parts."""

    key: str
    name: str
    content_type: str


class Pictures:
    """Pictures of stored objects, on the stores that servers share."""

    def __init__(
        self,
        tables: Tables,
        objects: Objects,
        ephemeral: Ephemeral,
        clock: Clock,
        longest_wait: timedelta = LONGEST_WAIT,
    ) -> None:
        self.tables = tables
        self.objects = objects
        self.ephemeral = ephemeral
        self.clock = clock
        self.queue = PictureQueue(ephemeral)
        self._longest_wait = longest_wait

    async def make(self, sources: Iterable[Source]) -> None:
        """Have pictures made of new files, some time. An upload never fails for want of a picture."""
        jobs = [PictureJob(each.key, each.name) for each in sources if may_have_picture(each.name, each.content_type)]
        try:
            await self.queue.add(jobs)
        except SatchelError as error:
            _log.warning("pictures of %d new files will be made when asked for: %s", len(jobs), error.detail)

    async def describe(self, sources: Sequence[Source]) -> Mapping[str, PictureView]:
        """What lists say of the pictures, by the key of the source. Files that have none are left out."""
        keys = list(dict.fromkeys(each.key for each in sources if may_have_picture(each.name, each.content_type)))
        if not keys:
            return {}
        items = await self.tables.get_many(PICTURE.table, [PICTURE.key(source=key) for key in keys], may_lag=True)
        rows = [None if item is None else PICTURE.read(item) for item in items]
        return {key: view for key, row in zip(keys, rows, strict=True) if (view := _view(row)) is not None}

    async def describe_one(self, source: Source) -> PictureView | None:
        return (await self.describe([source])).get(source.key)

    async def find(self, source: Source, size: str, version: str) -> tuple[str, Size]:
        """The object of one size. A picture that is not made yet is put first in the queue, and waited for a little."""
        if (wanted := _size(size)) is None or not may_have_picture(source.name, source.content_type):
            raise NoPicture("This file has no picture of this size.")
        row = await self.row_of(source.key)
        if row is None and version == VERSION:
            row = await self._wait_for(source)
        if row is None or row.state != "ready" or row.version != version:
            raise NoPicture("This file has no such picture. Read its list again.")
        return picture_key(source.key, wanted, row.version), wanted

    async def row_of(self, key: str) -> PictureRow | None:
        """The row, unless it says of an older version that it had failed."""
        row = await PICTURE.get(self.tables, source=key)
        return None if row is None or _is_outdated(row) else row

    async def delete(self, keys: Sequence[str]) -> None:
        """Delete the pictures of these sources, which are gone or about to go. Missing ones are no error."""
        wanted = [PICTURE.key(source=key) for key in dict.fromkeys(keys)]
        items = await self.tables.get_many(PICTURE.table, wanted) if wanted else []
        rows = [PICTURE.read(item) for item in items if item is not None]
        if not rows:
            return
        await self.tables.write_many(PICTURE.table, delete=[PICTURE.key(source=row.source) for row in rows])
        made = [picture_key(row.source, size, row.version) for row in rows if row.state == "ready" for size in SIZES]
        await self.objects.delete(*made)

    async def delete_below(self, prefix: str) -> None:
        """Delete every object below a prefix, and the pictures that were made of them."""
        while (listed := await self.objects.list(prefix, limit=MAX_LIST)).objects:
            keys = [info.key for info in listed.objects]
            await self.delete([key for key in keys if source_of(key) is None])
            await self.objects.delete(*keys)

    async def _wait_for(self, source: Source) -> PictureRow | None:
        with suppress(TimeoutError, SubscriptionLost):
            async with (
                asyncio.timeout(self._longest_wait.total_seconds()),
                self.ephemeral.subscribe(channel_of(source.key)) as told,
            ):
                await self.queue.ask(PictureJob(source.key, source.name))
                # It may have been made before we subscribed.
                row = await self.row_of(source.key)
                while row is None:
                    await anext(aiter(told))
                    row = await self.row_of(source.key)
                return row
        raise PictureNotReady


PENDING = PictureView(state="pending", version=VERSION, width=None, height=None, placeholder=None, duration_ms=None)


def _view(row: PictureRow | None) -> PictureView | None:
    if row is None or _is_outdated(row):
        return PENDING
    if row.state != "ready":
        return None
    return PictureView(
        state="ready",
        version=row.version,
        width=row.width,
        height=row.height,
        placeholder=base64.b64encode(row.thumbhash).decode(),
        duration_ms=row.duration_ms or None,
    )


def _is_outdated(row: PictureRow) -> bool:
    """A failure of an older version may be none for this one. A picture of it is as good as a new one."""
    return row.state != "ready" and row.version != VERSION


def _size(size: str) -> Size | None:
    return size if size in ("grid", "preview") else None
