"""Reads the JSON that Google Takeout puts beside each photo, and finds which JSON belongs to which photo.

Takeout cuts the name of a JSON to 51 characters, so `….supplemental-metadata.json` ends anywhere in these words. A
number in brackets moves from the photo's stem to the end of the JSON's name. An edited photo, and the video of a live
photo, have no JSON of their own.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice

import msgspec

from satchel.media.metadata.media_facts import Position

_ENDING = ".json"
_SUPPLEMENT = ".supplemental-metadata"
_MOST_STEM = 46
_NUMBERED = re.compile(r"(.*)(\(\d+\))(\.[^.]*)?", re.S)
_EDITED = re.compile(
    r"-(?:edited|bearbeitet|modifi[eé]|editad[oa]|modificato|bewerkt|redigerad|redigeret|edytowane|effects)"
    r"(?=\(|\.|$)",
    re.I,
)
_STILLS = (".HEIC", ".heic", ".JPG", ".jpg", ".JPEG", ".jpeg", ".DNG", ".dng")
_MOST_BYTES = 1024 * 1024
# Numbered copies of one name.
_MOST_ALIKE = 1000


class _Time(msgspec.Struct):
    timestamp: str | int = ""


class _Place(msgspec.Struct):
    latitude: float = 0
    longitude: float = 0
    altitude: float = 0


class _Sidecar(msgspec.Struct, rename="camel"):
    title: str = ""
    description: str = ""
    photo_taken_time: _Time | None = None
    geo_data: _Place | None = None
    geo_data_exif: _Place | None = None
    favorited: bool = False


@dataclass(frozen=True, slots=True)
class TakeoutFacts:
    """What a JSON of Takeout says. `title` is the name that the photo had before."""

    title: str | None = None
    taken_utc: datetime | None = None
    position: Position | None = None
    description: str | None = None
    is_favourite: bool = False


def read_takeout(data: bytes) -> TakeoutFacts | None:
    """None if this is not such a JSON."""
    try:
        read = msgspec.json.decode(data[:_MOST_BYTES], type=_Sidecar)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    if read.photo_taken_time is None:
        return None
    return TakeoutFacts(
        title=read.title or None,
        taken_utc=_instant(read.photo_taken_time),
        position=_position(read.geo_data) or _position(read.geo_data_exif),
        description=read.description.strip()[:1000] or None,
        is_favourite=read.favorited,
    )


def shorten_takeout(data: bytes) -> bytes | None:
    """The same JSON with nothing but what is used of it, so that it fits into the details of an upload."""
    try:
        read = msgspec.json.decode(data[:_MOST_BYTES], type=_Sidecar)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    if read.photo_taken_time is None:
        return None
    return msgspec.json.encode(
        msgspec.structs.replace(read, title=read.title[:255], description=read.description[:1000])
    )


class TakeoutNames:
    """The JSON files of one folder. Finding one takes no longer in a folder of many thousands."""

    def __init__(self, names: Iterable[str]) -> None:
        self._sorted = sorted(name for name in names if name.endswith(_ENDING))
        self._all = frozenset(self._sorted)

    def find(self, name: str) -> str | None:
        """The JSON of a photo."""
        for wanted in _wanted(name):
            for candidate in _names_for(wanted):
                if candidate in self._all:
                    return candidate
            for candidate in self._beginning(f"{_plain(wanted)[0]}."[:_MOST_STEM]):
                if _is_cut(candidate, wanted):
                    return candidate
        return None

    def _beginning(self, prefix: str) -> Iterator[str]:
        start = bisect_left(self._sorted, prefix)
        for candidate in islice(self._sorted, start, start + _MOST_ALIKE):
            if not candidate.startswith(prefix):
                return
            yield candidate


def _wanted(name: str) -> Iterator[str]:
    """The names whose JSON may describe this file, the likeliest first."""
    yield name
    original = _EDITED.sub("", name)
    if original != name:
        yield original
    stem, dot, ending = original.rpartition(".")
    if dot and ending.lower() in ("mov", "mp4", "mp"):
        yield from (stem + still for still in _STILLS)


def _names_for(name: str) -> Sequence[str]:
    plain, number = _plain(name)
    whole = [plain + _SUPPLEMENT, plain]
    return [
        *(stem[:_MOST_STEM] + number + _ENDING for stem in whole),
        # Older exports kept the number where it was.
        *([name[:_MOST_STEM] + _ENDING] if number else []),
        # A long name loses its own ending first.
        *([name.rpartition(".")[0][:_MOST_STEM] + _ENDING] if len(name) >= _MOST_STEM else []),
    ]


def _plain(name: str) -> tuple[str, str]:
    """A name without the number in brackets, and that number."""
    numbered = _NUMBERED.fullmatch(name)
    return (numbered[1] + (numbered[3] or ""), numbered[2]) if numbered else (name, "")


def _is_cut(candidate: str, wanted: str) -> bool:
    """Whether this is the JSON of a photo, cut somewhere in its own ending."""
    numbered = _NUMBERED.fullmatch(candidate.removesuffix(_ENDING))
    stem, number = (numbered[1], numbered[2]) if numbered else (candidate.removesuffix(_ENDING), "")
    plain, own = _plain(wanted)
    return number == own and len(stem) >= len(plain) and (plain + _SUPPLEMENT).startswith(stem)


def _instant(time: _Time) -> datetime | None:
    try:
        return datetime.fromtimestamp(int(time.timestamp), UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _position(place: _Place | None) -> Position | None:
    """Zero and zero is how Takeout writes that there is none."""
    if place is None or (place.latitude == 0 and place.longitude == 0):
        return None
    if abs(place.latitude) > 90 or abs(place.longitude) > 180:
        return None
    return Position(place.latitude, place.longitude, place.altitude or None)
