"""Say of every local file whether the server has it, from stored bytes that it reads again."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

from satchel.cli.engine.api_types.photo_types import KnownView, VerifiedView
from satchel.cli.engine.http.client import Client
from satchel.cli.engine.resources.album_find import album_names
from satchel.cli.photos.analysis_cache import AnalysisCache
from satchel.cli.photos.photo_backup import fate_of
from satchel.cli.photos.photo_fates import Fate, FateReport, FileFate, step_view
from satchel.cli.photos.photo_scan import Photo, scan_photos, zone_here
from satchel.cli.photos.stored_photos import ask_known, verify

_FATES: dict[str, tuple[Fate, str]] = {
    "verified": ("verified", ""),
    "unknown": ("missing", "the server does not have it"),
    "missing": ("damaged", "the server has lost its bytes; back it up again"),
    "damaged": ("damaged", "the stored bytes are not these any more; back it up again"),
    "binned": ("missing", "it is in the bin, and will be deleted"),
}


@dataclass(frozen=True, slots=True)
class PhotoHave:
    """One `satchel photos have`: what it was told."""

    client: Client
    folders: Sequence[str]
    report: FateReport
    uses_cache: bool = True
    photos_only: bool = False

    def run(self) -> bool:
        """Whether all files can go."""
        silent = self.report.as_json or self.report.quiet
        roots = sorted(set(map(os.path.abspath, self.folders)))
        cache = AnalysisCache(self.client.credentials.path.parent / "photos", roots, is_used=self.uses_cache)
        try:
            scanned = scan_photos(
                self.folders,
                cache,
                lambda files, size_bytes: step_view(files, size_bytes, silent=silent),
                zone=zone_here(),
            )
        finally:
            cache.close()
        signatures = [photo.signature for photo in scanned.photos]
        known = ask_known(self.client, signatures)
        names = album_names(self.client)
        sizes = [size for _, size in known]
        with step_view(len(known), sum(sizes), silent=silent) as view:

            def heard(answers: int) -> None:
                for number in range(heard_before[0], answers):
                    view.done(str(number), sizes[number], {})
                heard_before[0] = answers

            heard_before = [0]
            verified = verify(self.client, signatures, heard)
        for path, trouble, why in scanned.others:
            self.report.tell(FileFate(path=path, fate=trouble, why=why))
        for photo in scanned.photos:
            self.report.tell(_told(photo, known[photo.signature], verified[photo.signature], names))
        return not self.report.troubles and (self.photos_only or not self._unsaved)

    @property
    def _unsaved(self) -> int:
        return self.report.counts["not-a-photo"] + self.report.counts["left-out"]

    def verdict(self) -> str:
        """The last line. It says it is safe only if it is."""
        counts = self.report.counts
        stored, troubles, others = counts["verified"], self.report.troubles, self._unsaved
        if not stored and not troubles and not others:
            return "There is no photo here."
        beside = ""
        if counts["sidecar"]:
            beside = f" What {_sidecars(counts['sidecar'])} of the photos is stored, not the sidecars themselves."
        if troubles:
            ok = f"; {_files(stored)} {_are(stored)} stored" if stored else ""
            return f"Not safe to wipe: {_files(troubles)} {_are(troubles)} not stored{ok}."
        if others and not self.photos_only:
            return (
                f"Not safe to wipe: {_no_photos(others)} {_are(others)} not stored. "
                f"{_photos(stored)} {_are(stored)} stored and {_were(stored)} read again."
            )
        apart = f" Not stored: {_no_photos(others)}." if others else ""
        return f"Safe to wipe: {_all(stored)} stored and {_were(stored)} read again.{apart}{beside}"


def _told(photo: Photo, known: KnownView, verified: VerifiedView, names: dict[str, str]) -> FileFate:
    fate, why = _FATES[verified.state]
    return fate_of(
        photo,
        fate,
        media_id=verified.id,
        album_id=known.album_id,
        album=names.get(known.album_id or "", ""),
        why=why,
        more={"verified_at": verified.verified_at} if verified.verified_at else {},
    )


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count:,} files"


def _photos(count: int) -> str:
    return "The only photo" if count == 1 else f"All {count:,} photos"


def _no_photos(count: int) -> str:
    return "1 file that is not a photo" if count == 1 else f"{count:,} files that are not photos"


def _were(count: int) -> str:
    return "was" if count == 1 else "were"


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _all(count: int) -> str:
    return "the only file is" if count == 1 else f"all {count:,} files are"


def _sidecars(count: int) -> str:
    return "1 sidecar says" if count == 1 else f"{count:,} sidecars say"
