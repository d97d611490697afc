"""Walks through the boxes of an ISO media file: MP4, QuickTime, HEIC, AVIF and Canon's RAW are made of them."""

from collections.abc import Iterator
from dataclasses import dataclass

from satchel.media.metadata.byte_window import ByteWindow

_MOST_BOXES = 1000


@dataclass(frozen=True, slots=True)
class Box:
    """A box: its four letters, and where its content begins and ends."""

    kind: bytes
    start: int
    end: int

    @property
    def length(self) -> int:
        return self.end - self.start


def boxes(window: ByteWindow, start: int, end: int) -> Iterator[Box]:
    """The boxes between two offsets. A box that exceeds its parent is cut; one without a sensible length ends it."""
    for _ in range(_MOST_BOXES):
        head = window.at(start, 8)
        if start + 8 > end or len(head) < 8:
            return
        length, kind, content = int.from_bytes(head[:4], "big"), head[4:], start + 8
        if length == 1:
            length, content = window.number(content, 8) or 0, content + 8
        elif length == 0:
            length = end - start
        if length < content - start:
            return
        yield Box(kind, content, min(start + length, end))
        start += length


def inside(window: ByteWindow, box: Box, *, skipped: int = 0) -> Iterator[Box]:
    """The boxes in a box, after the version and flags that some have."""
    return boxes(window, box.start + skipped, box.end)


def first(window: ByteWindow, box: Box, kind: bytes, *, skipped: int = 0) -> Box | None:
    return next((each for each in inside(window, box, skipped=skipped) if each.kind == kind), None)
