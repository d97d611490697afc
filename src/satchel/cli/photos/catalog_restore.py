"""Rebuild albums, dates, pins and favourites from what an export of Satchel wrote beside the photos."""

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from urllib.parse import quote

from satchel.cli.engine.api_types.account_types import PersonView
from satchel.cli.engine.api_types.album_types import ActedView, AlbumView
from satchel.cli.engine.api_types.photo_types import PhotoColumns, PhotoView
from satchel.cli.engine.files.local_files import Source
from satchel.cli.engine.http.client import Client
from satchel.cli.engine.http.failures import Refused
from satchel.cli.engine.resources.album_find import all_albums
from satchel.cli.engine.terminal.output import note
from satchel.cli.photos.catalog_files import AlbumFile, PhotoFile, read_album_file, taken_text, xmp_packet
from satchel.cli.photos.photo_scan import Photo, Scanned
from satchel.cli.photos.stored_photos import ask_known

_PAGE = 1000
# Of these dates the bytes or the name of the file say the same again.
_IN_THE_FILE = ("exif", "gps", "video", "name")


def place_of(source: Source, own: PhotoFile) -> str:
    """The camera's name, in a folder that only the files of this photo have: the server pairs files by folder."""
    file = Path(source.path).name
    name = next((each.name for each in own.files if each.file == file), file)
    group = own.files[0].file.rpartition(".")[0] or own.files[0].file
    return f"{source.place.rpartition('/')[0]}/{group}/{name}".lstrip("/")


def details_of(source: Source, own: PhotoFile) -> dict[str, str]:
    """What the server is to know of a file, so that it comes to the same date."""
    photo, said = own.photo, dict[str, str]()
    if photo.guessed and photo.local_time:
        # From the time of the file. The same wall time here is the same one there, since our zone goes along.
        said["modified"] = datetime.fromisoformat(photo.local_time).astimezone().isoformat(timespec="seconds")
    packet = xmp_packet(
        taken="" if photo.guessed or photo.time_source in _IN_THE_FILE else taken_text(photo),
        latitude=photo.position.latitude if photo.position else None,
        longitude=photo.position.longitude if photo.position else None,
        description=(photo.description or "")[:500],
    )
    is_main = Path(source.path).name == own.files[0].file
    return {**said, "xmp": packet} if is_main else said


@dataclass(frozen=True, slots=True)
class _Stored:
    """What the server has of a photo."""

    album_id: str
    local_time: str
    is_favourite: bool
    is_pinned: bool


@dataclass(slots=True)
class CatalogRestore:
    """What the sidecars below the folders say, compared with what the server has."""

    client: Client
    scanned: Scanned
    _albums: dict[str, AlbumView] = field(default_factory=dict[str, AlbumView])
    _covers: dict[str, str] = field(default_factory=dict[str, str])

    def create_albums(self) -> None:
        """Before photos arrive, so that each goes where it was. An album of the same folder stays as it is."""
        created: list[str] = []
        for source in self.scanned.index.albums:
            try:
                told = read_album_file(Path(source.path).read_bytes())
            except OSError:
                continue
            if told is None:
                continue
            album = self._find(told.folder)
            if album is None:
                album = self._create(told)
                created.append(album.name)
            self._albums[told.folder] = album
            if told.cover:
                self._covers[album.album_id] = told.cover
        if created:
            note(f"Albums made as they were: {', '.join(created)}. They are shared with nobody yet.")

    def restore_photos(self) -> None:
        """Dates that were corrected, pins, favourites and covers."""
        own = {
            photo.signature: photo
            for photo in self.scanned.photos
            if photo.sidecars.own is not None and Path(photo.source.path).name == photo.sidecars.own.files[0].file
        }
        if not own:
            return
        owner = self.client.call("GET", "/accounts/me", PersonView).user_id
        known = ask_known(self.client, list(own))
        stored = self._stored({view.album_id or "" for view in known.values() if view.state == "stored"})
        # There is no list of these with all that is needed, and there are few.
        for view in known.values():
            if view.album_id == "undated" and view.id:
                shown = self.client.call("GET", f"/photos/{owner}/{view.id}", PhotoView)
                stored[view.id] = _Stored("undated", shown.local_time or "", shown.favourite, shown.pinned)
        for signature, photo in own.items():
            media_id = known[signature].id or ""
            if media_id in stored:
                self._restore(f"/photos/{owner}/{media_id}", media_id, photo, stored[media_id])
        now = {album.album_id: album.cover for album in all_albums(self.client, mine=True)} if self._covers else {}
        for album_id, cover in self._covers.items():
            shown = now.get(album_id)
            if cover in stored and stored[cover].album_id == album_id and (not shown or shown.media_id != cover):
                self.client.call("PATCH", f"/albums/{album_id}", ActedView, {"cover": cover})

    def _restore(self, path: str, media_id: str, photo: Photo, now: _Stored) -> None:
        assert photo.sidecars.own is not None
        told, folder = photo.sidecars.own.photo, photo.sidecars.own.album_folder
        changes: dict[str, object] = {}
        if told.local_time and not told.guessed and told.local_time[:19] != now.local_time[:19]:
            changes["local_time"] = told.local_time
        if told.favourite != now.is_favourite:
            changes["favourite"] = told.favourite
        if changes:
            self.client.call("PATCH", path, PhotoView, changes)
        if told.pinned and not now.is_pinned and folder in self._albums:
            self.client.call("PUT", f"/albums/{self._albums[folder].album_id}/pins/{media_id}", object)

    def _stored(self, album_ids: set[str]) -> dict[str, _Stored]:
        """All photos of these albums: a page of a thousand costs as much as one."""
        found: dict[str, _Stored] = {}
        for album_id in album_ids:
            if album_id == "undated":
                continue
            cursor = ""
            while True:
                page = self.client.call("GET", f"/albums/{album_id}/medias?limit={_PAGE}{cursor}", PhotoColumns)
                for media_id, time, favourite, pinned in zip(
                    page.ids, page.times, page.favourites, page.pinned, strict=True
                ):
                    found[media_id] = _Stored(album_id, time, favourite, pinned)
                if page.cursor is None:
                    break
                cursor = f"&cursor={quote(page.cursor, safe='')}"
        return found

    def _find(self, folder: str) -> AlbumView | None:
        try:
            return self.client.call("GET", f"/albums/by-folder?folder={quote(folder, safe='')}", AlbumView)
        except Refused as refusal:
            if refusal.status != 404:
                raise
            return None

    def _create(self, told: AlbumFile) -> AlbumView:
        body = {"name": told.name, "start": told.start, "end": told.end, "folder": told.folder}
        made = self.client.make("/albums", ActedView, body).album
        assert made is not None
        return made
