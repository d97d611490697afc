"""The files that an export writes beside the photos, and a backup of the exported tree reads again.

`album.satchel.json` describes the album of its folder. `IMG_1.JPG.satchel.json` says everything that the server knows
of a photo and which files belong to it. `IMG_1.JPG.xmp` says the date, the place and the description to other programs.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import TypeVar
from xml.sax.saxutils import quoteattr

import msgspec

from satchel.cli.engine.api_types.album_types import AlbumView, ReaderView
from satchel.cli.engine.api_types.photo_types import PhotoView

ALBUM_FILE = "album.satchel.json"
PHOTO_ENDING = ".satchel.json"
_FORMAT = 1

_T = TypeVar("_T", "AlbumFile", "PhotoFile")


class AlbumFile(msgspec.Struct, frozen=True, kw_only=True):
    """An album as it was. With whom it was shared is told, but nobody is let in again by it."""

    format: int
    name: str
    folder: str
    start: str
    end: str
    cover: str | None = None
    people: list[ReaderView] = msgspec.field(default_factory=list[ReaderView])


class ExportedFile(msgspec.Struct, frozen=True, kw_only=True):
    """One file of a photo: under which name it stands in the folder, and which name the camera gave it."""

    file: str
    name: str
    id: str


class PhotoFile(msgspec.Struct, frozen=True, kw_only=True):
    """A photo as it was, and its files, the original first. `album_folder` is null for one that has no date."""

    format: int
    album_folder: str | None = None
    files: list[ExportedFile]
    photo: PhotoView


def album_file(album: AlbumView) -> bytes:
    cover = album.cover.media_id if album.cover else None
    return _written(
        AlbumFile(
            format=_FORMAT,
            name=album.name,
            folder=album.folder,
            start=album.start,
            end=album.end,
            cover=cover,
            people=album.people,
        )
    )


def photo_file(photo: PhotoView, files: Sequence[ExportedFile], album: AlbumView | None) -> bytes:
    folder = album.folder if album else None
    return _written(PhotoFile(format=_FORMAT, album_folder=folder, files=list(files), photo=photo))


def read_album_file(data: bytes) -> AlbumFile | None:
    """None if it is something else, or of a later version."""
    return _read(data, AlbumFile)


def read_photo_file(data: bytes) -> PhotoFile | None:
    return _read(data, PhotoFile)


def xmp_of(photo: PhotoView) -> str:
    """What other programs can read. A date that was only guessed is not told as if it were known."""
    return xmp_packet(
        taken="" if photo.guessed else taken_text(photo),
        latitude=photo.position.latitude if photo.position else None,
        longitude=photo.position.longitude if photo.position else None,
        description=photo.description or "",
    )


def taken_text(photo: PhotoView) -> str:
    """The wall time, with its offset if the instant is known."""
    if photo.local_time is None:
        return ""
    if photo.utc_time is None:
        return photo.local_time
    local = datetime.fromisoformat(photo.local_time)
    offset = local - datetime.fromisoformat(photo.utc_time).replace(tzinfo=None)
    minutes = round(offset.total_seconds() / 60)
    sign = "-" if minutes < 0 else "+"
    return f"{photo.local_time}{sign}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"


def xmp_packet(*, taken: str, latitude: float | None, longitude: float | None, description: str) -> str:
    said = {"exif:DateTimeOriginal": taken}
    if latitude is not None and longitude is not None:
        said["exif:GPSLatitude"] = _degrees(latitude, "NS")
        said["exif:GPSLongitude"] = _degrees(longitude, "EW")
    said["dc:description"] = description
    attributes = " ".join(f"{name}={quoteattr(value)}" for name, value in said.items() if value)
    return (
        '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
        '<rdf:Description rdf:about="" xmlns:exif="http://ns.adobe.com/exif/1.0/" '
        f'xmlns:dc="http://purl.org/dc/elements/1.1/" {attributes}/></rdf:RDF></x:xmpmeta>'
    )


def _degrees(value: float, sides: str) -> str:
    whole, minutes = divmod(abs(value) * 60, 60)
    return f"{int(whole)},{minutes:.6f}{sides[value < 0]}"


def _written(value: AlbumFile | PhotoFile) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n"


def _read(data: bytes, form: type[_T]) -> _T | None:
    try:
        read = msgspec.json.decode(data, type=form)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return read if read.format == _FORMAT else None
