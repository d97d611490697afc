"""Engraved scores laid out as a reader wants them, and played."""

from typing import Annotated

import msgspec
from starlette.requests import Request

from satchel.edge.api.endpoints import Query, Router
from satchel.features.scores.item_records import ItemsRow
from satchel.features.scores.layout import MAX_TRANSPOSE, LayoutChoice, LayoutSize
from satchel.features.scores.mark import MarkView
from satchel.features.scores.model import KINDS, ScoreUnknown
from satchel.features.scores.routes.scores import Anybody, asker_of
from satchel.features.scores.routes.views import (
    LayerView,
    ScoreItemView,
    ScorePageView,
    item_views,
    layer_views,
    mark_views,
)
from satchel.features.scores.service.context import Scores
from satchel.features.scores.service.layout_view import LaidBar, LaidPage, LaidScore, NotEngraved, lay_out
from satchel.features.scores.service.mark_read import Marked, visible_layers, visible_marks
from satchel.features.scores.service.score_find import find_score, read_whole
from satchel.features.scores.service.score_play import PlayedScore, play_score
from satchel.features.scores.service.visitor_view import VisitorView
from satchel.kernel.errors import TooMany
from satchel.media.score_pages import PagesRefused

Semitones = Annotated[int, msgspec.Meta(ge=-MAX_TRANSPOSE, le=MAX_TRANSPOSE)]
LAYOUT_REFUSALS = (NotEngraved, PagesRefused, TooMany)
PartNumber = Annotated[int, msgspec.Meta(ge=0, le=999)]


class LayoutOptions(Query, frozen=True, kw_only=True):
    """By how many semitones to transpose, which instrument to show (from 1; 0 is all), and how large."""

    transpose: Semitones = 0
    instrument: PartNumber = 0
    size: LayoutSize = "normal"

    @property
    def choice(self) -> LayoutChoice:
        return LayoutChoice(transpose=self.transpose, part=self.instrument, size=self.size)


class BarView(msgspec.Struct, frozen=True, kw_only=True):
    """A bar on a page, in ten-thousandths of it. Bars count from 0; `number` is what is printed.

    `beats` are thousandths of a quarter after the bar's beginning, and `beat_xs` where these are.
    """

    page_id: int
    bar: int
    number: str
    x: int
    y: int
    width: int
    height: int
    beats: list[int]
    beat_xs: list[int]


class ScoreLayoutView(msgspec.Struct, frozen=True, kw_only=True):
    """A score laid out as you want it: pages, where its bars are, and the marks that you see, moved with the music.

    `instruments` are the names of all parts of the music. A page of a layout is read as an item, and only while the
    layout is kept: if it is gone, read the layout again.
    """

    transpose: int
    instrument: int
    size: LayoutSize
    instruments: list[str]
    pages: list[ScorePageView]
    bars: list[BarView]
    layers: list[LayerView]
    marks: list[MarkView]


class ScorePlaybackView(msgspec.Struct, frozen=True, kw_only=True):
    """What a player needs. `notes` are when, how long (milliseconds), pitch (MIDI) and instrument, from 0.

    `moments` are when, bar and thousandth of a quarter in it, in playing order: what is repeated comes again. `bars`
    are those of the pages as they were added.
    """

    instruments: list[str]
    length_ms: int
    notes: list[list[int]]
    moments: list[list[int]]
    bars: list[BarView]


def routes(scores: Scores) -> Router:
    router = Router("scores")

    @router.get("/scores/{score_id}/layout", raises=(ScoreUnknown, *LAYOUT_REFUSALS))
    async def read_layout(caller: Anybody, score_id: str, query: LayoutOptions, request: Request) -> ScoreLayoutView:
        """Lay out an engraved score anew for yourself: transposed, one part alone, larger or smaller.

        Nothing of the score changes.
        """
        viewer = asker_of(caller, request)
        whole = await read_whole(scores, viewer, score_id)
        laid = await lay_out(scores, whole.found, query.choice, viewer)
        layers = await layer_views(scores, visible_layers(whole.layers, viewer))
        return await _layout_view(scores, laid, layers, visible_marks(whole, viewer))

    @router.get("/scores/{score_id}/playback", raises=(ScoreUnknown, *LAYOUT_REFUSALS))
    async def read_playback(caller: Anybody, score_id: str, request: Request) -> ScorePlaybackView:
        """Read when which note of an engraved score sounds, and at which bar and beat that is."""
        viewer = asker_of(caller, request)
        return playback_view(await play_score(scores, await find_score(scores, viewer, score_id), viewer))

    return router


async def visitor_layout_view(scores: Scores, shown: VisitorView, laid: LaidScore) -> ScoreLayoutView:
    """For whoever has only a link."""
    layers = await layer_views(scores, shown.layers, for_stranger=True)
    return await _layout_view(scores, laid, layers, shown.marks)


async def _layout_view(
    scores: Scores, laid: LaidScore, layers: list[LayerView], marks: list[Marked]
) -> ScoreLayoutView:
    return ScoreLayoutView(
        transpose=laid.choice.transpose,
        instrument=laid.choice.part,
        size=laid.choice.size,
        instruments=laid.parts,
        pages=await _pages(scores, laid.pages(), laid.items),
        bars=[_bar(each) for each in laid.bars()],
        layers=layers,
        marks=mark_views(await laid.marks(marks)),
    )


def playback_view(found: PlayedScore) -> ScorePlaybackView:
    played = found.played
    return ScorePlaybackView(
        instruments=played.parts,
        length_ms=played.length_ms,
        notes=[[*each] for each in played.notes],
        moments=[[*each] for each in played.moments],
        bars=[_bar(each) for each in found.bars],
    )


async def _pages(scores: Scores, pages: list[LaidPage], items: ItemsRow) -> list[ScorePageView]:
    stored = {page.item_id for page in pages if not page.address}
    views = await item_views(scores, items, [each for each in items.items if each.item_id in stored])
    return [
        ScorePageView(
            page_id=page.page_id,
            name=page.name,
            rotation=page.rotation,
            item=_item(page) if page.address else views.get(page.item_id),
        )
        for page in pages
    ]


def _item(page: LaidPage) -> ScoreItemView:
    return ScoreItemView(item_id=page.address, kind=KINDS[page.kind], name=page.name, size_bytes=0, picture=None)


def _bar(laid: LaidBar) -> BarView:
    left, top, width, height = laid.place.box
    return BarView(
        page_id=laid.page_id,
        bar=laid.bar,
        number=laid.place.number,
        x=left,
        y=top,
        width=width,
        height=height,
        beats=[round(beat * 1000) for beat, _ in laid.place.beats],
        beat_xs=[x for _, x in laid.place.beats],
    )
