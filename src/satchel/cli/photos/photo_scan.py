"""Find the photos below some folders, and read each once: what it is, its SHA-256, and when it was taken."""

import hashlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from satchel.cli.engine.files.local_files import Source, gather
from satchel.cli.engine.files.worker_pool import WorkerPool
from satchel.cli.engine.http.retry import Stopped
from satchel.cli.engine.terminal.progress import Lines
from satchel.cli.photos.analysis_cache import Analysis, AnalysisCache
from satchel.cli.photos.photo_sidecars import SidecarIndex, Sidecars, index_sidecars, is_sidecar_name

# To read a card with more would make each file slower; to hash takes less than that.
_READING_AT_ONCE = 2
_READ_BYTES = 1024**2
_TRIES_OF_A_CHANGING_FILE = 3

Trouble = Literal["changed", "unreadable", "not-a-photo", "left-out", "sidecar"]


class _Changed(Exception):
    """The file is not the one any more that was begun to be read."""


@dataclass(frozen=True, slots=True)
class Photo:
    """A photo or video of this machine."""

    source: Source
    analysis: Analysis
    sidecars: Sidecars

    @property
    def signature(self) -> tuple[str, int]:
        return self.analysis.sha256, self.source.size_bytes


@dataclass(slots=True)
class Scanned:
    """All photos that were found, by path, and every other file with the reason why it is none."""

    photos: list[Photo] = field(default_factory=list[Photo])
    others: list[tuple[str, Trouble, str]] = field(default_factory=list[tuple[str, Trouble, str]])
    index: SidecarIndex = field(default_factory=SidecarIndex)
    from_cache: int = 0


def scan_photos(
    names: Sequence[str], cache: AnalysisCache, view_of: Callable[[int, int], Lines], *, zone: str | None
) -> Scanned:
    """Everything below the folders that were named. What is hidden is skipped."""
    found = gather(names, "", skip_hidden=True)
    # A folder and one inside of it may both be named.
    found.sources = list({source.path: source for source in found.sources}.values())
    scanned = Scanned(index=index_sidecars(found.sources))
    scanned.others.extend((path, "left-out", why) for path, why in found.left_out)
    scanned.others.extend((path, "unreadable", why) for path, why in found.failed)
    waiting = [source for source in found.sources if not is_sidecar_name(source.path)]
    for source in found.sources:
        if is_sidecar_name(source.path):
            belongs = source in scanned.index.used
            scanned.others.append(
                (source.path, "sidecar", "") if belongs else (source.path, "not-a-photo", "describes no photo here")
            )
    fresh: list[Source] = []
    for source in waiting:
        sidecars = scanned.index.of.get(source, Sidecars())
        known = cache.find(source.path, source.version + sidecars.version)
        if known is None:
            fresh.append(source)
        else:
            _sort_in(scanned, source, known, sidecars)
            scanned.from_cache += 1
    _read_fresh(scanned, fresh, cache, view_of, zone)
    scanned.photos.sort(key=lambda photo: photo.source.path)
    scanned.others.sort()
    return scanned


def _read_fresh(
    scanned: Scanned,
    fresh: Sequence[Source],
    cache: AnalysisCache,
    view_of: Callable[[int, int], Lines],
    zone: str | None,
) -> None:
    pool = WorkerPool(_READING_AT_ONCE)
    view = view_of(len(fresh), sum(source.size_bytes for source in fresh))

    def read(source: Source) -> None:
        moved = view.begin(source.path, source.size_bytes)
        sidecars = scanned.index.of.get(source, Sidecars())
        try:
            now, analysis = _analyse(source, sidecars, zone, moved, pool.stop.is_set)
        except _Changed:
            scanned.others.append((source.path, "changed", "it keeps changing while it is read"))
        except OSError as error:
            scanned.others.append((source.path, "unreadable", error.strerror or str(error)))
        else:
            cache.add(analysis)
            _sort_in(scanned, now, analysis, sidecars)
        view.done(source.path, source.size_bytes, {})

    with view:
        pool.run_all(fresh, read)


def _sort_in(scanned: Scanned, source: Source, analysis: Analysis, sidecars: Sidecars) -> None:
    if analysis.kind == "other":
        scanned.others.append((source.path, "not-a-photo", "neither a photo nor a video"))
    else:
        scanned.photos.append(Photo(source, analysis, sidecars))


def _analyse(
    source: Source, sidecars: Sidecars, zone: str | None, moved: Callable[[int], None], is_stopped: Callable[[], bool]
) -> tuple[Source, Analysis]:
    for _ in range(_TRIES_OF_A_CHANGING_FILE):
        try:
            return source, _analyse_version(source, sidecars, zone, moved, is_stopped)
        except _Changed:
            source = source.as_it_is_now()
    raise _Changed


def _analyse_version(
    source: Source, sidecars: Sidecars, zone: str | None, moved: Callable[[int], None], is_stopped: Callable[[], bool]
) -> Analysis:
    from satchel.media.metadata.byte_window import ByteWindow
    from satchel.media.metadata.media_read import Circumstances, Sidecar, read_window

    beside = {"takeout": "takeout.json", "xmp": "sidecar.xmp"}
    circumstances = Circumstances(
        name=source.place,
        now=datetime.now(UTC),
        modified=datetime.fromtimestamp(source.modified_ns / 1e9, UTC),
        zone=zone,
        sidecars=[Sidecar(beside[kind], text.encode()) for kind, text in sidecars.details().items()],
    )
    with Path(source.path).open("rb") as file:
        facts = read_window(ByteWindow(file), circumstances)
        sha256 = ""
        if facts.kind != "other":
            file.seek(0)
            digest, read_bytes = hashlib.sha256(), 0
            while chunk := file.read(_READ_BYTES):
                if is_stopped():
                    raise Stopped
                digest.update(chunk)
                read_bytes += len(chunk)
                # One that grows as fast as it is read would never end.
                if read_bytes > source.size_bytes:
                    raise _Changed
                moved(read_bytes)
            sha256 = digest.hexdigest()
        now = os.fstat(file.fileno())
        if (now.st_size, now.st_mtime_ns) != (source.size_bytes, source.modified_ns):
            raise _Changed
    return Analysis(
        path=source.path,
        version=source.version + sidecars.version,
        kind=facts.kind,
        sha256=sha256,
        local_time=facts.time.local.replace(tzinfo=None).isoformat(timespec="seconds") if facts.time else "",
        guessed=facts.time is not None and facts.time.guessed,
    )


def zone_here() -> str | None:
    """The name of this machine's time zone, for photos that do not say theirs."""
    named = os.environ.get("TZ", "").removeprefix(":")
    if named and not named.startswith("/"):
        return named
    _, found, zone = str(Path("/etc/localtime").resolve()).rpartition("/zoneinfo/")
    return zone if found else None
