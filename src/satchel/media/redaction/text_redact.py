"""Blanks the place and serial numbers in XMP packets, IPTC records and Photoshop's resources."""

import re

from satchel.media.redaction.original import SPACE, Original

# However somebody writes them: drones have `GpsLatitude`, biologists `decimalLatitude`, and phones the mast that they
# were connected with.
_NAMES = (
    rb"[\w.-]{0,40}(?:gps|latitude|longitude|altitude|coordinate)[\w.-]{0,40}|[\w.-]{0,40}serialnumber|deviceserial\w*"
    rb"|(?:camera)?ownername|imageuniqueid|lensid|(?:sub|higher|verbatim)?-?(?:location|locality)|locationid|geodeticdatum"
    rb"|(?:dc)?(?:city|state|country|countrycode|countryname|provincestate|stateprovince|county|municipality|island)"
    rb"|worldregion|locationcreated|locationshown|footprintwkt|cellid|cgi|lac|mcc|mnc"
)
_ATTRIBUTE = re.compile(rb"[\w.-]{1,40}:(?i:" + _NAMES + rb")\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_ELEMENT = re.compile(rb"<([\w.-]{1,40}:(?i:" + _NAMES + rb"))(?:\s[^<>]*)?(?<!/)>(.*?)</\1\s*>", re.DOTALL)
# The place in IPTC: what the content is about, and where it was taken.
_PLACES = frozenset([26, 27, 90, 92, 95, 100, 101])
_IPTC, _EXIF, _EXIF_MORE, _XMP = 0x0404, 0x0422, 0x0423, 0x0424


def redact_xmp(original: Original, start: int, length: int) -> None:
    """Blank the values. A packet in other letters than UTF-8 goes as a whole."""
    data = original.at(start, length)
    if b"\0<" in data or b"<\0" in data or b"<!ENTITY" in data:
        original.blank(start, length, SPACE)
        return
    for pattern in (_ATTRIBUTE, _ELEMENT):
        for match in pattern.finditer(data):
            group = 2 if pattern is _ELEMENT or match[1] is None else 1
            original.blank(start + match.start(group), match.end(group) - match.start(group), SPACE)


def redact_photoshop(original: Original, start: int, length: int) -> None:
    """Photoshop's list of resources: one has IPTC, others copies of EXIF and XMP. An unclear list goes as a whole."""
    data, at = original.at(start, length), 0
    while at + 12 <= length:
        name = data[at + 6]
        size_at = at + 6 + (name + 2) // 2 * 2
        size = int.from_bytes(data[size_at : size_at + 4], "big")
        if data[at : at + 4] != b"8BIM" or size_at + 4 + size > length:
            original.blank(start, length)
            return
        number = int.from_bytes(data[at + 4 : at + 6], "big")
        if number == _IPTC:
            redact_iptc(original, start + size_at + 4, size)
        elif number in (_EXIF, _EXIF_MORE, _XMP):
            original.blank(start + size_at + 4, size)
        at = size_at + 4 + (size + 1) // 2 * 2


def redact_iptc(original: Original, start: int, length: int) -> None:
    """An unclear record goes as a whole."""
    data, at = original.at(start, length), 0
    while at + 5 <= length and data[at] == 0x1C:
        size = int.from_bytes(data[at + 3 : at + 5], "big")
        if size & 0x8000 or at + 5 + size > length:
            break
        if data[at + 1] == 2 and data[at + 2] in _PLACES:
            original.blank(start + at + 5, size, SPACE)
        at += 5 + size
    if data[at:].strip(b"\0"):
        original.blank(start, length)
