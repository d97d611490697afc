"""That what has expired is absent for every operation of every table store, although it may still lie there."""

import math
from decimal import Decimal
from typing import Any

import pytest
import pytest_asyncio

from satchel.kernel.errors import Invalid
from satchel.stores.ports.expressions import Condition, add, assign, attr
from satchel.stores.ports.table import Check, ConditionFailed, Delete, Item, Put, Tables, TransactionCancelled, Update
from tests.stores.contract_quotes import quotes
from tests.stores.harnesses_table import THINGS, TableHarness, all_of, pages_of

pytest_plugins = ("tests.stores.fixtures_table",)
pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(loop_scope="module")
async def leftover(harness: TableHarness, owner: str) -> Item:
    """An item that has just expired and has not been swept."""
    item = {
        "owner": owner,
        "name": "old",
        "until": int(harness.clock()) + 10,
        "n": 5,
        "colour": "c" + owner,
        "weight": 1,
    }
    await harness.first.put(THINGS, item)
    await harness.advance(10)
    return item


@quotes(
    "*expiring*: in a table that names an expiry attribute, an item whose number there (seconds since 1970) lies at or "
    "before now is absent for every operation, whether or not it has been swept away yet."
)
@pytest.mark.parametrize("early", [1, Decimal("0.5"), Decimal("0.0625")])
async def test_an_item_is_there_until_the_very_second_it_expires(harness: TableHarness, owner: str, early: Any) -> None:
    tables = harness.first
    key = {"owner": owner, "name": "brief"}
    harness.clock.now = math.ceil(harness.clock())
    item = {**key, "until": harness.clock.now + 10 + early}
    await tables.put(THINGS, item)
    await harness.advance(10)
    assert await tables.get(THINGS, key) == item
    await harness.advance(float(early))
    assert await tables.get(THINGS, key) is None
    assert await tables.get_many(THINGS, [key]) == [None]
    assert (await tables.query(THINGS, owner)).items == []


async def test_what_has_expired_is_not_found_by_any_read(tables: Tables, leftover: Item) -> None:
    key = THINGS.key_of(leftover)
    assert await tables.get(THINGS, key) is None
    assert await tables.get_many(THINGS, [key]) == [None]
    assert (await tables.query(THINGS, leftover["owner"])).items == []
    assert (await tables.query(THINGS, leftover["colour"], index="ByColour")).items == []


@pytest.mark.parametrize("until", ["soon", None, True, [1], {"at": 1}, frozenset({1}), "1"], ids=repr)
async def test_an_expiry_that_is_no_number_never_comes(tables: Tables, owner: str, until: Any) -> None:
    key = {"owner": owner, "name": "lasting"}
    await tables.put(THINGS, {**key, "until": until})
    assert await tables.get(THINGS, key) == {**key, "until": until}
    assert await tables.update(THINGS, key, [add("n", 1)]) == {**key, "until": until, "n": 1}
    with pytest.raises(ConditionFailed):
        await tables.put(THINGS, key, when=attr("owner").absent())
    assert await tables.delete(THINGS, key) == {**key, "until": until, "n": 1}


async def test_a_conditional_put_takes_what_has_expired_for_absent(tables: Tables, leftover: Item) -> None:
    key = THINGS.key_of(leftover)
    for condition in (attr("n") == 5, attr("owner").exists(), ~attr("n").absent()):
        with pytest.raises(ConditionFailed):
            await tables.put(THINGS, key, when=condition)
    await tables.put(THINGS, {**key, "new": 1}, when=attr("owner").absent())
    assert await tables.get(THINGS, key) == {**key, "new": 1}
    with pytest.raises(ConditionFailed):
        await tables.put(THINGS, key, when=attr("owner").absent())


@pytest.mark.parametrize("condition", [None, attr("n").absent(), attr("n") != 5], ids=repr)
async def test_an_update_of_what_has_expired_starts_from_nothing(
    tables: Tables, leftover: Item, condition: Condition | None
) -> None:
    key = THINGS.key_of(leftover)
    assert await tables.update(THINGS, key, [add("n", 1)], when=condition) == {**key, "n": 1}
    assert await tables.get(THINGS, key) == {**key, "n": 1}


async def test_an_update_that_wants_what_has_expired_is_refused(tables: Tables, leftover: Item) -> None:
    key = THINGS.key_of(leftover)
    with pytest.raises(ConditionFailed):
        await tables.update(THINGS, key, [add("n", 1)], when=attr("n") == 5)
    with pytest.raises(Invalid):
        await tables.update(THINGS, key, [assign(("n", "inside"), 1)])
    assert await tables.get(THINGS, key) is None


async def test_a_delete_of_what_has_expired_took_nothing(tables: Tables, leftover: Item) -> None:
    key = THINGS.key_of(leftover)
    with pytest.raises(ConditionFailed):
        await tables.delete(THINGS, key, when=attr("n") == 5)
    assert await tables.delete(THINGS, key, when=attr("n").absent()) is None
    await tables.put(THINGS, leftover)
    assert await tables.delete(THINGS, key) is None


@pytest.mark.parametrize("token", [None, "a token"])
async def test_a_transaction_takes_what_has_expired_for_absent(
    tables: Tables, leftover: Item, token: str | None
) -> None:
    owner = leftover["owner"]
    names = ["put", "update", "delete", "check"]
    await tables.write_many(THINGS, put=[{**leftover, "name": name} for name in names])
    keys = {name: {"owner": owner, "name": name} for name in names}
    own_token = token and owner[-30:]
    absent = attr("n").absent()
    writes = [
        Put(THINGS, {**keys["put"], "n": 1}, absent),
        Update(THINGS, keys["update"], [add("n", 1)], absent),
        Delete(THINGS, keys["delete"], absent),
        Check(THINGS, keys["check"], absent),
    ]
    with pytest.raises(TransactionCancelled) as refusal:
        await tables.transact(
            [*writes[:3], Check(THINGS, keys["check"], attr("n") == 5)], token=own_token and "x" + own_token
        )
    assert refusal.value.reasons == (None, None, None, "condition")
    await tables.transact(writes, token=own_token)
    if token is not None:
        await tables.transact(writes, token=own_token)
    assert (await tables.query(THINGS, owner)).items == [{**keys["put"], "n": 1}, {**keys["update"], "n": 1}]


async def test_pages_are_full_in_spite_of_what_has_expired_between(harness: TableHarness, owner: str) -> None:
    tables = harness.first
    until = int(harness.clock()) + 10
    for start in range(0, 200, 50):
        await tables.write_many(
            THINGS,
            put=[
                {"owner": owner, "name": f"{at:03}", "colour": "c" + owner, "weight": at}
                | ({"until": until} if at % 20 else {})
                for at in range(start, start + 50)
            ],
        )
    await harness.advance(10)
    lasting = [f"{at:03}" for at in range(0, 200, 20)]
    for limit in (1, 3, 9, 10, 11):
        pages = [[item["name"] for item in items] async for items in pages_of(tables, THINGS, owner, limit=limit)]
        assert pages == [lasting[start : start + limit] for start in range(0, 10, limit)]
        found = await all_of(tables, THINGS, "c" + owner, index="ByColour", limit=limit, descending=True)
        assert [item["name"] for item in found] == lasting[::-1]


async def test_an_update_can_end_or_lengthen_a_life(harness: TableHarness, owner: str) -> None:
    tables = harness.first
    key = {"owner": owner, "name": "life"}
    now = int(harness.clock())
    await tables.put(THINGS, {**key, "until": now + 10})
    await tables.update(THINGS, key, [assign("until", now + 20)])
    await harness.advance(15)
    assert await tables.update(THINGS, key, [assign("until", now)]) == {**key, "until": now}
    assert await tables.get(THINGS, key) is None
