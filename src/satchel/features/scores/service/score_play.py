"""What a player needs of the engraved music of a score: notes, and at which bar and beat they are.

It is made once for each file, by the process that engraves, and kept beside it. Neither layout nor key matter for it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from satchel.features.scores.item_records import ItemEntry, ItemsRow, layout_key
from satchel.features.scores.layout import IMPORTED
from satchel.features.scores.service.context import Scores
from satchel.features.scores.service.engrave_once import engrave_once
from satchel.features.scores.service.layout_view import LaidBar, lay_out
from satchel.features.scores.service.page_source import source_of_pages
from satchel.features.scores.service.score_find import Found, Viewer
from satchel.stores.ports.objects import ObjectMissing, SmallObject

_NAME = "playback.json"


class Played(msgspec.Struct, frozen=True, kw_only=True):
    """One file: notes are when, how long, pitch and part; moments are when, bar and beat, in playing order."""

    parts: list[str]
    length_ms: int
    notes: list[tuple[int, int, int, int]]
    moments: list[tuple[int, int, int]]


@dataclass(frozen=True, slots=True)
class PlayedScore:
    """All files of a score one after the other, and where their bars are on the pages that were imported."""

    played: Played
    bars: list[LaidBar]


_decode = msgspec.json.Decoder(Played).decode


async def play_score(scores: Scores, found: Found, viewer: Viewer, *, for_visitor: bool = False) -> PlayedScore:
    """Who may not edit it hears music only if all of its pages are shown; a visitor is nobody who may."""
    await scores.limits.count_playback(viewer.user_id, viewer.address)
    laid = await lay_out(scores, found, IMPORTED)
    laid.check_shown(for_visitor=for_visitor)
    each = [(await _get(scores, laid.items, source), bars) for source, bars in laid.sources()]
    return PlayedScore(_joined(each), laid.bars())


async def _get(scores: Scores, items: ItemsRow, source: ItemEntry) -> Played:
    key = layout_key(items.owner, items.score_id, source.item_id, _NAME)
    try:
        async with scores.objects.read(key) as reading:
            body = b"".join([piece async for piece in reading])
    except ObjectMissing:
        body = await engrave_once(scores, key, lambda: _make(scores, items, source, key))
    return _decode(body)


async def _make(scores: Scores, items: ItemsRow, source: ItemEntry, key: str) -> bytes:
    body = await scores.pages.playback(source_of_pages(items, source))
    await scores.objects.put_many([SmallObject(key, body, "application/json")])
    return body


def _joined(each: Sequence[tuple[Played, int]]) -> Played:
    """With each file goes how many bars it has."""
    if len(each) == 1:
        return each[0][0]
    parts = list(dict.fromkeys(name for played, _ in each for name in played.parts))
    notes: list[tuple[int, int, int, int]] = []
    moments: list[tuple[int, int, int]] = []
    start = first = 0
    for played, bars in each:
        places = [parts.index(name) for name in played.parts] or [0]
        notes += [(start + at, length, pitch, places[part]) for at, length, pitch, part in played.notes]
        moments += [(start + at, first + bar, beat) for at, bar, beat in played.moments]
        start, first = start + played.length_ms, first + bars
    return Played(parts=parts, length_ms=start, notes=notes, moments=moments)
