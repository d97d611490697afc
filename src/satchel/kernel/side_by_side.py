"""Does several things at once, so that a store can answer what they read together."""

import asyncio
from collections.abc import Awaitable
from typing import Any, TypeVar, overload

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
