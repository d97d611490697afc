"""Write a library into a folder per album, each photo under the camera's name and with sidecars."""

import base64
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from urllib.parse import quote

from satchel.cli.engine.api_types.account_types import PersonView
from satchel.cli.engine.api_types.album_types import AlbumView
from satchel.cli.engine.api_types.photo_types import PhotoColumns, PhotoView
from satchel.cli.engine.files.batch import fetch_all, refuse_if_full
from satchel.cli.engine.files.download import Wanted, local_name, numbered
from satchel.cli.engine.files.worker_pool import WorkerPool
from satchel.cli.engine.http.client import Client
from satchel.cli.engine.resources.album_find import all_albums, find_album
from satchel.cli.engine.terminal.output import CommandFailed
from satchel.cli.photos.catalog_files import (
    ALBUM_FILE,
    PHOTO_ENDING,
    ExportedFile,
    album_file,
    photo_file,
    read_photo_file,
    xmp_of,
)

_PAGE = 1000
_ASKING_AT_ONCE = 8
_UNDATED = "Undated"
_SHA256_BYTES = 32


@dataclass(slots=True)
class _Folder:
    """A folder of the export, and which names in it are taken, also by files of others."""

    path: Path
    names: dict[str, list[ExportedFile]] = field(default_factory=dict[str, list[ExportedFile]])
    taken: set[str] = field(default_factory=set[str])

    @classmethod
    def at(cls, path: Path) -> "_Folder":
        """As an earlier run has left it."""
        folder = cls(path)
        path.mkdir(parents=True, exist_ok=True)
        for each in path.iterdir():
            folder.taken.add(each.name.casefold())
            if each.name.endswith(PHOTO_ENDING) and each.name != ALBUM_FILE:
                read = read_photo_file(each.read_bytes())
                if read is not None:
                    folder.names[read.photo.id] = read.files
        return folder

    def files_of(self, photo: PhotoView) -> list[ExportedFile]:
        """The names of a photo's files; if one is taken, all of them get the same number."""
        wanted = [(photo.id, photo.name), *((part.id, part.name) for part in photo.parts)]
        before = self.names.get(photo.id, [])
        if [file.id for file in before] == [file_id for file_id, _ in wanted]:
            return before
        number = 0
        while True:
            files = [
                ExportedFile(file=numbered(Path(local_name(name)), number).name, name=name, id=file_id)
                for file_id, name in wanted
            ]
            names = {file.file.casefold() for file in files}
            if len(names) == len(files) and not names & self.taken:
                self.taken |= names
                return files
            number += 1
            if len({local_name(name).casefold() for _, name in wanted}) < len(wanted):
                wanted = [(file_id, f"{place}-{name}") for place, (file_id, name) in enumerate(wanted)]


@dataclass(frozen=True, slots=True)
class PhotoExport:
    """One `satchel photos export`."""

    client: Client
    target: Path
    as_json: bool
    quiet: bool

    def run(self, chosen: Sequence[str]) -> bool:
        """Whether everything is here now."""
        owner = self.client.call("GET", "/accounts/me", PersonView).user_id
        self.target.mkdir(parents=True, exist_ok=True)
        wanted: list[Wanted] = []
        times: dict[Path, str] = {}
        for album in self._albums(chosen):
            name = local_name(album.folder.strip("/")) if album else _UNDATED
            ids = list(self._ids(album))
            if not ids and album is None:
                continue
            folder = _Folder.at(self.target / name)
            if album is not None:
                _write(folder.path / ALBUM_FILE, album_file(album))
            for photo in self._photos(owner, ids):
                for each in _plan(owner, photo, folder, album):
                    wanted.append(each)
                    times[each.target] = photo.utc_time or photo.local_time or ""
        refuse_if_full(self.target, wanted)

        def set_time(each: Wanted, saved_as: Path) -> None:
            with suppress(ValueError, OSError, OverflowError):
                moment = datetime.fromisoformat(times[each.target]).timestamp()
                os.utime(saved_as, (moment, moment))

        return fetch_all(self.client, wanted, as_json=self.as_json, quiet=self.quiet, then=set_time)

    def _albums(self, chosen: Sequence[str]) -> list[AlbumView | None]:
        """None stands for the photos that have no date."""
        if not chosen:
            return [*all_albums(self.client, mine=True), None]
        found = [find_album(self.client, typed) for typed in dict.fromkeys(chosen)]
        for album in found:
            if album.role != "owner":
                raise CommandFailed(f"{album.name} is not yours. Only your own photos are exported.")
        return list(found)

    def _ids(self, album: AlbumView | None) -> Iterator[str]:
        cursor = ""
        while True:
            path = "/photos/undated" if album is None else f"/albums/{album.album_id}/medias"
            page = self.client.call("GET", f"{path}?limit={_PAGE}{cursor}", PhotoColumns)
            yield from page.ids
            if page.cursor is None:
                return
            cursor = f"&cursor={quote(page.cursor, safe='')}"

    def _photos(self, owner: str, ids: Sequence[str]) -> list[PhotoView]:
        """In the order of the ids, so that numbers are the same in every run."""
        found: dict[str, PhotoView] = {}

        def ask(media_id: str) -> None:
            found[media_id] = self.client.call("GET", f"/photos/{owner}/{media_id}", PhotoView)

        WorkerPool(_ASKING_AT_ONCE).run_all(ids, ask)
        return [found[media_id] for media_id in ids]


def _plan(owner: str, photo: PhotoView, folder: _Folder, album: AlbumView | None) -> Iterator[Wanted]:
    """Write the sidecars first: another run finds the names in them."""
    files = folder.files_of(photo)
    main = folder.path / files[0].file
    _write(main.with_name(main.name + PHOTO_ENDING), photo_file(photo, files, album))
    _write(main.with_name(main.name + ".xmp"), xmp_of(photo).encode())
    base = f"/photos/{owner}/{photo.id}"
    for file in files:
        content = f"{base}/content" if file is files[0] else f"{base}/parts/{file.id}/content"
        sha256, size_bytes = _signature(file.id)
        yield Wanted(content, size_bytes, sha256, folder.path / file.file, {"id": photo.id})


def _signature(media_id: str) -> tuple[str, int]:
    """The hash and the size that an id is made of: base64 of both, the size in groups of seven bits."""
    raw = base64.urlsafe_b64decode(media_id + "=" * (-len(media_id) % 4))
    size_bytes = sum((byte & 0x7F) << (7 * place) for place, byte in enumerate(raw[_SHA256_BYTES:]))
    return raw[:_SHA256_BYTES].hex(), size_bytes


def _write(path: Path, content: bytes) -> None:
    """Whole or not at all."""
    fresh = path.with_name(f".{path.name}.new")
    fresh.write_bytes(content)
    fresh.replace(path)
