"""Scores over HTTP, one file per subject."""

from satchel.edge.api.endpoints import Router
from satchel.features.scores.routes import (
    score_contents,
    score_export,
    score_layouts,
    score_marks,
    score_shares,
    score_snapshots,
    scores,
)
from satchel.features.scores.service.context import Scores


def routes(context: Scores) -> list[Router]:
    return [
        scores.routes(context),
        score_contents.routes(context),
        score_export.routes(context),
        score_layouts.routes(context),
        score_marks.routes(context),
        score_shares.routes(context),
        score_snapshots.routes(context),
    ]
