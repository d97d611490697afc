"""What is new in a score since somebody looked last: marks of others, and whether its structure has changed."""

from dataclasses import dataclass

from satchel.features.scores.layer_records import SCORE_SEEN, ScoreSeenRow
from satchel.features.scores.service.context import Scores
from satchel.features.scores.service.mark_read import Marked, visible_layers, visible_marks
from satchel.features.scores.service.score_find import Viewer, read_whole


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
