"""The embedded table beside DynamoDB Local, and how much of raw sqlite3 is left after the port."""

import itertools
import os
import time
from contextlib import AsyncExitStack

from bench import raw_sqlite
from bench.figures import Figure, Sample, at_least, compare
from bench.processes import cpu_seconds, scratch_folder
from bench.raw_sqlite import ALONE, RawTable, Step
from bench.rounds import Effort, Measure, Operation, in_turn, keep_busy
from satchel.config import Settings
from satchel.kernel.clock import system_clock
from satchel.stores.connect import open_tables
from satchel.stores.ports.expressions import add, attr
from satchel.stores.ports.table import IndexSpec, Item, StartsWith, Tables, TableSpec, text
from tests.services import dynamodb_local

TASKS = 32
QUERIED = 100
PARTITIONS = 40
# More than are queried, so that no store needs to look whether there is another page.
PER_PARTITION = 120
ITEMS = PARTITIONS * PER_PARTITION
_JVM_WARM_UP_SECONDS = 5.0

TABLE = TableSpec("Bench", text("PK"), text("SK"), indexes=(IndexSpec("ByOwner", text("owner"), text("SK")),))
TARGETS = {"get": 20.0, f"query of {QUERIED}": 20.0, "put if absent": 10.0, "update (add 1 if …)": 10.0}


def stored_key(number: int) -> dict[str, str]:
    """The key of an item that is there, jumping about in an order that is the same for every contestant."""
    place = number * 2_654_435_761 % ITEMS
    return {"PK": f"ROOM#{place % PARTITIONS:04d}", "SK": f"FILE#{place // PARTITIONS:06d}"}


def new_key(number: int) -> dict[str, str]:
    return {"PK": f"NEW#{number % PARTITIONS:04d}", "SK": f"FILE#{number // PARTITIONS:06d}"}


def item_of(number: int, key: dict[str, str]) -> Item:
    """Ten attributes beside the key, about 300 bytes: the description of a file."""
    return {
        **key,
        "owner": f"user-{number % 7}",
        "name": f"holiday-photo-{number:05d}.jpg",
        "size": number * 977,
        "type": "image/jpeg",
        "tags": ["summer", "2024", "sea"],
        "rev": 1,
        "created": 1_731_690_000 + number,
        "hash": "ab" * 32,
        "width": 4032,
        "height": 3024,
    }


async def measure(effort: Effort) -> list[Figure]:
    async with AsyncExitStack() as opened:
        folder = opened.enter_context(scratch_folder())
        endpoint = opened.enter_context(dynamodb_local(compiles=True))
        ours = _port_operations(await _open(Settings(data=folder), opened))
        theirs = _port_operations(
            await _open(Settings(table=f"dynamodb://us-east-1?endpoint={endpoint}"), opened),
        )
        figures: list[Figure] = []
        for name in TARGETS:
            with raw_sqlite.opened(folder / "raw.db") as raw:
                raw.load(_items())
                figures += await _operation(name, ours[name], theirs[name], _raw_operations(raw)[name], effort)
            for file in folder.glob("raw.db*"):
                file.unlink()
        return figures


def _items() -> list[Item]:
    return [item_of(number, stored_key(number)) for number in range(ITEMS)]


async def _open(settings: Settings, opened: AsyncExitStack) -> Tables:
    tables = await open_tables(settings, system_clock)
    opened.push_async_callback(tables.close)
    await tables.create(TABLE)
    await tables.write_many(TABLE, put=_items())
    return tables


def _port_operations(tables: Tables) -> dict[str, Operation]:
    new = itertools.count()

    async def get(number: int) -> None:
        assert await tables.get(TABLE, stored_key(number)) is not None

    async def query(number: int) -> None:
        page = await tables.query(TABLE, stored_key(number)["PK"], StartsWith("FILE#"), limit=QUERIED)
        assert len(page.items) == QUERIED

    async def put(_number: int) -> None:
        number = next(new)
        await tables.put(TABLE, item_of(number, new_key(number)), when=attr("PK").absent())

    async def update(number: int) -> None:
        await tables.update(TABLE, stored_key(number), [add("hits", 1)], when=attr("rev") == 1)

    return dict(zip(TARGETS, (get, query, put, update), strict=True))


def _raw_operations(raw: RawTable) -> dict[str, dict[str, Step]]:
    new = itertools.count()

    def get(number: int) -> int:
        raw.get(stored_key(number))
        return 1

    def query(number: int) -> int:
        assert len(raw.query(stored_key(number)["PK"], "FILE#", QUERIED)) == QUERIED
        return 1

    def put(numbers: list[int]) -> None:
        fresh = [next(new) for _ in numbers]
        raw.insert([item_of(number, new_key(number)) for number in fresh])

    def update(numbers: list[int]) -> None:
        raw.update([stored_key(number) for number in numbers])

    loops = ({ALONE: get}, {ALONE: query}, raw_sqlite.in_groups(put), raw_sqlite.in_groups(update))
    return dict(zip(TARGETS, loops, strict=True))


async def _operation(
    name: str, ours: Operation, theirs: Operation, raw: dict[str, Step], effort: Effort
) -> list[Figure]:
    peer = "DynamoDB Local"
    contestants: dict[str, Measure] = {
        "satchel": _through_port(ours, effort.seconds),
        peer: _through_port(theirs, effort.seconds),
        **{label: _in_a_loop(step, effort.seconds) for label, step in raw.items()},
    }
    for contestant in contestants.values():
        await contestant()
    await _through_port(theirs, min(_JVM_WARM_UP_SECONDS, 4 * effort.seconds))()
    samples = await in_turn(f"table, {name}", effort.rounds, contestants)
    figures = [compare(name, "/s", samples, peer=peer, target=at_least(TARGETS[name]))]
    figures += [compare(f"{name}: share of raw", "/s", samples, peer=label) for label in raw]
    return figures


def _through_port(operation: Operation, seconds: float) -> Measure:
    # The processor time includes DynamoDB Local, a child of this process that sleeps in the turns of the others.
    return lambda: keep_busy(operation, tasks=TASKS, seconds=seconds, pid=os.getpid())


def _in_a_loop(step: Step, seconds: float) -> Measure:
    async def run() -> Sample:
        cpu_before, started = cpu_seconds(os.getpid()), time.perf_counter()
        done, deadline = 0, started + seconds
        while time.perf_counter() < deadline:
            done += step(done)
        return Sample(done, time.perf_counter() - started, cpu_seconds(os.getpid()) - cpu_before)

    return run
