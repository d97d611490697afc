"""Reads when a photo was taken from the IPTC record in Photoshop's resources, as newsrooms and scanners write it."""

import re
from collections.abc import Iterator

from satchel.media.metadata.date_text import Written, read_written

PHOTOSHOP_MARK = b"Photoshop 3.0\0"
_IPTC = 0x0404
# When the content was made, and not its digital copy.
_CREATED_DAY, _CREATED_TIME = 55, 60
_DAY = re.compile(r"(\d{4})(\d{2})(\d{2})")
_TIME = re.compile(r"(\d{2})(\d{2})(\d{2})([+-]\d{4})?")


def read_iptc_date(resources: bytes) -> Written | None:
    """None if they hold no such date. A time without an offset is the wall clock's."""
    texts = dict(_fields(_record(resources)))
    day, time = _DAY.fullmatch(texts.get(_CREATED_DAY, "")), _TIME.fullmatch(texts.get(_CREATED_TIME, ""))
    if day is None:
        return None
    clock = f"T{time[1]}:{time[2]}:{time[3]}{time[4] or ''}" if time else ""
    return read_written(f"{day[1]}-{day[2]}-{day[3]}{clock}")


def _record(resources: bytes) -> bytes:
    at = 0
    while at + 12 <= len(resources) and resources[at : at + 4] == b"8BIM":
        # The name has its length before it, and both together are even.
        size_at = at + 6 + (resources[at + 6] + 2) // 2 * 2
        start, size = size_at + 4, int.from_bytes(resources[size_at : size_at + 4], "big")
        if int.from_bytes(resources[at + 4 : at + 6], "big") == _IPTC:
            return resources[start : start + size]
        at = start + size + size % 2
    return b""


def _fields(record: bytes) -> Iterator[tuple[int, str]]:
    """The fields of the application record. A field that is there twice counts as it is written last."""
    at = 0
    while at + 5 <= len(record) and record[at] == 0x1C:
        size = int.from_bytes(record[at + 3 : at + 5], "big")
        # The longest fields say their size otherwise; no date is one.
        if size & 0x8000:
            break
        if record[at + 1] == 2:
            yield record[at + 2], record[at + 5 : at + 5 + size].decode("ascii", errors="replace").strip(" \0")
        at += 5 + size
