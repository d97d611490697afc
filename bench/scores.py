"""Pages of PDFs: an import as the server does it, beside a loop of bare pypdfium2 and Pillow, at the same size.

Both are measured by their processor time: the import uses two processes, the loop one.
"""

import asyncio
import secrets
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path

from bench import scores_open
from bench.figures import Figure, Sample, alone, at_least, below, compare
from bench.processes import cpu_seconds, output_of, scratch_folder
from bench.rounds import Effort, in_turn
from satchel.config import Settings
from satchel.kernel.clock import system_clock
from satchel.kernel.signature import Signer
from satchel.media.score_pages import ExportPage, MadePage, PageOptions, PageSource, ScorePages
from satchel.stores.connect import open_objects
from satchel.stores.ports.objects import Objects, SmallObject
from tests.media.made_scores import musicxml, scanned_pdf

_WIDTH = PageOptions().width
_BARS, _QUICK_BARS = 900, 200
# As wide as a scanner at 300 dpi makes A4.
_SCANNED_SCALE = 2480 / 595
# How often somebody else wants a turn of the server's event loop meanwhile.
_TURN_SECONDS = 0.002


async def measure(effort: Effort) -> list[Figure]:
    figures: list[Figure] = []
    turns: list[float] = []
    with scratch_folder() as folder:
        settings = Settings(data=folder / "data", secret=secrets.token_hex(32))
        objects = await open_objects(settings, system_clock, Signer(settings.secret.encode()))
        pages = ScorePages(objects)
        try:
            drawn = await _drawn(objects, pages, _BARS if effort.rounds > 2 else _QUICK_BARS)
            scanned = await asyncio.to_thread(scanned_pdf, drawn, _SCANNED_SCALE)
            for name, content in (("drawn", drawn), ("scanned", scanned)):
                figures.append(await _compared(objects, pages, folder / f"{name}.pdf", content, effort, turns))
        finally:
            await pages.close()
            await objects.close()
    late = sorted(turns)[int(len(turns) * 0.99)] * 1000
    note = "how much later than asked for, in the process that hands the pages on."
    turn = alone("a turn of the loop meanwhile, p99", "ms", [late], target=below(100.0), note=note)
    return [*figures, turn, *await scores_open.measure(effort)]


async def _compared(
    objects: Objects, pages: ScorePages, file: Path, content: bytes, effort: Effort, turns: list[float]
) -> Figure:
    await asyncio.to_thread(file.write_bytes, content)
    await objects.put(f"bench/{file.name}", _pieces(content))
    source = PageSource(f"bench/{file.name}", file.name, "pdf")
    await _import(pages, source, [])  # so that the processes have loaded their libraries
    contestants = {"satchel": lambda: _import(pages, source, turns), "pypdfium2": lambda: _bare(file)}
    samples = await in_turn(f"scores, {file.stem}", effort.rounds, contestants)
    what = f"{samples['satchel'][0].work:.0f} {file.stem} pages, {_WIDTH} pixels wide"
    return compare(what, "pages per CPU second", samples, peer="pypdfium2", target=at_least(0.8))


async def _pieces(content: bytes) -> AsyncGenerator[bytes]:
    yield content


async def _drawn(objects: Objects, pages: ScorePages, bars: int) -> bytes:
    """A PDF of engraved music."""
    await objects.put_many([SmallObject("bench/music", musicxml(("Flute", "Viola", "Cello"), bars=bars))])
    plan: list[ExportPage] = []
    async with aclosing(pages.make(PageSource("bench/music", "music.musicxml", "musicxml"))) as making:
        async for made in making:
            if isinstance(made, MadePage):
                await objects.put_many([SmallObject(f"bench/{made.number}", made.body)])
                plan.append(ExportPage(key=f"bench/{made.number}", kind=made.kind))
    async with aclosing(pages.export("Music", "", plan)) as pieces:
        return b"".join([piece async for piece in pieces])


async def _import(pages: ScorePages, source: PageSource, turns: list[float]) -> Sample:
    used, count = _used(pages), 0
    watch = asyncio.create_task(_watch(turns))
    try:
        async with aclosing(pages.make(source)) as making:
            async for made in making:
                count += isinstance(made, MadePage)
    finally:
        watch.cancel()
    return Sample(count, _used(pages) - used)


def _used(pages: ScorePages) -> float:
    """Processor time of this process and those that render."""
    return time.process_time() + sum(cpu_seconds(child.process_id) for child in pages.children if child.process_id)


async def _watch(turns: list[float]) -> None:
    while True:
        asked = time.perf_counter()
        await asyncio.sleep(_TURN_SECONDS)
        turns.append(max(0.0, time.perf_counter() - asked - _TURN_SECONDS))


async def _bare(file: Path) -> Sample:
    count, seconds = (await output_of(sys.executable, "-m", "bench.scores_bare", str(file), str(_WIDTH))).split()
    return Sample(float(count), float(seconds))
