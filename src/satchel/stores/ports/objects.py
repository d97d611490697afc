"""The contract of the store of bytes: S3's model, streamed in both directions and verified on the way.

Clauses that hold for every implementation, each quoted by name in the conformance suite:

- *named*: a key is 1 to 1024 bytes of UTF-8 without control characters (nor U+FFFE and U+FFFF, which XML cannot carry),
  in segments split by `/`; no segment is empty, `.` or `..`. Anything else raises `Invalid`. `a` and `a/b` can exist
  side by side.
- *streamed*: no call holds more than a few parts of 8 MiB in memory, whatever the size of the object.
- *whole*: an object appears at its key complete or not at all, and replaces an older one in one step. A stream that
  breaks, or whose length or SHA-256 is not what was declared, leaves what was there before.
- *described*: content type and metadata (names of `a-z0-9-`, values any text, together at most 2 KB once encoded) come
  back as they were given.
- *durable*: when a write returns, it survives the death of the process and of the machine.
- *signed*: a signed link is good for one key, one method, until it expires; changing any part of it makes it worthless.
- *failing*: `Unavailable` when the store cannot be reached, `OutOfSpace` when it is full; neither leaves a half object.
"""

from collections.abc import AsyncIterable, AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import BinaryIO, Protocol

from satchel.kernel.errors import Invalid, NotFound

MAX_KEY_BYTES = 1024
MAX_METADATA_BYTES = 2048
MIN_PART_BYTES = 5 * 1024 * 1024
MAX_PARTS = 10_000
MAX_PART_BYTES = 5 * 1024 * 1024 * 1024
MAX_PUT_BYTES = MAX_PARTS * 8 * 1024 * 1024
MAX_LIST = 1000
MAX_SMALL_BYTES = 8 * 1024 * 1024
DEFAULT_TYPE = "application/octet-stream"


class ObjectMissing(NotFound):
    """There is no object, or no open multipart upload, of that name."""

    slug = "object-missing"


class Corrupted(Invalid):
    """The bytes that arrived are not the bytes that were declared; send them again."""

    slug = "corrupted"


class RangeUnsatisfiable(Invalid):
    """The range starts at or after the end of the object."""

    status = 416
    slug = "range-unsatisfiable"


@dataclass(frozen=True, slots=True)
class ObjectInfo:
    """What is known of an object without reading it. `etag` changes whenever the bytes do."""

    key: str
    size_bytes: int
    etag: str
    modified: datetime
    content_type: str = DEFAULT_TYPE
    metadata: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Stored:
    """What a put has stored: its size and digest as counted while it streamed."""

    size_bytes: int
    sha256: str
    etag: str


@dataclass(frozen=True, slots=True)
class SmallObject:
    """An object whose bytes are at hand, to be stored among others."""

    key: str
    data: bytes
    content_type: str = DEFAULT_TYPE
    metadata: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a multipart upload, as needed to complete it."""

    number: int
    size_bytes: int
    etag: str


@dataclass(frozen=True, slots=True)
class Listed:
    """Keys in the order of their UTF-8 bytes, and the key to go on after, if there is more."""

    objects: list[ObjectInfo]
    after: str | None


class Reading(Protocol):
    """An object opened for reading: iterate for its bytes, or take `file` where there is one."""

    @property
    def info(self) -> ObjectInfo: ...

    @property
    def start(self) -> int:
        """Where in the object the bytes begin."""
        ...

    @property
    def length(self) -> int:
        """How many bytes will come."""
        ...

    @property
    def file(self) -> BinaryIO | None:
        """An open file for zero-copy sending, closed with the reading; None on S3.

        It holds the whole object from offset 0 and may hold more after it: send `length` bytes from `start`.
        """
        ...

    def __aiter__(self) -> AsyncIterator[bytes]: ...


class Objects(Protocol):
    """A store of bytes. Safe to use from many tasks of one event loop at once."""

    async def put(
        self,
        key: str,
        body: AsyncIterable[bytes],
        *,
        length: int | None = None,
        sha256: str | None = None,
        content_type: str = DEFAULT_TYPE,
        metadata: Mapping[str, str] | None = None,
    ) -> Stored:
        """Store what the stream gives; see *whole*. More or fewer bytes than `length`, or another hex digest than
        `sha256`, raise `Corrupted`; an error raised by `body` itself comes through unchanged.

        One put stores up to 10,000 parts of 8 MiB; more raises `TooLarge` and has to be uploaded in parts.
        """
        ...

    async def put_many(self, objects: Sequence[SmallObject]) -> None:
        """Store objects of up to 8 MiB under different keys, each as a put would, for less than as many puts cost.

        When it raises, any number of them may be stored; none if one of them is not acceptable.
        """
        ...

    def read(self, key: str, *, start: int = 0, length: int | None = None) -> AbstractAsyncContextManager[Reading]:
        """Open an object, or a part of it, for reading; what was opened stays readable though it be replaced.

        A `length` past the end is cut; a negative `start` counts from the end. `start` at or after the end raises
        `RangeUnsatisfiable`, except 0 in an empty object. `ObjectMissing` when there is none.
        """
        ...

    async def read_many(self, keys: Sequence[str]) -> list[bytes | None]:
        """The bytes of objects of up to 8 MiB, one answer per key in their order, for less than as many reads cost.

        None for an object that is missing; a larger one raises `TooLarge`. All of them are held in memory.
        """
        ...

    async def head(self, key: str) -> ObjectInfo:
        """What is known of the object, or `ObjectMissing`."""
        ...

    async def list(self, prefix: str = "", *, after: str = "", limit: int = MAX_LIST) -> Listed:
        """Objects whose key starts with `prefix` (any text, not only whole segments) and sorts after `after`.

        Content type and metadata are not filled in.
        """
        ...

    async def delete(self, *keys: str) -> None:
        """Take objects away; an absent one is no error."""
        ...

    async def copy(
        self,
        source: str,
        target: str,
        *,
        metadata: Mapping[str, str] | None = None,
        content_type: str | None = None,
        size_bytes: int | None = None,
    ) -> None:
        """Store the same bytes at another key without moving them through this process; see *whole*.

        With `metadata` or `content_type` given, the copy has these instead of the source's. Who gives both, and
        knows that the source has `size_bytes`, saves S3 a look at it.
        """
        ...

    async def begin(
        self, key: str, *, content_type: str = DEFAULT_TYPE, metadata: Mapping[str, str] | None = None
    ) -> str:
        """Start a multipart upload and answer its id, which outlives this process."""
        ...

    async def put_part(
        self, key: str, upload: str, number: int, body: AsyncIterable[bytes], *, length: int, durable: bool = True
    ) -> Part:
        """Store part `number` (1 to 10,000), of up to 5 GiB, in place of an earlier one of that number; durable like a
        put, or if not `durable`, then only after `flush_parts`."""
        ...

    async def flush_parts(self, key: str, upload: str, parts: Sequence[Part]) -> None:
        """Make parts durable, for less than as many flushes cost."""
        ...

    async def parts(self, key: str, upload: str) -> Sequence[Part]:
        """The parts stored so far, by number."""
        ...

    async def complete(self, key: str, upload: str, parts: Sequence[Part], *, sha256: str | None = None) -> ObjectInfo:
        """Join the parts in the order of their numbers into the object; see *whole*.

        Who has hashed exactly these parts as they came says their `sha256` together, which saves a reading of them.
        All but the last have to be at least 5 MiB, and each has to be stored as given, else `Invalid`, and the upload
        stays open.
        """
        ...

    async def abort(self, key: str, upload: str) -> None:
        """Give up an upload and free its parts; one that is not open is no error."""
        ...

    async def sign_get(self, key: str, lifetime: timedelta, *, download_name: str | None = None) -> str:
        """A link from which anybody can read the object until it expires (at most 7 days).

        With a `download_name` browsers save it under that name instead of showing it.
        """
        ...

    async def sign_put(self, key: str, lifetime: timedelta, *, content_type: str = DEFAULT_TYPE) -> str:
        """A link to which anybody can PUT the object, once or more, until it expires (at most 7 days).

        The request has to carry this content type.
        """
        ...

    async def clean(self, older_than: timedelta) -> int:
        """Free what broken-off puts, and multipart uploads begun longer ago than this, left behind; how many."""
        ...

    async def close(self) -> None:
        """Release every resource."""
        ...
