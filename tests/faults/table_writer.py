"""Writes to a table store until it is killed, and prints a line for each write that the store has acknowledged.

For every line on standard input (the number of a round) a new process is forked, so that none has to start Python anew.
"""

import asyncio
import os
import sys
from pathlib import Path

from satchel.kernel.clock import system_clock
from satchel.stores.embedded.table_sqlite import SqliteTables
from satchel.stores.ports.expressions import add
from satchel.stores.ports.table import IndexSpec, Put, TableSpec, Update, number, text

TABLE = TableSpec(
    "Ledger", text("kind"), text("id"), indexes=(IndexSpec("ByGroup", text("group"), number("n")),), stream=True
)
WRITERS = 4
COUNTERS = 3


def say(line: str) -> None:
    # One call, so that a line is written whole or not at all.
    os.write(1, f"{line}\n".encode())


async def write_for_ever(tables: SqliteTables, writer: str) -> None:
    n = 0
    while True:
        n += 1
        name = f"{writer}.{n}"
        await tables.put(TABLE, {"kind": "item", "id": name, "group": f"g{n % 5}", "n": n, "text": "x" * (n % 3000)})
        say(f"item {name}")
        if n > 1:
            await tables.delete(TABLE, {"kind": "item", "id": f"{writer}.{n - 1}"})
            say(f"gone {writer}.{n - 1}")
        counter = str(n % COUNTERS)
        counted = await tables.update(TABLE, {"kind": "counter", "id": counter}, [add("count", 1)])
        say(f"counter {counter} {counted['count']}")
        # Two counts and an entry that must never be seen one without the others.
        await tables.transact(
            [
                Update(TABLE, {"kind": "pair", "id": "left"}, [add("count", 1)]),
                Update(TABLE, {"kind": "pair", "id": "right"}, [add("count", 1)]),
                Put(TABLE, {"kind": "entry", "id": name, "group": "entries", "n": n}),
            ],
            token=name,
        )
        say(f"entry {name}")


async def run(path: Path, round_name: str) -> None:
    tables = await SqliteTables.open(path, clock=system_clock)
    await tables.create(TABLE)
    await asyncio.gather(*(write_for_ever(tables, f"{round_name}.{writer}") for writer in range(WRITERS)))


def main() -> None:
    path = Path(sys.argv[1])
    for line in sys.stdin:
        process = os.fork()
        if process == 0:
            asyncio.run(run(path, line.strip()))
        say(f"started {process}")
        _, status = os.waitpid(process, 0)
        say(f"ended {os.waitstatus_to_exitcode(status)}")


if __name__ == "__main__":
    main()
