"""What lists show of a score, kept in step with the score by every transaction that changes it."""

from satchel.features.scores.model import ItemId
from satchel.features.scores.records import ScoreCardRow, ScoreExtraRow, ScoreRow


def card_of(row: ScoreRow, extra: ScoreExtraRow) -> ScoreCardRow:
    pages = row.data.pages
    return ScoreCardRow(
        owner=row.owner,
        score_id=row.score_id,
        title=row.data.title,
        composer=extra.composer,
        tags=extra.tags,
        access=row.access,
        pages=len(pages),
        cover=pages[0].item_id if pages else ItemId(""),
        cover_kind=pages[0].kind if pages else "p",
        created_at=row.created_at,
        changed_at=row.changed_at,
    )
