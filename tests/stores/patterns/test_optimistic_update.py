"""Read, decide, write on a condition, and again when somebody else was first."""

import asyncio
from dataclasses import replace

import pytest

from satchel.kernel.errors import Conflict, NotFound, Unavailable
from satchel.stores.patterns.optimistic_update import CONTENTION, StaleRead, optimistic_update, update_from
from satchel.stores.ports.expressions import attr
from satchel.stores.ports.table import ConditionFailed, Put, Tables, TransactionCancelled
from tests.stores.harnesses_table import THINGS
from tests.stores.patterns.given import Nap

pytest_plugins = ("tests.stores.fixtures_table",)
pytestmark = pytest.mark.asyncio(loop_scope="module")

WRITERS = 20
REFUSALS = (ConditionFailed("no"), TransactionCancelled(["condition"]), StaleRead())


async def add_one(tables: Tables, owner: str) -> int:
    """An attempt, as slices write them."""
    key = {"owner": owner, "name": "counter"}
    old = await tables.get(THINGS, key)
    count = 0 if old is None else old["count"]
    as_read = attr("name").absent() if old is None else attr("count") == count
    await tables.transact([Put(THINGS, {**key, "count": count + 1}, as_read)])
    return count + 1


async def test_many_writers_of_one_record_all_get_through(tables: Tables, owner: str) -> None:
    update = optimistic_update()(add_one)
    counts = await asyncio.gather(*(update(tables, owner) for _ in range(WRITERS)))
    assert sorted(counts) == list(range(1, WRITERS + 1))


async def test_without_a_conflict_it_is_one_attempt_and_no_pause(tables: Tables, owner: str) -> None:
    nap = Nap()
    assert await optimistic_update(sleep=nap)(add_one)(tables, owner) == 1
    assert nap.pauses == []


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda refusal: type(refusal).__name__)
async def test_each_kind_of_refusal_leads_to_a_new_attempt(refusal: Exception) -> None:
    refusals = iter([refusal, refusal])

    @optimistic_update()
    async def attempt(answer: str) -> str:
        for each in refusals:
            raise each
        return answer

    assert await attempt("done") == "done"


async def test_the_first_two_retries_do_not_wait_and_the_later_ones_do() -> None:
    nap, attempts = Nap(), 0

    @optimistic_update(sleep=nap, draw=lambda: 0.0)
    async def attempt() -> None:
        nonlocal attempts
        attempts += 1
        raise StaleRead

    with pytest.raises(Conflict, match=r"being changed elsewhere\. Try again"):
        await attempt()
    assert attempts == CONTENTION.attempts
    assert len(nap.pauses) == CONTENTION.attempts - 1 - 2
    assert nap.pauses[:3] == pytest.approx([0.01, 0.02, 0.04])
    assert nap.pauses[-1] == CONTENTION.longest_seconds


async def test_who_gives_up_says_what_the_caller_wants_said_and_why() -> None:
    refusal = ConditionFailed("no")

    @optimistic_update(gives_up=lambda: Unavailable("Too many at once."), backoff=replace(CONTENTION, attempts=2))
    async def attempt() -> None:
        raise refusal

    with pytest.raises(Unavailable, match="Too many at once") as given_up:
        await attempt()
    assert given_up.value.__cause__ is refusal


async def test_every_other_error_comes_through_at_once() -> None:
    attempts = 0

    @optimistic_update()
    async def attempt() -> None:
        nonlocal attempts
        attempts += 1
        raise NotFound("It is gone.")

    with pytest.raises(NotFound):
        await attempt()
    assert attempts == 1


async def test_an_update_inside_another_that_gives_up_is_not_begun_again() -> None:
    inner_calls = 0

    @optimistic_update(backoff=replace(CONTENTION, attempts=2))
    async def inner() -> None:
        nonlocal inner_calls
        inner_calls += 1
        raise StaleRead

    with pytest.raises(Conflict):
        await optimistic_update()(inner)()
    assert inner_calls == 2


async def test_an_update_from_something_read_reads_again_only_after_a_conflict() -> None:
    tried: list[int] = []

    async def attempt(current: int) -> str:
        tried.append(current)
        if current < 3:
            raise StaleRead
        return f"done from {current}"

    async def reread(current: int) -> int:
        return current + 1

    assert await update_from(3, attempt, reread) == "done from 3"
    assert await update_from(1, attempt, reread) == "done from 3"
    assert tried == [3, 1, 2, 3]


async def test_an_update_from_something_read_gives_up_as_well() -> None:
    nap = Nap()

    async def attempt(current: int) -> None:
        raise StaleRead(current)

    async def reread(current: int) -> int:
        return current

    with pytest.raises(Unavailable):
        await update_from(1, attempt, reread, gives_up=lambda: Unavailable("No."), sleep=nap)
    assert len(nap.pauses) == CONTENTION.attempts - 3
