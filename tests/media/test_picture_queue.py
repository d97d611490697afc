"""The queue: what somebody waits for comes first, the newest before the others, and no more than there is room for."""

import pytest

from satchel.media.picture_queue import MAX_ASKED, MAX_NEW, PictureJob, PictureQueue
from satchel.media.records import ASKED, NEW
from satchel.stores.ports.ephemeral import Ephemeral, ListSize

# Real pictures are made here, in processes of their own.
pytestmark = pytest.mark.slow

pytest_plugins = ("tests.stores.fixtures_ephemeral",)


def job(name: str) -> PictureJob:
    return PictureJob(f"user/ann/{name}", name)


async def taken(queue: PictureQueue, count: int) -> list[str]:
    found = [await queue.take() for _ in range(count)]
    return [each.name for each in found if each is not None]


async def test_the_newest_comes_first(ephemeral: Ephemeral) -> None:
    queue = PictureQueue(ephemeral)
    await queue.add([job("1"), job("2")])
    await queue.add([job("3")])
    await queue.add([])
    assert await taken(queue, 4) == ["3", "2", "1"]


async def test_ten_thousand_uploads_of_one_person_make_nobody_else_wait(ephemeral: Ephemeral) -> None:
    queue = PictureQueue(ephemeral)
    for start in range(0, MAX_NEW + 1000, 1000):
        await queue.add([job(f"ann {start + number}") for number in range(1000)])
    await queue.ask(job("bob looks at this"))
    await queue.add([job("carl uploads this")])
    assert await ephemeral.run(ListSize(NEW())) == MAX_NEW
    assert await taken(queue, 3) == ["bob looks at this", "carl uploads this", f"ann {MAX_NEW + 999}"]


async def test_who_asks_last_is_answered_first_and_the_first_are_forgotten(ephemeral: Ephemeral) -> None:
    queue = PictureQueue(ephemeral)
    for number in range(MAX_ASKED + 10):
        await queue.ask(job(str(number)))
    assert await ephemeral.run(ListSize(ASKED())) == MAX_ASKED
    assert await taken(queue, 2) == [str(MAX_ASKED + 9), str(MAX_ASKED + 8)]


async def test_what_many_ask_for_is_made_once(ephemeral: Ephemeral) -> None:
    queue = PictureQueue(ephemeral)
    await queue.add([job("1"), job("1")])
    for _ in range(5):
        await queue.ask(job("1"))
    assert await ephemeral.run(ListSize(ASKED())) == 1
    # Two makers: while one works on it, the other does not get it from either list.
    assert await taken(queue, 3) == ["1"]
    await queue.done("user/ann/1")
    await queue.ask(job("1"))
    assert await taken(queue, 1) == ["1"]
