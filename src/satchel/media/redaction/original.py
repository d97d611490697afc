"""An original whose bytes are looked at, and the patches that were found so far."""

from typing import BinaryIO

from satchel.kernel.patches import Patch
from satchel.media.metadata.byte_window import ByteWindow

ZERO, SPACE = b"\0", b" "
_MOST_AT_ONCE = 64 * 1024 * 1024
_MOST_PATCHES = 20_000


class Unclear(Exception):
    """The structure cannot be followed, so nobody knows what is in it."""


class Original:
    """An open file. What is asked for and is not there is `Unclear`."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file = file
        self.size = size
        self.patches: list[Patch] = []

    def at(self, offset: int, length: int) -> bytes:
        if offset < 0 or length < 0 or length > _MOST_AT_ONCE or offset + length > self.size:
            raise Unclear
        self._file.seek(offset)
        data = self._file.read(length)
        if len(data) != length:
            raise Unclear
        return data

    def window(self) -> ByteWindow:
        """For readers of metadata, which have a budget."""
        return ByteWindow(self._file, self.size)

    def number(self, offset: int, length: int) -> int:
        return int.from_bytes(self.at(offset, length), "big")

    def blank(self, start: int, length: int, fill: bytes = ZERO) -> None:
        if start < 0 or length < 0 or start + length > self.size:
            raise Unclear
        self._add(Patch(start, length, fill))

    def write(self, start: int, data: bytes) -> None:
        """Put these bytes into the place of those that are there."""
        self.blank(start, len(data))
        self.patches[-1] = Patch(start, len(data), data)

    def _add(self, patch: Patch) -> None:
        if len(self.patches) >= _MOST_PATCHES:
            raise Unclear
        self.patches.append(patch)
