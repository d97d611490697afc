"""Do the same with many files, several at a time: each mostly waits for the disk, and commits are shared."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

ABREAST = 16


async def abreast(things: Sequence[T], work: Callable[[T], Awaitable[R]]) -> list[R]:
    """The answers in the order of the things. Once one fails no other is begun, and its error comes through."""
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
