"""The server as a process: how it begins, how it refuses to, and how it ends."""

import asyncio
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest

from satchel.edge.http.server import CannotListen, listen
from tests.edge.given import wire


@dataclass
class Program:
    """A started server process."""

    process: asyncio.subprocess.Process
    greeting: str = ""

    @property
    def port(self) -> int:
        return int(self.greeting.rpartition(":")[2])

    async def ended(self) -> tuple[int, str, str]:
        out, err = await self.process.communicate()
        assert self.process.returncode is not None
        return self.process.returncode, out.decode(), err.decode()


@asynccontextmanager
async def program(*arguments: str) -> AsyncGenerator[Program]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.edge.program",
        *arguments,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    try:
        yield Program(process, "" if len(arguments) > 1 else (await process.stdout.readline()).decode().strip())
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()


def get(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nhost: satchel.test\r\n\r\n".encode()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
async def test_it_says_where_it_runs_and_a_signal_ends_it_cleanly(how: signal.Signals) -> None:
    async with program("0") as running:
        assert running.greeting == f"Satchel is running at http://127.0.0.1:{running.port}"
        async with wire(running.port) as connection:
            await connection.send(get("/healthz"))
            assert (await connection.answer()).body == b'{"status":"alive"}'
            running.process.send_signal(how)
            assert await running.ended() == (0, "", "closed\n")


async def test_it_finishes_what_it_began_and_closes_its_stores_last() -> None:
    async with program("0") as running, wire(running.port) as connection:
        await connection.send(get("/api/v1/slow"))
        await asyncio.sleep(0.2)
        running.process.send_signal(signal.SIGTERM)
        assert (await connection.answer()).body == b'["done"]'
        code, _, err = await running.ended()
        assert code == 0
        assert err.index('"status":200') < err.index("closed")


async def test_a_second_signal_does_not_wait() -> None:
    async with program("0") as running, wire(running.port) as connection:
        await connection.send(get("/api/v1/stuck"))
        await asyncio.sleep(0.2)
        running.process.send_signal(signal.SIGINT)
        await asyncio.sleep(0.4)
        assert running.process.returncode is None
        running.process.send_signal(signal.SIGINT)
        code, _, err = await running.ended()
        assert code == 0
        assert "closed" in err
        assert "Traceback" not in err


async def test_a_port_in_use_is_one_sentence() -> None:
    with listen("127.0.0.1", 0) as taken:
        taken.listen()
        port = taken.getsockname()[1]
        async with program(str(port), "taken") as running:
            code, out, err = await running.ended()
            assert (code, out) == (1, "")
            assert err == (
                f"Port {port} of 127.0.0.1 is in use. Stop what runs there, or choose another port with --port.\n"
            )


@pytest.mark.parametrize(
    ("trouble", "sentence"),
    [
        ("badhost", "The address 'no.such.host.invalid' is not known. Give one of this machine, such as 127.0.0.1.\n"),
        (
            "foreign",
            "198.51.100.7 is not an address of this machine. Try 127.0.0.1, or 0.0.0.0 for all of its networks.\n",
        ),
        ("fail", "The table store at 10.0.0.9 does not answer. Start it, then try again.\n"),
    ],
)
async def test_what_prevents_the_start_is_one_sentence(trouble: str, sentence: str) -> None:
    async with program("0", trouble) as running:
        assert await running.ended() == (1, "", sentence)


def test_an_ipv6_address_can_be_listened_on() -> None:
    with listen("::1", 0) as listener:
        assert listener.getsockname()[0] == "::1"


def test_a_name_that_cannot_be_a_host_is_refused() -> None:
    with pytest.raises(CannotListen, match="is not known"):
        listen("a" * 80, 0)
