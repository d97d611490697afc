"""Small objects in a folder: how many can be kept, each durable, and read again per second."""

import secrets
from collections.abc import AsyncIterator

from bench.figures import Figure, alone
from bench.processes import scratch_folder
from bench.rounds import Effort, in_turn, keep_busy
from satchel.config import Settings
from satchel.kernel.clock import system_clock
from satchel.kernel.signature import Signer
from satchel.stores.connect import open_objects

TASKS = 32
BODY = secrets.token_bytes(4096)


async def measure(effort: Effort) -> list[Figure]:
    kept = 0
    with scratch_folder() as folder:
        objects = await open_objects(Settings(data=folder), system_clock, Signer(secrets.token_bytes(32)))

        async def put(_number: int) -> None:
            nonlocal kept
            kept += 1
            await objects.put(f"small/{kept}", _body(), length=len(BODY))

        async def get(number: int) -> None:
            async with objects.read(f"small/{1 + number * 7919 % (kept - TASKS)}") as reading:
                assert b"".join([chunk async for chunk in reading]) == BODY

        try:
            await keep_busy(put, tasks=TASKS, seconds=effort.seconds)
            samples = await in_turn(
                "objects",
                effort.rounds,
                {
                    "put": lambda: keep_busy(put, tasks=TASKS, seconds=effort.seconds),
                    "get": lambda: keep_busy(get, tasks=TASKS, seconds=effort.seconds),
                },
            )
        finally:
            await objects.close()
    return [alone(f"{name} of 4 KiB", "/s", [each.rate for each in taken]) for name, taken in samples.items()]


async def _body() -> AsyncIterator[bytes]:
    yield BODY
