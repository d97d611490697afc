"""One holder at a time, until it releases the lease or lets it run out."""

import asyncio
from collections.abc import AsyncGenerator
from datetime import timedelta
from pathlib import Path

import pytest

from satchel.kernel.clock import ManualClock
from satchel.kernel.errors import Conflict, SatchelError, Unavailable
from satchel.stores.embedded.table_sqlite import SqliteTables
from satchel.stores.patterns.lease import EphemeralLease, LeaseRow, TableLease, renewed
from satchel.stores.ports.ephemeral import Delete, Ephemeral, Exists, Get, Put
from satchel.stores.ports.table import Put as TablePut
from satchel.stores.ports.table import TableSpec, TransactionCancelled, text
from satchel.stores.schema import Shape
from tests.stores.harnesses_ephemeral import EphemeralHarness

pytest_plugins = ("tests.stores.fixtures_ephemeral",)

SHORT = timedelta(seconds=0.05)
LONG = timedelta(minutes=1)
JOBS = TableSpec("jobs", text("PK"), text("SK"))
LEASED = Shape(LeaseRow, JOBS, {"PK": "LEASE", "SK": "{name}"}, owner="tests", about="An example")


async def test_one_of_many_takes_the_lease(ephemeral: Ephemeral) -> None:
    leases = [EphemeralLease(ephemeral, "lease", LONG) for _ in range(10)]
    assert sum(await asyncio.gather(*(lease.take() for lease in leases))) == 1


async def test_a_released_lease_is_free(ephemeral: Ephemeral) -> None:
    first, second = (EphemeralLease(ephemeral, "lease", LONG) for _ in range(2))
    assert await first.take()
    await first.release()
    assert await second.take()


async def test_a_lease_that_is_not_renewed_runs_out(ephemeral: Ephemeral, ephemeral_harness: EphemeralHarness) -> None:
    first, second = (EphemeralLease(ephemeral, "lease", SHORT) for _ in range(2))
    assert await first.take()
    await ephemeral_harness.advance(0.05)
    assert await second.take()
    assert await first.renew() == (False,)


async def test_a_renewed_lease_lasts_anew(ephemeral: Ephemeral, ephemeral_harness: EphemeralHarness) -> None:
    first = EphemeralLease(ephemeral, "lease", timedelta(seconds=0.5))
    assert await first.take()
    await ephemeral_harness.advance(0.3)
    assert await first.renew() == (True,)
    await ephemeral_harness.advance(0.3)
    assert not await EphemeralLease(ephemeral, "lease", LONG).take()


async def test_a_renewal_can_ask_more_in_the_same_step(ephemeral: Ephemeral) -> None:
    first = EphemeralLease(ephemeral, "lease", LONG)
    await first.take()
    await ephemeral.run(Put("wanted", b"1"))
    assert await first.renew(Delete("wanted"), Exists("wanted")) == (True, True, False)


async def test_who_slept_for_too_long_does_not_release_the_lease_of_another(
    ephemeral: Ephemeral, ephemeral_harness: EphemeralHarness
) -> None:
    sleeper, other = EphemeralLease(ephemeral, "lease", SHORT), EphemeralLease(ephemeral, "lease", LONG)
    await sleeper.take()
    await ephemeral_harness.advance(0.05)
    await other.take()
    await sleeper.release()
    assert await ephemeral.run(Get("lease")) == other.holder


async def test_what_cannot_be_released_runs_out_by_itself() -> None:
    class Gone:
        async def run(self, _: object) -> object:
            raise Unavailable("The store does not answer.")

    await EphemeralLease(Gone(), "lease", LONG).release()  # type: ignore[arg-type]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def tables(tmp_path: Path, clock: ManualClock) -> AsyncGenerator[SqliteTables]:
    tables = await SqliteTables.open(tmp_path / "tables.db", clock=clock)
    await tables.create(JOBS)
    yield tables
    await tables.close()


def lease_of(tables: SqliteTables, clock: ManualClock, holder: str) -> TableLease:
    lasts = timedelta(seconds=10)
    return TableLease(tables=tables, clock=clock, shape=LEASED, name="publish", holder=holder, lasts=lasts)


async def test_in_a_table_the_holder_may_take_the_lease_again_and_nobody_else(
    tables: SqliteTables, clock: ManualClock
) -> None:
    first, second = (lease_of(tables, clock, holder) for holder in ("first", "second"))
    assert await first.take()
    clock.advance(9)
    assert await first.take()
    clock.advance(9)
    assert not await second.take()
    clock.advance(1)
    assert await second.take()
    assert not await first.take()


async def test_in_a_table_only_the_holder_releases(tables: SqliteTables, clock: ManualClock) -> None:
    first, second = (lease_of(tables, clock, holder) for holder in ("first", "second"))
    await first.take()
    await second.release()
    assert not await second.take()
    await first.release()
    assert await second.take()


async def test_a_fence_keeps_out_whoever_slept_for_too_long(tables: SqliteTables, clock: ManualClock) -> None:
    sleeper, other = (lease_of(tables, clock, holder) for holder in ("sleeper", "other"))
    work = TablePut(JOBS, {"PK": "done", "SK": "-"})
    await sleeper.take()
    await tables.transact([sleeper.fence(), work])
    clock.advance(10)
    await tables.transact([sleeper.fence(), work])  # late, but nobody has taken over
    await other.take()
    with pytest.raises(TransactionCancelled):
        await tables.transact([sleeper.fence(), work])


async def test_something_is_renewed_as_long_as_the_block_lasts_whatever_a_renewal_meets() -> None:
    renewals = 0
    seen = asyncio.Event()

    async def renew() -> None:
        nonlocal renewals
        renewals += 1
        if renewals == 3:
            seen.set()
        raise Unavailable("The store does not answer.") if renewals == 1 else Conflict("Somebody was first.")

    async def nap(_: float) -> None:
        await asyncio.sleep(0)

    async with renewed(renew, LONG, despite=Unavailable, sleep=nap):
        await asyncio.sleep(0.01)
    assert renewals == 2, "what is not expected ends it"
    renewals = 0
    async with renewed(renew, LONG, despite=SatchelError, sleep=nap):
        await asyncio.wait_for(seen.wait(), 5)
    after = renewals
    await asyncio.sleep(0.01)
    assert renewals == after
