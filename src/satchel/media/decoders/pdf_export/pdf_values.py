"""Reads the objects of a PDF as PDFium writes it, plain and unpacked, and writes their values under other numbers."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

_SPACE = b"\0\t\n\f\r "
_ENDS = b"()<>[]{}/%" + _SPACE
_REFERENCE = re.compile(rb"(\d+)\s+(\d+)\s+R(?![A-Za-z0-9])")
_DEEPEST = 100


@dataclass(frozen=True, slots=True)
class Ref:
    """Another object, by its number."""

    number: int


# Names, numbers, strings and words are kept as they are written.
Value: TypeAlias = "bytes | Ref | list[Value] | dict[bytes, Value]"


class NotPlain(Exception):
    """This is no PDF that can be read here."""


@dataclass(slots=True)
class Reader:
    """A place in the bytes."""

    data: bytes
    at: int = 0

    def value(self, depth: int = 0) -> Value:
        if depth > _DEEPEST:
            raise NotPlain("nested too deep")
        self._skip()
        if self.data.startswith(b"<<", self.at):
            return self._dictionary(depth)
        start = self.data[self.at : self.at + 1]
        if start == b"[":
            return self._array(depth)
        if start == b"(":
            return self._string()
        if start == b"<":
            return self._until(self.data.find(b">", self.at) + 1)
        if found := _REFERENCE.match(self.data, self.at):
            self.at = found.end()
            return Ref(int(found[1]))
        return self._word()

    def _dictionary(self, depth: int) -> dict[bytes, Value]:
        self.at += 2
        found: dict[bytes, Value] = {}
        while True:
            self._skip()
            if self.data.startswith(b">>", self.at):
                self.at += 2
                return found
            name = self._word()
            found[name] = self.value(depth + 1)

    def _array(self, depth: int) -> list[Value]:
        self.at += 1
        found: list[Value] = []
        while True:
            self._skip()
            if self.data.startswith(b"]", self.at):
                self.at += 1
                return found
            found.append(self.value(depth + 1))

    def _string(self) -> bytes:
        open_ones, end = 0, self.at
        while end < len(self.data):
            letter = self.data[end : end + 1]
            if letter == b"\\":
                end += 1
            open_ones += (letter == b"(") - (letter == b")")
            end += 1
            if not open_ones:
                return self._until(end)
        raise NotPlain("a string without an end")

    def _word(self) -> bytes:
        end = self.at + (self.data[self.at : self.at + 1] == b"/")
        while end < len(self.data) and self.data[end] not in _ENDS:
            end += 1
        return self._until(end)

    def _until(self, end: int) -> bytes:
        if end <= self.at:
            raise NotPlain("nothing is here")
        found, self.at = self.data[self.at : end], end
        return found

    def _skip(self) -> None:
        while self.at < len(self.data):
            if self.data[self.at] in _SPACE:
                self.at += 1
            elif self.data.startswith(b"%", self.at):
                end = self.data.find(b"\n", self.at)
                self.at = len(self.data) if end < 0 else end
            else:
                return


def written(value: Value, number_of: Callable[[int], int]) -> bytes:
    """With the numbers of other objects as they are to be."""
    match value:
        case Ref(number):
            return b"%d 0 R" % number_of(number)
        case dict():
            return b"<<" + b" ".join(name + b" " + written(each, number_of) for name, each in value.items()) + b">>"
        case list():
            return b"[" + b" ".join(written(each, number_of) for each in value) + b"]"
        case _:
            return value
