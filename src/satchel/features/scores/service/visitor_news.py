"""What visitors of links hear live of a score: strokes in published layers and turned pages, as far as their link goes.

They have one channel for each score. A message on it says what is needed to leave out what a part does not show.
"""

from collections.abc import Iterable

import msgspec

from satchel.features.scores.events import ScoreChangedEvent, ScoreImportEvent, ScoreMarksEvent, ScoreTurnedEvent
from satchel.features.scores.model import ScoreId, public_id
from satchel.features.scores.service.score_find import Found
from satchel.live import LiveEvent, encode
from satchel.stores.ports.ephemeral import Publish


class _News(msgspec.Struct, frozen=True, array_like=True):
    """A frame, the part that its layer is for, and which of its pages each part shows."""

    frame: bytes
    part_id: int | None
    shown: dict[int, list[int]]


_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder(_News).decode
_read = msgspec.json.Decoder(ScoreMarksEvent | ScoreTurnedEvent).decode


def channel_of(score_id: ScoreId) -> str:
    return f"live-score:{public_id(score_id)}"


def visitor_news(found: Found, event: LiveEvent, *, part_id: int | None = None) -> Publish:
    """The command that tells visitors. Neither ids of people nor files in the making are for them."""
    pages: set[int] = set()
    if isinstance(event, ScoreImportEvent):
        event = ScoreChangedEvent(score_id=event.score_id, etag=found.row.etag)
    if isinstance(event, ScoreMarksEvent):
        event, pages = msgspec.structs.replace(event, by=""), {mark.page_id for mark in event.added}
    elif isinstance(event, ScoreTurnedEvent):
        event, pages = msgspec.structs.replace(event, by=""), {event.page_id}
    shown = {part.part_id: _shown(pages, part.page_ids) for part in found.extra.parts}
    return Publish(channel_of(found.score_id), _pack(_News(encode(event), part_id, shown)))


def hear_all(message: bytes) -> bytes | None:
    return _unpack(message).frame


def hear_part(part_id: int, message: bytes) -> bytes | None:
    """Only what stands on pages of the part, in layers for it or for everybody."""
    news = _unpack(message)
    if news.part_id not in (None, part_id) or part_id not in news.shown:
        return None
    try:
        event = _read(news.frame)
    except msgspec.ValidationError:
        # Of the structure, only that it has changed.
        return news.frame
    shown = news.shown[part_id]
    if isinstance(event, ScoreTurnedEvent):
        return news.frame if event.page_id in shown else None
    return encode(msgspec.structs.replace(event, added=[mark for mark in event.added if mark.page_id in shown]))


def _shown(pages: set[int], of_part: Iterable[int]) -> list[int]:
    wanted = {*of_part}
    return sorted(pages & wanted if wanted else pages)
