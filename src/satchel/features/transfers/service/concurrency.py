"""Runs a call for many files with bounded concurrency: each mostly waits for the disk, and commits are shared."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

ABREAST = 16


async def abreast(things: Sequence[T], work: Callable[[T], Awaitable[R]]) -> list[R]:
    """The results in the order of the items. After the first error no other call is started, and it is raised."""
    answers: list[R] = []

    async def one(thing: T) -> R:
        return await work(thing)

    for start in range(0, len(things), ABREAST):
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(one(thing)) for thing in things[start : start + ABREAST]]
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from None
        answers += [task.result() for task in tasks]
    return answers
