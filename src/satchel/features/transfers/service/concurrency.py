"""Runs a call for many files with bounded concurrency: each mostly waits for the disk, and commits are shared."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

MOST_AT_ONCE = 16


async def run_concurrently(things: Sequence[T], work: Callable[[T], Awaitable[R]]) -> list[R]:
    """The results in the order of the items. After the first error no other call is started, and it is raised."""
    answers: list[R] = []

    async def one(thing: T) -> R:
        return await work(thing)

    for start in range(0, len(things), MOST_AT_ONCE):
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(one(thing)) for thing in things[start : start + MOST_AT_ONCE]]
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from None
        answers += [task.result() for task in tasks]
    return answers
