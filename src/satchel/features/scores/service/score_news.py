"""What is new in a score since somebody looked last: marks of others, and whether its structure has changed.

Lists only say whether there is something new. For that, each score has one small row about its published layers.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from satchel.features.scores.layer_records import SCORE_NEWS, SCORE_SEEN, LayerRow, ScoreSeenRow
from satchel.features.scores.model import OwnerId, ScoreId
from satchel.features.scores.service.context import Scores
from satchel.features.scores.service.mark_read import Marked, visible_layers, visible_marks
from satchel.features.scores.service.score_find import Viewer, read_whole
from satchel.stores.ports.expressions import Action, assign, remove
from satchel.stores.ports.table import Item, Update

_PAGE = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreNews:
    """Since a moment; None if they never looked."""

    since: int | None
    marks: list[Marked]
    is_restructured: bool


async def read_news(scores: Scores, viewer: Viewer, public: str) -> ScoreNews:
    whole = await read_whole(scores, viewer, public)
    row = whole.found.row
    seen = await SCORE_SEEN.get(scores.tables, person=viewer.user_id, score_id=row.score_id)
    known = {} if seen is None else seen.layers
    own = {layer.layer_id for layer in whole.layers if layer.author == viewer.user_id}
    marks = [
        each
        for each in visible_marks(whole, viewer)
        if each.mark.layer_id not in own and each.mark.seq > known.get(str(each.mark.layer_id), 0)
    ]
    return ScoreNews(
        since=None if seen is None else seen.at,
        marks=marks,
        is_restructured=seen is not None and seen.etag != row.etag,
    )


async def note_look(scores: Scores, viewer: Viewer, public: str) -> None:
    """From now on, what is there now is not new."""
    whole = await read_whole(scores, viewer, public)
    row = whole.found.row
    seen = ScoreSeenRow(
        person=viewer.user_id,
        score_id=row.score_id,
        at=scores.now(),
        etag=row.etag,
        layers={str(layer.layer_id): layer.seq for layer in visible_layers(whole.layers, viewer)},
    )
    await scores.tables.put(SCORE_SEEN.table, SCORE_SEEN.item(seen))


async def with_news(
    scores: Scores, viewer: Viewer, listed: Sequence[tuple[OwnerId, ScoreId]]
) -> set[tuple[OwnerId, ScoreId]]:
    """Those of these scores in which others have marked something since the viewer looked. Reads no marks."""
    if not listed:
        return set()
    keys = [SCORE_NEWS.key(owner=owner, score_id=score_id) for owner, score_id in listed]
    rows = await scores.tables.get_many(SCORE_NEWS.table, keys)
    seen = await _seen_by(scores, viewer) if any(rows) else {}
    return {
        which
        for which, row in zip(listed, rows, strict=True)
        if row is not None and _is_new(row, viewer, seen.get(which[1], {}))
    }


def news_of(layers: Sequence[LayerRow], gone: Sequence[LayerRow] = ()) -> Update | None:
    """To be written together with a change of layers of one score. None if nobody but their authors sees them."""
    actions: list[Action] = [
        assign(_attribute(layer), {"q": layer.seq, "w": layer.author}) for layer in layers if layer.is_published
    ]
    actions += [remove(_attribute(layer)) for layer in gone]
    if not actions:
        return None
    score = [*layers, *gone][0]
    return SCORE_NEWS.update(actions, owner=score.owner, score_id=score.score_id)


def _attribute(layer: LayerRow) -> str:
    return f"l{layer.layer}"


def _is_new(row: Item, viewer: Viewer, seen: dict[str, int]) -> bool:
    layers = ((str(int(name[1:])), each) for name, each in row.items() if name[1:].isdigit())
    return any(each["w"] != viewer.user_id and each["q"] > seen.get(layer, 0) for layer, each in layers)


async def _seen_by(scores: Scores, viewer: Viewer) -> dict[ScoreId, dict[str, int]]:
    found: dict[ScoreId, dict[str, int]] = {}
    partition, cursor = SCORE_SEEN.keys["o"].render({"person": viewer.user_id}), None
    while True:
        page = await scores.tables.query(SCORE_SEEN.table, partition, limit=_PAGE, cursor=cursor)
        found |= {row.score_id: row.layers for row in map(SCORE_SEEN.read, page.items)}
        if (cursor := page.cursor) is None:
            return found
