"""The errors of a stream, as sender and receiver see them."""

from satchel.kernel.errors import Conflict, Gone, TooMany


class SegmentOutOfPlace(Conflict):
    """The segment does not continue the stream, or does not fit into it. Nothing of it was accepted."""

    slug = "segment-out-of-place"
    title = "This is not the next part of the stream"


class OtherSideMissing(Conflict):
    """The other side of this stream did not connect. Retry when they are connected."""

    slug = "other-side-missing"
    title = "The other side did not connect"


class ReceiverGone(Gone):
    """The receiver has disconnected. If they still want the file, they ask for it again."""

    slug = "receiver-gone"
    title = "The receiver disconnected"


class StreamOver(Gone):
    """The stream was received or interrupted. A receiver who misses something asks for the file again."""

    slug = "stream-over"
    title = "This stream has ended"


class DropLimit(TooMany):
    """The network has reached its daily limit of bytes. `over_at` says when it ends."""

    slug = "drop-limit"
    title = "Daily limit reached"
