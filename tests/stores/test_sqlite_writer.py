"""The writer of an SQLite file: durable answers, shared transactions, and health after every kind of trouble."""

import asyncio
import sqlite3
import stat
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from satchel.kernel.errors import Invalid, OutOfSpace, Unavailable
from satchel.stores.embedded.sqlite_writer import LONGEST_QUEUE, SqliteWriter, connect


def make_table(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE IF NOT EXISTS t (n INTEGER PRIMARY KEY, content BLOB)")


def inserting(n: int, content: bytes = b"", *, then: Exception | None = None) -> Callable[[sqlite3.Connection], int]:
    def step(connection: sqlite3.Connection) -> int:
        connection.execute("INSERT INTO t VALUES (?, ?)", (n, content))
        if then is not None:
            raise then
        return n

    return step


def refusing(connection: sqlite3.Connection) -> None:
    assert connection.in_transaction
    raise Invalid("not like this")


def rows(path: Path) -> list[int]:
    connection = connect(path, read_only=True)
    try:
        return [n for (n,) in connection.execute("SELECT n FROM t ORDER BY n")]
    finally:
        connection.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "file.sqlite"


@pytest.fixture
async def writer(path: Path) -> AsyncIterator[SqliteWriter]:
    writer = await SqliteWriter.open(path, make_table)
    yield writer
    await writer.close()


async def test_the_result_of_a_step_comes_once_others_can_read_it(writer: SqliteWriter, path: Path) -> None:
    assert await writer.run(inserting(7)) == 7
    assert rows(path) == [7]


async def test_every_commit_is_flushed_and_the_file_is_for_this_user_alone(writer: SqliteWriter, path: Path) -> None:
    def settings(connection: sqlite3.Connection) -> tuple[str, int]:
        names = ("journal_mode", "synchronous")
        mode, synchronous = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names)
        return mode, synchronous

    assert await writer.run(settings) == ("wal", 2)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


async def test_steps_that_wait_together_share_a_transaction(path: Path) -> None:
    begun: list[int] = []
    writer = await SqliteWriter.open(path, make_table, at_start=lambda _: begun.append(threading.get_ident()))
    begun.clear()
    await asyncio.gather(*(writer.run(inserting(n)) for n in range(200)))
    await writer.close()
    assert rows(path) == list(range(200))
    assert len(begun) < 20
    assert threading.get_ident() not in begun


async def test_a_step_that_refuses_does_not_affect_its_neighbours(writer: SqliteWriter, path: Path) -> None:
    answers = await asyncio.gather(
        writer.run(inserting(1)), writer.run(refusing), writer.run(inserting(2)), return_exceptions=True
    )
    assert answers[0] == 1
    assert isinstance(answers[1], Invalid)
    assert rows(path) == [1, 2]


async def test_an_undoable_step_that_fails_leaves_nothing_behind(writer: SqliteWriter, path: Path) -> None:
    answers = await asyncio.gather(
        writer.run(inserting(1)),
        writer.run(inserting(2, then=KeyError("a mistake")), undoable=True),
        writer.run(inserting(3), undoable=True),
        return_exceptions=True,
    )
    assert isinstance(answers[1], KeyError)
    assert rows(path) == [1, 3]


async def test_a_cancelled_caller_leaves_the_batch_and_the_writer_alone(writer: SqliteWriter, path: Path) -> None:
    async with asyncio.TaskGroup() as tasks:
        callers = [tasks.create_task(writer.run(inserting(n))) for n in range(10)]
        await asyncio.sleep(0)
        callers[3].cancel()
    assert callers[3].cancelled()
    assert await writer.run(inserting(10)) == 10
    assert rows(path) == list(range(11))


async def test_more_callers_than_the_queue_holds_wait_for_their_turn(writer: SqliteWriter, path: Path) -> None:
    count = 2 * LONGEST_QUEUE + 1
    assert await asyncio.gather(*(writer.run(inserting(n)) for n in range(count))) == list(range(count))
    assert len(rows(path)) == count


async def test_what_was_accepted_is_finished_before_closing(path: Path) -> None:
    writer = await SqliteWriter.open(path, make_table)
    accepted = [asyncio.ensure_future(writer.run(inserting(n))) for n in range(300)]
    await asyncio.sleep(0)
    await writer.close()
    await writer.close()
    assert [task.result() for task in accepted] == list(range(300))
    with pytest.raises(Unavailable):
        await writer.run(inserting(300))


# Trouble with the file: nothing of the batch happens, and the next call is served as ever.


async def test_a_full_disk_is_said_to_be_full(writer: SqliteWriter, path: Path) -> None:
    await writer.run(lambda connection: connection.execute("PRAGMA max_page_count = 10").fetchall())
    with pytest.raises(OutOfSpace, match="full"):
        await writer.run(inserting(1, bytes(1_000_000)))
    assert await writer.run(inserting(2)) == 2
    assert rows(path) == [2]


async def test_a_file_that_cannot_be_written_is_said_to_be_so(writer: SqliteWriter, path: Path) -> None:
    await writer.run(lambda connection: connection.execute("PRAGMA query_only = ON"))
    with pytest.raises(Unavailable, match="write access") as refusal:
        await writer.run(inserting(1))
    assert str(path) not in refusal.value.detail
    assert await writer.run(inserting(2)) == 2


async def test_a_file_locked_by_another_process_is_said_to_be_locked(writer: SqliteWriter, path: Path) -> None:
    await writer.run(lambda connection: connection.execute("PRAGMA busy_timeout = 10").fetchall())
    other = connect(path)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(Unavailable, match="locked"):
        await writer.run(inserting(1))
    other.close()
    assert await writer.run(inserting(2)) == 2
    assert rows(path) == [2]


async def test_the_neighbours_of_a_step_that_broke_the_transaction_are_told(writer: SqliteWriter, path: Path) -> None:
    broken = (inserting(1), inserting(1), refusing)
    answers = await asyncio.gather(*(writer.run(step) for step in broken), return_exceptions=True)
    assert all(isinstance(answer, Unavailable) for answer in answers)
    assert rows(path) == []


@pytest.mark.parametrize("content", [b"no database, but long enough to look like one" * 200, b"SQLite format 3\0" * 20])
async def test_a_file_of_another_kind_is_refused_at_opening_and_left_as_it_is(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(Unavailable, match=r"file\.sqlite: .*no SQLite file"):
        await SqliteWriter.open(path, make_table)
    assert path.read_bytes() == content


async def test_a_place_that_cannot_hold_a_file_is_refused_at_opening(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for place in (tmp_path / "missing" / "x", tmp_path / "file" / "x", tmp_path):
        with pytest.raises(Unavailable, match="Check its folder"):
            await SqliteWriter.open(place, make_table)


async def test_opening_can_be_cancelled(path: Path) -> None:
    opening = asyncio.ensure_future(SqliteWriter.open(path, make_table))
    await asyncio.sleep(0)
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    writer = await SqliteWriter.open(path, make_table)
    await writer.close()
