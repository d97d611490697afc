"""Read a file of an object again, and tell whether its bytes are those that were stored."""

import hashlib
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from satchel.stores.embedded.folder_files import Damaged, Description, open_sealed

_AT_ONCE = 1024 * 1024
_OF_PARTS = re.compile(r"[0-9a-f]{64}-[0-9]+")
_WHOLE = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """What a file holds, tail and all, and what is wrong with it, if anything.

    `proved` is whether there was a digest to compare the bytes with.
    """

    size_bytes: int
    sha256: str
    damage: str | None
    proved: bool
    key: str | None


class Unreadable(Damaged):
    """The disk does not give a file's bytes back."""


def check_file(path: Path, heard: Callable[[bytes], object] = lambda _: None) -> CheckedFile:
    """Read a whole file; `heard` gets all its bytes in order. `Unreadable` if the disk refuses some."""
    try:
        sealed = open_sealed(path)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise _unreadable(error) from error
    except Damaged:
        with path.open("rb") as file:
            total, digest = _read(file, heard, _Proof(None, 0))
        return CheckedFile(total, digest, "its description is not readable", True, None)
    with sealed.file as file:
        proof = _Proof(sealed.description, sealed.size_bytes)
        total, digest = _read(file, heard, proof)
    damage = "its bytes are not those that were stored" if proof.failed else None
    return CheckedFile(total, digest, damage, proof.possible, sealed.description.key)


class _Proof:
    """Compares the bytes of an object, as they are read, with the digest in its description."""

    def __init__(self, description: Description | None, size_bytes: int) -> None:
        self.size_bytes = size_bytes
        self.failed = False
        # A copy that shares its bytes has none of its own: they are proved where they are.
        has_bytes = description is not None and description.shared is None
        self._etag = description.etag if description is not None and has_bytes else ""
        self._is_whole = _WHOLE.fullmatch(self._etag) is not None
        of_parts = description is not None and _OF_PARTS.fullmatch(self._etag) is not None
        self._part_bytes = description.part_bytes if description is not None and of_parts else None
        self.possible = not has_bytes or self._is_whole or self._part_bytes is not None
        self._part, self._part_size, self._parts = hashlib.sha256(), 0, list[bytes]()

    def heard(self, data: memoryview) -> None:
        if self._part_bytes is None:
            return
        while data:
            some = data[: self._part_bytes - self._part_size]
            self._part.update(some)
            self._part_size += len(some)
            data = data[len(some) :]
            if self._part_size == self._part_bytes:
                self._end_part()

    def end(self, whole: str) -> None:
        if self._is_whole:
            self.failed = whole != self._etag
        elif self._part_bytes is not None:
            if self._part_size:
                self._end_part()
            together = hashlib.sha256(b"".join(self._parts)).hexdigest()
            self.failed = self._etag != f"{together}-{len(self._parts)}"

    def _end_part(self) -> None:
        self._parts.append(self._part.digest())
        self._part, self._part_size = hashlib.sha256(), 0


def _unreadable(error: OSError) -> Unreadable:
    return Unreadable(f"it cannot be read ({error.strerror})")


def _read(file: BinaryIO, heard: Callable[[bytes], object], proof: _Proof) -> tuple[int, str]:
    digest, offset = hashlib.sha256(), 0
    total = os.fstat(file.fileno()).st_size
    if not proof.size_bytes:
        proof.end(digest.hexdigest())
    while offset < total:
        # The object's own bytes end at a limit of their own, where its digest is compared.
        end = proof.size_bytes if offset < proof.size_bytes else total
        try:
            data = os.pread(file.fileno(), min(_AT_ONCE, end - offset), offset)
        except OSError as error:
            raise _unreadable(error) from error
        if not data:
            break
        digest.update(data)
        heard(data)
        offset += len(data)
        if offset <= proof.size_bytes:
            proof.heard(memoryview(data))
            if offset == proof.size_bytes:
                proof.end(digest.hexdigest())
    return offset, digest.hexdigest()
