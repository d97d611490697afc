"""The live event of links. It goes to whoever gave the link."""

from satchel.live import LiveEvent


class LinkReceived(LiveEvent, tag="link.received", frozen=True, kw_only=True):
    """Somebody has sent a file by a link of yours. `uploader` is the name that they gave, if any."""

    link_id: str
    file_name: str
    uploader: str


LIVE_EVENTS = (LinkReceived,)
