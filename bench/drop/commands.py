"""From file to file by two commands: `satchel send` and `receive` beside `wormhole send` and `receive`."""

import asyncio
import contextlib
import filecmp
import itertools
import json
import os
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.drop.wormhole import Wormhole
from bench.figures import Sample
from bench.processes import cpu_seconds_of_tree
from bench.rounds import Measure
from bench.satchel_server import SatchelServer
from satchel.cli.drop.crypto.codes import read_invitation
from satchel.cli.drop.session.session_join import join
from satchel.cli.engine.http.client import Client
from satchel.cli.engine.http.credentials import CredentialsFile
from tests.services import tool

_TAKES_AT_MOST_SECONDS = 300
_NUMBERS = itertools.count()


@dataclass(frozen=True, slots=True)
class Goods:
    """A file or a folder to hand over, and how much work that is."""

    path: Path
    work: float


def by_satchel(satchel: SatchelServer, goods: Goods, folder: Path) -> Measure:
    """The sender waits with its code; the clock runs from the receiver's start until both commands have ended."""

    async def run() -> Sample:
        landing = _new_landing(folder)
        async with _started(_send(satchel, goods, folder)) as sender:
            receive = receiving(satchel, folder, (await _offer_of(sender))["code"], landing)
            return await _received(goods, landing, receive, sender, satchel.pid)

    return run


@contextlib.asynccontextmanager
async def sending(satchel: SatchelServer, goods: Goods, folder: Path) -> AsyncGenerator[dict[str, str]]:
    """`satchel send`, ready to hand over as often as wanted: its code and its link."""
    async with _started([*_send(satchel, goods, folder), "--keep"]) as sender:
        yield await _offer_of(sender)


def receiving(satchel: SatchelServer, folder: Path, code: str, landing: Path) -> Sequence[str]:
    return [*_program(satchel, folder, f"SATCHEL_CODE={code}"), "receive", "--yes", "--json", "--into", str(landing)]


def _send(satchel: SatchelServer, goods: Goods, folder: Path) -> Sequence[str]:
    return [*_program(satchel, folder), "send", "--json", str(goods.path)]


def _program(satchel: SatchelServer, folder: Path, *variables: str) -> Sequence[str]:
    home = (f"HOME={folder}", f"XDG_CONFIG_HOME={folder}")
    return ["env", *home, f"SATCHEL_SERVER={satchel.url}", *variables, tool("satchel")]


async def _offer_of(sender: asyncio.subprocess.Process) -> dict[str, str]:
    assert sender.stdout is not None
    return json.loads(await sender.stdout.readline())


def by_wormhole(wormhole: Wormhole, goods: Goods, folder: Path) -> Measure:
    async def run() -> Sample:
        code, landing = wormhole.new_code(), _new_landing(folder)
        async with _started(wormhole.send(code, goods.path)) as sender:
            assert sender.stdout is not None
            while b"receive" not in await sender.stdout.readline():
                pass
            return await _received(goods, landing, wormhole.receive(code), sender, wormhole.relay_pid)

    return run


async def joining_by_code(satchel: SatchelServer, goods: Goods, folder: Path) -> float:
    """Seconds from a code that has been typed to a place in the session."""
    async with sending(satchel, goods, folder) as offer:

        def timed() -> float:
            with Client(satchel.url, CredentialsFile(folder / "credentials.json")) as client:
                started = time.perf_counter()
                join(client, read_invitation(offer["code"]), "Bench")
                return time.perf_counter() - started

        return await asyncio.to_thread(timed)


async def _received(
    goods: Goods, landing: Path, receive: Sequence[str], sender: asyncio.subprocess.Process, relay_pid: int
) -> Sample:
    await asyncio.to_thread(os.sync)
    cpu_before, started = cpu_seconds_of_tree(relay_pid), time.perf_counter()
    async with _started(receive, cwd=landing) as receiver, asyncio.timeout(_TAKES_AT_MOST_SECONDS):
        said, _ = await receiver.communicate()
        if receiver.returncode:
            raise RuntimeError(f"not received: {said.decode(errors='replace')[-2000:]}")
        said_by_sender, _ = await sender.communicate()
        seconds = time.perf_counter() - started
    if sender.returncode:
        raise RuntimeError(f"not handed over: {(said + said_by_sender).decode(errors='replace')[-2000:]}")
    relay_seconds = cpu_seconds_of_tree(relay_pid) - cpu_before
    received = landing / goods.path.name
    await asyncio.to_thread(_compare, goods.path, received)
    # Folders stay until the end: ext4 is slow to make files where thousands were deleted half a minute before. Files
    # go, or each would have to find as much memory again to be written to.
    if received.is_file():
        received.unlink()
    return Sample(goods.work, seconds, relay_seconds)


def _new_landing(folder: Path) -> Path:
    landing = folder / f"landing-{next(_NUMBERS)}"
    landing.mkdir()
    return landing


@contextlib.asynccontextmanager
async def _started(command: Sequence[str], cwd: Path | None = None) -> AsyncGenerator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        *command, cwd=cwd, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def _compare(sent: Path, received: Path) -> None:
    same: Callable[[Path, Path], bool] = _same_folder if sent.is_dir() else _same_file
    if not same(sent, received):
        raise RuntimeError("what was received is not what was sent")


def _same_file(sent: Path, received: Path) -> bool:
    return filecmp.cmp(sent, received, shallow=False)


def _same_folder(sent: Path, received: Path) -> bool:
    names = [path.relative_to(sent) for path in sent.rglob("*") if path.is_file()]
    return all(_same_file(sent / name, received / name) for name in names)
