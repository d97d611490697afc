"""The table store on DynamoDB: turns calls of the contract into requests, and answers into items."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from hashlib import sha256
from typing import Any
from uuid import uuid4

from satchel.kernel.clock import Clock
from satchel.stores.distributed.dynamodb_client import DynamoClient, new_retries
from satchel.stores.distributed.dynamodb_expressions import Expression
from satchel.stores.distributed.dynamodb_reads import JoinedReads, identity_of, in_rounds, portions
from satchel.stores.distributed.dynamodb_requests import (
    has_expired,
    holds_if_absent,
    moment,
    removal_request,
    write_request,
)
from satchel.stores.distributed.dynamodb_schema import DynamoSchema
from satchel.stores.distributed.dynamodb_streams import DynamoStreams
from satchel.stores.distributed.dynamodb_wire import item_from_wire, item_to_wire
from satchel.stores.ports.expressions import Action, Condition, Value
from satchel.stores.ports.table import (
    MAX_PAGE_ITEMS,
    PAGE_BYTES,
    Changes,
    Check,
    ConditionFailed,
    Delete,
    Eq,
    Item,
    Key,
    KeyValue,
    Page,
    Put,
    Range,
    Shard,
    StartsWith,
    TableSpec,
    TransactionCancelled,
    Update,
    Write,
)
from satchel.stores.ports.whole_stores import Scanned
from satchel.stores.rules import (
    Query,
    check_actions,
    check_batch,
    check_condition,
    check_item,
    check_key,
    check_limit,
    check_query,
    check_tables,
    check_transaction,
    decode_cursor,
    encode_cursor,
    evaluate,
    item_bytes,
    project,
)
from satchel.stores.rules.transactions import key_of

_WRITES_AT_ONCE = 25
_TRANSACT_NAMES: dict[type[Write], str] = {Put: "Put", Update: "Update", Delete: "Delete", Check: "ConditionCheck"}


class DynamoTables:
    """Tables in one region of DynamoDB, all of whose names begin with `prefix`."""

    def __init__(self, client: DynamoClient, prefix: str, clock: Clock) -> None:
        self._client = client
        self._prefix = prefix
        self._clock = clock
        self._schema = DynamoSchema(client, prefix)
        self._streams = DynamoStreams(client)
        self._reads = JoinedReads(client)

    @classmethod
    async def open(cls, region: str, *, endpoint: str | None, prefix: str, clock: Clock) -> "DynamoTables":
        return cls(await DynamoClient.open(region, endpoint), prefix, clock)

    async def create(self, *tables: TableSpec) -> None:
        check_tables(tables, self._prefix)
        for table in tables:
            await self._schema.create(table)

    async def missing(self, *tables: TableSpec) -> list[str]:
        check_tables(tables, self._prefix)
        return [words for table in tables for words in await self._schema.missing(table)]

    async def get(self, table: TableSpec, key: Key, *, may_lag: bool = False) -> Item | None:
        (item,) = await self.get_many(table, [key], may_lag=may_lag)
        return item

    async def put(self, table: TableSpec, item: Mapping[str, Value], *, when: Condition | None = None) -> None:
        write = Put(table, check_item(table, item), _checked(table, when))
        await self._client.call("put_item", repeatable=when is None, **self._request(write, self._now()))

    async def update(
        self, table: TableSpec, key: Key, actions: Sequence[Action], *, when: Condition | None = None
    ) -> Item:
        checked = check_key(table, key), check_actions(table, actions), _checked(table, when)
        write = Update(table, *checked)
        retries = new_retries()
        while True:
            now = self._now()
            request = self._request(write, now)
            try:
                answer = await self._client.call("update_item", repeatable=False, ReturnValues="ALL_NEW", **request)
            except ConditionFailed as refusal:
                if not await self._cleared(write, now):
                    raise
                await retries.pause_or_raise(refusal)
            else:
                return item_from_wire(answer["Attributes"])

    async def delete(self, table: TableSpec, key: Key, *, when: Condition | None = None) -> Item | None:
        write = Delete(table, check_key(table, key), _checked(table, when))
        request = self._request(write, self._now())
        answer = await self._client.call("delete_item", repeatable=False, ReturnValues="ALL_OLD", **request)
        return self._unless_expired(table, _item(answer.get("Attributes")))

    async def query(
        self,
        table: TableSpec,
        partition: KeyValue,
        sort: Eq | StartsWith | Range | None = None,
        *,
        index: str | None = None,
        descending: bool = False,
        limit: int = 100,
        cursor: str | None = None,
        may_lag: bool = False,
    ) -> Page:
        query = check_query(table, partition, sort, index=index, limit=limit)
        request = self._query_request(query, descending=descending, may_lag=may_lag)
        if cursor is not None:
            request["ExclusiveStartKey"] = item_to_wire(decode_cursor(query, cursor))
        now = self._now()
        items: list[Item] = []
        size = 0
        # One more than asked for tells whether there is more.
        ask = limit + 1
        while True:
            answer = await self._client.call("query", repeatable=True, Limit=min(ask, MAX_PAGE_ITEMS), **request)
            for item in map(item_from_wire, answer["Items"]):
                if has_expired(table, item, now):
                    continue
                if len(items) == limit or size >= PAGE_BYTES:
                    return Page([project(query, item) for item in items], encode_cursor(query, items[-1]))
                items.append(item)
                size += item_bytes(item)
            if "LastEvaluatedKey" not in answer:
                return Page([project(query, item) for item in items], None)
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]
            # Leftovers in the way: take larger steps, so that many of them cost few requests.
            ask *= 2

    async def scan(self, table: TableSpec, after: Key | None = None, *, limit: int = 100) -> Scanned:
        """See `satchel.stores.ports.whole_stores`."""
        check_limit(limit)
        request: dict[str, Any] = {"TableName": self._name(table), "ConsistentRead": True, "Limit": limit}
        if after is not None:
            request["ExclusiveStartKey"] = item_to_wire(check_key(table, after))
        answer = await self._client.call("scan", repeatable=True, **request)
        now = self._now()
        items = [item for item in map(item_from_wire, answer["Items"]) if not has_expired(table, item, now)]
        return Scanned(items, _item(answer.get("LastEvaluatedKey")))

    async def get_many(self, table: TableSpec, keys: Sequence[Key], *, may_lag: bool = False) -> list[Item | None]:
        checked = [check_key(table, key) for key in keys]
        found = await self._read_many(table, checked, may_lag=may_lag)
        return [self._unless_expired(table, found.get(identity_of(table.key_names, key))) for key in checked]

    async def write_many(
        self, table: TableSpec, *, put: Sequence[Mapping[str, Value]] = (), delete: Sequence[Key] = ()
    ) -> None:
        items, keys = check_batch(table, put, delete)
        requests = [{"PutRequest": {"Item": item_to_wire(item)}} for item in items]
        requests += [{"DeleteRequest": {"Key": item_to_wire(key)}} for key in keys]
        for some in portions(requests, _WRITES_AT_ONCE):
            await in_rounds(self._client, "batch_write_item", {self._name(table): some}, "UnprocessedItems")

    async def transact(self, writes: Sequence[Write], *, token: str | None = None) -> None:
        checked = check_transaction(writes, token)
        if token is not None:
            # A repetition has to be the same to the letter, so it cannot say what time it is. What has expired is
            # taken away first instead.
            await self._clear_all(checked, self._now())
            return await self._transact(checked, None, sha256(f"{self._prefix}\n{token}".encode()).hexdigest()[:36])
        retries = new_retries()
        while True:
            now = self._now()
            try:
                return await self._transact(checked, now, uuid4().hex)
            except TransactionCancelled as refusal:
                refused = [write for write, reason in zip(checked, refusal.reasons, strict=True) if reason]
                if not any([await self._cleared(write, now) for write in refused]):
                    raise
                await retries.pause_or_raise(refusal)

    async def shards(self, table: TableSpec) -> list[Shard]:
        return await self._streams.shards(self._name(table))

    async def changes(self, table: TableSpec, shard: str, after: str | None, *, limit: int = 100) -> Changes:
        check_limit(limit)
        return await self._streams.changes(self._name(table), shard, after, limit)

    async def sweep(self) -> int:
        """DynamoDB does both by itself."""
        return 0

    async def time(self) -> float | None:
        return await self._client.time()

    async def close(self) -> None:
        await self._client.close()

    def _name(self, table: TableSpec) -> str:
        return self._prefix + table.name

    def _now(self) -> Decimal:
        return moment(self._clock())

    def _request(self, write: Write, now: Decimal | None) -> dict[str, Any]:
        return write_request(write, self._name(write.table), now)

    def _unless_expired(self, table: TableSpec, item: Item | None) -> Item | None:
        return None if item is None or has_expired(table, item, self._now()) else item

    async def _read(self, table: TableSpec, key: Item) -> Item | None:
        """The item as it lies there, expired or not."""
        return next(iter((await self._read_many(table, [key])).values()), None)

    async def _read_many(
        self, table: TableSpec, keys: Sequence[Item], *, may_lag: bool = False
    ) -> dict[tuple[Any, ...], Item]:
        return await self._reads.read(self._name(table), table.key_names, keys, may_lag=may_lag)

    async def _transact(self, writes: Sequence[Write], now: Decimal | None, token: str) -> None:
        items = [{_TRANSACT_NAMES[type(write)]: self._request(write, now)} for write in writes]
        await self._client.call("transact_write_items", repeatable=True, TransactItems=items, ClientRequestToken=token)

    async def _cleared(self, write: Write, now: Decimal) -> bool:
        """Whether a refused write deserves another try, once what is left of an expired item is out of its way."""
        table = write.table
        if table.expiry is None or not isinstance(write, Update) or not holds_if_absent(write):
            return False
        found = await self._read(table, dict(write.key))
        if found is None:
            return True
        if has_expired(table, found, now):
            await self._clear(table, found, now)
            return True
        return write.when is None or evaluate(write.when, found)

    async def _clear_all(self, writes: Sequence[Write], now: Decimal) -> None:
        keys: dict[TableSpec, list[Item]] = {}
        for write in writes:
            if write.table.expiry is not None:
                keys.setdefault(write.table, []).append(dict(key_of(write)))
        for table, those in keys.items():
            for found in (await self._read_many(table, those)).values():
                if has_expired(table, found, now):
                    await self._clear(table, found, now)

    async def _clear(self, table: TableSpec, item: Item, now: Decimal) -> None:
        request = removal_request(table, self._name(table), table.key_of(item), now)
        with suppress(ConditionFailed):  # somebody else was first: gone, or written anew
            await self._client.call("delete_item", repeatable=True, **request)

    def _query_request(self, query: Query, *, descending: bool, may_lag: bool) -> dict[str, Any]:
        expression = Expression()
        request: dict[str, Any] = {
            "TableName": self._name(query.table),
            "KeyConditionExpression": expression.keys(query),
            "ScanIndexForward": not descending,
        }
        if query.index is None:
            request["ConsistentRead"] = not may_lag
        else:
            request["IndexName"] = query.index.name
        return request | expression.placeholders()


def _checked(table: TableSpec, when: Condition | None) -> Condition | None:
    return None if when is None else check_condition(table, when)


def _item(wire: dict[str, Any] | None) -> Item | None:
    return None if wire is None else item_from_wire(wire)
