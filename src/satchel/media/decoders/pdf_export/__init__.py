"""Writes annotated PDFs: images and pages of PDFs pass through as they are; engraved pages and ink stay lines.

Text that Western fonts have is text in Helvetica or Times, which every reader has. Any other text is drawn by Pango
with the fonts of this machine, and put in as a fine image that carries its words, so that it can be copied.
"""

import mmap
from collections.abc import Callable
from typing import BinaryIO

from satchel.media.decoders.decoded import mapped
from satchel.media.decoders.pdf_export.export_page import PlacedImage, write_page
from satchel.media.decoders.pdf_export.pdf_writer import PdfWriter
from satchel.media.decoders.pdf_export.vector_pages import VectorPages
from satchel.media.export_plan import ExportPlan, decode_plan
from satchel.media.score_jobs import BytesAnswer, ExportJob, ScoreAnswer

_PIECE_BYTES = 256 * 1024


def work(file: BinaryIO, size_bytes: int, job: ExportJob, send: Callable[[ScoreAnswer], None]) -> None:
    data = mapped(file, size_bytes)
    plan = decode_plan(data[: job.plan_bytes])
    waiting = bytearray()

    def write(piece: bytes) -> None:
        waiting.extend(piece)
        if len(waiting) >= _PIECE_BYTES:
            send(BytesAnswer(body=bytes(waiting)))
            waiting.clear()

    writer = PdfWriter(write)
    # A page that comes several times has its image once.
    images: dict[int, PlacedImage] = {}
    sources = _sources(writer, plan, data, job.plan_bytes)
    for planned in plan.pages:
        source = sources.get(planned.source_start) if planned.source_length else None
        vector = None if source is None else source.page(planned.page.source_page)
        write_page(writer, planned, data, job.plan_bytes, images, vector)
    writer.finish(plan.title, plan.composer)
    send(BytesAnswer(body=bytes(waiting)))


def _sources(writer: PdfWriter, plan: ExportPlan, data: mmap.mmap, start: int) -> dict[int, VectorPages]:
    """The PDFs that pages are of, by where they are."""
    wanted: dict[tuple[int, int], list[int]] = {}
    for planned in plan.pages:
        if planned.source_length:
            wanted.setdefault((planned.source_start, planned.source_length), []).append(planned.page.source_page)
    return {
        place: VectorPages(writer, data[start + place : start + place + length], sorted(set(numbers)))
        for (place, length), numbers in wanted.items()
    }
