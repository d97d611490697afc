"""What is stored of a shelf: files, the names they hold, the bytes they share, and the room these take.

The bytes of a person stand once per content at `user/<user id>/<sha256>.<object id>`. The object id is new whenever
bytes that were gone come back, so no key is ever used twice: deleting the object of an earlier life, however late, can
never hit the bytes of a later one (decision 7).
"""

from satchel.features.shelf.model import FileId, FileName, UserId
from satchel.stores.schema import Record, Shape, attribute
from satchel.tables import USER_TRANSFERS

OWNER = "shelf"
OBJECTS_PREFIX = "user/"


class FileRow(Record, frozen=True, kw_only=True):
    """A file as its owner sees it, and which stored bytes it shows."""

    user_id: UserId = attribute("userId")
    file_id: FileId = attribute("fileId")
    name: FileName = attribute("fileName")
    size_bytes: int = attribute("sizeBytes")
    content_type: str = attribute("contentType")
    sha256: str
    object_id: str = attribute("objectId")
    created_at: str = attribute("createdAt")


class NameRow(Record, frozen=True, kw_only=True):
    """That a name is in use, and by which file. Its existence is what keeps two files from having one name."""

    user_id: UserId = attribute("userId")
    sameness: str
    file_id: FileId = attribute("fileId")


class BlobRow(Record, frozen=True, kw_only=True):
    """Bytes that files share. Without references they are about to be stored, or were when something broke off."""

    user_id: UserId = attribute("userId")
    sha256: str
    object_id: str = attribute("objectId")
    size_bytes: int = attribute("sizeBytes")
    references: int
    created_at: str = attribute("createdAt")


class UsageRow(Record, frozen=True, kw_only=True):
    """How much room a person really takes: bytes that several files share count once."""

    user_id: UserId = attribute("userId")
    used_bytes: int = attribute("usedBytes", default=0)
    files: int = 0


FILE = Shape(
    FileRow,
    USER_TRANSFERS,
    {"PK": "User#{user_id}", "SK": "File#{file_id}"},
    owner=OWNER,
    about="A file on a person's shelf; ids sort by time",
)
NAME = Shape(
    NameRow,
    USER_TRANSFERS,
    {"PK": "User#{user_id}", "SK": "Name#{sameness}"},
    owner=OWNER,
    about="Which file of a person has a name; makes names unique",
)
BLOB = Shape(
    BlobRow,
    USER_TRANSFERS,
    {"PK": "User#{user_id}", "SK": "Blob#{sha256}"},
    owner=OWNER,
    about="Bytes that a person's files share, and how many of them do",
)
USAGE = Shape(
    UsageRow,
    USER_TRANSFERS,
    {"PK": "User#{user_id}", "SK": "Usage#"},
    owner=OWNER,
    about="How many files a person has, and how many bytes these take once shared ones are counted once",
)
SHAPES = (FILE, NAME, BLOB, USAGE)


def object_key(kept: FileRow | BlobRow) -> str:
    return f"{OBJECTS_PREFIX}{kept.user_id}/{kept.sha256}.{kept.object_id}"
