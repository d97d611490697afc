"""Partial files and folders that survive a lost connection, a killed program or a crashed machine.

Beside `NAME.satchel-part`, a file or a folder, is a journal: what it will become, and from time to time how many chunks
were written and their digest. A resumed download reads the part again and trusts only journal entries whose digest is
right. So neither a lost disk cache nor an edited file can damage the result.
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec.structs import replace

from satchel.cli.drop.crypto.sealed_records import Digest
from satchel.cli.drop.crypto.session_keys import Description, Have, Sum
from satchel.cli.drop.receiver.folder_unpack import BadFolder
from satchel.cli.drop.receiver.not_as_offered import NotAsOffered
from satchel.cli.drop.receiver.part_storage import FilePart, FolderPart, PartStorage
from satchel.cli.drop.receiver.target_folder import (
    NotSafe,
    TargetFolder,
    top_name,
)
from satchel.kernel.names import MAX_NAME_BYTES, FileName, numbered

PART = ".satchel-part"
_JOURNAL = ".journal"
_NOTE_BYTES = 16 * 1024**2
_NOTE_SECONDS = 1.0


class _Facts(msgspec.Struct, frozen=True):
    """What the part will become. The first line of a journal. `key` is that of the digests in the others."""

    name: str
    size: int | None
    kind: Literal["file", "folder"]
    chunk: Annotated[int, msgspec.Meta(ge=0, le=1024**2)] = 0
    key: Annotated[bytes, msgspec.Meta(min_length=32, max_length=32)] = bytes(32)


class _Moment(msgspec.Struct, frozen=True):
    """How much was written. Every other line of a journal. `headers` are those of a folder since the entry before."""

    chunks: Annotated[int, msgspec.Meta(ge=1)]
    digest: bytes
    headers: bytes = b""


class Part:
    """A download into a folder. `digest` is that of what was written, with the key of `empty`."""

    def __init__(self, target: TargetFolder, description: Description, empty: Digest) -> None:
        self._target = target
        self._called = description.name
        self._name = top_name(description.name, narrow=target.is_narrow)
        self._modified = description.modified
        kind: Literal["file", "folder"] = "folder" if description.kind == "folder" else "file"
        self._facts: _Facts = _Facts(description.name, description.size, kind)
        self._part, self._journal = _claim(target, self._name, self._facts)
        self._content: PartStorage = (
            FolderPart(target, self._part, description.sum)
            if kind == "folder"
            else FilePart(target, self._part, executable=description.executable is True)
        )
        self.written = Sum(0, 0)
        self.renamed: list[tuple[str, str]] = []
        self._chunk = 0
        self._is_whole_chunks = True
        self._empty = empty
        self.digest = empty.copy()
        self._noted_at, self._unnoted_bytes = time.monotonic(), 0
        self._recall()

    @property
    def here_bytes(self) -> int:
        return self.digest.chunks * self._chunk

    def have(self) -> Have | None:
        if not self.digest.chunks or not self._is_whole_chunks:
            return None
        return Have.of(self._chunk, self.digest.chunks, self.digest.value)

    def begin(self, chunk: int, first: int) -> None:
        """Prepare for chunk number `first`: the one after those that we have, or 0."""
        if first:
            return
        self._facts = replace(self._facts, chunk=chunk, key=self._empty.key)
        self._chunk, self.digest, self._is_whole_chunks, self._unnoted_bytes = chunk, self._empty.copy(), True, 0
        self._journal.begin(self._facts)
        self._content.begin()

    def write(self, chunk: memoryview) -> None:
        """Write a whole chunk, or the last one. `digest` includes it already."""
        try:
            self._content.write(chunk)
        except NotAsOffered:
            self._discard()
            raise
        self._is_whole_chunks = len(chunk) == self._chunk
        self._unnoted_bytes += len(chunk)
        now = time.monotonic()
        if self._unnoted_bytes >= _NOTE_BYTES or now - self._noted_at >= _NOTE_SECONDS:
            self._noted_at = now
            self._note()
            self._target.refuse_if_full(0)

    def _note(self) -> None:
        if self._unnoted_bytes and self._is_whole_chunks:
            self._unnoted_bytes = 0
            self._journal.note(_Moment(self.digest.chunks, self.digest.value, self._content.take_headers()))

    def finish(self) -> Path:
        """Complete the download. Returns the final name."""
        self.written, self.renamed = self._content.written, self._content.renamed
        try:
            self._content.finish(self._modified)
        except NotAsOffered:
            self._discard()
            raise
        name = self._target.settle(self._part, self._name, is_folder=self._content.is_folder)
        if name != self._called:
            self.renamed = [(self._called, name), *self.renamed]
        self._journal.remove()
        self._unnoted_bytes = 0
        return self._target.path / name

    def close(self) -> None:
        self._note()
        self._content.close()
        if not self._chunk and not self._target.has(self._part):  # nothing has arrived
            self._journal.remove()
        self._journal.close()

    def _discard(self) -> None:
        """Nobody will ever announce this, so that it could be completed."""
        self._content.close()
        self._content.remove()
        self._journal.remove()
        self._unnoted_bytes = 0

    def _recall(self) -> None:
        facts, moments = self._journal.read()
        if facts is None or not facts.chunk:
            return
        reached, digest = _last_right(moments, self._content, facts, self._empty)
        if not reached:
            return
        headers = b"".join(moment.headers for moment in moments[:reached])
        # In another session the digest has another key, which whoever sent the part so far has never known.
        self._facts = replace(facts, key=digest.key)
        self._chunk, self.digest = facts.chunk, digest
        self._journal.begin(self._facts, _Moment(digest.chunks, digest.value, headers))
        self._content.go_on(headers, digest.chunks * facts.chunk)


def is_begun(target: TargetFolder, description: Description) -> bool:
    """Whether there is a part of something with this name."""
    return target.has(_part_name(top_name(description.name, narrow=target.is_narrow)))


def _last_right(moments: list[_Moment], content: PartStorage, facts: _Facts, empty: Digest) -> tuple[int, Digest]:
    """How many journal entries match the part on disk, and the digest of that much with the key of `empty`."""
    noted, digest = Digest(facts.key), empty.copy()
    reached, right = 0, empty.copy()
    headers = b"".join(moment.headers for moment in moments)
    with suppress(BadFolder, NotSafe):  # somebody else has changed it
        for piece in _cut(content.read(headers), facts.chunk):
            if reached == len(moments):
                break
            noted.add(piece)
            digest.add(piece)
            if noted.chunks == moments[reached].chunks:
                if noted.value != moments[reached].digest:
                    break
                reached, right = reached + 1, digest.copy()
    return reached, right


def _cut(pieces: Iterator[bytes], size: int) -> Iterator[bytes]:
    pending = bytearray()
    for piece in pieces:
        pending += piece
        whole = len(pending) - len(pending) % size
        for at in range(0, whole, size):
            yield bytes(pending[at : at + size])
        del pending[:whole]


class _Journal:
    """JSON lines in a file that is locked while it is open."""

    def __init__(self, target: TargetFolder, name: str, descriptor: int) -> None:
        self._target = target
        self._name = name
        self._file = descriptor

    def read(self) -> tuple[_Facts | None, list[_Moment]]:
        """The entries, up to the first one that cannot be read."""
        first, *rest = os.pread(self._file, os.fstat(self._file).st_size, 0).split(b"\n")
        moments: list[_Moment] = []
        try:
            facts = msgspec.json.decode(first, type=_Facts)
        except (msgspec.DecodeError, UnicodeError):
            return None, moments
        with suppress(msgspec.DecodeError, UnicodeError):
            for line in rest:
                moments.append(msgspec.json.decode(line, type=_Moment))
        return facts, moments

    def begin(self, facts: _Facts, *moments: _Moment) -> None:
        content = b"".join(msgspec.json.encode(line) + b"\n" for line in (facts, *moments))
        os.pwrite(self._file, content, 0)
        os.ftruncate(self._file, len(content))
        os.lseek(self._file, 0, os.SEEK_END)

    def note(self, moment: _Moment) -> None:
        os.write(self._file, msgspec.json.encode(moment) + b"\n")

    def remove(self) -> None:
        self._target.remove(self._name)

    def close(self) -> None:
        os.close(self._file)


def _claim(target: TargetFolder, name: FileName, facts: _Facts) -> tuple[str, _Journal]:
    """The part to resume or to begin. Parts of other contents, and those in use, are not touched."""
    for number in count():
        part = _part_name(numbered(name, number) if number else name)
        try:
            descriptor = _locked(target, part)
        except (BlockingIOError, FileExistsError, NotSafe):
            continue
        journal = _Journal(target, part + _JOURNAL, descriptor)
        kept, _ = journal.read()
        if kept is None or (kept.name, kept.size, kept.kind) == (facts.name, facts.size, facts.kind):
            return part, journal
        journal.close()
    raise AssertionError("numbers have no end")


def _locked(target: TargetFolder, part: str) -> int:
    try:
        descriptor = target.known_file(part + _JOURNAL)
    except FileNotFoundError:
        if target.has(part):
            raise FileExistsError from None
        descriptor = target.new_file(part + _JOURNAL)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not os.fstat(descriptor).st_nlink:  # another program has completed it since we opened it
            raise BlockingIOError
    except BlockingIOError:
        os.close(descriptor)
        raise
    return descriptor


def _part_name(name: FileName) -> str:
    room = MAX_NAME_BYTES - len(PART + _JOURNAL)
    return name.encode()[:room].decode(errors="ignore") + PART
