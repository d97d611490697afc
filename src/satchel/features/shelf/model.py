"""The ids of what is on a shelf, and the errors of this slice."""

from typing import Literal, NewType

from satchel.kernel.errors import Conflict, Gone, Invalid, OutOfSpace

UserId = NewType("UserId", str)
FileId = NewType("FileId", str)
FolderId = NewType("FolderId", str)
# Of a file or of a folder: both come from one source, so no two things have the same.
EntryId = NewType("EntryId", str)
Kind = Literal["file", "folder"]

# The top of a shelf. It has no row, no name, and cannot be moved or deleted.
ROOT = FolderId("root")
# How many folders may stand inside each other where something is put. Whoever moves a folder vouches for each of them
# in one transaction, and that has room for 100 writes.
MAX_DEPTH = 64


class NameTaken(Conflict):
    """Another file or folder in the same folder has this name already."""

    slug = "name-taken"
    title = "There is something of this name already"


class NameUnusable(Invalid):
    """Nothing of the name is left that can be seen and stored."""

    slug = "name-unusable"
    title = "Nothing can have this name"


class BytesGone(Gone):
    """The bytes of an upload were taken away before they could be kept; only sending them again helps."""

    slug = "bytes-gone"
    title = "The uploaded bytes are gone"


class FolderInsideItself(Conflict):
    """A folder was to be moved into itself or into a folder below it."""

    slug = "folder-inside-itself"
    title = "A folder cannot be inside itself"


class TooDeep(Invalid):
    """More folders inside each other than are allowed."""

    slug = "too-deep"
    title = "Too many folders inside each other"


class QuotaReached(OutOfSpace):
    """The person's files would take more room than each may have; nothing was changed. What is in the bin counts."""

    slug = "quota-reached"
    title = "Your shelf is full"
