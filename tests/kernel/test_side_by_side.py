"""Several things done at once end as if they had been done in their order."""

import asyncio

import pytest

from satchel.kernel.errors import Invalid, NotFound
from satchel.kernel.side_by_side import outcome, side_by_side


async def test_all_end_and_the_error_of_the_first_is_raised() -> None:
    ended: list[str] = []

    async def work(name: str, turns: int, error: Exception | None = None) -> str:
        for _ in range(turns):
            await asyncio.sleep(0)
        ended.append(name)
        if error is not None:
            raise error
        return name

    assert await side_by_side(work("slow", 3), work("quick", 0)) == ("slow", "quick")
    assert ended == ["quick", "slow"]
    with pytest.raises(Invalid):
        await side_by_side(work("first", 3, Invalid("")), work("second", 0, NotFound("")), work("third", 5))
    assert ended[2:] == ["second", "first", "third"]


async def test_an_outcome_is_looked_at_later() -> None:
    async def fails() -> str:
        raise NotFound("It is gone.")

    well, badly = await side_by_side(outcome(asyncio.sleep(0, "done")), outcome(fails()))
    assert well() == "done"
    with pytest.raises(NotFound):
        badly()
