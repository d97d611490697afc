"""Makes DynamoDB's tables as they are declared in code, adds what an older one lacks, and drops nothing."""

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from satchel.kernel.errors import Conflict, Invalid, Unavailable
from satchel.stores.distributed.dynamodb_client import DynamoClient
from satchel.stores.patterns.backoff import Backoff, Retries
from satchel.stores.ports.table import IndexSpec, TableMissing, TableSpec
from satchel.stores.rules.table_specs import key_attributes

# Filling a new index of a large table takes a while.
# Not a retry but the same growing pauses: how often to look whether a table is ready, and for how long.
_LOOKS = Backoff(attempts=10_000, first_seconds=0.02, longest_seconds=5.0, jitter=0, within_seconds=1800)
_STREAM = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}


@dataclass(frozen=True, slots=True)
class _Existing:
    """A table as DynamoDB has it, and the attribute by which its items expire."""

    description: dict[str, Any]
    expiry: str | None

    @property
    def indexes(self) -> dict[str, dict[str, Any]]:
        return {index["IndexName"]: index for index in self.description.get("GlobalSecondaryIndexes", ())}

    @property
    def stream(self) -> str | None:
        specification = self.description.get("StreamSpecification", {})
        return specification.get("StreamViewType") if specification.get("StreamEnabled") else None


class DynamoSchema:
    """What is there of the declared tables, and the making of what is not."""

    def __init__(self, client: DynamoClient, prefix: str) -> None:
        self._client = client
        self._prefix = prefix

    async def missing(self, table: TableSpec) -> list[str]:
        """What `create` would make, in words."""
        existing = await self._existing(table)
        words = [] if existing else [f"table {table.name}"]
        words += [f"index {index.name} of table {table.name}" for index in _lacking_indexes(table, existing)]
        if _lacks_expiry(table, existing):
            words.append(f"expiry of table {table.name}")
        if _lacks_stream(table, existing):
            words.append(f"stream of table {table.name}")
        return words

    async def create(self, table: TableSpec) -> None:
        if await self._existing(table) is None:
            await self._make(table)
        await self._ready(table)
        try:
            await self._complete(table)
        except (Conflict, Invalid):
            # Another server may be doing the same: what counts is whether it is there in the end.
            await self._ready(table)
            if await self.missing(table):
                raise

    async def _complete(self, table: TableSpec) -> None:
        existing = await self._existing(table)
        for index in _lacking_indexes(table, existing):
            # One at a time is all that DynamoDB does.
            await self._add_index(table, index)
        if _lacks_stream(table, existing):
            await self._change(table, StreamSpecification=_STREAM)
        if _lacks_expiry(table, existing):
            specification = {"Enabled": True, "AttributeName": table.expiry}
            await self._call("update_time_to_live", table, TimeToLiveSpecification=specification)

    async def _existing(self, table: TableSpec) -> _Existing | None:
        try:
            described = await self._call("describe_table", table)
        except TableMissing:
            return None
        expiry: str | None = None
        if table.expiry is not None:
            answer = (await self._call("describe_time_to_live", table))["TimeToLiveDescription"]
            expiry = answer.get("AttributeName") if answer["TimeToLiveStatus"].startswith("ENABL") else None
        existing = _Existing(described["Table"], expiry)
        _check_alike(table, existing)
        return existing

    async def _make(self, table: TableSpec) -> None:
        request = table_request(table)
        with suppress(Conflict):  # another server is making it at this moment
            await self._call("create_table", table, **request)

    async def _add_index(self, table: TableSpec, index: IndexSpec) -> None:
        await self._change(
            table,
            AttributeDefinitions=_definitions(table, index),
            GlobalSecondaryIndexUpdates=[{"Create": _index_request(table, index)}],
        )

    async def _change(self, table: TableSpec, **change: Any) -> None:
        await self._call("update_table", table, **change)
        await self._ready(table)

    async def _ready(self, table: TableSpec) -> None:
        """Wait until the table and all its indexes can be used."""
        looks = Retries(_LOOKS)
        while not await self._is_ready(table):
            if not await looks.pause():
                raise Unavailable(f"DynamoDB is still building table {table.name}. Run this again later.")

    async def _is_ready(self, table: TableSpec) -> bool:
        try:
            description = (await self._call("describe_table", table))["Table"]
        except TableMissing:
            return False  # DynamoDB may need a moment to know of a table that it has just agreed to make
        states = [description["TableStatus"]]
        states += [index["IndexStatus"] for index in description.get("GlobalSecondaryIndexes", ())]
        return all(state == "ACTIVE" for state in states)

    async def _call(self, operation: str, table: TableSpec, **parameters: Any) -> dict[str, Any]:
        return await self._client.call(operation, repeatable=True, TableName=self._prefix + table.name, **parameters)


def table_request(table: TableSpec) -> dict[str, Any]:
    """What DynamoDB is asked for, without the name and the expiry."""
    request: dict[str, Any] = {
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": _definitions(table, *table.indexes),
        "KeySchema": _key_schema(table),
    }
    if table.indexes:
        request["GlobalSecondaryIndexes"] = [_index_request(table, index) for index in table.indexes]
    if table.stream:
        request["StreamSpecification"] = _STREAM
    return request


def _lacking_indexes(table: TableSpec, existing: _Existing | None) -> list[IndexSpec]:
    there = existing.indexes if existing else {}
    return [index for index in table.indexes if index.name not in there]


def _lacks_expiry(table: TableSpec, existing: _Existing | None) -> bool:
    return table.expiry is not None and (existing is None or existing.expiry is None)


def _lacks_stream(table: TableSpec, existing: _Existing | None) -> bool:
    return table.stream and (existing is None or existing.stream is None)


def _check_alike(table: TableSpec, existing: _Existing) -> None:
    """Raise `Conflict` where what is there contradicts the declaration instead of only lacking something."""
    types = {part["AttributeName"]: part["AttributeType"] for part in existing.description["AttributeDefinitions"]}
    kinds = {part.name: part.kind.value for owner in (table, *table.indexes) for part in key_attributes(owner)}
    if existing.description["KeySchema"] != _key_schema(table) or any(
        types.get(name, kind) != kind for name, kind in kinds.items()
    ):
        raise Conflict(f"Table {table.name} exists with other keys. Choose another prefix, or move its items.")
    for index in table.indexes:
        found = existing.indexes.get(index.name)
        if found is not None and not _serves(table, index, found):
            raise Conflict(
                f"Index {index.name} of table {table.name} exists, but differs. Remove it, then run this again."
            )
    if existing.expiry not in (None, table.expiry):
        raise Conflict(f"Table {table.name} expires items by another attribute. Switch that off, then run this again.")
    if table.stream and existing.stream not in (None, _STREAM["StreamViewType"]):
        raise Conflict(f"The stream of table {table.name} lacks old or new items. Switch it off, then run this again.")


def _serves(table: TableSpec, index: IndexSpec, found: dict[str, Any]) -> bool:
    projection = found["Projection"]
    carries = projection["ProjectionType"] == "ALL" or (
        index.carries != "everything" and _carried(table, index) <= set(projection.get("NonKeyAttributes", ()))
    )
    return carries and found["KeySchema"] == _key_schema(index)


def _carried(table: TableSpec, index: IndexSpec) -> set[str]:
    """What an index has to hold besides keys. The expiry is needed to see that an item has expired."""
    named = set(index.carries) if isinstance(index.carries, tuple) else set[str]()
    if table.expiry is not None:
        named.add(table.expiry)
    return named - {part.name for owner in (table, index) for part in key_attributes(owner)}


def _index_request(table: TableSpec, index: IndexSpec) -> dict[str, Any]:
    carried = sorted(_carried(table, index))
    if index.carries == "everything":
        projection: dict[str, Any] = {"ProjectionType": "ALL"}
    elif carried:
        projection = {"ProjectionType": "INCLUDE", "NonKeyAttributes": carried}
    else:
        projection = {"ProjectionType": "KEYS_ONLY"}
    return {"IndexName": index.name, "KeySchema": _key_schema(index), "Projection": projection}


def _key_schema(owner: TableSpec | IndexSpec) -> list[dict[str, str]]:
    roles = zip(key_attributes(owner), ("HASH", "RANGE"), strict=False)
    return [{"AttributeName": part.name, "KeyType": role} for part, role in roles]


def _definitions(*owners: TableSpec | IndexSpec) -> list[dict[str, str]]:
    kinds = {part.name: part.kind.value for owner in owners for part in key_attributes(owner)}
    return [{"AttributeName": name, "AttributeType": kind} for name, kind in kinds.items()]
