"""Multipart uploads in a folder of objects: parts wait as files of their own until they are joined.

    uploads/<id>/upload     what the object will be: an empty file with a description
    uploads/<id>/00001      a part, with its own description

An upload is open exactly while its folder is there; taking the folder away is one rename.
"""

import hashlib
import re
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from satchel.kernel.errors import Invalid
from satchel.kernel.ids import new_id
from satchel.stores.embedded.folder_disk import FolderDisk, object_info
from satchel.stores.embedded.folder_files import Description, Draft, flush_folder, open_sealed, read_description
from satchel.stores.object_rules import check_parts
from satchel.stores.ports.objects import ObjectInfo, ObjectMissing, Part

_UPLOAD_ID = re.compile(r"[0-9a-z]{26}")
_ABOUT = "upload"


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

    def keep_part(self, key: str, upload: str, number: int, draft: Draft) -> Part:
        part = Part(number, draft.size_bytes, draft.sha256)
        with self._open(key, upload) as (folder, _):
            draft.seal(Description(key=key, etag=part.etag, modified=self._disk.clock()))
            draft.publish(folder / f"{number:05}")
            flush_folder(folder)
        return part

    def check_open(self, key: str, upload: str) -> None:
        with self._open(key, upload):
            return

    def parts(self, key: str, upload: str) -> list[Part]:
        found: list[Part] = []
        with self._open(key, upload) as (folder, _):
            for path in sorted(folder.iterdir()):
                if path.name != _ABOUT:
                    description, size_bytes = read_description(path)
                    found.append(Part(int(path.name), size_bytes, description.etag))
        return found

    def complete(self, key: str, upload: str, given: Sequence[Part]) -> ObjectInfo:
        ordered = check_parts(given, self.parts(key, upload))
        etags = hashlib.sha256(b"".join(bytes.fromhex(part.etag) for part in ordered)).hexdigest()
        draft = self._disk.draft()
        try:
            with self._open(key, upload) as (folder, about):
                for part in ordered:
                    self._append(draft, folder / f"{part.number:05}", part)
            description = Description(
                key=key,
                etag=f"{etags}-{len(ordered)}",
                modified=self._disk.clock(),
                content_type=about.content_type,
                metadata=about.metadata,
            )
            draft.seal(description)
            self._disk.publish(draft, key)
        finally:
            draft.discard()
        self.abort(key, upload)
        return object_info(description, draft.size_bytes)

    def abort(self, key: str, upload: str) -> None:
        try:
            with self._open(key, upload) as (folder, _):
                self._disk.set_aside(folder)
        except ObjectMissing:
            return

    def _append(self, draft: Draft, path: Path, part: Part) -> None:
        sealed = open_sealed(path)
        with sealed.file:
            if (sealed.description.etag, sealed.size_bytes) != (part.etag, part.size_bytes):
                raise Invalid(f"Part {part.number} was replaced in this moment. Ask for the parts and try again.")
            draft.append(sealed.file, part.size_bytes)

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
