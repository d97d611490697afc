"""What a client says of a photo besides its bytes: the time of the file, its own time zone, and sidecars."""

import re
from collections.abc import Mapping
from datetime import datetime

_ZONE = re.compile(r"[A-Za-z0-9_+/-]{1,64}")
_SIDECARS = {"takeout": "takeout.json", "xmp": "sidecar.xmp"}


def modified_of(details: Mapping[str, str]) -> float | None:
    """The time of the file. None if there is none, or if it has no zone."""
    try:
        moment = datetime.fromisoformat(details.get("modified", ""))
    except ValueError:
        return None
    return None if moment.tzinfo is None else moment.timestamp()


def zone_of(details: Mapping[str, str]) -> str | None:
    """One that is unknown is found out later, and does not refuse a photo."""
    zone = details.get("zone", "")
    return zone if _ZONE.fullmatch(zone) else None


def sidecars_of(details: Mapping[str, str]) -> list[tuple[str, bytes]]:
    """Their names and contents."""
    return [(name, details[detail].encode()) for detail, name in _SIDECARS.items() if details.get(detail)]
