"""Log lines on their way out: buffered for one turn of the loop, lost by nobody who ends in order."""

import asyncio
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Generator

import pytest

from satchel.edge.http.logs import Journal, LineBuffer, RequestLine

LINE = RequestLine("t", "info", "r", "GET", "/", 200, 1.0, 0, "stranger", "")


@pytest.fixture
def pipe() -> Generator[tuple[int, int]]:
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    yield reader, writer
    os.close(reader)
    os.close(writer)


async def test_lines_of_one_turn_leave_together_and_in_order(pipe: tuple[int, int]) -> None:
    reader, writer = pipe
    buffer = LineBuffer(writer)
    for number in range(3):
        buffer.write(b"%d\n" % number)
    with pytest.raises(BlockingIOError):
        os.read(reader, 100)
    await asyncio.sleep(0)
    assert os.read(reader, 100) == b"0\n1\n2\n"


def test_without_a_loop_a_line_leaves_at_once(pipe: tuple[int, int]) -> None:
    reader, writer = pipe
    buffer = LineBuffer(writer)
    buffer.write(b"one\n")
    assert os.read(reader, 100) == b"one\n"


def test_a_loop_that_ended_before_it_flushed_holds_nothing_back(pipe: tuple[int, int]) -> None:
    reader, writer = pipe
    buffer = LineBuffer(writer)
    for line in (b"one\n", b"two\n"):
        loop = asyncio.new_event_loop()
        loop.call_soon(buffer.write, line)
        loop.call_soon(loop.stop)
        loop.run_forever()
        loop.close()
    buffer.write(b"three\n")
    assert os.read(reader, 100) == b"one\ntwo\nthree\n"


async def test_what_a_thread_logs_leaves_at_once_with_all_before_it(pipe: tuple[int, int]) -> None:
    reader, writer = pipe
    buffer = LineBuffer(writer)
    buffer.write(b"loop\n")
    thread = threading.Thread(target=buffer.write, args=(b"thread\n",))
    thread.start()
    thread.join()
    assert os.read(reader, 100) == b"loop\nthread\n"


def test_a_reader_that_is_gone_is_no_trouble() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    LineBuffer(writer).write(b"nobody hears this\n")
    os.close(writer)


async def test_a_warning_does_not_wait_and_keeps_its_place(capfd: pytest.CaptureFixture[str]) -> None:
    journal = Journal("text", "info")
    journal.write_request(LINE)
    assert capfd.readouterr().err == ""
    journal.handle(logging.makeLogRecord({"name": "satchel", "levelno": logging.WARNING, "msg": "a warning"}))
    request, warning = capfd.readouterr().err.splitlines()
    assert "GET / 200" in request
    assert "a warning" in warning


def test_a_process_that_exits_has_written_every_line() -> None:
    program = (
        "import asyncio, sys\n"
        "from satchel.edge.http.logs import start_journal\n"
        "from tests.edge.test_logs import LINE\n"
        "journal = start_journal('text', 'info')\n"
        "async def log(): journal.write_request(LINE); sys.exit(3)\n"
        "asyncio.run(log())\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 3
    assert done.stderr.count("GET / 200") == 1
