"""What only the DynamoDB store has to get right: errors, retries, the wire, and a server that comes and goes."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
from botocore.exceptions import ClientError

from satchel.kernel.clock import system_clock
from satchel.kernel.errors import Conflict, Invalid, Unavailable
from satchel.stores.distributed.dynamodb_wire import from_wire, to_wire
from satchel.stores.distributed.table_dynamodb import DynamoTables
from satchel.stores.ports.expressions import add, assign, attr
from satchel.stores.ports.table import (
    ConditionFailed,
    IndexSpec,
    ItemTooLarge,
    PositionLost,
    Put,
    Shard,
    TableMissing,
    TableSpec,
    TransactionCancelled,
    Update,
    text,
)
from satchel.stores.rules import normalise
from tests.services import dynamodb_local, free_port
from tests.stores.contract_quotes import quotes
from tests.stores.scripted_dynamodb import Dropped, Refusal, Reply, ScriptedDynamo, scripted

CUPS = TableSpec("Cups", text("id"), stream=True)
BRIEF = TableSpec("Brief", text("id"), expiry="until")
KEY = {"id": "cup"}


@asynccontextmanager
async def _open(endpoint: str | None, region: str = "us-east-1", prefix: str = "t-") -> AsyncGenerator[DynamoTables]:
    tables = await DynamoTables.open(region, endpoint=endpoint, prefix=prefix, clock=system_clock)
    try:
        yield tables
    finally:
        await tables.close()


@asynccontextmanager
async def _told(*replies: Reply) -> AsyncGenerator[tuple[DynamoTables, ScriptedDynamo]]:
    async with scripted(*replies) as (server, endpoint), _open(endpoint) as tables:
        yield tables, server


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("ConditionalCheckFailedException", ConditionFailed),
        ("ResourceNotFoundException", TableMissing),
        ("ValidationException", Invalid),
        ("IdempotentParameterMismatchException", Invalid),
        ("TrimmedDataAccessException", PositionLost),
        ("AccessDeniedException", Unavailable),
        ("UnrecognizedClientException", Unavailable),
        ("ExpiredTokenException", Unavailable),
        ("NeverHeardOfException", Unavailable),
    ],
)
async def test_a_refusal_arrives_as_its_kind_and_is_not_tried_again(code: str, kind: type[Exception]) -> None:
    async with _told(Refusal(code)) as (tables, server):
        with pytest.raises(kind) as error:
            await tables.put(CUPS, KEY)
    assert isinstance(error.value.__cause__, ClientError)
    assert len(server.asked) == 1


@pytest.mark.slow
@quotes(
    "*failing*: `Unavailable` when the store cannot be reached or is overloaded after patient retries; a write that "
    "raised it may or may not have happened, so a retry has to be one that is safe to repeat."
)
async def test_a_server_that_cannot_be_reached_is_unavailable_with_a_sentence() -> None:
    async with _open(f"http://127.0.0.1:{free_port()}") as tables:
        outcomes = await asyncio.gather(
            tables.get(CUPS, KEY),
            tables.put(CUPS, KEY),
            tables.update(CUPS, KEY, [add("n", 1)]),
            tables.delete(CUPS, KEY),
            tables.query(CUPS, "cup"),
            tables.get_many(CUPS, [KEY]),
            tables.write_many(CUPS, put=[KEY]),
            tables.transact([Put(CUPS, KEY)]),
            tables.create(CUPS),
            tables.missing(CUPS),
            tables.shards(CUPS),
            return_exceptions=True,
        )
    for outcome in outcomes:
        assert isinstance(outcome, Unavailable)
        assert str(outcome) == "The table store cannot be reached. Check its address and the network, then try again."


@pytest.mark.services
async def test_a_server_that_stops_and_comes_back_is_used_again() -> None:
    port = free_port()
    async with _open(f"http://127.0.0.1:{port}") as tables:
        with dynamodb_local(port):
            await tables.create(CUPS)
            await tables.put(CUPS, {**KEY, "full": True})
            assert await tables.get(CUPS, KEY) == {**KEY, "full": True}
        with pytest.raises(Unavailable):
            await tables.get(CUPS, KEY)
        with pytest.raises(Unavailable):
            await tables.put(CUPS, KEY, when=attr("id").absent())
        with dynamodb_local(port):
            with pytest.raises(TableMissing):
                await tables.get(CUPS, KEY)
            await tables.create(CUPS)
            await tables.put(CUPS, KEY, when=attr("id").absent())
            assert await tables.get(CUPS, KEY) == KEY


@pytest.mark.parametrize("lost", [Dropped(), Refusal("InternalServerError", 500)], ids=["dropped", "failed"])
async def test_a_write_that_may_have_happened_is_not_sent_again(lost: Exception) -> None:
    async with _told(lost) as (tables, server):
        attempts = [
            tables.put(CUPS, KEY, when=attr("id").absent()),
            tables.update(CUPS, KEY, [add("n", 1)]),
            tables.delete(CUPS, KEY),
        ]
        for attempt in attempts:
            with pytest.raises(Unavailable):
                await attempt
    assert [operation for operation, _ in server.asked] == ["PutItem", "UpdateItem", "DeleteItem"]


@pytest.mark.parametrize("lost", [Dropped(), Refusal("InternalServerError", 500)], ids=["dropped", "failed"])
async def test_what_can_be_repeated_is_sent_again_when_its_answer_is_lost(lost: Exception) -> None:
    async with _told(lost, {"Item": {"id": {"S": "cup"}}}) as (tables, server):
        assert await tables.get(CUPS, KEY) == KEY
    assert len(server.asked) == 2
    async with _told(lost, {}) as (tables, server):
        await tables.put(CUPS, KEY)
    assert len(server.asked) == 2
    async with _told(lost, {}) as (tables, server):
        await tables.transact([Update(CUPS, KEY, [add("n", 1)])])
    first, second = server.asked
    assert first == second
    assert first[1]["ClientRequestToken"]


@pytest.mark.parametrize(
    "code", ["ProvisionedThroughputExceededException", "ThrottlingException", "TransactionConflictException"]
)
async def test_a_write_that_was_refused_for_now_is_sent_again(code: str) -> None:
    async with _told(Refusal(code), Refusal(code), {"Attributes": {"id": {"S": "cup"}}}) as (tables, server):
        assert await tables.update(CUPS, KEY, [add("n", 1)], when=attr("n") == 1) == KEY
    assert len(server.asked) == 3


@pytest.mark.slow
async def test_a_server_that_stays_overloaded_is_given_up() -> None:
    async with _told(Refusal("ThrottlingException")) as (tables, server):
        with pytest.raises(Unavailable, match="overloaded"):
            await tables.put(CUPS, KEY)
    assert 3 < len(server.asked) < 20


async def test_a_batch_is_sent_until_nothing_is_left_over() -> None:
    def half(body: dict[str, Any]) -> dict[str, Any]:
        requests = body["RequestItems"]["t-Cups"]
        left = requests[len(requests) // 2 :]
        return {"UnprocessedItems": {"t-Cups": left} if len(requests) > 1 else {}}

    async with _told(half) as (tables, server):
        await tables.write_many(CUPS, put=[{"id": str(number)} for number in range(8)])
    sent = [len(body["RequestItems"]["t-Cups"]) for _, body in server.asked]
    assert sent == [8, 4, 2, 1]


async def test_many_keys_are_asked_for_until_none_is_left_over() -> None:
    def first(body: dict[str, Any]) -> dict[str, Any]:
        asked = body["RequestItems"]["t-Cups"]
        answer: dict[str, Any] = {"Responses": {"t-Cups": asked["Keys"][:1]}}
        if rest := asked["Keys"][1:]:
            answer["UnprocessedKeys"] = {"t-Cups": {**asked, "Keys": rest}}
        return answer

    keys = [{"id": str(number)} for number in (3, 1, 2)]
    async with _told(first) as (tables, server):
        assert await tables.get_many(CUPS, keys) == keys
    assert all(body["RequestItems"]["t-Cups"]["ConsistentRead"] for _, body in server.asked)


def _every_cup(body: dict[str, Any]) -> dict[str, Any]:
    return {"Responses": {name: asked["Keys"] for name, asked in body["RequestItems"].items()}}


async def test_reads_of_one_moment_are_one_request_and_those_that_may_lag_are_another() -> None:
    def reply(body: dict[str, Any]) -> dict[str, Any]:
        return _every_cup(body) if "RequestItems" in body else {"Item": body["Key"]}

    async with _told(reply) as (tables, server):
        one, many, other, stale = await asyncio.gather(
            tables.get(CUPS, KEY),
            tables.get_many(CUPS, [KEY, {"id": "mug"}]),
            tables.get(BRIEF, KEY),
            tables.get(CUPS, KEY, may_lag=True),
        )
        assert one == other == stale == KEY and many == [KEY, {"id": "mug"}]
        (batch,) = [body for name, body in server.asked if name == "BatchGetItem"]
        assert batch["RequestItems"] == {
            "t-Cups": {"Keys": [{"id": {"S": "cup"}}, {"id": {"S": "mug"}}], "ConsistentRead": True},
            "t-Brief": {"Keys": [{"id": {"S": "cup"}}], "ConsistentRead": True},
        }
        assert [body["ConsistentRead"] for name, body in server.asked if name == "GetItem"] == [False]
        await tables.get(CUPS, KEY)
        assert server.asked[-1][0] == "GetItem" and server.asked[-1][1]["ConsistentRead"] is True


async def test_only_those_who_read_a_missing_table_are_told_of_it() -> None:
    def reply(body: dict[str, Any]) -> dict[str, Any]:
        return {"Item": body["Key"]}

    missing = Refusal("ResourceNotFoundException")
    async with _told(missing, reply, missing) as (tables, _):
        found, refused = await asyncio.gather(tables.get(CUPS, KEY), tables.get(BRIEF, KEY), return_exceptions=True)
        assert found == KEY and isinstance(refused, TableMissing)


async def test_a_reader_who_goes_away_takes_nothing_from_the_others() -> None:
    async with _told(_every_cup) as (tables, _):
        leaving = asyncio.create_task(tables.get_many(CUPS, [KEY, {"id": "mug"}]))
        staying = asyncio.create_task(tables.get_many(CUPS, [KEY, {"id": "jug"}]))
        await asyncio.sleep(0)
        leaving.cancel()
        assert await staying == [KEY, {"id": "jug"}]
        assert leaving.cancelled()


@pytest.mark.slow
async def test_a_batch_that_never_gets_anywhere_is_given_up() -> None:
    def nothing(body: dict[str, Any]) -> dict[str, Any]:
        return {"UnprocessedItems": body["RequestItems"]}

    async with _told(nothing) as (tables, _):
        with pytest.raises(Unavailable, match="overloaded"):
            await tables.write_many(CUPS, put=[KEY])


def _cancelled(*codes: str, message: str = "") -> Refusal:
    reasons = [{"Code": code, "Message": message} for code in codes]
    return Refusal("TransactionCanceledException", CancellationReasons=reasons)


@pytest.mark.slow
async def test_a_transaction_in_conflict_is_tried_again_for_a_while() -> None:
    conflict = _cancelled("None", "TransactionConflict")
    writes = [Put(CUPS, KEY), Put(CUPS, {"id": "saucer"})]
    async with _told(conflict, Refusal("TransactionInProgressException"), {}) as (tables, server):
        await tables.transact(writes)
    assert len({body["ClientRequestToken"] for _, body in server.asked}) == 1
    async with _told(conflict) as (tables, server):
        with pytest.raises(TransactionCancelled) as refusal:
            await tables.transact(writes)
    assert refusal.value.reasons == (None, "contention")


@pytest.mark.parametrize(
    ("cancelled", "kind"),
    [
        (_cancelled("ValidationError", "None"), Invalid),
        (_cancelled("ConditionalCheckFailed", "ValidationError"), Invalid),
        (
            _cancelled("ValidationError", "None", message="Item size has exceeded the maximum allowed size"),
            ItemTooLarge,
        ),
        (_cancelled("ItemCollectionSizeLimitExceeded", "None"), Invalid),
        (_cancelled("ConditionalCheckFailed", "ThrottlingError"), Unavailable),
    ],
)
async def test_a_cancelled_transaction_is_explained_by_its_reasons(cancelled: Refusal, kind: type[Exception]) -> None:
    async with _told(cancelled) as (tables, _):
        with pytest.raises(kind):
            await tables.transact([Put(CUPS, KEY), Put(CUPS, {"id": "saucer"})])


async def test_a_condition_and_a_conflict_are_told_apart() -> None:
    async with _told(_cancelled("ConditionalCheckFailed", "TransactionConflict")) as (tables, server):
        with pytest.raises(TransactionCancelled) as refusal:
            await tables.transact([Put(CUPS, KEY), Put(CUPS, {"id": "saucer"})])
    assert refusal.value.reasons == ("condition", "contention")
    assert len(server.asked) == 1


async def test_a_token_belongs_to_one_installation() -> None:
    """DynamoDB knows tokens by account, not by table: two prefixes must not answer for each other."""
    tokens: list[str] = []
    async with scripted({}) as (server, endpoint):
        for prefix in ("one-", "two-", "one-"):
            async with _open(endpoint, prefix=prefix) as tables:
                await tables.transact([Put(CUPS, KEY)], token="my token")
        tokens = [body["ClientRequestToken"] for _, body in server.asked]
    assert tokens[0] == tokens[2] != tokens[1]
    assert all(len(token) <= 36 for token in tokens)


async def test_a_transaction_with_a_token_is_the_same_to_the_letter_when_repeated() -> None:
    found: dict[str, Any] = {"Responses": {}}
    async with scripted(found, {}, found, {}) as (server, endpoint):
        for names in (("a", "b", "c"), ("c", "b", "a")):
            async with _open(endpoint) as tables:
                item = {"until": 5, **{name: set(names) for name in names}, "id": "cup", "n": Decimal("1.0")}
                await tables.transact([Put(BRIEF, item, when=attr("id").absent())], token="again")
    assert server.asked[1] == server.asked[3]


async def test_an_update_clears_what_has_expired_and_nothing_newer() -> None:
    """The rival case: between being refused and clearing, somebody else has put a new item."""
    expired = {"id": {"S": "cup"}, "until": {"N": "1"}}
    script = [
        Refusal("ConditionalCheckFailedException"),  # the update meets the leftover
        {"Item": expired},
        Refusal("ConditionalCheckFailedException"),  # the delete no longer does
        {"Attributes": {"id": {"S": "cup"}, "n": {"N": "8"}}},
    ]
    async with _told(*script) as (tables, server):
        assert await tables.update(BRIEF, KEY, [add("n", 1)]) == {**KEY, "n": 8}
    assert [operation for operation, _ in server.asked] == ["UpdateItem", "GetItem", "DeleteItem", "UpdateItem"]
    assert "<=" in server.asked[2][1]["ConditionExpression"]


async def test_an_update_whose_condition_fails_of_a_live_item_is_refused_at_once() -> None:
    live = {"id": {"S": "cup"}, "taken": {"BOOL": True}}
    async with _told(Refusal("ConditionalCheckFailedException"), {"Item": live}) as (tables, server):
        with pytest.raises(ConditionFailed):
            await tables.update(BRIEF, KEY, [assign("taken", True)], when=attr("taken").absent())
    assert [operation for operation, _ in server.asked] == ["UpdateItem", "GetItem"]


def _described(*shards: tuple[str, str | None], more: bool = False) -> dict[str, Any]:
    listed = [{"ShardId": name} | ({"ParentShardId": parent} if parent else {}) for name, parent in shards]
    return {"StreamDescription": {"Shards": listed} | ({"LastEvaluatedShardId": shards[-1][0]} if more else {})}


STREAM: dict[str, Any] = {"Table": {"LatestStreamArn": "arn"}}


async def test_shards_come_after_their_parents_and_forget_those_that_are_gone() -> None:
    pages = [_described(("grandchild", "child"), ("other", None), more=True), _described(("child", "gone"))]
    async with _told(STREAM, *pages) as (tables, server):
        assert await tables.shards(CUPS) == [Shard("child"), Shard("grandchild", "child"), Shard("other")]
    assert server.asked[2][1]["ExclusiveStartShardId"] == "other"


def _record(number: int, old: int | None, new: int | None) -> dict[str, Any]:
    images = {"OldImage": old, "NewImage": new}
    wire = {name: {"id": {"S": "cup"}, "n": {"N": str(n)}} for name, n in images.items() if n is not None}
    return {"dynamodb": {"Keys": {"id": {"S": "cup"}}, "SequenceNumber": str(number), **wire}}


async def test_a_stream_is_followed_through_gaps_and_past_records_without_change() -> None:
    script: list[Reply] = [
        STREAM,
        {"ShardIterator": "one"},
        {"Records": [], "NextShardIterator": "two"},  # a gap, as DynamoDB has them
        {"Records": [_record(5, 1, 1)], "NextShardIterator": "three"},
        {"Records": [_record(6, 1, 2)], "NextShardIterator": "four"},
        {"Records": [_record(7, 2, None)]},  # no further iterator: the shard has ended
    ]
    async with _told(*script) as (tables, server):
        assert (await tables.changes(CUPS, "shard", None)).changes == []
        found = await tables.changes(CUPS, "shard", None)
        assert [(change.position, change.new) for change in found.changes] == [("6", {**KEY, "n": 2})]
        assert not found.ended
        found = await tables.changes(CUPS, "shard", "6")
        assert [(change.position, change.new) for change in found.changes] == [("7", None)]
        assert found.ended
    assert [body.get("ShardIterator") for _, body in server.asked[2:]] == ["one", "two", "three", "four"]


@pytest.mark.parametrize("code", ["TrimmedDataAccessException", "ResourceNotFoundException"])
async def test_a_position_that_is_no_longer_kept_is_lost(code: str) -> None:
    async with _told(STREAM, Refusal(code)) as (tables, _):
        with pytest.raises(PositionLost):
            await tables.changes(CUPS, "shard", "5")


async def test_an_index_that_could_not_tell_what_has_expired_is_refused(dynamodb_endpoint: str) -> None:
    """An index of DynamoDB cannot be changed once it is there: it would go on showing what has expired."""
    by_colour = IndexSpec("ByColour", text("colour"), carries="keys")
    lasting = TableSpec("Painted", text("id"), indexes=(by_colour,))
    async with _open(dynamodb_endpoint, prefix=f"test-{uuid4().hex[:12]}-") as tables:
        await tables.create(lasting)
        with pytest.raises(Conflict, match="ByColour"):
            await tables.create(replace(lasting, expiry="until"))


async def test_servers_that_start_at_once_agree_on_the_tables(dynamodb_endpoint: str) -> None:
    table = TableSpec(
        "Shared", text("id"), indexes=(IndexSpec("ByColour", text("colour")),), expiry="until", stream=True
    )
    async with _open(dynamodb_endpoint, prefix=f"test-{uuid4().hex[:12]}-") as tables:
        await asyncio.gather(*(tables.create(table) for _ in range(4)))
        assert await tables.missing(table) == []


async def test_a_server_of_ones_own_needs_no_keys_and_takes_those_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "AWS_WEB_IDENTITY_TOKEN_FILE"):
        monkeypatch.delenv(name, raising=False)
    async with scripted({}) as (server, endpoint):
        async with _open(endpoint) as tables:
            await tables.get(CUPS, KEY)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "ours")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        async with _open(endpoint) as tables:
            await tables.get(CUPS, KEY)
    assert server.signed_by == ["satchel", "ours"]


async def test_a_region_that_cannot_be_is_unavailable_with_a_sentence() -> None:
    with pytest.raises(Unavailable, match="region"):
        await DynamoTables.open("not a region", endpoint=None, prefix="", clock=system_clock)


@pytest.mark.parametrize(
    ("value", "wire"),
    [
        (None, {"NULL": True}),
        (True, {"BOOL": True}),
        (Decimal("1.50"), {"N": "1.5"}),
        (
            {"b": b"1", "a": ["x", {3, 1, 2}]},
            {"M": {"a": {"L": [{"S": "x"}, {"NS": ["1", "2", "3"]}]}, "b": {"B": b"1"}}},
        ),
        ({"b", "a"}, {"SS": ["a", "b"]}),
        ({b"b", b"a"}, {"BS": [b"a", b"b"]}),
    ],
)
def test_values_have_one_form_on_the_wire(value: Any, wire: dict[str, Any]) -> None:
    assert to_wire(normalise(value)) == wire
    assert from_wire(wire) == normalise(value)
