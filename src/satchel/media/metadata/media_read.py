"""Reads one photo or video: its bytes, its name, its sidecars, and what they say together."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

from satchel.media.metadata import tiff_tags as tiff
from satchel.media.metadata.byte_window import ByteWindow
from satchel.media.metadata.capture_time import Clue, Surroundings, ZoneAt, decide
from satchel.media.metadata.containers import Content, read_content
from satchel.media.metadata.date_text import Written, is_credible, read_offset, read_written, with_fraction
from satchel.media.metadata.media_facts import CaptureTime, Exposure, MediaFacts, Position, TimeSource
from satchel.media.metadata.media_pairs import pair_key
from satchel.media.metadata.name_date import NameDate, read_name_date
from satchel.media.metadata.takeout_json import TakeoutFacts, read_takeout
from satchel.media.metadata.xmp_packet import MOST_XMP_BYTES, XmpFacts, read_xmp

_PositionSource = Literal["xmp-sidecar", "exif", "xmp", "quicktime", "takeout"]
_LATITUDE_REF, _LATITUDE, _LONGITUDE_REF, _LONGITUDE, _ALTITUDE_REF, _ALTITUDE, _TIME, _DATE = 1, 2, 3, 4, 5, 6, 7, 29


@dataclass(frozen=True, slots=True)
class Sidecar:
    """A file beside the photo that describes it: JSON of Google Takeout, or XMP."""

    name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What is known from outside of the bytes. `zone` is the owner's, by its name in the tz database."""

    name: str
    now: datetime
    modified: datetime | None = None
    zone: str | None = None
    sidecars: Sequence[Sidecar] = ()
    zone_at: ZoneAt | None = None


@dataclass(slots=True)
class _Evidence:
    """Everything that was read, before it is weighed."""

    content: Content
    name: NameDate | None
    inner: XmpFacts = field(default_factory=XmpFacts)
    beside: XmpFacts = field(default_factory=XmpFacts)
    takeout: TakeoutFacts = field(default_factory=TakeoutFacts)

    @property
    def tags(self) -> tiff.TiffTags:
        return self.content.image.tags if self.content.image else tiff.TiffTags()


def read_media(source: Path | bytes, known: Circumstances) -> MediaFacts:
    """The facts about a file, or about the head of one. Broken bytes say less, and raise nothing.

    Only an `OSError` passes through, if the file cannot be read.
    """
    if isinstance(source, bytes):
        return read_window(ByteWindow.over(source), known)
    with source.open("rb") as file:
        return read_window(ByteWindow(file), known)


def read_window(window: ByteWindow, known: Circumstances) -> MediaFacts:
    """The same of a window that is open already."""
    evidence = _gather(window, known)
    tags, content = evidence.tags, evidence.content
    position, position_source = _position(evidence)
    size, orientation = _shape(content)
    movie = content.movie
    content_id = tags.content_id or (movie.content_id if movie else None) or None
    return MediaFacts(
        name=known.name.rpartition("/")[2],
        kind=content.kind,
        format=content.format,
        width=size[0] if size else None,
        height=size[1] if size else None,
        orientation=orientation,
        duration_ms=movie.duration_ms if movie else None,
        codec=(movie.codec or None) if movie else None,
        make=tiff.text(tags.image, tiff.MAKE) or evidence.inner.make or (movie.make if movie else "") or None,
        model=tiff.text(tags.image, tiff.MODEL) or evidence.inner.model or (movie.model if movie else "") or None,
        lens=tiff.text(tags.exif, tiff.LENS) or evidence.inner.lens,
        exposure=_exposure(tags.exif),
        position=position,
        position_source=position_source,
        time=_time(evidence, position, known),
        content_id=content_id,
        pair_key=pair_key(known.name, content_id),
        has_motion=evidence.inner.has_motion,
        description=evidence.beside.description or evidence.takeout.description or evidence.inner.description,
        rating=evidence.beside.rating or evidence.inner.rating,
        is_favourite=evidence.takeout.is_favourite,
    )


def _gather(window: ByteWindow, known: Circumstances) -> _Evidence:
    content = read_content(window, known.name)
    evidence = _Evidence(content, read_name_date(known.name))
    head = content.image or content.movie
    evidence.inner = read_xmp(head.xmp) if head else XmpFacts()
    for sidecar in known.sidecars:
        if sidecar.name.lower().endswith(".xmp"):
            evidence.beside = read_xmp(sidecar.data[:MOST_XMP_BYTES].decode(errors="replace"))
        else:
            evidence.takeout = read_takeout(sidecar.data) or evidence.takeout
    if evidence.name is None and evidence.takeout.title:
        evidence.name = read_name_date(evidence.takeout.title)
    return evidence


def _shape(content: Content) -> tuple[tuple[int, int] | None, int]:
    """The size of the stored pixels, and how they have to be turned."""
    if content.movie is not None:
        return content.movie.size, content.movie.orientation
    if content.image is None:
        return None, 1
    tags = content.image.tags
    size = content.image.size
    if size is None:
        width, height = tiff.whole(tags.exif, tiff.PIXEL_WIDTH), tiff.whole(tags.exif, tiff.PIXEL_HEIGHT)
        size = (width, height) if width and height and width > 0 and height > 0 else None
    orientation = content.image.orientation or tiff.whole(tags.image, tiff.ORIENTATION) or 1
    return size, orientation if 1 <= orientation <= 8 else 1


def _time(evidence: _Evidence, position: Position | None, known: Circumstances) -> CaptureTime | None:
    exif, movie = evidence.tags.exif, evidence.content.movie
    name = evidence.name
    name_local = name.moment if name and not name.is_day_only and name.moment.tzinfo is None else None
    around = Surroundings(
        now=known.now,
        owner_zone=known.zone,
        position=position,
        zone_at=known.zone_at,
        satellite_utc=_satellite_utc(evidence.tags.gps, known.now),
        other_offset=_offset(exif, tiff.OFFSET) or _offset(exif, tiff.OFFSET_DIGITIZED),
        name_local=name_local,
        recording=timedelta(milliseconds=min((movie.duration_ms if movie else 0) or 0, 600_000)),
    )
    return decide(_clues(evidence, known), around)


def _clues(evidence: _Evidence, known: Circumstances) -> Iterator[Clue]:
    """All dates, the most trusted first."""
    tags, content = evidence.tags, evidence.content
    yield from _written("xmp-sidecar", evidence.beside.taken)
    yield from _written("exif-original", _original(tags))
    yield from _written("xmp", evidence.inner.taken)
    yield from _written("iptc", content.image.iptc_date if content.image else None)
    if content.movie is not None:
        # Without an offset this is whatever the program that wrote it took for the time.
        created = read_written(content.movie.created)
        yield from _written("quicktime", created if created and created.offset is not None else None)
        if content.movie.created_utc is not None:
            yield Clue("video-utc", content.movie.created_utc)
        yield from _written("quicktime", created)
    if content.movie_local is not None:
        yield Clue("video-local", content.movie_local)
    digitized = _exif_date(tags.exif, tiff.DIGITIZED, tiff.FRACTION_DIGITIZED, tiff.OFFSET_DIGITIZED)
    yield from _written("exif-digitized", digitized)
    if evidence.takeout.taken_utc is not None:
        yield Clue("takeout", evidence.takeout.taken_utc)
    if evidence.name is not None:
        yield Clue("name", evidence.name.moment, is_day_only=evidence.name.is_day_only)
    changed = read_written(tiff.text(tags.image, tiff.CHANGED) or "")
    yield from _written("exif-changed", changed)
    if known.modified is not None:
        yield Clue("modified", known.modified.astimezone(UTC))


def _written(source: TimeSource, written: Written | None) -> Iterator[Clue]:
    if written is not None:
        yield Clue(source, written.local, written.offset, written.is_day_only)


def _original(tags: tiff.TiffTags) -> Written | None:
    # Some programs write it into the first directory.
    place = tags.exif if tiff.ORIGINAL in tags.exif else tags.image
    return _exif_date(place, tiff.ORIGINAL, tiff.FRACTION_ORIGINAL, tiff.OFFSET_ORIGINAL)


def _exif_date(tags: tiff.Tags, date: int, fraction: int, offset: int) -> Written | None:
    written = read_written(tiff.text(tags, date) or "")
    if written is None:
        return None
    local = with_fraction(written.local, tiff.text(tags, fraction)) if not written.local.microsecond else written.local
    own = _offset(tags, offset)
    return Written(local, written.offset if own is None else own, written.is_day_only)


def _offset(tags: tiff.Tags, tag: int) -> timedelta | None:
    return read_offset(tiff.text(tags, tag) or "")


def _exposure(exif: tiff.Tags) -> Exposure | None:
    def measure(tag: int) -> float | None:
        value = tiff.number(exif, tag)
        return round(value, 6) if value and 0 < value < 1e6 else None

    iso, focal_35 = measure(tiff.ISO), measure(tiff.FOCAL_35)
    found = Exposure(
        seconds=measure(tiff.SECONDS),
        aperture=measure(tiff.APERTURE),
        iso=int(iso) if iso else None,
        focal_mm=measure(tiff.FOCAL),
        focal_35mm=int(focal_35) if focal_35 else None,
    )
    return None if found == Exposure() else found


def _position(evidence: _Evidence) -> tuple[Position | None, _PositionSource | None]:
    movie = evidence.content.movie
    places: list[tuple[Position | None, _PositionSource]] = [
        (evidence.beside.position, "xmp-sidecar"),
        (_exif_position(evidence.tags.gps), "exif"),
        (evidence.inner.position, "xmp"),
        (movie.position if movie else None, "quicktime"),
        (evidence.takeout.position, "takeout"),
    ]
    for place, source in places:
        if place is not None:
            return place, source
    return None, None


def _exif_position(gps: tiff.Tags) -> Position | None:
    latitude = _degrees(gps, _LATITUDE, tiff.text(gps, _LATITUDE_REF), 90)
    longitude = _degrees(gps, _LONGITUDE, tiff.text(gps, _LONGITUDE_REF), 180)
    if latitude is None or longitude is None or (latitude == 0 and longitude == 0):
        return None
    altitude = tiff.number(gps, _ALTITUDE)
    below = gps.get(_ALTITUDE_REF) in (b"\x01", (1,))
    if altitude is not None and not 0 <= altitude < 100_000:
        altitude = None
    return Position(latitude, longitude, -altitude if altitude is not None and below else altitude)


def _degrees(gps: tiff.Tags, tag: int, side: str | None, most: int) -> float | None:
    value = gps.get(tag)
    if not isinstance(value, tuple) or not value or not side:
        return None
    # Some cameras leave out the seconds, some write them as 0/0.
    parts = [part if math.isfinite(part) else 0.0 for part in value[:3]]
    found = sum(part / 60**power for power, part in enumerate(parts))
    if not math.isfinite(value[0]) or not 0 <= found <= most:
        return None
    return round(-found if side[0] in "SWsw" else found, 7)


def _satellite_utc(gps: tiff.Tags, now: datetime) -> datetime | None:
    date = read_written(tiff.text(gps, _DATE) or "")
    time = gps.get(_TIME)
    if date is None or not isinstance(time, tuple) or len(time) != 3 or not all(map(math.isfinite, time)):
        return None
    hours, minutes, seconds = time
    if not (0 <= hours < 24 and 0 <= minutes < 60 and 0 <= seconds < 61):
        return None
    day = date.local.replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=UTC)
    moment = day + timedelta(hours=hours, minutes=minutes, seconds=seconds)
    return moment if is_credible(moment, now) else None
