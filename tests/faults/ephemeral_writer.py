"""Changes durable keys until it is killed, and prints a line for each change that the store has acknowledged.

For every line on standard input (the number of a round) a new process is forked, so that none has to start Python anew.
"""

import asyncio
import os
import sys
from datetime import timedelta
from pathlib import Path

from satchel.kernel.clock import system_clock
from satchel.stores.embedded.ephemeral_memory import MemoryEphemeral
from satchel.stores.ports.ephemeral import Delete, HashPut, Increment, ListPush, Put, SetAdd, SetRemove

WRITERS = 4


def say(line: str) -> None:
    # One call, so that a line is written whole or not at all.
    os.write(1, f"{line}\n".encode())


async def change_for_ever(store: MemoryEphemeral, writer: str) -> None:
    n = 0
    while True:
        n += 1
        name = f"{writer}.{n}"
        say(f"counted {await store.run(Increment('kept:count'))}")
        # A member, its field and a key that is not durable: never one of the first two without the other.
        await store.together(
            SetAdd("kept:set", name), Put(f"fleeting:{name}", b"1"), HashPut("kept:hash", {name: b"1"})
        )
        say(f"added {name}")
        await store.run(ListPush("kept:queue", name.encode()))
        say(f"pushed {name}")
        if n % 3 == 0:
            popped = await store.wait_pop("kept:queue", timedelta(seconds=1))
            say(f"popped {(popped or b'').decode()}")
            await store.run(SetRemove("kept:set", f"{writer}.{n - 1}"))
            say(f"removed {writer}.{n - 1}")
        await store.run(Put(f"kept:{name}", name.encode(), timedelta(hours=1)))
        say(f"put {name}")
        if n % 2 == 0:
            await store.run(Delete(f"kept:{name}"))
            say(f"deleted {name}")


async def change(path: Path, turn: str) -> None:
    store = await MemoryEphemeral.open(clock=system_clock, path=path, durable=["kept:"])
    await asyncio.gather(*(change_for_ever(store, f"{turn}.{writer}") for writer in range(WRITERS)))


def main(path: Path) -> None:
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            asyncio.run(change(path, line.strip()))
        say(f"started {child}")
        _, status = os.waitpid(child, 0)
        say(f"ended {os.waitstatus_to_exitcode(status)}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
