"""A download counts once every byte of a file went to somebody."""

import asyncio
import random
from collections.abc import Sequence
from secrets import token_hex

from satchel.kernel.coverage import Span
from satchel.stores.patterns.covered_download import MOST_PARTS, downloads_made
from satchel.stores.ports.ephemeral import Ephemeral, ListSize

pytest_plugins = ("tests.stores.fixtures_ephemeral",)

SIZE = 100


async def made(ephemeral: Ephemeral, *spans: Span, file_id: str = "file") -> list[int]:
    return [await downloads_made(ephemeral, "went", token_hex(8), file_id, span, SIZE) for span in spans]


async def test_parts_are_a_download_once_all_bytes_went(ephemeral: Ephemeral) -> None:
    assert await made(ephemeral, (99, 100), (99, 100), (0, 60), (0, 60), (0, 60)) == [0] * 5
    assert await made(ephemeral, (60, 99), (0, 100), (60, 100), (0, 0)) == [1, 1, 0, 0]
    # What went before a download became whole is part of that one.
    assert await made(ephemeral, (0, 60)) == [1]


async def test_a_whole_answer_is_a_download_and_an_empty_one_too(ephemeral: Ephemeral) -> None:
    assert await made(ephemeral, (0, SIZE), (0, SIZE)) == [1, 1]
    assert await downloads_made(ephemeral, "went", "answer", "empty", (0, 0), 0) == 1
    assert await ephemeral.run(ListSize("went")) == 0


async def test_of_parts_that_end_at_once_one_makes_it_whole(ephemeral: Ephemeral) -> None:
    parts: Sequence[Span] = [(start, start + 5) for start in range(0, SIZE, 5)]
    found = await asyncio.gather(*(made(ephemeral, part) for part in random.sample(parts, len(parts))))
    assert sum(number for (number,) in found) == 1


async def test_of_too_many_parts_the_first_are_forgotten_and_nothing_counts_twice(ephemeral: Ephemeral) -> None:
    assert await made(ephemeral, (0, 50), (50, 100)) == [0, 1]
    await made(ephemeral, *[(0, 1)] * (MOST_PARTS - 3), file_id="other")
    assert await made(ephemeral, (0, 50)) == [0]
    assert await ephemeral.run(ListSize("went")) == MOST_PARTS


async def test_a_part_that_is_added_again_has_the_same_answer(ephemeral: Ephemeral) -> None:
    """Its server died before it was counted. What went afterwards belongs to the next download."""

    async def again(answer_id: str, span: Span) -> int:
        return await downloads_made(ephemeral, "went", answer_id, "file", span, SIZE)

    assert [await again("first", (0, 60)) for _ in range(3)] == [0, 0, 0]
    assert [await again("second", (60, 100)) for _ in range(3)] == [1, 1, 1]
    assert await again("first", (0, 60)) == 0
    assert [await again("third", (60, 100)), await again("fourth", (0, 60))] == [0, 1]
