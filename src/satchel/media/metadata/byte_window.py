"""Reads parts of a file by position, within a budget, so that no file makes its reader slow."""

import io
from typing import BinaryIO

_HEAD_BYTES = 128 * 1024
_MOST_AT_ONCE = 1024 * 1024
_BUDGET_BYTES = 16 * 1024 * 1024
# A file of millions of empty boxes must not keep its reader busy.
_BUDGET_READS = 20_000


class ByteWindow:
    """A file, or the head of one. What lies outside of it, or exceeds the budget, reads as short or empty bytes.

    A reader of a format therefore checks the length of what it asked for, and nothing else. An `OSError` passes
    through: a card that was pulled out says nothing about the photo.
    """

    def __init__(self, file: BinaryIO, size: int | None = None) -> None:
        self._file = file
        self.size = file.seek(0, io.SEEK_END) if size is None else size
        file.seek(0)
        self._head = file.read(min(_HEAD_BYTES, self.size))
        self._bytes_left = _BUDGET_BYTES
        self._reads_left = _BUDGET_READS

    @classmethod
    def over(cls, data: bytes) -> "ByteWindow":
        return cls(io.BytesIO(data), len(data))

    def at(self, offset: int, length: int) -> bytes:
        length = min(length, _MOST_AT_ONCE, self.size - offset, self._bytes_left)
        if offset < 0 or length <= 0 or self._reads_left <= 0:
            return b""
        self._reads_left -= 1
        self._bytes_left -= length
        if offset + length <= len(self._head):
            return self._head[offset : offset + length]
        self._file.seek(offset)
        return self._file.read(length)

    def number(self, offset: int, length: int) -> int | None:
        """An unsigned number, most significant byte first."""
        data = self.at(offset, length)
        return int.from_bytes(data, "big") if len(data) == length else None
