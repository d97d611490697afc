"""What is stored of a shelf: files and folders, the names they hold, the bytes they share, the bin, and what is due.

The bytes of a person are stored once per content at `user/<user id>/<sha256>.<object id>`. The object id is new when
deleted bytes come back, so no key is ever used twice. A late deletion of the old object can never hit the new bytes
(decision 7).

An item in the bin, or below a folder in the bin, keeps its rows: only the one deleted row is marked (decision 9).
"""

from satchel.features.shelf.model import DueKind, EntryId, FileId, FolderId, Kind, SelectionId, UserId, VersionId
from satchel.kernel.names import FileName
from satchel.media.pictures import Pictured
from satchel.stores.schema import EphemeralKey, Record, Shape, attribute
from satchel.tables import CATALOG, USER_TRANSFERS

OWNER = "shelf"
OBJECTS_PREFIX = "user/"
# Due rows are found through this index, as are expired sessions and uploads.
DUE_INDEX = "RefreshTokenExpiration"
DUE_SORT = "SHELFDUE#"


class FileRow(Record, frozen=True, kw_only=True):
    """A file as its owner sees it, and the stored bytes it refers to. With `deletedAt` it is in the bin."""

    user_id: UserId = attribute("userId")
    file_id: FileId = attribute("fileId")
    folder_id: FolderId = attribute("folderId")
    name: FileName = attribute("fileName")
    size_bytes: int = attribute("sizeBytes")
    content_type: str = attribute("contentType")
    sha256: str
    object_id: str = attribute("objectId")
    created_at: str = attribute("createdAt")
    expires_at: str = attribute("expiresAt", default="")
    deleted_at: str = attribute("deletedAt", default="")
    # The transfer by which it came from somebody else.
    came_by: str = attribute("cameBy", default="")
    # Whether somebody else gave it its name.
    from_others: bool = attribute("fromOthers", default=False)
    # When it was changed at its origin, to the nanosecond, and whether it was executable there.
    modified_at: str = attribute("modifiedAt", default="")
    executable: bool = False
    # The upload, or the restoring, that gave it its content, if it is not its first.
    replaced_by: str = attribute("replacedBy", default="")


class FolderRow(Record, frozen=True, kw_only=True):
    """A folder and its parent. With `deletedAt` it is in the bin. Once `closing`, it cannot be restored."""

    user_id: UserId = attribute("userId")
    folder_id: FolderId = attribute("folderId")
    parent_id: FolderId = attribute("parentId")
    name: FileName = attribute("folderName")
    created_at: str = attribute("createdAt")
    deleted_at: str = attribute("deletedAt", default="")
    closing: bool = False
    modified_at: str = attribute("modifiedAt", default="")


class NameRow(Record, frozen=True, kw_only=True):
    """A name in use in a folder, and by what. The sort order puts folders first."""

    user_id: UserId = attribute("userId")
    folder_id: FolderId = attribute("folderId")
    rank: str
    name_key: str = attribute("nameKey")
    entry_id: EntryId = attribute("entryId")
    name: FileName = attribute("entryName")


class MomentRow(Record, frozen=True, kw_only=True):
    """The same place in a folder, sorted by the time at which the thing was made."""

    user_id: UserId = attribute("userId")
    folder_id: FolderId = attribute("folderId")
    entry_id: EntryId = attribute("entryId")
    kind: Kind


class BinRow(Record, frozen=True, kw_only=True):
    """An item in the bin: its origin, its size (of a folder, as far as was counted), and its expiry."""

    user_id: UserId = attribute("userId")
    deleted_at: str = attribute("deletedAt")
    entry_id: EntryId = attribute("entryId")
    kind: Kind
    gone_at: str = attribute("goneAt")
    path: list[FileName] = attribute("fromFolders", default=[])
    size_bytes: int = attribute("sizeBytes", default=0)


class VersionRow(Record, frozen=True, kw_only=True):
    """An earlier content of a file. Its id is that of the upload, or of the restoring, that took its place."""

    user_id: UserId = attribute("userId")
    file_id: FileId = attribute("fileId")
    version_id: VersionId = attribute("versionId")
    size_bytes: int = attribute("sizeBytes")
    content_type: str = attribute("contentType")
    sha256: str
    object_id: str = attribute("objectId")
    modified_at: str = attribute("modifiedAt", default="")
    executable: bool = False
    replaced_at: str = attribute("replacedAt")
    gone_at: str = attribute("goneAt")


class SelectionRow(Record, frozen=True, kw_only=True):
    """Files and folders that one link leads to. Its id follows from theirs."""

    user_id: UserId = attribute("userId")
    selection_id: SelectionId = attribute("selectionId")
    folders: list[FolderId] = attribute("folderIds", default=[])
    files: list[FileId] = attribute("fileIds", default=[])


class DueRow(Record, frozen=True, kw_only=True):
    """When an item of a shelf is to be deleted for good. Written and deleted together with the reason.

    Of rows of bytes that were written before their objects: when to see whether anything came of them.
    """

    user_id: UserId = attribute("UserId")
    entry_id: EntryId = attribute("EntryId")
    kind: DueKind = attribute("Kind")
    due: str = attribute("AbsoluteExpiryTime")
    digests: list[str] = attribute("Digests", default=[])


class BlobRow(Record, frozen=True, kw_only=True):
    """Bytes that files share. Without references they are being stored, or are left from a crash."""

    user_id: UserId = attribute("userId")
    sha256: str
    object_id: str = attribute("objectId")
    size_bytes: int = attribute("sizeBytes")
    references: int
    created_at: str = attribute("createdAt")


class UsageRow(Record, frozen=True, kw_only=True):
    """How much space a person uses: shared bytes count once, those in the bin count, too."""

    user_id: UserId = attribute("userId")
    used_bytes: int = attribute("usedBytes", default=0)
    files: int = 0
    bin_bytes: int = attribute("binBytes", default=0)


FILE = Shape(
    FileRow,
    USER_TRANSFERS,
    {"PK": "User#{user_id}", "SK": "File#{file_id}"},
    owner=OWNER,
    about="A file on a person's shelf; ids sort by time",
    needs=lambda file: {object_key(file): file.name},
)
FOLDER = Shape(
    FolderRow,
    USER_TRANSFERS,
    {"PK": "User#{user_id}", "SK": "Folder#{folder_id}"},
    owner=OWNER,
    about="A folder on a person's shelf; the top has no row",
)
NAME = Shape(
    NameRow,
    USER_TRANSFERS,
    {"PK": "User#{user_id}", "SK": "Name#{folder_id}#{rank}#{name_key}"},
    owner=OWNER,
    about="What has a name in a folder; makes names unique and lists a folder by name",
)
MOMENT = Shape(
    MomentRow,
    USER_TRANSFERS,
    {"PK": "User#{user_id}", "SK": "Moment#{folder_id}#{entry_id}"},
    owner=OWNER,
    about="What is in a folder; lists it by time",
)
BIN = Shape(
    BinRow,
    USER_TRANSFERS,
    {"PK": "User#{user_id}", "SK": "Bin#{deleted_at}#{entry_id}"},
    owner=OWNER,
    about="What a person has deleted and can still restore; sorts by time",
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
VERSION = Shape(
    VersionRow,
    USER_TRANSFERS,
    {"PK": "User#{user_id}", "SK": "Version#{file_id}#{version_id}"},
    owner=OWNER,
    about="An earlier content of a file, for a while after it was replaced",
    needs=lambda version: {object_key(version): f"an earlier content of {version.file_id}"},
)
SELECTION = Shape(
    SelectionRow,
    USER_TRANSFERS,
    {"PK": "User#{user_id}", "SK": "Selection#{selection_id}"},
    owner=OWNER,
    about="Several things of a shelf that one link leads to",
)
DUE = Shape(
    DueRow,
    CATALOG,
    {"PK": "SHELF#{user_id}#{entry_id}", "SK": DUE_SORT},
    owner=OWNER,
    about="Due for deletion, through RefreshTokenExpiration: expired, binned, versions, closed folders, and more",
)
SHAPES = (FILE, FOLDER, NAME, MOMENT, BIN, BLOB, USAGE, VERSION, SELECTION, DUE)
SWEEP = EphemeralKey(
    "sweep:shelf", "value", owner=OWNER, about="Cursor of the garbage collection: the object that it looked at last"
)
MADE_FOLDER = EphemeralKey(
    "shelf-folder:{user_id}:{key}", "value", owner=OWNER, about="Idempotency key of a person → folder id", durable=True
)
EPHEMERAL_KEYS = (SWEEP, MADE_FOLDER)

# The order of a folder's listing by name.
RANKS: dict[Kind, str] = {"folder": "1", "file": "2"}
KINDS: dict[str, Kind] = {rank: kind for kind, rank in RANKS.items()}


def object_key(kept: FileRow | BlobRow | VersionRow) -> str:
    return f"{OBJECTS_PREFIX}{kept.user_id}/{kept.sha256}.{kept.object_id}"


def pictured(file: FileRow) -> Pictured:
    """The file as a source of a picture."""
    return Pictured(object_key(file), file.name, file.content_type)


def id_of(entry: FileRow | FolderRow) -> EntryId:
    return EntryId(entry.file_id if isinstance(entry, FileRow) else entry.folder_id)


def kind_of(entry: FileRow | FolderRow) -> Kind:
    return "file" if isinstance(entry, FileRow) else "folder"


def place_of(entry: FileRow | FolderRow) -> FolderId:
    """The folder of an entry."""
    return entry.folder_id if isinstance(entry, FileRow) else entry.parent_id
