"""Marks on scores: layers, strokes, who is looking, and the page of whoever leads."""

from typing import Annotated

import msgspec
from msgspec import UNSET, UnsetType
from starlette.requests import Request

from satchel.edge.api.endpoints import Body, Query, Router
from satchel.edge.api.idempotency_key import idempotency_key_of
from satchel.edge.http.callers import Member
from satchel.features.scores.events import ScoreLayersEvent, ScoreMarksEvent, ScoreTurnedEvent
from satchel.features.scores.layer_records import LayerRow
from satchel.features.scores.layout import IMPORTED, MAX_TRANSPOSE, LayoutChoice, LayoutSize
from satchel.features.scores.mark import MarkTooLong, NewMark, mark_view
from satchel.features.scores.model import (
    LayerUnknown,
    MarkUnknown,
    PageGone,
    ScoreUnknown,
    TooManyLayers,
    TooManyMarks,
)
from satchel.features.scores.routes.scores import Anybody, Number, PartName, viewer_of
from satchel.features.scores.routes.views import LayerView, ScoreMarks, layer_views, mark_views, name_of
from satchel.features.scores.service import layer_change, mark_change, score_presence
from satchel.features.scores.service.context import Scores
from satchel.features.scores.service.layout_view import NotEngraved
from satchel.features.scores.service.mark_change import MarkChange, MarksChanged
from satchel.features.scores.service.mark_read import may_see, visible_layers, visible_marks
from satchel.features.scores.service.score_find import Found, find_score, read_whole
from satchel.features.scores.service.score_turn import turned_to
from satchel.kernel.errors import Forbidden, TooMany
from satchel.media.score_pages import PagesRefused

MAX_AT_ONCE = 200
Some = Annotated[list[Number], msgspec.Meta(max_length=MAX_AT_ONCE)]
REFUSALS = (ScoreUnknown, Forbidden, LayerUnknown)


class MarksQuery(Query, frozen=True, kw_only=True):
    """Of which page; without one, of all."""

    page: Number | None = None


class LayerBody(Body, frozen=True, kw_only=True):
    """A new layer, for one part or for all."""

    name: PartName
    part_id: Number | None = None


class LayerPatchBody(Body, frozen=True, kw_only=True):
    """What to change of a layer."""

    name: PartName | None = None
    published: bool | None = None
    part_id: Number | UnsetType | None = UNSET


class ChangedMark(NewMark, frozen=True, kw_only=True):
    """A mark as it is to be from now on."""

    mark_id: Number


class LayoutBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The layout on whose pages marks stand, as it was read."""

    transpose: Annotated[int, msgspec.Meta(ge=-MAX_TRANSPOSE, le=MAX_TRANSPOSE)] = 0
    instrument: Annotated[int, msgspec.Meta(ge=0, le=999)] = 0
    size: LayoutSize = "normal"


class MarksBody(Body, frozen=True, kw_only=True):
    """What to do with the marks of a layer, in one step."""

    add: Annotated[list[NewMark], msgspec.Meta(max_length=MAX_AT_ONCE)] = msgspec.field(default_factory=list[NewMark])
    change: Annotated[list[ChangedMark], msgspec.Meta(max_length=MAX_AT_ONCE)] = msgspec.field(
        default_factory=list[ChangedMark]
    )
    remove: Some = msgspec.field(default_factory=list[int])
    layout: LayoutBody | None = None


class MarksWritten(msgspec.Struct, frozen=True):
    """The sequence number of the layer after this change, and the ids of the new marks in their order."""

    seq: int
    added: list[int]


class PresenceBody(Body, frozen=True, kw_only=True):
    """At which page you look."""

    page_id: Number | None = None


class OnlookerView(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody who looks at the score."""

    person_id: str
    name: str
    page_id: int | None


class OnlookerList(msgspec.Struct, frozen=True):
    """Who looks at the score."""

    people: list[OnlookerView]


class TurnBody(Body, frozen=True, kw_only=True):
    """Where those who follow you turn to: a page of the score, or a bar if you have a layout of your own."""

    page_id: Number | None = None
    bar: Number | None = None


def routes(scores: Scores) -> Router:
    router = Router("scores")

    @router.get("/scores/{score_id}/marks", raises=(ScoreUnknown,), whole_list=True)
    async def list_marks(caller: Anybody, score_id: str, query: MarksQuery) -> ScoreMarks:
        """List the marks that you see: those of your layers and of published ones."""
        viewer = viewer_of(caller)
        whole = await read_whole(scores, viewer, score_id)
        layers = await layer_views(scores, visible_layers(whole.layers, viewer))
        return ScoreMarks(layers, mark_views(visible_marks(whole, viewer, query.page)))

    @router.post(
        "/scores/{score_id}/layers",
        status=201,
        raises=(*REFUSALS, TooManyLayers),
        sends={"Idempotency-Key": "letters, digits, - and _: a retry with the same key makes one layer"},
    )
    async def create_layer(member: Member, score_id: str, body: LayerBody, request: Request) -> LayerView:
        """Make a layer of your own. Nobody else sees it until you publish it."""
        viewer, key = viewer_of(member), idempotency_key_of(request)
        found, layer = await layer_change.create_layer(
            scores, viewer, score_id, body.name, body.part_id, idempotency_key=key
        )
        await _tell_layers(scores, found, score_id, layer)
        return await _layer(scores, layer)

    @router.patch("/scores/{score_id}/layers/{layer_id}", raises=REFUSALS)
    async def change_layer(member: Member, score_id: str, layer_id: int, body: LayerPatchBody) -> LayerView:
        """Rename a layer of yours, publish it to all who see the score, or take it back."""
        found, layer = await layer_change.change_layer(
            scores,
            viewer_of(member),
            score_id,
            layer_id,
            name=body.name,
            is_published=body.published,
            part_id=body.part_id,
        )
        # Those who saw it until now have to hear of it, too.
        await score_presence.tell_onlookers(scores, found, ScoreLayersEvent(score_id=score_id), visitors="all")
        return await _layer(scores, layer)

    @router.delete("/scores/{score_id}/layers/{layer_id}", raises=REFUSALS)
    async def delete_layer(member: Member, score_id: str, layer_id: int) -> None:
        """Delete a layer of yours with its marks, or a published one of a score of yours."""
        found, layer = await layer_change.delete_layer(scores, viewer_of(member), score_id, layer_id)
        await _tell_layers(scores, found, score_id, layer)

    @router.post(
        "/scores/{score_id}/layers/{layer_id}/marks",
        raises=(*REFUSALS, MarkUnknown, PageGone, TooManyMarks, MarkTooLong, NotEngraved, PagesRefused, TooMany),
        sends={"Idempotency-Key": "letters, digits, - and _: a retry with the same key marks once"},
    )
    async def change_marks(
        member: Member, score_id: str, layer_id: int, body: MarksBody, request: Request
    ) -> MarksWritten:
        """Add, change and remove marks of a layer of yours, in one step. It needs no ETag."""
        change = MarkChange(
            new=body.add,
            changed={each.mark_id: each for each in body.change},
            removed=body.remove,
            choice=_choice(body.layout),
        )
        key = idempotency_key_of(request)
        done = await mark_change.change_marks(
            scores, viewer_of(member), score_id, layer_id, change, idempotency_key=key
        )
        await _tell_marks(scores, member.user_id, score_id, done)
        return MarksWritten(done.seq, done.new_ids)

    @router.put("/scores/{score_id}/presence", raises=(ScoreUnknown,))
    async def look_at_score(member: Member, score_id: str, body: PresenceBody) -> OnlookerList:
        """Say that you look at a score, so that you hear of what happens to it. It holds for 75 seconds."""
        viewer = viewer_of(member)
        found = await find_score(scores, viewer, score_id)
        onlookers = await score_presence.arrive(scores, found, viewer, body.page_id)
        return OnlookerList(
            [
                OnlookerView(person_id=each.user_id, name=await name_of(scores, each.user_id), page_id=each.page_id)
                for each in onlookers
            ]
        )

    @router.delete("/scores/{score_id}/presence", raises=(ScoreUnknown,))
    async def leave_score_page(member: Member, score_id: str) -> None:
        """Say that you look at a score no longer."""
        viewer = viewer_of(member)
        await score_presence.leave(scores, await find_score(scores, viewer, score_id), viewer)

    @router.post("/scores/{score_id}/turn", status=204, raises=(ScoreUnknown, Forbidden, PageGone))
    async def turn_page(member: Member, score_id: str, body: TurnBody) -> None:
        """Turn the page for those who look at the score and follow you, however they have it laid out."""
        found = await find_score(scores, viewer_of(member), score_id, "marker")
        page_id, bar = await turned_to(scores, found, body.page_id, body.bar)
        event = ScoreTurnedEvent(score_id=score_id, by=member.user_id, page_id=page_id, bar=bar)
        await score_presence.tell_onlookers(scores, found, event, visitors="all")

    return router


def _choice(layout: LayoutBody | None) -> LayoutChoice:
    if layout is None:
        return IMPORTED
    return LayoutChoice(transpose=layout.transpose, part=layout.instrument, size=layout.size)


async def _layer(scores: Scores, layer: LayerRow) -> LayerView:
    (view,) = await layer_views(scores, [layer])
    return view


async def _tell_layers(scores: Scores, found: Found, score_id: str, layer: LayerRow) -> None:
    event = ScoreLayersEvent(score_id=score_id)
    await score_presence.tell_onlookers(scores, found, event, lambda viewer: may_see(layer, viewer), visitors=layer)


async def _tell_marks(scores: Scores, by: str, score_id: str, done: MarksChanged) -> None:
    if not done.written and not done.removed:
        return
    event = ScoreMarksEvent(
        score_id=score_id,
        layer_id=done.layer.layer_id,
        seq=done.seq,
        by=by,
        added=[mark_view(each.mark_id, each.mark) for each in done.written],
        removed=done.removed,
    )
    await score_presence.tell_onlookers(
        scores, done.found, event, lambda viewer: may_see(done.layer, viewer), visitors=done.layer
    )
