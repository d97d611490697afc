"""Sheet music in the process that decodes: pages of PDFs, engraved notation, photos of pages.

Every answer is handed to `send` as soon as it is there: the first page can be looked at before the last is made.
Each library is loaded for the first job that needs it.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any, BinaryIO

from satchel.media.decoders.scores.refusal import ScoreRefused
from satchel.media.score_jobs import (
    DoneAnswer,
    ExportJob,
    FactsJob,
    PagesJob,
    PlaybackJob,
    Refused,
    ScoreAnswer,
    ScoreJob,
)

Send = Callable[[ScoreAnswer], None]

_REASON_CHARACTERS = 300


def make_scores(file: BinaryIO, size_bytes: int, job: ScoreJob, send: Send) -> ScoreAnswer:
    """Work on one job, and say how it ended."""
    try:
        _module(job).work(file, size_bytes, job, send)
    except ScoreRefused as error:
        return Refused(slug=error.slug, reason=error.reason)
    except ModuleNotFoundError as error:
        return Refused(
            slug="score-broken", reason=f"This server cannot read such files: {error.name} is not installed."
        )
    except MemoryError:
        return Refused(slug="score-too-large", reason="The file needs more memory than a document may.")
    except Exception as error:  # noqa: BLE001 -- every library has errors of its own, and the file is to blame
        detail = f"{type(error).__name__}: {error}"[:_REASON_CHARACTERS]
        return Refused(slug="score-broken", reason=f"The file could not be read ({detail}).")
    return DoneAnswer()


def _module(job: ScoreJob) -> Any:
    if isinstance(job, ExportJob):
        return import_module("satchel.media.decoders.pdf_export")
    if isinstance(job, FactsJob | PagesJob | PlaybackJob):
        name = "pdf_pages" if job.kind == "pdf" else "engraver"
    else:
        name = "page_photo"
    return import_module(f"satchel.media.decoders.scores.{name}")
