"""Multipart uploads in a folder of objects: parts that come one after the other are joined as they come.

    uploads/<id>/upload     what the object will be: an empty file with a description
    uploads/<id>/body       the bytes of parts, each begun where the one before it ends
    uploads/<id>/00001      a part: its description, and its bytes if these are not in the body

A part that replaces another, does not follow the last, or comes beside others has its bytes in its own file. Without
such parts, completing an upload is one rename of its body, however large it is; else all bytes are copied. Only what a
part's description speaks of counts in the body: an interrupted write is overwritten.

A part is known by a random name and not by a digest: who uploads in parts hashes all of them as one, and the object is
described by that alone, as if it had been put at once.

An upload is open exactly while its folder is there; taking the folder away is one rename.
"""

import fcntl
import os
import re
import secrets
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from satchel.kernel.errors import Invalid
from satchel.kernel.ids import new_id
from satchel.stores.embedded.folder_disk import FolderDisk, object_info
from satchel.stores.embedded.folder_files import (
    Damaged,
    Description,
    Draft,
    Placed,
    flush_file,
    flush_folder,
    open_sealed,
    read_description,
)
from satchel.stores.object_rules import check_parts
from satchel.stores.ports.objects import ObjectInfo, ObjectMissing, Part

_UPLOAD_ID = re.compile(r"[0-9a-z]{26}")
_ABOUT = "upload"
_BODY = "body"


class _PartDraft(Draft):
    """A part in the making: at the end of the body if nobody else writes there, else a file of its own.

    Which of the two is decided with the first bytes. The body is locked for as long as it is open here.
    """

    def __init__(self, path: Path, claim_end: Callable[[], tuple[int, int] | None]) -> None:
        super().__init__(path, hashed=False)
        self._claim_end = claim_end
        self.offset: int | None = None
        # Whether a description speaks of these bytes.
        self.kept = False

    def flush(self) -> None:
        with self._turn:
            os.fsync(self._open())

    def discard(self) -> None:
        if self.offset is None:
            super().discard()
        else:
            with self._turn:
                if self._file is not None and not self.kept:
                    with suppress(OSError):  # the next part would overwrite it anyway
                        os.ftruncate(self._file, self.offset)
                self._close()

    def _open(self) -> int:
        if self._file is None and (claimed := self._claim_end()) is not None:
            self._file, self.offset = claimed
            self._starts_at = self.offset
        return super()._open()


class _WholeBody(Draft):
    """A body that holds all parts of its upload, and nothing else, to be published as it is."""

    def __init__(self, path: Path, file: int) -> None:
        super().__init__(path, hashed=False)
        self._file = file

    def discard(self) -> None:
        with self._turn:
            self._close()


class FolderUploads:
    """The blocking steps of a multipart upload."""

    def __init__(self, disk: FolderDisk) -> None:
        self._disk = disk

    def begin(self, key: str, content_type: str, metadata: dict[str, str]) -> str:
        about = Description(key=key, etag="", modified=self._disk.clock(), content_type=content_type, metadata=metadata)
        upload, draft = new_id(self._disk.clock), self._disk.draft()
        folder = self._disk.uploads / upload
        try:
            folder.mkdir(mode=0o700)
            draft.seal(about)
            draft.publish(folder / _ABOUT)
            flush_folder(folder)
            flush_folder(folder.parent)
        finally:
            draft.discard()
        return upload

    def draft(self, key: str, upload: str, number: int) -> Draft:
        """Where the bytes of a part go: behind those of the one before if that is possible, else into a new file."""
        with self._open(key, upload) as (folder, _):
            return _PartDraft(self._disk.new_draft_path(), lambda: _claimed_end(folder, number))

    def keep_part(self, key: str, upload: str, number: int, draft: Draft, *, durable: bool) -> Part:
        part = Part(number, draft.size_bytes, secrets.token_hex(16))
        description = Description(key=key, etag=part.etag, modified=self._disk.clock())
        with self._open(key, upload) as (folder, _):
            if isinstance(draft, _PartDraft) and draft.offset is not None:
                if durable:
                    draft.flush()
                placed = Placed(offset=draft.offset, size_bytes=part.size_bytes)
                # Also if it fails: the description may have got its name all the same.
                draft.kept = True
                description = msgspec.structs.replace(description, placed=placed)
                self._publish(self._disk.draft(), description, folder, number, durable=durable)
                draft.discard()
            else:
                self._publish(draft, description, folder, number, durable=durable)
        return part

    def flush(self, key: str, upload: str, parts: Sequence[Part]) -> None:
        with self._open(key, upload) as (folder, _):
            # The bytes before the descriptions that speak of them.
            with suppress(FileNotFoundError):  # no part is in it
                flush_file(folder / _BODY)
            for part in parts:
                flush_file(folder / f"{part.number:05}")
            flush_folder(folder)

    def parts(self, key: str, upload: str) -> list[Part]:
        found: list[Part] = []
        with self._open(key, upload) as (folder, _):
            for path in sorted(folder.iterdir()):
                if path.name not in (_ABOUT, _BODY):
                    try:
                        description, size_bytes = read_description(path)
                    except Damaged:
                        continue  # the power was lost before it was flushed, so nobody was told of it
                    size_bytes = description.placed.size_bytes if description.placed else size_bytes
                    found.append(Part(int(path.name), size_bytes, description.etag))
        return found

    def complete(self, key: str, upload: str, given: Sequence[Part], sha256: str | None) -> ObjectInfo:
        ordered = check_parts(given, self.parts(key, upload))
        with self._open(key, upload) as (folder, about):
            draft = self._joined(folder, ordered)
        try:
            description = Description(
                key=key,
                etag=sha256 or draft.sha256,
                modified=self._disk.clock(),
                content_type=about.content_type,
                metadata=about.metadata,
            )
            draft.seal(description)
            self._disk.publish(draft, key)
        finally:
            draft.discard()
        self.abort(key, upload)
        return object_info(description, sum(part.size_bytes for part in ordered))

    def abort(self, key: str, upload: str) -> None:
        try:
            with self._open(key, upload) as (folder, _):
                self._disk.set_aside(folder)
        except ObjectMissing:
            return

    def _publish(self, draft: Draft, description: Description, folder: Path, number: int, *, durable: bool) -> None:
        try:
            draft.seal(description, durable=durable)
            draft.publish(folder / f"{number:05}")
            if durable:
                flush_folder(folder)
        finally:
            draft.discard()

    def _joined(self, folder: Path, parts: Sequence[Part]) -> Draft:
        """All bytes in one file that nobody reads yet."""
        body = self._whole_body(folder, parts)
        if body is not None:
            return body
        draft = Draft(self._disk.new_draft_path(), hashed=False)
        try:
            for part in parts:
                self._append(draft, folder, part)
        except BaseException:
            draft.discard()
            raise
        return draft

    def _whole_body(self, folder: Path, parts: Sequence[Part]) -> Draft | None:
        """The body, locked, if it holds exactly these parts in this order."""
        end = 0
        for part in parts:
            description, _ = read_description(folder / f"{part.number:05}")
            if description.placed != Placed(offset=end, size_bytes=part.size_bytes) or description.etag != part.etag:
                return None
            end += part.size_bytes
        body = _locked_body(folder, end, parts[-1].number + 1)
        return None if body is None else _WholeBody(folder / _BODY, body)

    def _append(self, draft: Draft, folder: Path, part: Part) -> None:
        sealed = open_sealed(folder / f"{part.number:05}")
        placed = sealed.description.placed
        with sealed.file:
            size_bytes = placed.size_bytes if placed else sealed.size_bytes
            if (sealed.description.etag, size_bytes) != (part.etag, part.size_bytes):
                raise Invalid(f"Part {part.number} was replaced at the same time. List the parts and try again.")
            if placed is None:
                draft.append(sealed.file, size_bytes)
            else:
                with (folder / _BODY).open("rb") as body:
                    draft.append(body, size_bytes, placed.offset)

    @contextmanager
    def _open(self, key: str, upload: str) -> Generator[tuple[Path, Description]]:
        """The folder of an upload and what it is for; files that vanish meanwhile mean that it was ended."""
        gone = ObjectMissing(f"There is no open upload {upload!r} for this key.")
        if not _UPLOAD_ID.fullmatch(upload):
            raise gone
        folder = self._disk.uploads / upload
        try:
            about, _ = read_description(folder / _ABOUT)
            if about.key != key:
                raise gone
            yield folder, about
        except FileNotFoundError as error:
            raise gone from error


def _claimed_end(folder: Path, number: int) -> tuple[int, int] | None:
    """The body, locked, and where this part begins in it, if the part is new and follows the last one there."""
    try:
        end = 0 if number == 1 else _end_of(folder / f"{number - 1:05}")
        body = None if end is None else _locked_body(folder, end, number)
    except FileNotFoundError:
        return None
    return None if end is None or body is None else (body, end)


def _end_of(part: Path) -> int | None:
    """Where in the body the bytes of a part end, if they are there."""
    placed = read_description(part)[0].placed
    return None if placed is None else placed.offset + placed.size_bytes


def _locked_body(folder: Path, end: int, following: int) -> int | None:
    """The body, cut off at an end that it has reached.

    None while somebody else writes to it, or once the part that would follow there is stored, whose bytes may be next.
    """
    path = folder / _BODY
    # A body that should be there and is not has become an object: it must not be made anew.
    body = os.open(path, os.O_RDWR | os.O_CLOEXEC | (0 if end else os.O_CREAT), 0o600)
    try:
        if _is_ours(body, path) and not (folder / f"{following:05}").exists():
            if os.fstat(body).st_size < end:
                raise Damaged(f"The file {path} was cut short. Upload it again.")
            os.ftruncate(body, end)
            os.lseek(body, end, os.SEEK_SET)
            return os.dup(body)
    finally:
        os.close(body)
    return None


def _is_ours(body: int, path: Path) -> bool:
    """Lock the body unless somebody else has; once locked, it has to be what we opened, and not an object by now."""
    try:
        fcntl.flock(body, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return os.path.samestat(path.stat(), os.fstat(body))
