"""Download small files many at a time, as archives. Each file is verified before it gets its name.

Its bytes come into a file without a name, as Linux can make, so that nothing unfinished is ever left behind. Whatever
an archive does not bring is left to be fetched by itself, which also explains what is wrong with it.
"""

import hashlib
import os
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from satchel.cli.engine.files.download import Wanted, give_facts, is_begun, numbered
from satchel.cli.engine.http.client import Client
from satchel.cli.engine.http.failures import Refused, Unreachable
from satchel.cli.engine.http.retry import Stopped

# Their ids fit into an address that every proxy takes.
_MOST_FILES = 100
_MOST_BYTES = 8 * 1024**2
_SMALL_BYTES = 256 * 1024
_READ_BYTES = 256 * 1024
# Of the zip format: what stands before the bytes of a file, with the lengths of its name and more, and behind them.
_BEFORE = struct.Struct("<4s22xHH")
_BEHIND = struct.Struct("<4sIII")


class _Unexpected(Exception):
    """The archive has something else in this place."""


def grouped(wanted: Sequence[Wanted], folder: Path) -> Iterator[Sequence[Wanted]]:
    """Small files together that are not here yet, if this folder can have them so; each other file for itself."""
    group: list[Wanted] = []
    size_bytes, is_able = 0, _has_unnamed_files(folder)
    for each in wanted:
        if not is_able or each.size_bytes > _SMALL_BYTES or each.target.exists() or is_begun(each):
            yield [each]
            continue
        if len(group) == _MOST_FILES or size_bytes + each.size_bytes > _MOST_BYTES:
            yield group
            group, size_bytes = [], 0
        group.append(each)
        size_bytes += each.size_bytes
    if group:
        yield group


def fetch_archived(
    client: Client, path: str, wanted: Sequence[Wanted], is_stopped: Callable[[], bool]
) -> Iterator[tuple[Wanted, Path]]:
    """The files that came and are right, from the first on, and where each stands. `path` takes their `file_id`s."""
    query = "&".join(f"file={each.facts['file_id']}" for each in wanted)
    with suppress(Refused, Unreachable, OSError, _Unexpected), client.receive_bytes(f"{path}?{query}", {}) as answer:
        archive = _Archive(answer.chunks(_READ_BYTES))
        for each in wanted:
            if is_stopped():
                raise Stopped
            yield each, _save(archive.content(each), each)
        archive.end()


class _Archive:
    """The entries of an archive as they arrive, none of them compressed."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._held = bytearray()

    def content(self, wanted: Wanted) -> bytes:
        """The next file, if it is this one. Raises `_Unexpected`."""
        start, name_bytes, more_bytes = _BEFORE.unpack(self._take(_BEFORE.size))
        self._take(name_bytes + more_bytes)
        content = self._take(wanted.size_bytes)
        end, _, _, size_bytes = _BEHIND.unpack(self._take(_BEHIND.size))
        is_whole = (start, end, size_bytes) == (b"PK\3\4", b"PK\7\x08", wanted.size_bytes)
        if not is_whole or hashlib.sha256(content).hexdigest() != wanted.sha256:
            raise _Unexpected
        return content

    def end(self) -> None:
        """Read the list at the end, so that the connection can be used again."""
        for _ in self._pieces:
            pass

    def _take(self, size_bytes: int) -> bytes:
        while len(self._held) < size_bytes:
            piece = next(self._pieces, b"")
            if not piece:
                raise _Unexpected
            self._held += piece
        taken = bytes(self._held[:size_bytes])
        del self._held[:size_bytes]
        return taken


def _has_unnamed_files(folder: Path) -> bool:
    try:
        os.close(_unnamed_file(folder))
    except (OSError, AttributeError):
        return False
    return True


def _unnamed_file(folder: Path) -> int:
    return os.open(folder, os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, 0o666)


def _save(content: bytes, wanted: Wanted) -> Path:
    """Where it stands then: under its name, or the next one with a number that is free."""
    file = _unnamed_file(wanted.target.parent)
    path = Path(f"/proc/self/fd/{file}")
    try:
        left = memoryview(content)
        while left:
            left = left[os.write(file, left) :]
        give_facts(path, wanted)
        number = 0
        while True:
            placed = numbered(wanted.target, number)
            try:
                # The path is a link to the file. Python follows it only if it is given a descriptor, of whatever.
                os.link(path, placed, src_dir_fd=file, follow_symlinks=True)
            except FileExistsError:
                number += 1
            else:
                return placed
    finally:
        os.close(file)
