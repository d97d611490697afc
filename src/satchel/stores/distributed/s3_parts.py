"""Bodies of requests: streams cut into parts of 8 MiB, and parts in the form in which aiobotocore sends them.

aiohttp, which carries the requests, iterates over what can be iterated; of large bytes it warns.
"""

from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator
from contextlib import aclosing

from satchel.stores.object_rules import Declared

PART_BYTES = 8 * 1024 * 1024
_SLICE_BYTES = 256 * 1024


async def in_parts(chunks: AsyncGenerator[bytes]) -> AsyncGenerator[bytes]:
    """The same bytes in parts of `PART_BYTES`, the last one shorter; nothing for an empty stream."""
    part = bytearray()
    async with aclosing(chunks):
        async for chunk in chunks:
            part += chunk
            while len(part) >= PART_BYTES:
                yield bytes(part[:PART_BYTES])
                del part[:PART_BYTES]
    if part:
        yield bytes(part)


class BufferedBody:
    """Bytes at hand, sent in slices so that the loop stays free, and sent again if need be."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def seek(self, _: int) -> None:
        """Before it tries again, botocore wants to go back; every iteration starts at the beginning anyway."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for offset in range(0, len(self._data), _SLICE_BYTES):
            yield self._data[offset : offset + _SLICE_BYTES]


class StreamedBody:
    """A stream that is sent as it arrives, once.

    The last chunk is held back until the stream has ended as declared: a request that breaks off before its end stores
    nothing. What went wrong with the stream is kept in `error`, because the client would dress it up as its own.
    """

    def __init__(self, body: AsyncIterable[bytes], declared: Declared) -> None:
        self._body = body
        self._declared = declared
        self.error: Exception | None = None

    async def __aiter__(self) -> AsyncIterator[bytes]:
        held, size_bytes = b"", 0
        try:
            async with aclosing(self._declared.bounded(self._body)) as chunks:
                async for chunk in chunks:
                    size_bytes += len(chunk)
                    if held:
                        yield held
                    held = chunk
            self._declared.check_size(size_bytes)
        except Exception as error:
            self.error = error
            raise
        yield held
