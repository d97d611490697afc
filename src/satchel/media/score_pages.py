"""Pages of sheet music, made of stored files in processes that can be killed. The server itself decodes nothing.

A PDF is rendered by two processes at once, every other page by each. Engraved music is laid out by one.
"""

import asyncio
import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from datetime import timedelta
from typing import BinaryIO

import msgspec

from satchel.kernel.errors import Invalid
from satchel.media.child import Child, ChildDied, ChildTooLarge, ChildTooSlow
from satchel.media.export_file import collected
from satchel.media.export_plan import ExportPage, Ink
from satchel.media.score_jobs import (
    MAX_PAGES,
    BytesAnswer,
    ExportJob,
    FactsAnswer,
    FactsJob,
    MadePage,
    PageAnswer,
    PageOptions,
    PagesJob,
    PlaybackJob,
    Refusal,
    Refused,
    ScoreAnswer,
    ScoreJob,
    SourceFacts,
    SourceKind,
    StraightenJob,
)
from satchel.media.score_kinds import HEAD_BYTES, source_kind
from satchel.media.score_titles import guess_title
from satchel.media.source_file import opened
from satchel.stores.ports.objects import Objects

__all__ = [
    "HEAD_BYTES",
    "MAX_PAGES",
    "ExportPage",
    "Ink",
    "MadePage",
    "PageOptions",
    "PageSource",
    "PagesRefused",
    "ScorePages",
    "SourceFacts",
    "SourceKind",
    "guess_title",
    "refusal_of",
    "source_kind",
]

MOST_CHILDREN = 2
# The process has a limit of its own for the time that it computes. This one is for a machine that does not stand still.
TIME_LIMIT = timedelta(seconds=60)
IDLE_LIMIT = timedelta(seconds=60)


class PageSource(msgspec.Struct, frozen=True):
    """A stored object, the name of the file that it is, and what kind of file."""

    key: str
    name: str
    kind: SourceKind


class PagesRefused(Invalid):
    """No pages can be made of a file. The sentence says what to do with it."""

    slug = "score-broken"
    title = "No pages can be made of this file"


class PagesEncrypted(PagesRefused):
    """The file is locked with a password. A copy without one can be added."""

    slug = "score-encrypted"
    title = "This file is locked"


class PagesTooMany(PagesRefused):
    """The file has more pages than a score may have. It can be split."""

    slug = "score-too-many-pages"
    title = "Too many pages"


class PagesTooLarge(PagesRefused):
    """The file needs more memory than a document may."""

    slug = "score-too-large"
    title = "This file is too large"


class PagesTooSlow(PagesRefused):
    """The file took longer than a document may."""

    slug = "score-too-slow"
    title = "This file takes too long"


_REFUSALS: dict[Refusal, type[PagesRefused]] = {
    "score-broken": PagesRefused,
    "score-encrypted": PagesEncrypted,
    "score-too-many-pages": PagesTooMany,
    "score-too-large": PagesTooLarge,
    "score-too-slow": PagesTooSlow,
}


def refusal_of(slug: str, reason: str) -> PagesRefused:
    """A refusal that was told before."""
    return next((kind for known, kind in _REFUSALS.items() if known == slug), PagesRefused)(reason)


class ScorePages:
    """A few processes, each used by one job at a time. They start for the first jobs, and end when there are none."""

    def __init__(
        self,
        objects: Objects,
        children: int | None = None,
        *,
        time_limit: timedelta = TIME_LIMIT,
        idle_limit: timedelta = IDLE_LIMIT,
    ) -> None:
        count = children or min(MOST_CHILDREN, os.cpu_count() or 1)
        self._objects = objects
        self._idle_limit = idle_limit
        self.children = [Child(time_limit) for _ in range(count)]
        self._free: asyncio.LifoQueue[Child] = asyncio.LifoQueue()
        for child in self.children:
            self._free.put_nowait(child)
        self._idle: asyncio.TimerHandle | None = None

    async def make(
        self, source: PageSource, options: PageOptions | None = None, first: int = 0
    ) -> AsyncGenerator[SourceFacts | MadePage]:
        """What the source says of itself, then its pages in order, from `first` on. Close the generator."""
        wanted = options or PageOptions()
        if source.kind == "pdf":
            async with aclosing(self._render(source, wanted, first)) as pages:
                async for made in pages:
                    yield made
        else:
            async with aclosing(self._engrave(source, wanted, first)) as pages:
                async for made in pages:
                    yield made

    async def playback(self, source: PageSource, options: PageOptions | None = None) -> bytes:
        """What a player needs of engraved music, as JSON: notes, and where the cursor is when."""
        job = PlaybackJob(kind=source.kind, options=options or PageOptions())
        body = bytearray()
        async with self._reserved() as child, aclosing(self._answers(child, source.key, job)) as answers:
            async for answer in answers:
                if isinstance(answer, BytesAnswer):
                    body += answer.body
        return bytes(body)

    async def straighten(self, key: str) -> MadePage:
        """A photo of a page, upright and cropped. If no page is found in it, it is as it was."""
        async with (
            self._reserved() as child,
            aclosing(self._answers(child, key, StraightenJob())) as answers,
        ):
            async for answer in answers:
                if isinstance(answer, PageAnswer):
                    return answer.page
        raise AssertionError("the process answered nothing")

    async def export(self, title: str, composer: str, pages: Sequence[ExportPage]) -> AsyncGenerator[bytes]:
        """A PDF of these pages with the marks on them, in pieces. Close the generator."""
        async with collected(self._objects, title, composer, pages) as (file, size_bytes, plan_bytes):
            job = ExportJob(plan_bytes=plan_bytes)
            async with self._reserved() as child, aclosing(_heard(child, file, size_bytes, job)) as answers:
                async for answer in answers:
                    if isinstance(answer, BytesAnswer):
                        yield answer.body

    async def close(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
        await asyncio.gather(*(child.stop() for child in self.children))

    async def _render(
        self, source: PageSource, options: PageOptions, first: int
    ) -> AsyncGenerator[SourceFacts | MadePage]:
        async with AsyncExitStack() as stack:
            children = [await stack.enter_async_context(self._reserved())]
            facts = await self._facts(children[0], source, options)
            yield _named(facts, source.name)
            # Whatever is free helps. Nobody is waited for.
            while len(children) < min(MOST_CHILDREN, facts.pages - first) and not self._free.empty():
                children.append(await stack.enter_async_context(self._reserved()))
            streams = [
                await stack.enter_async_context(
                    aclosing(
                        self._answers(
                            child,
                            source.key,
                            PagesJob(kind="pdf", first=first + place, step=len(children), options=options),
                        )
                    )
                )
                for place, child in enumerate(children)
            ]
            async for page in await stack.enter_async_context(aclosing(_in_turn(streams, facts.pages - first))):
                yield page

    async def _facts(self, child: Child, source: PageSource, options: PageOptions) -> SourceFacts:
        async with aclosing(self._answers(child, source.key, FactsJob(kind=source.kind, options=options))) as answers:
            found = [answer.facts async for answer in answers if isinstance(answer, FactsAnswer)]
        return found[0]

    async def _engrave(
        self, source: PageSource, options: PageOptions, first: int
    ) -> AsyncGenerator[SourceFacts | MadePage]:
        job = PagesJob(kind=source.kind, first=first, options=options)
        async with self._reserved() as child, aclosing(self._answers(child, source.key, job)) as answers:
            async for answer in answers:
                match answer:
                    case FactsAnswer(facts=facts):
                        yield _named(facts, source.name)
                    case PageAnswer(page=page):
                        yield page
                    case _:
                        pass

    @asynccontextmanager
    async def _reserved(self) -> AsyncGenerator[Child]:
        """A process that nobody else uses meanwhile."""
        child = await self._free.get()
        if self._idle is not None:
            self._idle.cancel()
        try:
            yield child
        finally:
            self._free.put_nowait(child)
            loop = asyncio.get_running_loop()
            self._idle = loop.call_later(self._idle_limit.total_seconds(), self._end_idle)

    def _end_idle(self) -> None:
        if self._free.qsize() == len(self.children):
            for child in self.children:
                child.end()

    async def _answers(self, child: Child, key: str, job: ScoreJob) -> AsyncGenerator[ScoreAnswer]:
        async with (
            self._objects.read(key) as reading,
            opened(reading) as file,
            aclosing(_heard(child, file, reading.length, job)) as answers,
        ):
            async for answer in answers:
                yield answer


async def _heard(child: Child, file: BinaryIO, size_bytes: int, job: ScoreJob) -> AsyncGenerator[ScoreAnswer]:
    """The answers of the process. A refusal is raised."""
    try:
        async with aclosing(child.make_scores(file.fileno(), size_bytes, job)) as answers:
            async for answer in answers:
                if isinstance(answer, Refused):
                    raise _REFUSALS[answer.slug](answer.reason)
                yield answer
    except ChildTooSlow as error:
        raise PagesTooSlow("The file took too long to be read. Save it anew in a simpler form.") from error
    except ChildTooLarge as error:
        raise PagesTooLarge(
            "Reading the file needs more memory than a document may. Save it anew in a simpler form."
        ) from error
    except ChildDied as error:
        raise PagesRefused(
            "Reading the file failed. It may be too large, or unlike what other programs write. Save it anew."
        ) from error


async def _in_turn(streams: Sequence[AsyncGenerator[ScoreAnswer]], count: int) -> AsyncGenerator[MadePage]:
    """The first page of each stream, then the second of each. All of them work meanwhile."""
    steps = [asyncio.ensure_future(anext(stream)) for stream in streams]
    try:
        for number in range(max(count, 0)):
            place = number % len(streams)
            answer = await steps[place]
            steps[place] = asyncio.ensure_future(anext(streams[place]))
            if isinstance(answer, PageAnswer):
                yield answer.page
        await asyncio.gather(*steps)
    finally:
        for step in steps:
            step.cancel()
        await asyncio.gather(*steps, return_exceptions=True)


def _named(facts: SourceFacts, name: str) -> SourceFacts:
    """What the source does not say of itself, its name may."""
    title, composer = guess_title(name)
    return msgspec.structs.replace(facts, title=facts.title or title, composer=facts.composer or composer)
