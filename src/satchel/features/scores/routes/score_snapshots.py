"""Snapshots of scores: make, open, delete, restore and compare them; and what is new since you looked."""

from typing import Annotated, Literal

import msgspec
from starlette.requests import Request

from satchel.edge.api.endpoints import Body, Query, Reply, Router
from satchel.edge.api.idempotency_key import idempotency_key_of
from satchel.edge.http.callers import Member
from satchel.features.scores.mark import MarkView, mark_view
from satchel.features.scores.model import (
    EtagMissing,
    ScoreChanged,
    ScoreId,
    ScoreLocked,
    ScoreUnknown,
    SnapshotUnknown,
    TooManySnapshots,
    public_id,
    read_id,
)
from satchel.features.scores.routes.score_etag import ANSWERS, SENDS, etag_of
from satchel.features.scores.routes.scores import Anybody, PartName, score_reply, viewer_of
from satchel.features.scores.routes.views import (
    ScoreView,
    SnapshotView,
    mark_views,
    name_of,
    score_view,
    snapshot_view,
    time_of,
)
from satchel.features.scores.service import score_compare, score_news, snapshot_change, snapshot_content
from satchel.features.scores.service.context import Scores
from satchel.features.scores.service.mark_read import Marked, visible_layers
from satchel.features.scores.service.page_set import read_items
from satchel.features.scores.service.score_compare import ChangedMark
from satchel.kernel.errors import Forbidden

Moment = Annotated[str, msgspec.Meta(max_length=64)]


class SnapshotBody(Body, frozen=True, kw_only=True):
    """What to call it."""

    name: PartName


class CompareQuery(Query, frozen=True, kw_only=True):
    """Two states, each the id of a snapshot, or `now`."""

    start: Moment = msgspec.field(name="from")
    end: Moment = msgspec.field(name="to", default="now")


class PageChangeView(msgspec.Struct, frozen=True, kw_only=True):
    """A page that differs, and what it showed and shows."""

    page_id: int
    change: Literal["added", "removed", "replaced", "moved"]
    from_item: str | None
    to_item: str | None


class MarkChangeView(msgspec.Struct, frozen=True, kw_only=True):
    """A mark that differs, and whose it is."""

    change: Literal["added", "removed", "changed"]
    page_id: int
    layer_id: int
    author_id: str
    author_name: str
    before: MarkView | None
    after: MarkView | None


class ComparisonView(msgspec.Struct, frozen=True, kw_only=True):
    """What differs. `title` has both, if they differ."""

    title: list[str] | None
    pages: list[PageChangeView]
    marks: list[MarkChangeView]


class ScoreNewsView(msgspec.Struct, frozen=True, kw_only=True):
    """Marks of others that are new or changed since you looked, and whether pages or anything else have changed."""

    since: str | None
    marks: list[MarkView]
    structure: bool


def routes(scores: Scores) -> Router:
    router = Router("scores")

    @router.post(
        "/scores/{score_id}/snapshots",
        status=201,
        raises=(ScoreUnknown, Forbidden, ScoreLocked, TooManySnapshots, SnapshotUnknown),
        sends={"Idempotency-Key": "letters, digits, - and _: a retry with the same key keeps one snapshot"},
    )
    async def create_snapshot(member: Member, score_id: str, body: SnapshotBody, request: Request) -> SnapshotView:
        """Keep the score as it is now, under a name."""
        kept = await snapshot_change.create_snapshot(
            scores, viewer_of(member), score_id, body.name, idempotency_key=idempotency_key_of(request)
        )
        return snapshot_view(ScoreId(read_id(score_id) or ""), kept)

    @router.get("/scores/{score_id}/snapshots/{snapshot_id}", raises=(ScoreUnknown, SnapshotUnknown), whole_list=True)
    async def read_snapshot(caller: Anybody, score_id: str, snapshot_id: str) -> ScoreView:
        """Read a score as it was, with the marks that you may see. It cannot be changed."""
        viewer = viewer_of(caller)
        found, content = await snapshot_change.read_snapshot(scores, viewer, score_id, snapshot_id)
        then = snapshot_content.as_found(found, content)
        layers = visible_layers(snapshot_content.layer_rows(found, content), viewer)
        marks = snapshot_content.kept_marks(found, content, viewer)
        return await score_view(scores, then, await read_items(scores, found), layers, marks)

    @router.delete("/scores/{score_id}/snapshots/{snapshot_id}", raises=(ScoreUnknown, Forbidden, SnapshotUnknown))
    async def delete_snapshot(member: Member, score_id: str, snapshot_id: str) -> None:
        """Delete a snapshot. The score itself stays as it is."""
        await snapshot_change.delete_snapshot(scores, viewer_of(member), score_id, snapshot_id)

    @router.post(
        "/scores/{score_id}/snapshots/{snapshot_id}/restore",
        raises=(ScoreUnknown, Forbidden, SnapshotUnknown, TooManySnapshots, EtagMissing, ScoreChanged, ScoreLocked),
        sends=SENDS,
        answers=ANSWERS,
    )
    async def restore_snapshot(member: Member, score_id: str, snapshot_id: str, request: Request) -> Reply[ScoreView]:
        """Let the score be what it was. What it is now becomes a snapshot first; layers that you do not see stay."""
        viewer = viewer_of(member)
        etag = etag_of(request)
        after = await snapshot_change.restore_snapshot(scores, viewer, score_id, etag, snapshot_id)
        return await score_reply(scores, viewer, after)

    @router.get("/scores/{score_id}/compare", raises=(ScoreUnknown, SnapshotUnknown), whole_list=True)
    async def compare_score(caller: Anybody, score_id: str, query: CompareQuery) -> ComparisonView:
        """Compare two states of a score: pages and marks that were added, removed and changed, and by whom."""
        found = await score_compare.compare(scores, viewer_of(caller), score_id, query.start, query.end)
        names = {author: await name_of(scores, author) for author in {each.author for each in found.marks}}
        return ComparisonView(
            title=None if found.title is None else [*found.title],
            pages=[
                PageChangeView(
                    page_id=each.page_id,
                    change=each.change,
                    from_item=None if each.before is None else public_id(each.before),
                    to_item=None if each.after is None else public_id(each.after),
                )
                for each in found.pages
            ],
            marks=[_changed(each, names[each.author]) for each in found.marks],
        )

    @router.get("/scores/{score_id}/news", raises=(ScoreUnknown,))
    async def read_news(member: Member, score_id: str) -> ScoreNewsView:
        """Read what others have marked and changed since you looked last."""
        news = await score_news.read_news(scores, viewer_of(member), score_id)
        since = None if news.since is None else time_of(news.since)
        return ScoreNewsView(since=since, marks=mark_views(news.marks), structure=news.is_restructured)

    @router.put("/scores/{score_id}/news", status=204, raises=(ScoreUnknown,))
    async def note_look(member: Member, score_id: str) -> None:
        """Say that you have seen everything that is there now."""
        await score_news.note_look(scores, viewer_of(member), score_id)

    return router


def _changed(each: ChangedMark, author_name: str) -> MarkChangeView:
    shown = each.after or each.before
    assert shown is not None
    mark = shown.mark
    return MarkChangeView(
        change=each.change,
        page_id=mark.page_id,
        layer_id=mark.layer_id,
        author_id=each.author,
        author_name=author_name,
        before=_view(each.before),
        after=_view(each.after),
    )


def _view(marked: Marked | None) -> MarkView | None:
    return None if marked is None else mark_view(marked.mark_id, marked.mark)
