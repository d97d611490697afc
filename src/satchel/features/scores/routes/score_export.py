"""A score as a PDF, with the marks that you see."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from starlette.requests import Request
from starlette.responses import Response

from satchel.edge.api.endpoints import Router
from satchel.edge.files.pictures import BYTES
from satchel.edge.files.streamed_file import StreamedFile
from satchel.features.scores.model import ScoreUnknown
from satchel.features.scores.routes.score_layouts import LAYOUT_REFUSALS, LayoutOptions
from satchel.features.scores.routes.scores import Anybody, asker_of
from satchel.features.scores.service.context import Scores
from satchel.features.scores.service.score_export import NoPages, PartUnknown, export_score
from satchel.media.export_file import ExportTooLarge

# Each has a process of its own. Others wait.
AT_ONCE = 2


class ExportQuery(LayoutOptions, frozen=True, kw_only=True):
    """Only the pages of one part, or engraved music laid out anew for one instrument; with or without marks."""

    part: int | None = None
    marks: bool = True


def routes(scores: Scores, places: asyncio.Semaphore) -> Router:
    router = Router("scores")

    @router.get(
        "/scores/{score_id}/export",
        produces=BYTES,
        raises=(ScoreUnknown, PartUnknown, NoPages, ExportTooLarge, *LAYOUT_REFUSALS),
    )
    async def export(caller: Anybody, score_id: str, query: ExportQuery, request: Request) -> Response:
        """Export a score as a PDF: its pages, or those of one part, with the marks that you see on them."""
        viewer = asker_of(caller, request)
        made = await export_score(
            scores, viewer, score_id, part_id=query.part, with_marks=query.marks, choice=query.choice
        )
        pieces = in_place(places, made.pieces)
        first = await anext(pieces)
        return StreamedFile(f"{made.name}.pdf", "application/pdf", first, pieces)

    return router


async def in_place(places: asyncio.Semaphore, pieces: AsyncGenerator[bytes]) -> AsyncGenerator[bytes]:
    """The pieces of a document, when there is a place for it."""
    async with places, aclosing(pieces):
        async for piece in pieces:
            yield piece
