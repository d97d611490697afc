"""Changes of a few bytes of a stored object, made while it is sent. Its length stays the same."""

from bisect import bisect_right
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Sequence
from typing import NamedTuple


class Patch(NamedTuple):
    """The bytes from `start` on: `data`, repeated until `length` is reached."""

    start: int
    length: int
    data: bytes

    @property
    def end(self) -> int:
        return self.start + self.length


def patched(piece: bytes, offset: int, patches: Iterable[Patch]) -> bytes:
    """A piece of an object, of which the first byte is at this offset, with all patches that touch it."""
    changed: bytearray | None = None
    for patch in patches:
        start, end = max(patch.start, offset), min(patch.end, offset + len(piece))
        if start < end:
            changed = bytearray(piece) if changed is None else changed
            changed[start - offset : end - offset] = _bytes_of(patch, start - patch.start, end - patch.start)
    return piece if changed is None else bytes(changed)


async def patched_pieces(
    pieces: AsyncIterable[bytes], patches: Sequence[Patch], offset: int = 0
) -> AsyncIterator[bytes]:
    """A stream that begins at this offset, with its patches. These are in order and do not overlap."""
    async for piece in pieces:
        first = max(bisect_right(patches, offset, key=lambda patch: patch.start) - 1, 0)
        last = bisect_right(patches, offset + len(piece), key=lambda patch: patch.start)
        yield patched(piece, offset, patches[first:last])
        offset += len(piece)


def merged(patches: Iterable[Patch]) -> list[Patch]:
    """In order, neighbours with the same filling as one, and none of them overlapping."""
    found: list[Patch] = []
    for patch in sorted(each for each in patches if each.length > 0):
        last = found[-1] if found else None
        if last is not None and patch.start < last.end:
            # What is blanked twice stays blank.
            patch = Patch(last.end, patch.end - last.end, _tail(patch, last.end))
        if patch.length <= 0:
            continue
        if last is not None and last.end == patch.start and len(last.data) == 1 and last.data == patch.data:
            found[-1] = Patch(last.start, last.length + patch.length, last.data)
        else:
            found.append(patch)
    return found


def pack(patches: Sequence[Patch]) -> Iterator[tuple[int, int, bytes]]:
    """As plain tuples, each start counted from the end before it, so that they take few bytes."""
    before = 0
    for patch in patches:
        yield patch.start - before, patch.length, patch.data
        before = patch.end


def unpack(packed: Iterable[tuple[int, int, bytes]]) -> list[Patch]:
    found: list[Patch] = []
    for gap, length, data in packed:
        found.append(Patch((found[-1].end if found else 0) + gap, length, data))
    return found


def _bytes_of(patch: Patch, start: int, end: int) -> bytes:
    if len(patch.data) == 1:
        return patch.data * (end - start)
    return patch.data[start:end]


def _tail(patch: Patch, start: int) -> bytes:
    return patch.data if len(patch.data) == 1 else patch.data[start - patch.start :]
