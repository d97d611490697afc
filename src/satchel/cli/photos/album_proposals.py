"""Propose an album per folder, from the days on which its photos were taken."""

import json
import os
import shlex
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

from satchel.cli.engine.files.local_files import near
from satchel.cli.engine.http.client import Client
from satchel.cli.engine.terminal.output import CommandFailed, paint, printable
from satchel.cli.photos.analysis_cache import AnalysisCache
from satchel.cli.photos.photo_fates import step_view
from satchel.cli.photos.photo_scan import Photo, Scanned, scan_photos, zone_here
from satchel.cli.photos.stored_photos import ask_known

_BAR_WIDTH = 30


@dataclass(frozen=True, slots=True)
class Proposal:
    """A folder as an album: from the first day to the day after the last. Guessed dates do not count."""

    folder: str
    days: dict[str, int]
    files: int
    new: int
    undated: int

    @property
    def name(self) -> str:
        return Path(self.folder).name

    @property
    def start(self) -> str:
        return min(self.days, default="")

    @property
    def last(self) -> str:
        return max(self.days, default="")

    @property
    def end(self) -> str:
        return (date.fromisoformat(self.last) + timedelta(days=1)).isoformat() if self.days else ""


def propose(client: Client, folders: Sequence[str], *, uses_cache: bool, as_json: bool) -> None:
    """Raises `CommandFailed` if a file could not be read: its day may be missing in a proposal."""
    roots = sorted(set(map(os.path.abspath, folders)))
    cache = AnalysisCache(client.credentials.path.parent / "photos", roots, is_used=uses_cache)
    try:
        scanned = scan_photos(
            folders,
            cache,
            lambda files, size_bytes: step_view(files, size_bytes, silent=as_json),
            zone=zone_here(),
        )
    finally:
        cache.close()
    known = ask_known(client, [photo.signature for photo in scanned.photos])
    stored = {signature for signature, view in known.items() if view.state != "unknown"}
    for proposal in _proposals(scanned.photos, stored):
        if as_json:
            print(json.dumps(_object(proposal)))
        else:
            print("\n".join(_lines(proposal)))
    if not as_json:
        print(_summary(scanned, stored))
    if troubles := [path for path, trouble, _ in scanned.others if trouble in ("changed", "unreadable")]:
        others = f" and {len(troubles) - 1:,} more" if len(troubles) > 1 else ""
        raise CommandFailed(printable(f"{near(troubles[0])}{others} could not be read."))


def _proposals(photos: Sequence[Photo], stored: set[tuple[str, int]]) -> Iterator[Proposal]:
    by_folder: defaultdict[str, list[Photo]] = defaultdict(list)
    for photo in photos:
        by_folder[str(Path(photo.source.path).parent)].append(photo)
    for folder, inside in sorted(by_folder.items()):
        dated = [photo for photo in inside if photo.analysis.local_time and not photo.analysis.guessed]
        days = Counter(photo.analysis.local_time[:10] for photo in dated)
        new = sum(photo.signature not in stored for photo in inside)
        yield Proposal(folder, dict(sorted(days.items())), len(inside), new, len(inside) - len(dated))


def _object(proposal: Proposal) -> dict[str, object]:
    return {
        "folder": os.fsencode(near(proposal.folder)).decode(errors="replace"),
        "name": os.fsencode(proposal.name).decode(errors="replace"),
        "start": proposal.start or None,
        "end": proposal.end or None,
        "files": proposal.files,
        "new": proposal.new,
        "undated": proposal.undated,
        "days": proposal.days,
    }


def _lines(proposal: Proposal) -> Iterator[str]:
    count = "1 file" if proposal.files == 1 else f"{proposal.files:,} files"
    undated = f", {proposal.undated:,} without a sure date" if proposal.undated else ""
    yield f"{paint(printable(near(proposal.folder)), 'strong')}: {count}, {proposal.new:,} new{undated}"
    most = max(proposal.days.values(), default=1)
    for day, here in proposal.days.items():
        yield f"  {day}  {'█' * max(1, round(_BAR_WIDTH * here / most))} {here:,}"
    if proposal.days:
        name = shlex.quote(printable(proposal.name))
        yield f"  satchel album create {name} --from {proposal.start} --to {proposal.last}"
    yield ""


def _summary(scanned: Scanned, stored: set[tuple[str, int]]) -> str:
    files = len(scanned.photos)
    known = sum(photo.signature in stored for photo in scanned.photos)
    return f"{files:,} photos and videos, {known:,} of them stored already. Nothing was changed."
