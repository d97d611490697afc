"""Where originals are stored, and what the key of one says."""

import re
from dataclasses import dataclass

from satchel.features.albums.media_records import OBJECTS_PREFIX
from satchel.features.albums.model import OwnerId

_KEY = re.compile(rf"{OBJECTS_PREFIX}(?P<owner>[^/]+)/[^/]+/(?P<sha256>[0-9a-f]{{64}})\.[0-9a-z]+")


@dataclass(frozen=True, slots=True)
class Place:
    """Whose original it is, and the hash of its bytes."""

    owner: OwnerId
    sha256: str


def place_of(key: str) -> Place | None:
    """None if it is no key of an original."""
    found = _KEY.fullmatch(key)
    return None if found is None else Place(OwnerId(found["owner"]), found["sha256"])
