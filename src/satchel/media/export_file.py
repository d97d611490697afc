"""Collects what an annotated PDF is made of in one file without a name, for the process that writes it."""

import asyncio
import os
import tempfile
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import BinaryIO

from satchel.kernel.errors import TooLarge
from satchel.media.export_plan import (
    MAX_EXPORT_BYTES,
    MAX_EXPORT_PAGES,
    MAX_SOURCE_BYTES,
    ExportPage,
    ExportPlan,
    PlannedPage,
    encode_plan,
)
from satchel.media.source_file import MAX_MEMORY_BYTES
from satchel.stores.ports.objects import Objects


class ExportTooLarge(TooLarge):
    """The document would be larger than one may be. Export fewer pages at a time."""

    slug = "export-too-large"
    title = "This is too much for one PDF"


@asynccontextmanager
async def collected(
    objects: Objects, title: str, composer: str, pages: Sequence[ExportPage]
) -> AsyncGenerator[tuple[BinaryIO, int, int]]:
    """The file, how many bytes it has, and how many of these are the plan. An image that comes twice is in it once."""
    if len(pages) > MAX_EXPORT_PAGES:
        raise ExportTooLarge(f"These are {len(pages)} pages. A PDF has at most {MAX_EXPORT_PAGES}; export fewer.")
    places: dict[str, tuple[int, int]] = {}
    total = 0
    for key in dict.fromkeys(page.key for page in pages):
        length = (await objects.head(key)).size_bytes
        places[key] = (total, length)
        total += length
    if total > MAX_EXPORT_BYTES:
        raise ExportTooLarge("These pages have too many bytes for one PDF. Export fewer.")
    for key in dict.fromkeys(page.source_key for page in pages if page.source_key):
        length = (await objects.head(key)).size_bytes
        # Where there is no room for a source, the images of its pages are shown.
        if length <= MAX_SOURCE_BYTES and total + length <= MAX_EXPORT_BYTES:
            places[key] = (total, length)
            total += length
    planned = [PlannedPage(*places[page.key], page, *places.get(page.source_key, (0, 0))) for page in pages]
    plan = encode_plan(ExportPlan(title=title, composer=composer, pages=planned))
    in_memory = total + len(plan) <= MAX_MEMORY_BYTES
    file: BinaryIO = os.fdopen(os.memfd_create("export"), "w+b") if in_memory else tempfile.TemporaryFile()  # noqa: SIM115
    with file:
        file.write(plan)
        for key in places:
            async with objects.read(key) as reading:
                async for piece in reading:
                    await asyncio.to_thread(file.write, piece)
        file.flush()
        yield file, len(plan) + total, len(plan)
