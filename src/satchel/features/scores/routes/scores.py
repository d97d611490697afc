"""Scores: list, create, read, change, set pages, delete."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

import msgspec
from starlette.requests import Request

from satchel.edge.api.endpoints import Body, Query, Reply, Router
from satchel.edge.api.idempotency_key import idempotency_key_of
from satchel.edge.http.callers import Guest, Member, Stranger
from satchel.edge.http.request_context import client_of
from satchel.features.scores.model import (
    MAX_DESCRIPTION,
    MAX_JUMPS,
    MAX_MOVEMENTS,
    MAX_PAGE_NAME,
    MAX_PAGES,
    MAX_PARTS,
    MAX_TAG,
    MAX_TAGS,
    MAX_TITLE,
    Access,
    Email,
    EtagMissing,
    ItemUnknown,
    OwnerId,
    PageId,
    Rotation,
    ScoreChanged,
    ScoreLocked,
    ScoreUnknown,
    TooManyPages,
    TooManyScores,
    public_id,
)
from satchel.features.scores.records import Jump, Movement
from satchel.features.scores.routes.score_etag import ANSWERS, SENDS, etag_of, headers_of
from satchel.features.scores.routes.views import (
    ScoreList,
    ScoreView,
    card_views,
    score_view,
    usage_view,
)
from satchel.features.scores.service import page_set, score_change, score_create, score_delete, score_list
from satchel.features.scores.service.context import Scores
from satchel.features.scores.service.layer_change import list_layers
from satchel.features.scores.service.mark_read import visible_layers, visible_marks
from satchel.features.scores.service.page_set import WantedPage, read_items
from satchel.features.scores.service.score_change import NewPart, ScorePatch
from satchel.features.scores.service.score_create import NewScore
from satchel.features.scores.service.score_find import NOBODY, Found, Viewer, find_score, read_whole
from satchel.features.scores.service.score_list import Wanted
from satchel.kernel.errors import Forbidden

# Far more than is allowed, so that the error is our own sentence and not a generic one about length.
Words = Annotated[str, msgspec.Meta(max_length=10_000)]
Id = Annotated[str, msgspec.Meta(max_length=64)]
Number = Annotated[int, msgspec.Meta(ge=0, le=2**31)]
Title = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_TITLE)]
Composer = Annotated[str, msgspec.Meta(max_length=MAX_TITLE)]
Description = Annotated[str, msgspec.Meta(max_length=MAX_DESCRIPTION)]
PageName = Annotated[str, msgspec.Meta(max_length=MAX_PAGE_NAME)]
PartName = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_PAGE_NAME)]
Tags = Annotated[list[Annotated[str, msgspec.Meta(max_length=MAX_TAG)]], msgspec.Meta(max_length=MAX_TAGS)]
PageIds = Annotated[list[Number], msgspec.Meta(max_length=MAX_PAGES)]
Anybody = Stranger | Guest | Member
CHANGES = (ScoreUnknown, Forbidden, EtagMissing, ScoreChanged, ScoreLocked)


class ScoresQuery(Query, frozen=True, kw_only=True):
    """Which scores: words of the title, the composer or a tag; one tag; only your own."""

    q: Annotated[str, msgspec.Meta(max_length=300)] = ""
    tag: Annotated[str, msgspec.Meta(max_length=300)] = ""
    mine: bool = False


class ScoreQuery(Query, frozen=True, kw_only=True):
    """Whether to read the marks, too."""

    marks: bool = False


class ScoreBody(Body, frozen=True, kw_only=True):
    """A new score. It is private unless you say otherwise."""

    title: Title
    composer: Composer = ""
    description: Description = ""
    tags: Tags = msgspec.field(default_factory=list[str])
    access: Access = "private"


class MovementBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where a movement begins."""

    name: PartName
    page_id: Number


class PartBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A part. A new one has no id. Without pages, it plays from all."""

    name: PartName
    part_id: Number | None = None
    page_ids: PageIds = msgspec.field(default_factory=list[int])


class JumpBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A place that leads to another one, in ten-thousandths of a page."""

    page_id: Number
    x: Number
    y: Number
    to_page_id: Number
    to_y: Number = 0
    label: Words = ""


class ScorePatchBody(Body, frozen=True, kw_only=True):
    """What to change. Lists replace those of before. Only the owner changes the access."""

    title: Title | None = None
    composer: Composer | None = None
    description: Description | None = None
    tags: Tags | None = None
    access: Access | None = None
    movements: Annotated[list[MovementBody], msgspec.Meta(max_length=MAX_MOVEMENTS)] | None = None
    parts: Annotated[list[PartBody], msgspec.Meta(max_length=MAX_PARTS)] | None = None
    jumps: Annotated[list[JumpBody], msgspec.Meta(max_length=MAX_JUMPS)] | None = None


class PageBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A page. A new one has no id. Without a name it keeps its own, or has that of its file."""

    item_id: Id
    page_id: Number | None = None
    name: PageName | None = None
    rotation: Rotation | None = None


class PagesBody(Body, frozen=True, kw_only=True):
    """All pages of a score in their order. A page that is not among them is removed."""

    pages: Annotated[list[PageBody], msgspec.Meta(max_length=1000)]


def routes(scores: Scores) -> Router:
    router = Router("scores")

    @router.get("/scores", whole_list=True)
    async def list_scores(member: Member, query: ScoresQuery) -> ScoreList:
        """List your scores and those shared with you, by title."""
        wanted = Wanted(words=query.q, tag=query.tag, mine=query.mine)
        listed = await score_list.list_scores(scores, viewer_of(member), wanted)
        usage = await score_list.usage_of(scores, OwnerId(member.user_id))
        return ScoreList(await card_views(scores, listed), usage_view(scores, usage))

    @router.post(
        "/scores",
        status=201,
        raises=(TooManyScores,),
        sends={"Idempotency-Key": "letters, digits, - and _: a retry with the same key is the same score"},
        answers=ANSWERS,
    )
    async def create_score(member: Member, body: ScoreBody, request: Request) -> Reply[ScoreView]:
        """Create a score without pages."""
        new = NewScore(
            title=body.title,
            composer=body.composer,
            description=body.description,
            tags=body.tags,
            access=body.access,
        )
        key = idempotency_key_of(request)
        score_id = await score_create.create_score(scores, OwnerId(member.user_id), new, idempotency_key=key)
        viewer = viewer_of(member)
        return await score_reply(scores, viewer, await find_score(scores, viewer, public_id(score_id)), status=201)

    @router.get("/scores/{score_id}", raises=(ScoreUnknown,), answers=ANSWERS, whole_list=True)
    async def read_score(caller: Anybody, score_id: str, query: ScoreQuery) -> Reply[ScoreView]:
        """Read a score of yours, one that is shared with you, or a public one."""
        viewer = viewer_of(caller)
        if not query.marks:
            return await score_reply(scores, viewer, await find_score(scores, viewer, score_id))
        whole = await read_whole(scores, viewer, score_id)
        items, layers = await read_items(scores, whole.found), visible_layers(whole.layers, viewer)
        view = await score_view(scores, whole.found, items, layers, visible_marks(whole, viewer))
        return Reply(view, headers=headers_of(whole.found.row.etag))

    @router.patch("/scores/{score_id}", raises=CHANGES, sends=SENDS, answers=ANSWERS)
    async def change_score(member: Member, score_id: str, body: ScorePatchBody, request: Request) -> Reply[ScoreView]:
        """Change what a score says of itself: title, composer, tags, movements, parts, jumps, access."""
        patch = _patch(body)
        changed = await score_change.change_score(scores, viewer_of(member), score_id, etag_of(request), patch)
        return await score_reply(scores, viewer_of(member), changed)

    @router.put("/scores/{score_id}/pages", raises=(*CHANGES, ItemUnknown, TooManyPages), sends=SENDS, answers=ANSWERS)
    async def set_pages(member: Member, score_id: str, body: PagesBody, request: Request) -> Reply[ScoreView]:
        """Set all pages of a score in one step: add, replace, move, rename, turn and remove."""
        wanted = [
            WantedPage(page_id=each.page_id, item_id=each.item_id, name=each.name, rotation=each.rotation)
            for each in body.pages
        ]
        changed = await page_set.set_pages(scores, viewer_of(member), score_id, etag_of(request), wanted)
        return await score_reply(scores, viewer_of(member), changed)

    @router.delete("/scores/{score_id}", raises=(ScoreUnknown, Forbidden))
    async def delete_score(member: Member, score_id: str) -> None:
        """Delete a score of yours with its pages, marks and snapshots, for everybody."""
        await score_delete.delete_score(scores, viewer_of(member), score_id)

    return router


def viewer_of(caller: Anybody) -> Viewer:
    return Viewer(OwnerId(caller.user_id), Email(caller.email)) if isinstance(caller, Member) else NOBODY


def asker_of(caller: Anybody, request: Request) -> Viewer:
    """With the network that somebody without an account asks from."""
    viewer = viewer_of(caller)
    return viewer if viewer.user_id else replace(viewer, address=client_of(request.scope).address)


async def score_reply(scores: Scores, viewer: Viewer, found: Found, status: int = 200) -> Reply[ScoreView]:
    layers = visible_layers(await list_layers(scores, found), viewer)
    view = await score_view(scores, found, await read_items(scores, found), layers)
    return Reply(view, status=status, headers=headers_of(found.row.etag))


def _patch(body: ScorePatchBody) -> ScorePatch:
    return ScorePatch(
        title=body.title,
        composer=body.composer,
        description=body.description,
        tags=body.tags,
        access=body.access,
        movements=None if body.movements is None else _movements(body.movements),
        parts=None if body.parts is None else _parts(body.parts),
        jumps=None if body.jumps is None else _jumps(body.jumps),
    )


def _movements(bodies: Sequence[MovementBody]) -> list[Movement]:
    return [Movement(name=each.name, page_id=PageId(each.page_id)) for each in bodies]


def _parts(bodies: Sequence[PartBody]) -> list[NewPart]:
    return [NewPart(part_id=each.part_id, name=each.name, page_ids=each.page_ids) for each in bodies]


def _jumps(bodies: Sequence[JumpBody]) -> list[Jump]:
    return [
        Jump(
            page_id=PageId(each.page_id),
            x=each.x,
            y=each.y,
            to_page_id=PageId(each.to_page_id),
            to_y=each.to_y,
            label=each.label,
        )
        for each in bodies
    ]
