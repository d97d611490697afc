"""Back up the photos of this machine: only what the server does not have, and each file with its fate."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from satchel.cli.engine.api_types.account_types import PersonView
from satchel.cli.engine.api_types.photo_types import KnownView
from satchel.cli.engine.files.batch import send_all
from satchel.cli.engine.files.local_files import Gathered, Source, near
from satchel.cli.engine.files.upload_journal import Journal
from satchel.cli.engine.http.client import Client
from satchel.cli.engine.resources.album_find import album_names
from satchel.cli.photos.analysis_cache import AnalysisCache
from satchel.cli.photos.catalog_restore import CatalogRestore, details_of, place_of
from satchel.cli.photos.photo_fates import CollectedBars, CollectedSilence, Fate, FateReport, FileFate, step_view
from satchel.cli.photos.photo_scan import Photo, Scanned, scan_photos, zone_here
from satchel.cli.photos.stored_photos import Signature, ask_known

_DESTINATION = {"destination": "photos"}


@dataclass(frozen=True, slots=True)
class PhotoBackup:
    """One `satchel photos backup`: what it was told."""

    client: Client
    folders: Sequence[str]
    report: FateReport
    is_dry_run: bool = False
    uses_cache: bool = True
    takes_from_bin: bool = False

    def run(self) -> bool:
        """Whether every photo is on the server now."""
        scanned = self._scan()
        for path, trouble, why in scanned.others:
            self.report.tell(FileFate(path=path, fate=trouble, why=why))
        restore = CatalogRestore(self.client, scanned)
        if not self.is_dry_run:
            restore.create_albums()
        known = ask_known(self.client, [photo.signature for photo in scanned.photos])
        names = album_names(self.client)
        waiting = self._tell_known(scanned.photos, known, names)
        if self.is_dry_run:
            for photo in waiting:
                self.report.tell(fate_of(photo, "new"))
        else:
            self._upload(waiting)
            restore.restore_photos()
        return not self.report.troubles

    def _scan(self) -> Scanned:
        roots = sorted(set(map(os.path.abspath, self.folders)))
        cache = AnalysisCache(self.client.credentials.path.parent / "photos", roots, is_used=self.uses_cache)
        try:
            return scan_photos(self.folders, cache, self._view, zone=zone_here())
        finally:
            cache.close()

    def _view(self, files: int, size_bytes: int) -> CollectedBars | CollectedSilence:
        return step_view(files, size_bytes, silent=self.report.as_json or self.report.quiet)

    def _tell_known(
        self, photos: Sequence[Photo], known: Mapping[Signature, KnownView], names: Mapping[str, str]
    ) -> list[Photo]:
        """Tell what need not be sent, and answer the rest. Of the same bytes the first file is sent."""
        first: dict[Signature, Photo] = {}
        waiting: list[Photo] = []
        for photo in photos:
            view = known[photo.signature]
            earlier = first.setdefault(photo.signature, photo)
            is_binned = view.state == "binned" and not self.takes_from_bin
            if earlier is not photo:
                same = near(earlier.source.path)
                self.report.tell(fate_of(photo, "twice", why=f"the same as {same}", more={"same_as": same}))
            elif view.state == "stored" or is_binned:
                fate: Fate = "binned" if is_binned else "known"
                self.report.tell(
                    fate_of(
                        photo,
                        fate,
                        media_id=view.id,
                        album_id=view.album_id,
                        album=names.get(view.album_id or "", ""),
                    )
                )
            else:
                waiting.append(photo)
        return waiting

    def _upload(self, photos: Sequence[Photo]) -> None:
        if not photos:
            return
        by_source = {_sent_as(photo): photo for photo in photos}
        zone = zone_here()

        def about(source: Source) -> Mapping[str, str]:
            return _about(by_source[source], zone)

        views: list[CollectedBars | CollectedSilence] = []

        def view_of(files: int, size_bytes: int) -> CollectedBars | CollectedSilence:
            views.append(self._view(files, size_bytes))
            return views[0]

        user_id = self.client.call("GET", "/accounts/me", PersonView).user_id
        job = [self.client.server, "photos", user_id, *sorted(set(map(os.path.abspath, self.folders)))]
        journal = Journal(self.client.credentials.path.parent / "uploads", job)
        finished = False
        try:
            sent = send_all(
                self.client,
                journal,
                Gathered(sources=list(by_source)),
                as_json=False,
                quiet=False,
                destination=_DESTINATION,
                about=about,
                view_of=view_of,
            )
            self._confirm(photos, views[0].failures)
            finished = sent.is_whole and not self.report.troubles
        finally:
            journal.close(finished=finished)

    def _confirm(self, photos: Sequence[Photo], failures: Mapping[str, str]) -> None:
        """A file counts as stored once the server has exactly the bytes that were read at first."""
        known = ask_known(self.client, [photo.signature for photo in photos])
        names = album_names(self.client)
        for photo in photos:
            view = known[photo.signature]
            if view.state == "stored":
                told = fate_of(
                    photo,
                    "stored",
                    media_id=view.id,
                    album_id=view.album_id,
                    album=names.get(view.album_id or "", ""),
                )
            elif why := failures.get(near(photo.source.path)):
                told = fate_of(photo, "refused", why=why)
            else:
                told = fate_of(photo, "changed", why="it changed between being read and being sent")
            self.report.tell(told)


def fate_of(
    photo: Photo,
    fate: Fate,
    *,
    media_id: str | None = None,
    album_id: str | None = None,
    album: str = "",
    why: str = "",
    more: dict[str, Any] | None = None,
) -> FileFate:
    return FileFate(
        path=photo.source.path,
        fate=fate,
        size_bytes=photo.source.size_bytes,
        sha256=photo.analysis.sha256,
        media_id=media_id,
        album_id=album_id,
        album=album,
        why=why,
        more=more or {},
    )


def _sent_as(photo: Photo) -> Source:
    """The file under the name that the camera gave it, if an export has renamed it."""
    source, own = photo.source, photo.sidecars.own
    return source if own is None else Source(source.path, place_of(source, own), source.size_bytes, source.modified_ns)


def _about(photo: Photo, zone: str | None) -> dict[str, str]:
    said = {} if zone is None else {"zone": zone}
    if photo.sidecars.own is not None:
        return said | details_of(photo.source, photo.sidecars.own)
    modified = datetime.fromtimestamp(photo.source.modified_ns / 1e9, UTC)
    return said | photo.sidecars.details() | {"modified": modified.isoformat(timespec="seconds")}
