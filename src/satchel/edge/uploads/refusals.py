"""What can go wrong with an upload, in the statuses that tus clients know."""

from typing import ClassVar

from satchel.kernel.errors import Conflict, Gone, Invalid, NotFound, SatchelError, TooLarge


class WrongProtocol(SatchelError):
    """The request lacks the header `Tus-Resumable: 1.0.0`, the only supported version of the upload protocol."""

    status = 412
    slug = "upload-protocol"
    title = "This version of the upload protocol is not supported"


class UnknownDestination(Invalid):
    """The upload names no destination, or one that takes no uploads."""

    slug = "upload-destination"
    title = "Uploads cannot go there"


class UploadMissing(NotFound):
    """There is no such upload, or it is somebody else's."""

    slug = "upload-missing"
    title = "There is no such upload"


class UploadEnded(Gone):
    """The upload was cancelled, or nothing was added to it for too long. Start a new one."""

    slug = "upload-ended"
    title = "This upload has ended"


class UploadUnwanted(Gone):
    """The destination of the upload is gone, or its sender may no longer use it. The upload has ended."""

    slug = "upload-unwanted"
    title = "The destination of this upload is gone"


class WrongOffset(Conflict):
    """The bytes sent do not follow those that are stored. Ask for the offset and continue from there."""

    slug = "upload-offset"
    title = "The upload has another offset"


class UploadTakenOver(Conflict):
    """A newer request has continued this upload, so the earlier one was stopped. What it had sent was kept."""

    slug = "upload-taken-over"
    title = "Another request has continued this upload"


class UploadTooLarge(TooLarge):
    """The upload is larger than this server allows, or more bytes arrived than were announced."""

    slug = "upload-too-large"
    title = "The upload is too large"


class TooManyUploads(Conflict):
    """You, or your network if you have no account, have begun too many uploads there. Finish or cancel some."""

    slug = "too-many-uploads"
    title = "Too many uploads are unfinished"


class UploadBusy(SatchelError):
    """Another request, or the end of the upload itself, holds the lock of this upload. Try again in a moment."""

    status = 423
    slug = "upload-busy"
    title = "The upload is locked"
    retry_after: ClassVar[int] = 3


class ChecksumMismatch(SatchelError):
    """The bytes that arrived do not have the checksum that was sent with them. They were dropped; send them again."""

    status = 460
    slug = "upload-checksum"
    title = "The checksum does not match"


class KeyReused(Invalid):
    """The idempotency key of this upload was used for another file. Use a new key for each file."""

    slug = "upload-key-reused"
    title = "This key was used for another file"
