"""Reads a table's stream from DynamoDB. Hides iterators, which expire and may have to be followed through gaps."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from satchel.kernel.errors import Invalid
from satchel.stores.distributed.dynamodb_client import Answer, DynamoClient
from satchel.stores.distributed.dynamodb_wire import item_from_wire
from satchel.stores.ports.table import Change, Changes, PositionLost, Shard, TableMissing
from satchel.stores.rules import same

# A DynamoDB iterator expires after 15 minutes.
_ITERATOR_SECONDS = 300.0
_MAX_ITERATORS = 1000


class DynamoStreams:
    """The streams of the tables of one store; tables are named as DynamoDB knows them."""

    def __init__(self, client: DynamoClient) -> None:
        self._client = client
        self._streams: dict[str, str] = {}
        # Where a reader will most likely continue, and until when. An iterator that found nothing has to be kept:
        # DynamoDB may need several looks to get past a stretch without records, each starting where the last ended.
        self._iterators: dict[tuple[str, str, str | None], tuple[str, float]] = {}

    async def shards(self, table: str) -> list[Shard]:
        stream = await self._stream(table)
        parents: dict[str, str | None] = {}
        start: dict[str, str] = {}
        while True:
            answer = await self._ask("describe_stream", StreamArn=stream, **start)
            described = answer["StreamDescription"]
            parents.update((shard["ShardId"], shard.get("ParentShardId")) for shard in described["Shards"])
            if "LastEvaluatedShardId" not in described:
                return _parents_first(parents)
            start = {"ExclusiveStartShardId": described["LastEvaluatedShardId"]}

    async def changes(self, table: str, shard: str, after: str | None, limit: int) -> Changes:
        stream = await self._stream(table)
        if remembered := self._remembered(stream, shard, after):
            # DynamoDB Local takes an iterator into a shard that was empty then for one behind its first record.
            with suppress(PositionLost):
                return await self._read(stream, shard, after, remembered, limit)
        return await self._read(stream, shard, after, await self._iterator(stream, shard, after), limit)

    async def _read(self, stream: str, shard: str, after: str | None, iterator: str, limit: int) -> Changes:
        while True:
            answer = await self._ask("get_records", ShardIterator=iterator, Limit=limit)
            changes = [change for change in map(change_of, answer["Records"]) if not same(change.old, change.new)]
            if answer.get("NextShardIterator") is None:
                return Changes(changes, ended=True)
            iterator = str(answer["NextShardIterator"])
            if changes or not answer["Records"]:
                self._remember(stream, shard, changes[-1].position if changes else after, iterator)
                return Changes(changes)

    async def _stream(self, table: str) -> str:
        if table not in self._streams:
            answer = await self._client.call("describe_table", repeatable=True, TableName=table)
            if "LatestStreamArn" not in answer["Table"]:
                raise TableMissing(f"Table {table} has no stream. Create it with `satchel tables create`.")
            self._streams[table] = answer["Table"]["LatestStreamArn"]
        return self._streams[table]

    async def _iterator(self, stream: str, shard: str, after: str | None) -> str:
        start = {"ShardIteratorType": "TRIM_HORIZON"}
        if after is not None:
            if not (after.isascii() and after.isdigit()):
                raise Invalid("This is not a position in the stream. Use one that came with a change.")
            start = {"ShardIteratorType": "AFTER_SEQUENCE_NUMBER", "SequenceNumber": after}
        answer = await self._ask("get_shard_iterator", StreamArn=stream, ShardId=shard, **start)
        return str(answer["ShardIterator"])

    async def _ask(self, operation: str, **parameters: Any) -> Answer:
        try:
            return await self._client.call(operation, repeatable=True, service="dynamodbstreams", **parameters)
        except TableMissing as error:
            # A shard that was deleted, or a table that was created again with another stream.
            self._streams.clear()
            raise PositionLost("This part of the stream is gone. Rebuild from the items themselves.") from error

    def _remembered(self, stream: str, shard: str, after: str | None) -> str | None:
        iterator, until = self._iterators.pop((stream, shard, after), ("", 0.0))
        return iterator if asyncio.get_running_loop().time() < until else None

    def _remember(self, stream: str, shard: str, after: str | None, iterator: str) -> None:
        if len(self._iterators) >= _MAX_ITERATORS:
            self._iterators.clear()
        self._iterators[stream, shard, after] = (iterator, asyncio.get_running_loop().time() + _ITERATOR_SECONDS)


def _parents_first(parents: dict[str, str | None]) -> list[Shard]:
    """Each shard after its parent; a parent that is no longer kept is not named."""
    ordered: dict[str, Shard] = {}

    def place(shard: str) -> None:
        parent = parents[shard]
        if parent not in parents:
            parent = None
        elif parent not in ordered:
            place(parent)
        ordered[shard] = Shard(shard, parent)

    for shard in parents:
        if shard not in ordered:
            place(shard)
    return list(ordered.values())


def change_of(record: Mapping[str, Any]) -> Change:
    """What a record of a stream says, as it is read from there or handed to a Lambda function."""
    entry = record["dynamodb"]
    old, new = (item_from_wire(entry[image]) if image in entry else None for image in ("OldImage", "NewImage"))
    return Change(item_from_wire(entry["Keys"]), old, new, str(entry["SequenceNumber"]))
