"""What is stored of a picture: a row that describes it, both of its sizes beside the source, and the queue.

The objects of a picture are at `<key of the source>.grid.<version>` and `<key of the source>.preview.<version>`. So
whoever lists sources finds their pictures, and a picture that has no source is garbage. They do not stand below the
source, as in a folder: some servers that speak S3 keep objects in a file system, where a file is no folder.
"""

import re
from typing import Literal

from satchel.media.frames import State
from satchel.stores.schema import EphemeralKey, Record, Shape, attribute
from satchel.tables import CATALOG

OWNER = "media"

# Raised when pictures have to be made anew. Ready ones stay until then; what had failed is tried again.
VERSION = "1"

Size = Literal["grid", "preview"]
SIZES: dict[Size, str] = {"grid": "image/webp", "preview": "image/jpeg"}

_DERIVED = re.compile(r"(?P<source>.+)\.(?:grid|preview)\.\d+")


class PictureRow(Record, frozen=True, kw_only=True):
    """A picture, or that there is none. `width` and `height` are those of the upright original."""

    source: str = attribute("PictureSource")
    state: State = attribute("PictureState")
    version: str = attribute("PictureVersion")
    made_at: str = attribute("MadeAt")
    width: int = attribute("Width", default=0)
    height: int = attribute("Height", default=0)
    thumbhash: bytes = attribute("ThumbHash", default=b"")
    dhash: bytes = attribute("DHash", default=b"")
    duration_ms: int = attribute("DurationMs", default=0)
    # Why there is no picture, for whoever looks into the store.
    reason: str = attribute("Reason", default="")


PICTURE = Shape(
    PictureRow,
    CATALOG,
    {"PK": "PICTURE#{source}", "SK": "#PICTURE"},
    owner=OWNER,
    about="The picture of a stored object, named by the object's key",
)
SHAPES = (PICTURE,)

ASKED = EphemeralKey("pictures:asked", "list", owner=OWNER, about="Pictures that somebody waits for, the newest first")
NEW = EphemeralKey("pictures:new", "list", owner=OWNER, about="Pictures of new files, the newest first")
WAITING = EphemeralKey(
    "picture:{source}:asked", "value", owner=OWNER, about="That a picture is in the first queue, for half a minute"
)
CLAIM = EphemeralKey("picture:{source}:claim", "value", owner=OWNER, about="That a picture is being made, by one maker")
EPHEMERAL_KEYS = (ASKED, NEW, WAITING, CLAIM)


def picture_key(source: str, size: Size, version: str) -> str:
    return f"{source}.{size}.{version}"


def source_of(key: str) -> str | None:
    """The source of an object that is a size of a picture; None for any other object."""
    found = _DERIVED.fullmatch(key)
    return None if found is None else found["source"]
