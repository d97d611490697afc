"""Short-lived state in the process beside Redis, for the price of the port."""

from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any

from bench.figures import Figure, compare
from bench.rounds import Effort, Measure, in_turn, keep_busy
from satchel.config import Settings
from satchel.kernel.clock import system_clock
from satchel.stores.connect import open_ephemeral
from satchel.stores.ports.ephemeral import Command, Ephemeral, Get, Increment, Put
from tests.services import redis_server

KEYS = 1000
VALUE = b"x" * 100
COMMANDS: dict[str, Callable[[str], Command[Any]]] = {
    "put": lambda key: Put(f"value:{key}", VALUE),
    "get": lambda key: Get(f"value:{key}"),
    "increment": lambda key: Increment(f"count:{key}"),
}


async def measure(effort: Effort) -> list[Figure]:
    async with AsyncExitStack() as opened:
        url = opened.enter_context(redis_server())
        stores = {
            "satchel": await _open("memory:", opened),
            "Redis": await _open(url, opened),
        }
        figures: list[Figure] = []
        for tasks in (1, 32):
            for name, command in COMMANDS.items():
                contestants = {
                    each: _repeating(store, command, tasks, effort.seconds / 2) for each, store in stores.items()
                }
                for contestant in contestants.values():
                    await contestant()
                what = f"{name}, {tasks} task{'s' if tasks > 1 else ''}"
                samples = await in_turn(f"ephemeral, {what}", effort.rounds, contestants)
                figures.append(compare(what, "/s", samples, peer="Redis"))
        return figures


async def _open(address: str, opened: AsyncExitStack) -> Ephemeral:
    store = await open_ephemeral(Settings(ephemeral=address), system_clock)
    opened.push_async_callback(store.close)
    return store


def _repeating(store: Ephemeral, command: Callable[[str], Command[Any]], tasks: int, seconds: float) -> Measure:
    return lambda: keep_busy(lambda number: store.run(command(str(number % KEYS))), tasks=tasks, seconds=seconds)
