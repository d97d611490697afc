"""What can go wrong with a stream, as the two who share it are told."""

from satchel.kernel.errors import Conflict, Gone, TooMany


class SegmentOutOfPlace(Conflict):
    """The segment does not continue the stream, or does not fit into it; nothing of it was taken."""

    slug = "segment-out-of-place"
    title = "This is not the next part of the stream"


class OtherSideMissing(Conflict):
    """Nobody came to send or to take the bytes of this stream; trying again helps once they are there."""

    slug = "other-side-missing"
    title = "The other side did not connect"


class ReceiverGone(Gone):
    """The receiver has broken off the stream. If they still want the file, they ask for it again."""

    slug = "receiver-gone"
    title = "The receiver disconnected"


class StreamOver(Gone):
    """The stream has been taken or has broken off; whoever misses something of it asks for the file again."""

    slug = "stream-over"
    title = "This stream has ended"


class DropLimit(TooMany):
    """As many bytes have passed for one network today as this server lets pass; `over_at` says when it goes on."""

    slug = "drop-limit"
    title = "Daily limit reached"
