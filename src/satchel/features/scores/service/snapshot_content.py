"""What a snapshot keeps of a score, as one object: all that the score says and shows, and all marks of all layers."""

import msgspec

from satchel.features.scores.layer_records import LayerRow
from satchel.features.scores.mark import read_mark
from satchel.features.scores.model import Etag, OwnerId, PageId, ScoreId, SnapshotId, SnapshotUnknown
from satchel.features.scores.records import Jump, Movement, PageEntry, Part, ScoreExtraRow, ScoreRow, snapshot_key
from satchel.features.scores.service.annotations import join
from satchel.features.scores.service.context import Scores
from satchel.features.scores.service.mark_read import Marked, may_see
from satchel.features.scores.service.score_find import Found, Viewer, WholeScore
from satchel.stores.ports.objects import ObjectMissing, SmallObject

replace = msgspec.structs.replace


class KeptLayer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A layer as it was."""

    layer_id: int
    name: str
    author: OwnerId
    part_id: int | None = None
    is_published: bool = False
    created_at: int = 0


class KeptMark(msgspec.Struct, frozen=True, array_like=True):
    """The text of a mark, and its id."""

    mark_id: int
    text: str


class SnapshotContent(msgspec.Struct, frozen=True, kw_only=True):
    """A score as it was. What is private in it is still only for its author."""

    title: str
    description: str
    composer: str = ""
    tags: list[str] = msgspec.field(default_factory=list[str])
    pages: list[PageEntry]
    movements: list[Movement] = msgspec.field(default_factory=list[Movement])
    parts: list[Part] = msgspec.field(default_factory=list[Part])
    jumps: list[Jump] = msgspec.field(default_factory=list[Jump])
    layers: list[KeptLayer] = msgspec.field(default_factory=list[KeptLayer])
    marks: list[KeptMark] = msgspec.field(default_factory=list[KeptMark])
    changed_at: int = 0


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(SnapshotContent).decode


def content_of(whole: WholeScore) -> SnapshotContent:
    row, extra = whole.found.row, whole.found.extra
    texts = ((entry.annotation_id, join(entry, whole.chunks)) for entry in row.data.annotations)
    return SnapshotContent(
        title=row.data.title,
        description=row.data.description,
        composer=extra.composer,
        tags=extra.tags,
        pages=row.data.pages,
        movements=extra.movements,
        parts=extra.parts,
        jumps=extra.jumps,
        layers=[_kept(layer) for layer in whole.layers],
        marks=[KeptMark(mark_id, text) for mark_id, text in texts if text is not None],
        changed_at=row.changed_at,
    )


async def put_content(scores: Scores, found: Found, snapshot_id: SnapshotId, content: SnapshotContent) -> None:
    key = snapshot_key(found.owner, found.score_id, snapshot_id)
    await scores.objects.put_many([SmallObject(key, _encode(content), "application/json")])


async def get_content(scores: Scores, owner: OwnerId, score_id: ScoreId, snapshot_id: SnapshotId) -> SnapshotContent:
    try:
        async with scores.objects.read(snapshot_key(owner, score_id, snapshot_id)) as reading:
            return _decode(b"".join([piece async for piece in reading]))
    except ObjectMissing:
        raise SnapshotUnknown("This score has no such snapshot.") from None


def as_found(found: Found, content: SnapshotContent) -> Found:
    """The score as it was, which nobody can change."""
    data = replace(
        found.row.data,
        title=content.title,
        description=content.description,
        pages=content.pages,
        page_count=len(content.pages),
    )
    row: ScoreRow = replace(found.row, data=data, etag=Etag(""), changed_at=content.changed_at)
    extra: ScoreExtraRow = replace(
        found.extra,
        composer=content.composer,
        tags=content.tags,
        movements=content.movements,
        parts=content.parts,
        jumps=content.jumps,
    )
    return Found(row=row, extra=extra, role="reader")


def layer_rows(found: Found, content: SnapshotContent) -> list[LayerRow]:
    return [
        LayerRow(
            owner=found.owner,
            score_id=found.score_id,
            layer=f"{each.layer_id:05d}",
            name=each.name,
            author=each.author,
            part_id=each.part_id,
            is_published=each.is_published,
            count=sum(read_mark(mark.text).layer_id == each.layer_id for mark in content.marks),
            created_at=each.created_at,
        )
        for each in content.layers
    ]


def kept_marks(found: Found, content: SnapshotContent, viewer: Viewer) -> list[Marked]:
    """Those that the viewer sees, on pages of the snapshot."""
    layers = {layer.layer_id for layer in layer_rows(found, content) if may_see(layer, viewer)}
    pages: set[PageId] = {page.page_id for page in content.pages}
    marks = [Marked(each.mark_id, read_mark(each.text)) for each in content.marks]
    return [each for each in marks if each.mark.layer_id in layers and each.mark.page_id in pages]


def _kept(layer: LayerRow) -> KeptLayer:
    return KeptLayer(
        layer_id=layer.layer_id,
        name=layer.name,
        author=layer.author,
        part_id=layer.part_id,
        is_published=layer.is_published,
        created_at=layer.created_at,
    )
