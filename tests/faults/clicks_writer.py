"""Records clicks until it is killed, and prints a line for each call that was acknowledged.

For every line on standard input (which call each of its clients is at) a new process is forked, so that none has to
start Python anew. What a call holds follows from its number: whoever sends it again sends the same.
"""

import asyncio
import os
import random
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from satchel.features.clicks.events import OwnerNotifier
from satchel.features.clicks.model import KINDS, NewClick, stamp
from satchel.features.clicks.service.embedded.recorder import EmbeddedRecorder
from satchel.features.clicks.service.idempotency import Call
from satchel.kernel.clock import ManualClock
from satchel.stores.embedded.ephemeral_memory import MemoryEphemeral
from satchel.stores.embedded.table_sqlite import SqliteTables
from satchel.tables import CLICKS, COUNTS

NOON = 1_900_000_000 - 1_900_000_000 % 86400 + 12 * 3600.0
CLIENTS = 8
LONGEST_CALL = 20
PEOPLE = 40
SHARED = [
    (None, None, None),
    ("link-1", "file:1", "owner-1"),
    ("link-2", "file:1", "owner-1"),
    ("link-3", "file:2", "owner-2"),
]


def say(line: str) -> None:
    # One call, so that a line is written whole or not at all.
    os.write(1, f"{line}\n".encode())


def call_of(number: int) -> Call:
    """Clicks of some of the people over two days, often at the same moment, all with keys."""
    chance = random.Random(number)
    new: list[NewClick] = []
    times: list[int] = []
    for place in range(chance.randint(1, LONGEST_CALL)):
        target, thing, owner = chance.choice(SHARED)
        at = int(NOON * 1000) - chance.choice([0, 0, 1, chance.randrange(48 * 3600 * 1000)])
        new.append(
            NewClick(
                user_id=f"user-{chance.randrange(PEOPLE)}",
                at=stamp(at),
                count=chance.choice([1, 1, 5]),
                kind=chance.choice(KINDS),
                target=target,
                thing=thing,
                owner=owner,
                label=f"{number}/{place}",
                key=f"{number}/{place}",
            )
        )
        times.append(at)
    return Call(new, times)


@asynccontextmanager
async def recording(path: Path) -> AsyncGenerator[tuple[SqliteTables, EmbeddedRecorder]]:
    clock = ManualClock(NOON)
    tables = await SqliteTables.open(path, clock=clock)
    ephemeral = await MemoryEphemeral.open(clock=clock)
    await tables.create(CLICKS, COUNTS)
    recorder = EmbeddedRecorder(tables, tables.bulk, clock, None, OwnerNotifier(ephemeral, clock))
    try:
        yield tables, recorder
    finally:
        await recorder.close()
        await ephemeral.close()
        await tables.close()


async def send(recorder: EmbeddedRecorder, number: int) -> None:
    call = call_of(number)
    await recorder.record(call.new, call.times)


async def send_for_ever(recorder: EmbeddedRecorder, number: int) -> None:
    while True:
        await send(recorder, number)
        say(f"sent {number}")
        # As a client would whose answer was lost on the way.
        if number % 3 == 0:
            await send(recorder, number)
        number += CLIENTS


async def run(path: Path, numbers: list[int]) -> None:
    async with recording(path) as (_, recorder):
        await asyncio.gather(*(send_for_ever(recorder, number) for number in numbers))


def main() -> None:
    path = Path(sys.argv[1])
    for line in sys.stdin:
        process = os.fork()
        if process == 0:
            asyncio.run(run(path, [int(number) for number in line.split()]))
        say(f"started {process}")
        _, status = os.waitpid(process, 0)
        say(f"ended {os.waitstatus_to_exitcode(status)}")


if __name__ == "__main__":
    main()
