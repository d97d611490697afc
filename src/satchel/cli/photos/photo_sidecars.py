"""Sidecars of local photos: which belong to which photo, and what of them goes along with an upload."""

import os
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import timezone
from pathlib import Path

import msgspec

from satchel.cli.engine.files.local_files import Source
from satchel.cli.photos.catalog_files import ALBUM_FILE, PHOTO_ENDING, PhotoFile, read_photo_file, xmp_packet
from satchel.media.metadata.date_text import Written
from satchel.media.metadata.takeout_json import TakeoutNames, read_takeout
from satchel.media.metadata.xmp_packet import read_xmp

# The server takes 8 KB of metadata with an upload, in base64.
_MOST_XMP_BYTES = 2500
_MOST_DESCRIPTION = 500
_MOST_FILE_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Sidecars:
    """The files beside a photo that describe it. `own` is what an export of Satchel wrote."""

    takeout: Source | None = None
    xmp: Source | None = None
    own: PhotoFile | None = None
    files: Sequence[Source] = ()

    @property
    def version(self) -> str:
        return "".join(f"+{file.version}" for file in self.files)

    def details(self) -> dict[str, str]:
        """What the metadata of the upload say."""
        said: dict[str, str] = {}
        if self.takeout is not None and (takeout := _short_takeout(_read(self.takeout))):
            said["takeout"] = takeout
        if self.xmp is not None and (xmp := _short_xmp(_read(self.xmp))):
            said["xmp"] = xmp
        return said


@dataclass(slots=True)
class SidecarIndex:
    """All sidecars among the files that were found."""

    of: dict[Source, Sidecars] = field(default_factory=dict[Source, Sidecars])
    used: set[Source] = field(default_factory=set[Source])
    albums: list[Source] = field(default_factory=list[Source])


def is_sidecar_name(name: str) -> bool:
    return name.lower().endswith((".json", ".xmp"))


def index_sidecars(sources: Iterable[Source]) -> SidecarIndex:
    folders: defaultdict[str, dict[str, Source]] = defaultdict(dict)
    for source in sources:
        folder, name = os.path.split(source.path)
        folders[folder][name] = source
    index = SidecarIndex()
    for files in folders.values():
        _index_folder(index, files)
    return index


def _index_folder(index: SidecarIndex, files: dict[str, Source]) -> None:
    if ALBUM_FILE in files:
        index.albums.append(files[ALBUM_FILE])
        index.used.add(files[ALBUM_FILE])
    own = {name for name in files if name.endswith(PHOTO_ENDING)}
    jsons = {name for name in files if name.lower().endswith(".json")} - own - {ALBUM_FILE}
    takeouts = TakeoutNames(jsons)
    by_lower = {name.lower(): source for name, source in files.items() if name.lower().endswith(".xmp")}
    exported = _exported(files, own)
    index.used |= {files[name] for name in own if any(name == by for by, _ in exported.values())}
    for name, source in files.items():
        if is_sidecar_name(name):
            continue
        takeout = takeouts.find(name)
        stem = name.rpartition(".")[0] or name
        xmp = by_lower.get(f"{name}.xmp".lower()) or by_lower.get(f"{stem}.xmp".lower())
        by, read = exported.get(name, ("", None))
        found = [files[each] for each in (takeout, by) if each] + ([xmp] if xmp else [])
        if found:
            index.of[source] = Sidecars(files[takeout] if takeout else None, xmp, read, found)
            index.used |= set(found)


def _exported(files: dict[str, Source], own: Iterable[str]) -> dict[str, tuple[str, PhotoFile]]:
    """By the name of each file that an export of Satchel has written: its sidecar, and what that says."""
    exported: dict[str, tuple[str, PhotoFile]] = {}
    for name in sorted(own):
        read = read_photo_file(_read(files[name]))
        for file in read.files if read else ():
            if read is not None:
                exported[file.file] = (name, read)
    return exported


def _short_takeout(data: bytes) -> str:
    """Only what is understood of it, in one line."""
    facts = read_takeout(data)
    if facts is None:
        return ""
    short: dict[str, object] = {
        "title": (facts.title or "")[:200],
        "description": (facts.description or "")[:_MOST_DESCRIPTION],
        "photoTakenTime": {"timestamp": str(int(facts.taken_utc.timestamp())) if facts.taken_utc else ""},
        "favorited": facts.is_favourite,
    }
    if facts.position is not None:
        place = facts.position
        short["geoData"] = {
            "latitude": place.latitude,
            "longitude": place.longitude,
            "altitude": place.altitude or 0,
        }
    return msgspec.json.encode(short).decode()


def _short_xmp(data: bytes) -> str:
    """As it is if it is short, else only what is understood of it."""
    text = " ".join(data.decode(errors="replace").split())
    if len(text.encode()) <= _MOST_XMP_BYTES:
        return text
    facts = read_xmp(text)
    return xmp_packet(
        taken=_iso(facts.taken) if facts.taken else "",
        latitude=facts.position.latitude if facts.position else None,
        longitude=facts.position.longitude if facts.position else None,
        description=(facts.description or "")[:_MOST_DESCRIPTION],
    )


def _iso(written: Written) -> str:
    if written.is_day_only:
        return written.local.date().isoformat()
    zone = timezone(written.offset) if written.offset is not None else None
    return written.local.replace(tzinfo=zone).isoformat()


def _read(source: Source) -> bytes:
    try:
        with Path(source.path).open("rb") as file:
            return file.read(_MOST_FILE_BYTES)
    except OSError:
        return b""
