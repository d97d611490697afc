"""Pages of a PDF, by PDFium."""

import ctypes
import mmap
from collections.abc import Callable, Generator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, BinaryIO

from satchel.media.decoders.scores.page_image import encoded
from satchel.media.decoders.scores.refusal import ScoreRefused
from satchel.media.decoders.vips_library import packed
from satchel.media.score_jobs import (
    MAX_PAGES,
    FactsAnswer,
    FactsJob,
    MadePage,
    PageAnswer,
    PagesJob,
    ScoreAnswer,
    SourceFacts,
)
from satchel.media.score_titles import tidy, worth

_pdfium: Any = import_module("pypdfium2")
_raw: Any = import_module("pypdfium2.raw")

MAX_BYTES = 512 * 1024 * 1024
# A page may be a long strip, but not a bomb.
MAX_PIXELS = 24_000_000
MAX_EDGE = 8_192
MAX_MOVEMENTS = 100


def work(file: BinaryIO, size_bytes: int, job: FactsJob | PagesJob, send: Callable[[ScoreAnswer], None]) -> None:
    with document_of(file, size_bytes) as document:
        if isinstance(job, FactsJob):
            send(FactsAnswer(facts=_facts(document)))
            return
        for number in range(job.first, len(document), job.step):
            send(PageAnswer(page=_page(document, number, job.options.width)))


@contextmanager
def document_of(file: BinaryIO, size_bytes: int) -> Generator[Any]:
    """The open document. Its bytes are read from the file as they are needed."""
    if not 0 < size_bytes <= MAX_BYTES:
        raise ScoreRefused("score-too-large", f"The PDF has {size_bytes} bytes. At most {MAX_BYTES} are read.")
    # Private to us, so that the library can have it as a writable buffer without a copy.
    mapped = mmap.mmap(file.fileno(), size_bytes, access=mmap.ACCESS_COPY)
    data = (ctypes.c_ubyte * size_bytes).from_buffer(mapped)
    try:
        document = _pdfium.PdfDocument(data)
    except _pdfium.PdfiumError as error:
        raise _refusal(getattr(error, "err_code", None)) from error
    try:
        if len(document) == 0:
            raise ScoreRefused("score-broken", "The PDF has no page.")
        yield document
    finally:
        document.close()


def _refusal(code: int | None) -> ScoreRefused:
    if code in (_raw.FPDF_ERR_PASSWORD, _raw.FPDF_ERR_SECURITY):
        return ScoreRefused(
            "score-encrypted", "The PDF is locked with a password. Save a copy without one, and add that."
        )
    return ScoreRefused("score-broken", "The PDF is damaged. Open it in another program, and save it anew.")


def _facts(document: Any) -> SourceFacts:
    pages = len(document)
    if pages > MAX_PAGES:
        raise ScoreRefused(
            "score-too-many-pages", f"The PDF has {pages} pages. A score has at most {MAX_PAGES}; split it."
        )
    metadata = document.get_metadata_dict()
    return SourceFacts(
        pages=pages,
        title=worth(metadata.get("Title", "")),
        composer=tidy(metadata.get("Author", "")),
        movements=_movements(document, pages),
    )


def _movements(document: Any, pages: int) -> list[tuple[str, int]]:
    """Bookmarks of the first level."""
    found: list[tuple[str, int]] = []
    for bookmark in document.get_toc(max_depth=1):
        target = bookmark.get_dest()
        page = None if target is None else target.get_index()
        name = tidy(bookmark.get_title())
        if page is not None and 0 <= page < pages and name:
            found.append((name[:64], page))
        if len(found) == MAX_MOVEMENTS:
            break
    return found


def _page(document: Any, number: int, wanted: int) -> MadePage:
    try:
        page = document[number]
    except _pdfium.PdfiumError as error:
        raise ScoreRefused("score-broken", f"Page {number + 1} of the PDF is damaged.") from error
    try:
        width, height = page.get_size()
        if not (width > 0 and height > 0):
            raise ScoreRefused("score-broken", f"Page {number + 1} of the PDF has no size.")
        # Blue comes first here. Most pages are grey, and need no other order.
        bitmap = page.render(scale=_scale(width, height, wanted), may_draw_forms=False)
        bands = bitmap.n_channels
        pixels = packed(memoryview(bitmap.buffer).cast("B"), bitmap.width, bitmap.height, bands, bitmap.stride)
        kind, body = encoded(pixels, bitmap.width, bitmap.height, bands, blue_first=True)
        return MadePage(number=number, kind=kind, body=body, width=bitmap.width, height=bitmap.height)
    finally:
        page.close()


def _scale(width: float, height: float, wanted: int) -> float:
    scale = min(wanted / width, MAX_EDGE / max(width, height))
    return min(scale, (MAX_PIXELS / (width * height)) ** 0.5)
