"""What can go wrong with an upload, in the statuses that tus clients know."""

from typing import ClassVar

from satchel.kernel.errors import Conflict, Gone, Invalid, NotFound, SatchelError, TooLarge


class WrongProtocol(SatchelError):
    """The request does not say `Tus-Resumable: 1.0.0`, the one version of the upload protocol spoken here."""

    status = 412
    slug = "upload-protocol"
    title = "This version of the upload protocol is not spoken here"


class UnknownDestination(Invalid):
    """The upload does not say where it goes, or names a place that takes no uploads."""

    slug = "upload-destination"
    title = "Uploads cannot go there"


class UploadMissing(NotFound):
    """There is no such upload, or it is somebody else's."""

    slug = "upload-missing"
    title = "There is no such upload"


class UploadEnded(Gone):
    """The upload was given up, or nothing was added to it for too long; start a new one."""

    slug = "upload-ended"
    title = "This upload has ended"


class UploadUnwanted(Gone):
    """The place that the upload was for is not there any more, or not for its sender; the upload has ended."""

    slug = "upload-unwanted"
    title = "There is no place for this upload any more"


class WrongOffset(Conflict):
    """The bytes sent do not follow those that are stored; ask for the offset and go on from there."""

    slug = "upload-offset"
    title = "The upload stands elsewhere"


class UploadTakenOver(Conflict):
    """A newer request has gone on with this upload, so the earlier one was stopped; what it had sent was kept."""

    slug = "upload-taken-over"
    title = "Another request has gone on with this upload"


class UploadTooLarge(TooLarge):
    """The upload is larger than this server takes, or more bytes came than were announced."""

    slug = "upload-too-large"
    title = "The upload is too large"


class UploadBusy(SatchelError):
    """Another server, or the end of the upload itself, is at work on it right now; try again in a moment."""

    status = 423
    slug = "upload-busy"
    title = "The upload is being worked on"
    retry_after: ClassVar[int] = 3


class ChecksumMismatch(SatchelError):
    """What arrived does not have the checksum that was sent with it, and was thrown away; send it again."""

    status = 460
    slug = "upload-checksum"
    title = "The checksum does not match"
