"""Reads an XMP packet, from inside a file or from a sidecar beside it.

Patterns find the few properties in use, as attributes or as elements. A packet comes from a stranger, and needs no XML
parser with entities for that.
"""

import html
import re
from dataclasses import dataclass

from satchel.media.metadata.date_text import Written, read_written
from satchel.media.metadata.media_facts import Position

MOST_XMP_BYTES = 1024 * 1024
# A name that stands oftener is not a property.
_MOST_PLACES = 50
_DATES = ("exif:DateTimeOriginal", "photoshop:DateCreated", "xmp:CreateDate", "xap:CreateDate")
_USED = (
    *_DATES,
    *("exif:GPSLatitude", "exif:GPSLongitude", "tiff:Make", "tiff:Model", "aux:Lens", "exifEX:LensModel"),
    *("dc:description", "xmp:Rating", "GCamera:MotionPhoto", "GCamera:MicroVideo"),
)
_GPS = re.compile(r"(\d+),(\d+(?:\.\d+)?)(?:,(\d+(?:\.\d+)?))?([NSEW])")


@dataclass(frozen=True, slots=True)
class XmpFacts:
    """What a packet says, as far as it is used here."""

    taken: Written | None = None
    position: Position | None = None
    make: str | None = None
    model: str | None = None
    lens: str | None = None
    description: str | None = None
    rating: int | None = None
    has_motion: bool = False


def read_xmp(packet: str) -> XmpFacts:
    packet = packet[:MOST_XMP_BYTES]
    if "<" not in packet:
        return XmpFacts()
    taken = next((written for name in _DATES if (written := read_written(_property(packet, name) or ""))), None)
    rating = _property(packet, "xmp:Rating") or ""
    return XmpFacts(
        taken=taken,
        position=_position(packet),
        make=_property(packet, "tiff:Make"),
        model=_property(packet, "tiff:Model"),
        lens=_property(packet, "aux:Lens") or _property(packet, "exifEX:LensModel"),
        description=_property(packet, "dc:description"),
        rating=int(rating) if rating in ("1", "2", "3", "4", "5") else None,
        has_motion="1" in (_property(packet, "GCamera:MotionPhoto"), _property(packet, "GCamera:MicroVideo")),
    )


def shorten_xmp(packet: str) -> str:
    """A packet with nothing but what is used of this one, so that it fits into the details of an upload."""
    found = {name: value for name in _USED if (value := _property(packet[:MOST_XMP_BYTES], name))}
    written = " ".join(f'{name}="{html.escape(value)}"' for name, value in found.items())
    return f"<rdf:Description {written}/>" if found else ""


def _property(packet: str, name: str) -> str | None:
    """The value of an attribute, of an element, or of the first entry of a list in it."""
    at = packet.find(name)
    for _ in range(_MOST_PLACES):
        if at < 0:
            return None
        rest = packet[at + len(name) : at + len(name) + 4096]
        match = re.match(r"""\s*=\s*(?:"([^"]*)"|'([^']*)')""", rest)
        if match:
            return _clean(match[1] or match[2] or "")
        if packet[at - 1 : at] == "<" and (match := re.match(r"[^>]*[^/]?>([^<]*)((?:<rdf:[^>]*>\s*)*)([^<]*)", rest)):
            return _clean(match[1] if match[1].strip() else match[3])
        at = packet.find(name, at + 1)
    return None


def _clean(value: str) -> str | None:
    return html.unescape(value).strip()[:1000] or None


def _position(packet: str) -> Position | None:
    latitude = _degrees(_property(packet, "exif:GPSLatitude"), 90)
    longitude = _degrees(_property(packet, "exif:GPSLongitude"), 180)
    if latitude is None or longitude is None or (latitude == 0 and longitude == 0):
        return None
    return Position(latitude, longitude)


def _degrees(value: str | None, most: int) -> float | None:
    match = _GPS.fullmatch(value or "")
    if match is None:
        return None
    found = int(match[1][:4]) + float(match[2]) / 60 + float(match[3] or 0) / 3600
    return (-found if match[4] in "SW" else found) if found <= most else None
