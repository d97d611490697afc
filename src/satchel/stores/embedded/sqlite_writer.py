"""The one writer of an SQLite file: without it every small write would wait for a flush of its own.

Writes that come while another is being flushed are carried out together in the next transaction (group commit), and
every caller is answered only after that transaction is durable.
"""

import asyncio
import logging
import sqlite3
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, TypeAlias, TypeVar

from satchel.kernel.errors import OutOfSpace, SatchelError, Unavailable

T = TypeVar("T")
Step: TypeAlias = Callable[[sqlite3.Connection], T]

# Bounds how long one transaction keeps the rest waiting, and how many wait in the queue.
LARGEST_BATCH = 256
LONGEST_QUEUE = 1024
BUSY_SECONDS = 5.0
# Of each connection; the kernel keeps the file in memory as well.
CACHE_BYTES = 4 * 1024 * 1024
# After so many pages the log is written into the file: seldom enough that a page which changes often goes there once.
PAGES_IN_LOG = 4000
# What the log is cut back to after a large transaction.
LARGEST_LOG_BYTES = 64 * 1024 * 1024

log = logging.getLogger(__name__)


def connect(path: Path, *, read_only: bool = False, busy_seconds: float = BUSY_SECONDS) -> sqlite3.Connection:
    """A connection on which transactions begin and end only where we say so."""
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={'ro' if read_only else 'rw'}",
        uri=True,
        timeout=busy_seconds,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=512,
    )
    connection.execute(f"PRAGMA cache_size = -{CACHE_BYTES // 1024}")
    return connection


def translated(error: sqlite3.Error | OSError, path: Path) -> SatchelError:
    """An SQLite error as one of our own. Its detail does not say where the file is, because strangers may read it."""
    log.error("%s: %s", path, error)
    match getattr(error, "sqlite_errorname", "").split("_")[1:]:
        case ["FULL", *_]:
            return OutOfSpace("The disk of the data file is full. Free some space, then try again.")
        case ["BUSY" | "LOCKED", *_]:
            return Unavailable("Another process keeps the data file locked. Stop it, or try again later.")
        case ["READONLY", *_]:
            return Unavailable("The data file cannot be written to. Give the server write access to it and its folder.")
        case ["NOTADB" | "CORRUPT" | "FORMAT", *_]:
            return Unavailable(
                "The data file is damaged, or no SQLite file. Restore it from a backup, or move it away."
            )
        case _:
            return Unavailable("The data file cannot be used. Check its folder, its permissions and the disk.")


@dataclass(slots=True)
class _Job:
    """A step, the future that its caller awaits, and what came of it."""

    step: Step[Any]
    future: asyncio.Future[Any]
    undoable: bool
    result: Any = None
    error: BaseException | None = None


class SqliteWriter:
    """Runs steps in write transactions on a thread of its own; made by `open`."""

    def __init__(self, path: Path, schema: Step[None], at_start: Step[None] | None) -> None:
        self._path = path
        self._schema = schema
        self._at_start = at_start
        self._loop = asyncio.get_running_loop()
        self._queue: SimpleQueue[_Job | None] = SimpleQueue()
        self._waiting = 0
        self._room = asyncio.Event()
        self._closing = False
        self._connection: sqlite3.Connection | None = None
        self._thread = threading.Thread(target=self._work, name=f"writer of {path.name}", daemon=True)

    @classmethod
    async def open(cls, path: Path, schema: Step[None], *, at_start: Step[None] | None = None) -> "SqliteWriter":
        """Open or make the file, for this user alone.

        `schema` runs in a transaction whenever the file is opened, so it has to bear repetition; `at_start` runs at the
        start of every other transaction, before its steps, and only reads.
        """
        writer = cls(path, schema, at_start)
        writer._thread.start()
        try:
            await writer.run(lambda _: None)
        except (OutOfSpace, Unavailable) as error:
            await writer.close()
            cause = getattr(error.__cause__, "strerror", None) or error.__cause__
            # The operator opens the store, and may know where the file is.
            raise type(error)(f"{path}: {error.detail} ({cause})") from error.__cause__
        except BaseException:
            writer._end()
            raise
        return writer

    async def run(self, step: Step[T], *, undoable: bool = False) -> T:
        """The result of the step, once its transaction is durable.

        A step that raises must have changed nothing, or be `undoable`, which costs a savepoint; its neighbours in the
        transaction are not affected. The step runs to its end even if the caller is cancelled.
        """
        while self._waiting >= LONGEST_QUEUE:
            self._room.clear()
            await self._room.wait()
        if self._closing:
            raise Unavailable("The store is closed.")
        job = _Job(step, self._loop.create_future(), undoable)
        self._waiting += 1
        self._queue.put(job)
        return await job.future

    async def close(self) -> None:
        """Finish what was accepted, then close the file. Repeating it is safe."""
        self._end()
        await asyncio.to_thread(self._thread.join)

    def _end(self) -> None:
        if not self._closing:
            self._closing = True
            self._queue.put(None)

    def _answer(self, batch: list[_Job]) -> None:
        self._waiting -= len(batch)
        self._room.set()
        for job in batch:
            if job.future.done():  # its task was cancelled
                continue
            if job.error is None:
                job.future.set_result(job.result)
            else:
                job.future.set_exception(job.error)

    # From here on, in the writer's thread.

    def _work(self) -> None:
        while batch := self._next_batch():
            try:
                self._carry_out(self._connected(), batch)
            except Exception as error:  # noqa: BLE001  # a dead writer would leave its callers waiting for ever
                self._disconnect()
                for job in batch:
                    job.error = self._failure(error)
            # A closed loop has nobody left to answer.
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._answer, batch)
        self._disconnect()

    def _connected(self) -> sqlite3.Connection:
        if self._connection is None:
            self._path.touch(mode=0o600)
            self._connection = connection = connect(self._path)
            connection.execute("PRAGMA page_size = 8192")
            if connection.execute("PRAGMA journal_mode = WAL").fetchone()[0] != "wal":
                raise sqlite3.OperationalError("its file system cannot keep a write-ahead log")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute(f"PRAGMA wal_autocheckpoint = {PAGES_IN_LOG}")
            connection.execute(f"PRAGMA journal_size_limit = {LARGEST_LOG_BYTES}")
            connection.execute("BEGIN IMMEDIATE")
            self._schema(connection)
            connection.execute("COMMIT")
        return self._connection

    def _disconnect(self) -> None:
        """Close the file, which undoes what is not committed; the next batch opens it afresh."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(sqlite3.Error):
                connection.close()

    def _failure(self, error: Exception) -> Exception:
        if not isinstance(error, sqlite3.Error | OSError):
            return error
        failure = translated(error, self._path)
        failure.__cause__ = error
        return failure

    def _next_batch(self) -> list[_Job]:
        """All that waits now, at least one; nothing once the writer is to end."""
        batch: list[_Job] = []
        job = self._queue.get()
        try:
            while job is not None:
                batch.append(job)
                if len(batch) == LARGEST_BATCH:
                    return batch
                job = self._queue.get_nowait()
        except Empty:
            return batch
        if batch:
            self._queue.put(None)  # for the next time
        return batch

    def _carry_out(self, connection: sqlite3.Connection, batch: list[_Job]) -> None:
        connection.execute("BEGIN IMMEDIATE")
        if self._at_start is not None:
            self._at_start(connection)
        # A step that is alone is undone with its transaction; a savepoint makes large ones a tenth slower.
        among_others = len(batch) > 1
        for job in batch:
            _run(connection, job, savepoint=job.undoable and among_others)
        undone = not among_others and batch[0].undoable and batch[0].error is not None
        connection.execute("ROLLBACK" if undone else "COMMIT")


def _run(connection: sqlite3.Connection, job: _Job, *, savepoint: bool) -> None:
    if savepoint:
        connection.execute("SAVEPOINT step")
    try:
        job.result = job.step(connection)
    except (sqlite3.Error, OSError):
        raise
    except Exception as error:  # noqa: BLE001  # it belongs to whoever awaits this step
        job.error = error
        if savepoint:
            connection.execute("ROLLBACK TO step")
    if savepoint:
        connection.execute("RELEASE step")
