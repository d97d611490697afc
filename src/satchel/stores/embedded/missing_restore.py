"""Put objects that are gone back into a store, whatever kind it is, from backups."""

import asyncio
from collections.abc import AsyncGenerator, Iterable
from contextlib import ExitStack, aclosing, suppress
from pathlib import Path

from satchel.kernel.errors import Invalid, SatchelError
from satchel.stores.embedded.backup_repository import Backup, Entry, Repository
from satchel.stores.embedded.backup_shared import object_path
from satchel.stores.embedded.file_check import check_file
from satchel.stores.embedded.folder_files import Description, read_description
from satchel.stores.object_rules import is_digest
from satchel.stores.ports.objects import Objects

_READ_BYTES = 1024 * 1024


async def restore_missing(store: Objects, repository: Repository, keys: Iterable[str]) -> list[str]:
    """Put back those that a backup has, from the newest that has a good one. Answers which these are."""
    left = {object_path(key): key for key in keys}
    restored: list[str] = []
    for backup in reversed(await asyncio.to_thread(repository.complete)):
        with suppress(Invalid):  # a damaged list: an older one may be good
            for path, entry in (await asyncio.to_thread(_entries, repository, backup, left)).items():
                with suppress(SatchelError, OSError):  # an older backup may have a good one
                    if await _restore(store, repository, backup, entry, left[path]):
                        restored.append(left.pop(path))
    return restored


async def _restore(store: Objects, repository: Repository, backup: Backup, entry: Entry, key: str) -> bool:
    with ExitStack() as held:
        path = await asyncio.to_thread(held.enter_context, repository.file(entry.sha256))
        checked = await asyncio.to_thread(check_file, path)
        if checked.damage is not None or checked.key != key:
            return False
        about, size_bytes = await asyncio.to_thread(read_description, path)
        if (shared := about.shared) is not None:
            name = f"objects/shared/{shared.file[:2]}/{shared.file}"
            found = await asyncio.to_thread(_entries, repository, backup, {name: key})
            if name not in found:
                return False
            path = await asyncio.to_thread(held.enter_context, repository.file(found[name].sha256))
            if (await asyncio.to_thread(check_file, path)).damage is not None:
                return False
            size_bytes = shared.size_bytes
        await put_back(store, about, path, size_bytes)
        return True


async def put_back(store: Objects, about: Description, path: Path, size_bytes: int) -> None:
    """Store the object that is described so, whose bytes are the first of a file."""
    with path.open("rb") as file:

        async def pieces() -> AsyncGenerator[bytes]:
            left = size_bytes
            while left:
                piece = await asyncio.to_thread(file.read, min(left, _READ_BYTES))
                left -= len(piece)
                yield piece

        async with aclosing(pieces()) as body:
            await store.put(
                about.key,
                body,
                length=size_bytes,
                sha256=about.etag if is_digest(about.etag) else None,
                content_type=about.content_type,
                metadata=about.metadata,
            )


def _entries(repository: Repository, backup: Backup, wanted: dict[str, str]) -> dict[str, Entry]:
    """Those with these paths that are whole. Of two with one path, the later one counts."""
    return {each.path: each for each in repository.entries(backup) if each.path in wanted and each.damage is None}
