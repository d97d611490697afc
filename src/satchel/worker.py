"""`satchel worker`: folds clicks where servers share tables; makes pictures and pages where they share all stores.

Any number of workers can run.
"""

import asyncio
import logging
import secrets
import signal
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta

from satchel.config import Settings
from satchel.edge.http.logs import start_journal
from satchel.features.accounts.adapters import PeopleFinder, ScopeGrants
from satchel.features.clicks.events import NOTIFIED_EVERY_SECONDS, OwnerNotifier
from satchel.features.clicks.service.click_record import create_total
from satchel.features.clicks.service.streamed.publication import notify_owners, publish, publisher_lease
from satchel.features.clicks.service.streamed.rebuild import SETTLING, count_doubtful_days, doubt_lost_days
from satchel.features.clicks.service.streamed.stream_fold import CONSUMER, MOST_CHANGES, Fold, check_positions
from satchel.features.scores.limits import ScoreLimits
from satchel.features.scores.service.context import Scores
from satchel.features.scores.service.page_import import IMPORTS_EVERY, run_imports
from satchel.kernel.clock import Clock, system_clock
from satchel.kernel.errors import SatchelError, Unavailable
from satchel.kernel.events import Events
from satchel.kernel.ids import new_id
from satchel.kernel.signature import MIN_SECRET_BYTES, Signer
from satchel.media.picture_maker import PictureMaker
from satchel.media.pictures import Pictures
from satchel.media.score_pages import ScorePages
from satchel.setup_check import refuse_flaws, table_checks
from satchel.slices import PICTURED
from satchel.stores.connect import open_ephemeral, open_objects, open_tables
from satchel.stores.consumer import POSITIONS, Consumer
from satchel.stores.ports.ephemeral import Ephemeral
from satchel.stores.ports.table import MAX_TRANSACTION_ITEMS, PositionLost, Tables
from satchel.tables import CLICKS, COUNTS, FOLLOWED_CLICKS, SELF_TEST

PUBLISHED_EVERY = timedelta(seconds=1)
# How long to wait before reading again, after an empty stream and after an error.
_IDLE = timedelta(seconds=1)
_AFTER_ERROR = timedelta(seconds=2)
_LOGGED_EVERY = timedelta(minutes=1)

_log = logging.getLogger("satchel.worker")


class NothingToDo(SatchelError):
    """The server itself folds clicks in tables of this kind."""


@dataclass(frozen=True, slots=True)
class WorkerPlatform:
    """The stores and settings of a worker."""

    tables: Tables
    ephemeral: Ephemeral
    clock: Clock
    kept_for: timedelta | None


class Worker:
    """Follows the clicks' stream, publishes the sums, and notifies owners."""

    def __init__(
        self,
        platform: WorkerPlatform,
        *,
        most_writes: int = MAX_TRANSACTION_ITEMS,
        settling: timedelta = SETTLING,
        name: str | None = None,
    ) -> None:
        name = name or new_id(platform.clock)
        self._platform = platform
        self._most_writes = most_writes
        self._settling = settling
        self._fold = Fold(platform.tables, platform.clock, most_writes=most_writes)
        self._consumer = Consumer(
            tables=platform.tables, table=CLICKS, name=CONSUMER, worker=name, clock=platform.clock
        )
        self._publisher = publisher_lease(platform.tables, platform.clock, name)
        self._notifier = OwnerNotifier(platform.ephemeral, platform.clock)
        self._taken = 0

    async def fold_some(self) -> int:
        """Read the stream once; how many changes were folded."""
        try:
            taken = await self._consumer.consume(self._fold, limit=MOST_CHANGES)
        except PositionLost:
            await doubt_lost_days(self._platform, self._consumer)
            return await self._recount()
        finally:
            self._fold.folded.settle()
        self._taken += taken
        return taken

    async def publish(self) -> int:
        return await publish(self._platform.tables, self._publisher)

    async def notify(self) -> None:
        folded = self._fold.folded
        if folded.has_grown:
            owners, folded.owners, folded.has_grown = folded.owners, set(), False
            await notify_owners(self._platform.tables, self._platform.clock, self._notifier, owners)

    async def catch_up(self) -> int:
        """Fold and publish everything there is, then leave; how many changes that was."""
        await create_total(self._platform)
        await self._recount()
        while await self.fold_some():
            pass
        await self.publish()
        await self.notify()
        await self.leave()
        return self._taken

    async def work(self, stopping: asyncio.Event) -> None:
        """Work until told to stop, whatever goes wrong."""
        await create_total(self._platform)
        rounds = (
            _again(lambda: self._fold_all(stopping), _IDLE, stopping),
            _again(self.publish, PUBLISHED_EVERY, stopping),
            _again(self.notify, timedelta(seconds=NOTIFIED_EVERY_SECONDS), stopping),
            _again(self._recount, _LOGGED_EVERY, stopping),
            _again(self._log_progress, _LOGGED_EVERY, stopping),
        )
        await asyncio.gather(*rounds)
        await self.leave()

    async def leave(self) -> None:
        """Release the position and the lease, so that other workers need not wait for them to end."""
        await self._consumer.release()
        await self._publisher.release()
        await self._notifier.close()

    async def _fold_all(self, stopping: asyncio.Event) -> None:
        while await self.fold_some() and not stopping.is_set():
            pass

    async def _recount(self) -> int:
        return await count_doubtful_days(self._platform, most_writes=self._most_writes, settling=self._settling)

    async def _log_progress(self) -> None:
        behind = round(self._fold.folded.seconds_behind, 1)
        _log.info("clicks folded", extra={"changes": self._taken, "seconds_behind": behind})
        self._taken = 0


async def _again(do: Callable[[], Awaitable[object]], every: timedelta, stopping: asyncio.Event) -> None:
    while not stopping.is_set():
        pause = every
        try:
            await do()
        except SatchelError as error:
            # The store is unreachable or overloaded. Nothing is lost: the next read begins at the position.
            _log.warning("work was put off: %s", error.detail)
            pause = _AFTER_ERROR
        with suppress(TimeoutError):
            await asyncio.wait_for(stopping.wait(), pause.total_seconds())


@asynccontextmanager
async def opened(settings: Settings, clock: Clock = system_clock) -> AsyncGenerator[WorkerPlatform]:
    """The stores that a worker needs. If it does not share the servers' ephemeral store, it notifies nobody."""
    if settings.has_one_writer:
        raise NothingToDo(
            "There is nothing for a worker to do: with SQLite the server itself counts clicks. "
            "Workers are for tables on DynamoDB (--table dynamodb://…)."
        )
    async with AsyncExitStack() as stack:
        tables = await open_tables(settings, clock)
        stack.push_async_callback(tables.close)
        ephemeral = await open_ephemeral(settings, clock)
        stack.push_async_callback(ephemeral.close)
        if missing := await tables.missing(FOLLOWED_CLICKS, COUNTS, POSITIONS, SELF_TEST):
            raise Unavailable(f"Run `satchel tables create` first. Missing: {', '.join(missing)}.")
        await refuse_flaws(table_checks(settings, tables))
        await check_positions(tables, clock)
        kept_for = timedelta(days=settings.clicks_kept) if settings.clicks_kept else None
        yield WorkerPlatform(tables, ephemeral, clock, kept_for)


@dataclass(frozen=True, slots=True)
class MediaWork:
    """What makes pictures, and scores whose files become pages."""

    maker: PictureMaker
    scores: Scores

    async def make_all(self) -> None:
        """Everything that waits. Pages have pictures, too."""
        imports = 0
        while done := await run_imports(self.scores):
            imports += done
        _log.info("media made", extra={"imports": imports, "pictures": await self.maker.make_all()})

    async def work(self, stopping: asyncio.Event) -> None:
        await asyncio.gather(self.maker.run(), _again(lambda: run_imports(self.scores), IMPORTS_EVERY, stopping))


@asynccontextmanager
async def media_work(settings: Settings, platform: WorkerPlatform) -> AsyncGenerator[MediaWork | None]:
    """None where a store belongs to the server alone, which then makes pictures and pages itself."""
    if not settings.shares_all_stores:
        _log.info("pictures are made by the servers, since this worker cannot reach all of their stores")
        yield None
        return
    # S3 signs its links itself.
    objects = await open_objects(settings, platform.clock, Signer(secrets.token_bytes(MIN_SECRET_BYTES)))
    pictures = Pictures(platform.tables, objects, platform.ephemeral, platform.clock)
    maker, pages = PictureMaker(pictures, PICTURED), ScorePages(objects)
    scores = Scores(
        tables=platform.tables,
        objects=objects,
        ephemeral=platform.ephemeral,
        clock=platform.clock,
        grants=ScopeGrants(platform.tables, platform.clock),
        people=PeopleFinder(platform),
        pictures=pictures,
        events=Events(),
        limits=ScoreLimits(platform.ephemeral),
        pages=pages,
        most_writes=settings.most_writes,
        most_scores=settings.score_limit,
        most_bytes=settings.score_quota,
    )
    try:
        yield MediaWork(maker, scores)
    finally:
        await pages.close()
        await maker.stop()
        await objects.close()


async def run(settings: Settings, *, once: bool) -> None:
    """Work until SIGTERM or SIGINT; or, `once`, until there is nothing left to do."""
    start_journal(settings.log_format, settings.log_level)
    async with opened(settings) as platform, media_work(settings, platform) as media:
        worker = Worker(platform, most_writes=settings.most_writes)
        if once:
            _log.info("clicks folded", extra={"changes": await worker.catch_up()})
            if media is not None:
                await media.make_all()
            return
        stopping = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, stopping.set)
        _log.info("folding clicks" if media is None else "folding clicks, making pictures and pages of scores")
        making = None if media is None else asyncio.create_task(media.work(stopping), name="media")
        await worker.work(stopping)
        if making is not None:
            making.cancel()
            await asyncio.gather(making, return_exceptions=True)
        _log.info("stopped")
