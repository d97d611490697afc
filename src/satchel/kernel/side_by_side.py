"""Does several things at once, so that a store can answer together what they read."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Never, TypeVar, overload

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")


@overload
async def side_by_side(a: Awaitable[A], b: Awaitable[B], /) -> tuple[A, B]: ...
@overload
async def side_by_side(a: Awaitable[A], b: Awaitable[B], c: Awaitable[C], /) -> tuple[A, B, C]: ...
@overload
async def side_by_side(a: Awaitable[A], b: Awaitable[B], c: Awaitable[C], d: Awaitable[D], /) -> tuple[A, B, C, D]: ...
async def side_by_side(*work: Awaitable[Any]) -> tuple[Any, ...]:
    """The results, once all have ended. If some failed, the error of the first of them, as if done in this order."""
    done = await asyncio.gather(*work, return_exceptions=True)
    for each in done:
        if isinstance(each, BaseException):
            raise each
    return tuple(done)


async def outcome(work: Awaitable[A]) -> Callable[[], A]:
    """A function that answers the result or raises the error, for who has to look at something else first."""
    try:
        done = await work
    except Exception as error:  # noqa: BLE001 -- whatever it is, it is raised later
        return partial(_raise, error)
    return lambda: done


def _raise(error: Exception) -> Never:
    raise error
