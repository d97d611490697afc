"""What clients see of scores."""

from collections.abc import Mapping

import msgspec

from satchel.features.scores.item_records import ImportRow, ItemEntry, ItemsRow, pictured
from satchel.features.scores.layer_records import LayerRow
from satchel.features.scores.mark import MarkView, mark_view
from satchel.features.scores.model import (
    KINDS,
    PICTURED,
    Access,
    ImportState,
    ItemId,
    ItemKind,
    LinkTarget,
    Role,
    ScoreId,
    StoredAccess,
    link_target_of,
    public_id,
)
from satchel.features.scores.records import Jump, Movement, Part, ScoreCardRow, SnapshotEntry
from satchel.features.scores.service.context import Scores
from satchel.features.scores.service.mark_read import Marked
from satchel.features.scores.service.page_import import list_imports
from satchel.features.scores.service.photo_straighten import photos_of
from satchel.features.scores.service.score_find import Found
from satchel.features.scores.service.score_list import ListedScore, Usage
from satchel.features.scores.service.visitor_view import VisitorView
from satchel.kernel.clock import iso
from satchel.media.pictures import Pictured, PictureView


class ScoreItemView(msgspec.Struct, frozen=True, kw_only=True):
    """A stored file of a score. What is at its address never changes. `photo_id`: the photo that it straightens."""

    item_id: str
    kind: ItemKind
    name: str
    size_bytes: int
    picture: PictureView | None
    photo_id: str | None = None


class ScorePageView(msgspec.Struct, frozen=True, kw_only=True):
    """A page: what it shows, and by how many degrees that is turned."""

    page_id: int
    name: str
    rotation: int
    item: ScoreItemView | None


class MovementView(msgspec.Struct, frozen=True, kw_only=True):
    """Where a movement begins."""

    name: str
    page_id: int


class ScorePartView(msgspec.Struct, frozen=True, kw_only=True):
    """What one instrument plays. Without pages, it plays from all. `link_thing` is what a link to it names."""

    part_id: int
    name: str
    page_ids: list[int]
    link_thing: str


class JumpView(msgspec.Struct, frozen=True, kw_only=True):
    """A place that leads to another one, in ten-thousandths of a page."""

    page_id: int
    x: int
    y: int
    to_page_id: int
    to_y: int
    label: str


class LayerView(msgspec.Struct, frozen=True, kw_only=True):
    """A layer of marks. `seq` counts its changes."""

    layer_id: int
    name: str
    author_id: str
    author_name: str
    part_id: int | None
    published: bool
    seq: int
    marks: int


class SnapshotView(msgspec.Struct, frozen=True, kw_only=True):
    """A state of a score that was kept. `link_thing` is what a link to it names, which then never changes."""

    snapshot_id: str
    name: str
    created_at: str
    link_thing: str


class ImportView(msgspec.Struct, frozen=True, kw_only=True):
    """A file of which pages are made. If none can be, `problem` is the slug and `reason` the sentence that says why."""

    import_id: str
    item_id: str
    name: str
    state: ImportState
    pages_done: int
    pages_total: int | None
    problem: str
    reason: str


class ScoreView(msgspec.Struct, frozen=True, kw_only=True):
    """A score, and what you are in it. `etag` is the state that a change has to name, `link_thing` what a link names.

    To visitors of a link, the ids of people are empty, and there are neither snapshots nor imports.
    """

    score_id: str
    owner_id: str
    owner_name: str
    role: Role
    etag: str
    title: str
    composer: str
    description: str
    tags: list[str]
    access: Access
    created_at: str
    changed_at: str
    pages: list[ScorePageView]
    movements: list[MovementView]
    parts: list[ScorePartView]
    jumps: list[JumpView]
    layers: list[LayerView]
    snapshots: list[SnapshotView]
    imports: list[ImportView]
    marks: list[MarkView] | None
    link_thing: str


class ScoreCoverView(msgspec.Struct, frozen=True, kw_only=True):
    """The item of the first page of a score."""

    item_id: str
    kind: ItemKind
    picture: PictureView | None


class ScoreCard(msgspec.Struct, frozen=True, kw_only=True):
    """A score in a list. `cover` is its first page. `has_news`: others have marked it since you looked last."""

    score_id: str
    owner_id: str
    owner_name: str
    role: Role
    title: str
    composer: str
    tags: list[str]
    pages: int
    access: Access
    created_at: str
    changed_at: str
    cover: ScoreCoverView | None
    has_news: bool


class ScoreUsage(msgspec.Struct, frozen=True, kw_only=True):
    """What you have, and how much you may have; null is no limit."""

    scores: int
    scores_limit: int | None
    items: int
    size_bytes: int
    size_limit: int | None


class ScoreList(msgspec.Struct, frozen=True):
    """Scores by title, and what you have."""

    scores: list[ScoreCard]
    usage: ScoreUsage


class ScoreItemList(msgspec.Struct, frozen=True):
    """All items of a score, also those that no page shows."""

    items: list[ScoreItemView]


class ScoreMarks(msgspec.Struct, frozen=True):
    """The layers that you see, and their marks."""

    layers: list[LayerView]
    marks: list[MarkView]


async def score_view(
    scores: Scores,
    found: Found,
    items: ItemsRow,
    layers: list[LayerRow],
    marks: list[Marked] | None = None,
    *,
    for_stranger: bool = False,
) -> ScoreView:
    row, data, extra = found.row, found.row.data, found.extra
    shown = {page.item_id for page in data.pages}
    views = await item_views(scores, items, [each for each in items.items if each.item_id in shown])
    return ScoreView(
        score_id=public_id(row.score_id),
        owner_id="" if for_stranger else row.owner,
        owner_name=await name_of(scores, row.owner),
        role=found.role,
        etag="" if for_stranger else row.etag,
        title=data.title,
        composer=extra.composer,
        description=data.description,
        tags=extra.tags,
        access=_access(row.access),
        created_at=time_of(row.created_at),
        changed_at=time_of(row.changed_at),
        pages=[
            ScorePageView(page_id=page.page_id, name=page.name, rotation=page.rotation, item=views.get(page.item_id))
            for page in data.pages
        ],
        movements=[_movement(each) for each in extra.movements],
        parts=[_part(row.score_id, each) for each in extra.parts],
        jumps=[_jump(each) for each in extra.jumps],
        layers=await layer_views(scores, layers, for_stranger=for_stranger),
        snapshots=[snapshot_view(row.score_id, each) for each in row.snapshots],
        imports=[] if for_stranger else [_import(each) for each in await list_imports(scores, found)],
        marks=None if marks is None else mark_views(marks),
        link_thing=link_target_of(LinkTarget(row.score_id)),
    )


async def visitor_score_view(scores: Scores, shown: VisitorView, items: ItemsRow) -> ScoreView:
    """For whoever has only a link."""
    view = await score_view(scores, shown.found, items, shown.layers, shown.marks, for_stranger=True)
    return msgspec.structs.replace(view, link_thing=link_target_of(shown.target))


async def layer_views(scores: Scores, layers: list[LayerRow], *, for_stranger: bool = False) -> list[LayerView]:
    names = {author: await name_of(scores, author) for author in {layer.author for layer in layers}}
    return [
        LayerView(
            layer_id=layer.layer_id,
            name=layer.name,
            author_id="" if for_stranger else layer.author,
            author_name=names[layer.author],
            part_id=layer.part_id,
            published=layer.is_published,
            seq=layer.seq,
            marks=layer.count,
        )
        for layer in layers
    ]


def snapshot_view(score_id: ScoreId, entry: SnapshotEntry) -> SnapshotView:
    return SnapshotView(
        snapshot_id=public_id(entry.snapshot_id),
        name=entry.name,
        created_at=time_of(entry.created_at),
        link_thing=link_target_of(LinkTarget(score_id, snapshot_id=entry.snapshot_id)),
    )


def mark_views(marks: list[Marked]) -> list[MarkView]:
    return [mark_view(each.mark_id, each.mark) for each in marks]


async def item_views(scores: Scores, items: ItemsRow, wanted: list[ItemEntry]) -> dict[str, ScoreItemView]:
    """By item id, in the order wanted."""
    place = (items.owner, items.score_id)
    sources = {each.item_id: pictured(*place, each.item_id, each.kind) for each in wanted}
    raster = [sources[each.item_id] for each in wanted if each.kind in PICTURED]
    pictures = await scores.pictures.describe(raster)
    photos = photos_of(items)
    return {
        each.item_id: _item(each, pictures.get(sources[each.item_id].key), photos.get(each.item_id)) for each in wanted
    }


async def card_views(scores: Scores, listed: list[ListedScore]) -> list[ScoreCard]:
    owners = {each.card.owner for each in listed}
    names = {owner: await name_of(scores, owner) for owner in owners}
    covers = [_source(each.card) for each in listed if each.card.cover and each.card.cover_kind in PICTURED]
    pictures = await scores.pictures.describe(covers)
    return [_card(each, names[each.card.owner], pictures) for each in listed]


def usage_view(scores: Scores, usage: Usage) -> ScoreUsage:
    return ScoreUsage(
        scores=usage.scores,
        scores_limit=scores.most_scores or None,
        items=usage.items,
        size_bytes=usage.size_bytes,
        size_limit=scores.most_bytes or None,
    )


async def name_of(scores: Scores, user_id: str) -> str:
    """Empty for somebody who has no account any more."""
    person = await scores.people.by_id(user_id)
    return "" if person is None else person.name


def time_of(milliseconds: int) -> str:
    return iso(milliseconds / 1000)


def _import(row: ImportRow) -> ImportView:
    return ImportView(
        import_id=public_id(row.item_id),
        item_id=public_id(row.item_id),
        name=row.name,
        state=row.state,
        pages_done=row.done,
        pages_total=row.total,
        problem=row.problem,
        reason=row.reason,
    )


def _access(stored: StoredAccess) -> Access:
    return "public" if stored == "pu" else "private"


def _item(entry: ItemEntry, picture: PictureView | None, photo: ItemId | None) -> ScoreItemView:
    return ScoreItemView(
        item_id=public_id(entry.item_id),
        kind=KINDS[entry.kind],
        name=entry.name,
        size_bytes=entry.size_bytes,
        picture=picture,
        photo_id=None if photo is None else public_id(photo),
    )


def _source(card: ScoreCardRow) -> Pictured:
    return pictured(card.owner, card.score_id, card.cover, card.cover_kind)


def _card(listed: ListedScore, owner_name: str, pictures: Mapping[str, PictureView]) -> ScoreCard:
    card = listed.card
    cover = None
    if card.cover:
        picture = pictures.get(_source(card).key)
        cover = ScoreCoverView(item_id=public_id(card.cover), kind=KINDS[card.cover_kind], picture=picture)
    return ScoreCard(
        score_id=public_id(card.score_id),
        owner_id=card.owner,
        owner_name=owner_name,
        role=listed.role,
        title=card.title,
        composer=card.composer,
        tags=card.tags,
        pages=card.pages,
        access=_access(card.access),
        created_at=time_of(card.created_at),
        changed_at=time_of(card.changed_at),
        cover=cover,
        has_news=listed.has_news,
    )


def _movement(each: Movement) -> MovementView:
    return MovementView(name=each.name, page_id=each.page_id)


def _part(score_id: ScoreId, each: Part) -> ScorePartView:
    thing = link_target_of(LinkTarget(score_id, part_id=each.part_id))
    return ScorePartView(part_id=each.part_id, name=each.name, page_ids=[*each.page_ids], link_thing=thing)


def _jump(each: Jump) -> JumpView:
    return JumpView(
        page_id=each.page_id, x=each.x, y=each.y, to_page_id=each.to_page_id, to_y=each.to_y, label=each.label
    )
