"""The live event of a shelf. It goes to whoever the shelf belongs to, on each device that is open."""

from satchel.live import LiveEvent


class ShelfChanged(LiveEvent, tag="shelf.changed", frozen=True, kw_only=True):
    """Something came into these folders, left them, or was changed in them. Read them again."""

    folder_ids: list[str]


LIVE_EVENTS = (ShelfChanged,)
