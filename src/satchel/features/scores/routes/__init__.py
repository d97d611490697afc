"""Scores over HTTP, one file per subject."""

import asyncio

from satchel.edge.api.endpoints import Router
from satchel.features.scores.routes import (
    score_contents,
    score_export,
    score_layouts,
    score_marks,
    score_shares,
    score_snapshots,
    scores,
    set_list_shares,
    set_lists,
)
from satchel.features.scores.service.context import Scores


def routes(context: Scores) -> list[Router]:
    exports = asyncio.Semaphore(score_export.AT_ONCE)
    return [
        scores.routes(context),
        score_contents.routes(context),
        score_export.routes(context, exports),
        score_layouts.routes(context),
        score_marks.routes(context),
        score_shares.routes(context),
        score_snapshots.routes(context),
        set_lists.routes(context, exports),
        set_list_shares.routes(context),
    ]
