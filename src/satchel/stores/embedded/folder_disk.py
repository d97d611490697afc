"""The layout of a folder of objects, and every blocking step on it. Threads may run the steps concurrently.

    objects/3f/3f9a…     one file per object, named by the SHA-256 of its key (see `folder_files`), so that any legal
                         key is a legal name on any file system, and no folder grows too large
    held/                files that a running backup still needs (see `folder_hold`)
    keys.db              the keys in order (see `folder_keys`)
    drafts/              files in the making
    shared/              bytes that several objects have in common (see `folder_shared`)
    uploads/             multipart uploads that are open (see `folder_uploads`)

A put flushes three times: the file, the index if the key is new (shared with other puts), and the folder of its name.
Many that are put together share the last two.
Several processes may use the same folder at once.
"""

import fcntl
import hashlib
import logging
import os
import re
import shutil
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path

import msgspec

from satchel.kernel.clock import Clock
from satchel.kernel.errors import OutOfSpace
from satchel.kernel.ids import new_id
from satchel.stores.embedded.folder_files import (
    TAIL_BYTES,
    Damaged,
    Description,
    Draft,
    SealedFile,
    Shared,
    disk_errors,
    flush_folder,
    open_sealed,
    read_description,
)
from satchel.stores.embedded.folder_hold import FolderHold
from satchel.stores.embedded.folder_keys import KeyIndex
from satchel.stores.embedded.folder_shared import WORTH_SHARING_BYTES, SharedBytes
from satchel.stores.object_rules import check_small_size
from satchel.stores.ports.objects import Listed, ObjectInfo, ObjectMissing, SmallObject

_SHARDS = [f"{number:02x}" for number in range(256)]
_SWEPT_AT_ONCE = 1000
# So many keys and so many folders of links are looked at in one round, which takes a fraction of a second.
_KEYS_SWEPT = 10 * _SWEPT_AT_ONCE
_LINK_FOLDERS_SWEPT = 32
_LOOKS = 10
_MADE_BY_NEW_ID = re.compile(r"[0-9a-z]{26}")

_log = logging.getLogger(__name__)


class FolderDisk:
    """Objects as files. A name may only come or go under the lock of its shard, see `_shard`."""

    def __init__(self, root: Path, clock: Clock) -> None:
        self.root = root
        self.clock = clock
        self.uploads = root / "uploads"
        self._objects = root / "objects"
        self._drafts = root / "drafts"
        self._hold = FolderHold(root, clock)
        self._shared = SharedBytes(root / "shared", self._hold)
        # Where the next round of sweeping goes on. A restart begins anew.
        self._swept_until = ""
        self._next_links = 0
        with disk_errors(root):
            self._lay_out()
            self._index = KeyIndex(root / "keys.db")
            if not self._index.complete:
                self._rebuild_index()

    def close(self) -> None:
        self._index.close()

    def draft(self) -> Draft:
        return Draft(self.new_draft_path())

    def new_draft_path(self) -> Path:
        return self._drafts / new_id(self.clock)

    def publish(self, draft: Draft, key: str) -> None:
        """Replace the object of the key by a sealed draft, durably."""
        path = self._path(key)
        with self._shard(path.parent, fcntl.LOCK_SH) as shard:
            self._index.add(key)
            replaced = _shared_by(path)
            self._hold.keep(path)
            draft.publish(path)
            os.fsync(shard)
            self._shared.free(replaced)

    def put_all(self, objects: Sequence[SmallObject]) -> None:
        """Store a few objects one after the other, with one change of the index.

        Their files and shards are open all at once, and nobody can delete from these meanwhile: call it with few.
        """
        drafts = {self._path(each.key): self.draft() for each in objects}
        with ExitStack() as held:
            for each, draft in zip(objects, drafts.values(), strict=True):
                held.callback(draft.discard)
                draft.write([each.data])
                draft.seal(
                    Description(
                        key=each.key,
                        etag=draft.sha256,
                        modified=self.clock(),
                        content_type=each.content_type,
                        metadata=dict(each.metadata),
                    )
                )
            shards = [
                held.enter_context(self._shard(folder, fcntl.LOCK_SH)) for folder in {path.parent for path in drafts}
            ]
            self._index.add_many(each.key for each in objects)
            replaced = [_shared_by(path) for path in drafts]
            for path, draft in drafts.items():
                self._hold.keep(path)
                draft.publish(path)
            for shard in shards:
                os.fsync(shard)
            for each in replaced:
                self._shared.free(each)

    def open(self, key: str) -> SealedFile:
        path = self._path(key)
        try:
            return self._open(path)
        except FileNotFoundError as error:
            if not path.parent.exists():
                raise  # the disk is not mounted, or worse: this must not look like "no such object"
            raise ObjectMissing(f"There is no object {key!r}.") from error

    def read_all(self, keys: Sequence[str]) -> list[bytes | None]:
        """The bytes of small objects. None for one that is missing."""
        return [self._whole(key) for key in keys]

    def _whole(self, key: str) -> bytes | None:
        try:
            sealed = self.open(key)
        except ObjectMissing:
            return None
        with sealed.file as file:
            check_small_size(sealed.size_bytes)
            content = sealed.held if sealed.held is not None else file.read(sealed.size_bytes)
        if len(content) < sealed.size_bytes:
            raise Damaged("The file of this object was cut short. Restore it from a backup.")
        return content

    def head(self, key: str) -> ObjectInfo:
        sealed = self.open(key)
        sealed.file.close()
        return object_info(sealed.description, sealed.size_bytes)

    def list(self, prefix: str, after: str, limit: int) -> Listed:
        found: list[ObjectInfo] = []
        batch = max(limit + 1, 100)
        while True:
            keys = self._index.after(prefix, after, batch)
            for info in self._described(keys):
                if len(found) == limit:
                    return Listed(found, found[-1].key)
                found.append(info)
            if len(keys) < batch:
                return Listed(found, None)
            after = keys[-1]

    def delete(self, keys: Iterable[str]) -> None:
        paths = {self._path(key): key for key in keys}
        for folder, group in groupby(sorted(paths), key=lambda path: path.parent):
            gone: list[str] = []
            with self._shard(folder, fcntl.LOCK_EX) as shard:
                shared: list[Shared | None] = []
                for path in group:
                    if path.exists():
                        shared.append(_shared_by(path))
                        self._hold.keep(path)
                        path.unlink()
                        gone.append(paths[path])
                if gone:
                    # In this order: a key may leave the index only once its object cannot come back.
                    os.fsync(shard)
                    for each in shared:
                        self._shared.free(each)
                    with suppress(OutOfSpace):  # it may stay there, and deleting has to work on a full disk
                        self._index.remove(gone)

    def copy(self, source: str, target: str, metadata: Mapping[str, str] | None, content_type: str | None) -> None:
        sealed, draft = self.open(source), self.draft()
        kept = sealed.description.metadata if metadata is None else dict(metadata)
        kind = content_type or sealed.description.content_type
        with sealed.file:
            try:
                shared = self._share(sealed, source, target, draft)
                if shared is None:
                    draft.append(sealed.file, sealed.size_bytes)
                description = msgspec.structs.replace(
                    sealed.description,
                    key=target,
                    metadata=kept,
                    content_type=kind,
                    modified=self.clock(),
                    shared=shared,
                )
                draft.seal(description)
                self.publish(draft, target)
            finally:
                draft.discard()

    def clean(self, older_than: timedelta) -> int:
        """Delete drafts and uploads begun longer ago, except drafts that are still written.

        Unused keys and links are rare and cost little, so each round looks at some thousands and the next goes on.
        """
        # Names made by new_id sort by the millisecond in which they were made, in their first 10 characters.
        newest = new_id(lambda: self.clock() - older_than.total_seconds())[:10]
        self._hold.clean()
        swept = 0
        for draft in self._drafts.iterdir():
            if _was_made_before(draft, newest):
                with _abandoned(draft) as abandoned:
                    if abandoned:
                        _remove(draft)
                        swept += 1
        for upload in self.uploads.iterdir():
            if _was_made_before(upload, newest):
                with suppress(FileNotFoundError):  # completed or aborted in this moment
                    self.set_aside(upload)
                swept += 1
        return swept + self._free_unused_links(newest) + self._forget_unused_keys()

    def set_aside(self, folder: Path) -> None:
        """Remove a folder in one step, then delete what it held."""
        aside = self._drafts / new_id(self.clock)
        folder.rename(aside)
        flush_folder(folder.parent)
        shutil.rmtree(aside)

    def _open(self, path: Path) -> SealedFile:
        """Open the file of a name. Start again if the name means another file by then."""
        for _ in range(_LOOKS):
            sealed = open_sealed(path)
            shared = sealed.description.shared
            if shared is None:
                return sealed
            sealed.file.close()
            with suppress(FileNotFoundError):
                return SealedFile(self._shared.open(shared), sealed.description, shared.size_bytes, None)
        raise Damaged(f"The bytes of the file {path} are gone. Restore it from a backup.")

    def _share(self, sealed: SealedFile, source: str, target: str, draft: Draft) -> Shared | None:
        if sealed.size_bytes < WORTH_SHARING_BYTES:
            return None
        shared = sealed.description.shared
        origin = self._path(source) if shared is None else self._shared.path(shared.file)
        return self._shared.link(origin, sealed.file, sealed.size_bytes, self._path(target), draft)

    def _free_unused_links(self, newest: str) -> int:
        freed = 0
        shards = [_SHARDS[(self._next_links + number) % len(_SHARDS)] for number in range(_LINK_FOLDERS_SWEPT)]
        self._next_links = (self._next_links + _LINK_FOLDERS_SWEPT) % len(_SHARDS)
        for link, name, draft in self._shared.links(shards):
            # In this order: a draft that is gone by now has either become the file that speaks of the link, or failed.
            if draft[:10] <= newest and not (self._drafts / draft).exists():
                shared = _shared_by(self._objects / name[:2] / name)
                if shared is None or shared.file != link.name:
                    link.unlink(missing_ok=True)
                    freed += 1
        return freed

    def _path(self, key: str) -> Path:
        name = hashlib.sha256(key.encode()).hexdigest()
        return self._objects / name[:2] / name

    @contextmanager
    def _shard(self, folder: Path, lock: int) -> Generator[int]:
        """An open folder of objects, locked: shared to add names, exclusive to remove them.

        Without it, a key that a put has just seen in the index could leave it before the object appears.
        """
        shard = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(shard, lock)
            yield shard
        finally:
            os.close(shard)

    def _described(self, keys: Iterable[str]) -> Iterator[ObjectInfo]:
        for key in keys:
            try:
                info = self.head(key)
            except ObjectMissing:
                continue
            except Damaged as error:
                _log.warning("left out of a listing: %s", error.detail)
                continue
            yield ObjectInfo(info.key, info.size_bytes, info.etag, info.modified)

    def _forget_unused_keys(self) -> int:
        forgotten = 0
        for _ in range(_KEYS_SWEPT // _SWEPT_AT_ONCE):
            keys = self._index.after("", self._swept_until, _SWEPT_AT_ONCE)
            self._swept_until = keys[-1] if len(keys) == _SWEPT_AT_ONCE else ""
            for key in keys:
                path = self._path(key)
                if not path.exists():
                    with self._shard(path.parent, fcntl.LOCK_EX):
                        if not path.exists():
                            self._index.remove([key])
                            forgotten += 1
            if not self._swept_until:
                break
        return forgotten

    def _lay_out(self) -> None:
        for folder in (self.root, self._objects, self._drafts, self.uploads, self._shared.folder):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for sharded in (self._objects, self._shared.folder):
            there = {entry.name for entry in os.scandir(sharded)}
            if not there.issuperset(_SHARDS):
                _make_folders(sharded, _SHARDS)
                flush_folder(sharded)
                flush_folder(self.root)
                flush_folder(self.root.parent)
        # Check now whether the folder is writable, rather than at the first upload.
        probe = self.draft()
        probe.write([b""])
        probe.discard()

    def _rebuild_index(self) -> None:
        for shard in _SHARDS:
            self._index.add_many(self._keys_in(self._objects / shard))
        self._index.declare_complete()

    def _keys_in(self, folder: Path) -> Generator[str]:
        for entry in os.scandir(folder):
            try:
                description, _ = read_description(folder / entry.name)
            except Damaged as error:
                _log.warning("left out of the index: %s", error.detail)
            else:
                yield description.key


def _make_folders(parent: Path, names: Iterable[str]) -> None:
    opened = os.open(parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for name in names:
            with suppress(FileExistsError):
                os.mkdir(name, 0o700, dir_fd=opened)
    finally:
        os.close(opened)


def object_info(description: Description, size_bytes: int) -> ObjectInfo:
    return ObjectInfo(
        description.key,
        size_bytes,
        description.etag,
        datetime.fromtimestamp(description.modified, UTC),
        description.content_type,
        description.metadata,
    )


def _shared_by(path: Path) -> Shared | None:
    """Whose bytes the file at this path uses, if not its own; only small files have none of their own."""
    try:
        return read_description(path)[0].shared if path.stat().st_size <= TAIL_BYTES else None
    except (FileNotFoundError, Damaged):
        return None


def _was_made_before(path: Path, newest: str) -> bool:
    return _MADE_BY_NEW_ID.fullmatch(path.name) is not None and path.name[:10] <= newest


@contextmanager
def _abandoned(draft: Path) -> Generator[bool]:
    """Whether nobody holds the lock that a draft's maker keeps, nor can before the block ends.

    What was set aside has no lock.
    """
    if draft.is_dir():
        yield True
        return
    try:
        file = os.open(draft, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        yield False
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        yield False
    else:
        yield True
    finally:
        os.close(file)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
