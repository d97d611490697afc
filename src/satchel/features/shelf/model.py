"""The ids of what is on a shelf, and the errors of this slice."""

from typing import ClassVar, Literal, NewType

from satchel.kernel.errors import Conflict, Gone, Invalid, OutOfSpace, SatchelError

UserId = NewType("UserId", str)
FileId = NewType("FileId", str)
FolderId = NewType("FolderId", str)
# Of a file or of a folder: both come from one source, so no two have the same id.
EntryId = NewType("EntryId", str)
VersionId = NewType("VersionId", str)
SelectionId = NewType("SelectionId", str)
# Names one state of a file or folder.
Etag = NewType("Etag", str)
Kind = Literal["file", "folder"]
# What can be due for deletion.
DueKind = Literal["file", "folder", "version", "selection", "bytes"]

# The top of a shelf. It has no row, no name, and cannot be moved or deleted.
ROOT = FolderId("root")
# How deeply folders may be nested. A move checks each folder on the way in one transaction, which has at most 100
# writes.
MAX_DEPTH = 64


class NameTaken(Conflict):
    """Another file or folder in the same folder has this name."""

    slug = "name-taken"
    title = "This name is already in use"


class EntryChanged(SatchelError):
    """The file or folder has changed since it was read. Read it again, then decide."""

    status: ClassVar[int] = 412
    slug = "entry-changed"
    title = "This has changed in the meantime"


class NameUnusable(Invalid):
    """The name has no visible character that can be stored."""

    slug = "name-unusable"
    title = "This name cannot be used"


class BytesGone(Gone):
    """The uploaded bytes were removed before the file was stored. Upload them again."""

    slug = "bytes-gone"
    title = "The uploaded data is no longer stored"


class FolderInsideItself(Conflict):
    """A folder cannot be moved into itself or into a folder below it."""

    slug = "folder-inside-itself"
    title = "A folder cannot be inside itself"


class TooDeep(Invalid):
    """The folder would be nested more deeply than is allowed."""

    slug = "too-deep"
    title = "Folders are nested too deeply"


class QuotaReached(OutOfSpace):
    """The person's files would exceed the quota. Nothing was changed. Files in the bin count."""

    slug = "quota-reached"
    title = "Your shelf is full"
