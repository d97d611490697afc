"""Reads items by key: those that are asked for at one moment, by whomever, go to DynamoDB as one request.

A request of ours that needs several things at once asks for them with `asyncio.gather`. Their keys meet here, whichever
slices they are of and whatever tables they are in, since a batch of DynamoDB reads from many tables.
"""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from satchel.kernel.errors import SatchelError, Unavailable
from satchel.stores.distributed.dynamodb_client import Answer, DynamoClient, new_retries
from satchel.stores.distributed.dynamodb_wire import item_from_wire, item_to_wire
from satchel.stores.ports.table import Item, TableMissing

_GETS_AT_ONCE = 100
_TURNS = 3
T = TypeVar("T")
Identity: TypeAlias = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class _Wanted:
    """Distinct items of one table, by their keys, and who waits for them."""

    table: str
    key_names: tuple[str, ...]
    keys: dict[Identity, dict[str, Any]]
    found: "asyncio.Future[dict[Identity, Item]]" = field(compare=False)


class JoinedReads:
    """The reads of one store. Consistent ones and those that may lag never share a request."""

    def __init__(self, client: DynamoClient) -> None:
        self._client = client
        self._waiting: dict[bool, list[_Wanted]] = {}
        self._sending: set[asyncio.Task[None]] = set()

    async def read(
        self, table: str, key_names: tuple[str, ...], keys: Sequence[Item], *, may_lag: bool
    ) -> dict[Identity, Item]:
        """Those of the items that exist, expired or not, by the values of their keys."""
        if not keys:
            return {}
        loop = asyncio.get_running_loop()
        distinct = {identity_of(key_names, key): item_to_wire(key) for key in keys}
        wanted = _Wanted(table, key_names, distinct, loop.create_future())
        if may_lag not in self._waiting:
            self._waiting[may_lag] = []
            sending = loop.create_task(self._send(may_lag=may_lag))
            self._sending.add(sending)
            sending.add_done_callback(self._sending.discard)
        self._waiting[may_lag].append(wanted)
        return await wanted.found

    async def _send(self, *, may_lag: bool) -> None:
        # Some turns of the loop: what was started together with the first read, and what that started, asks meanwhile.
        for _ in range(_TURNS):
            await asyncio.sleep(0)
        together = self._waiting.pop(may_lag)
        try:
            await self._answer(together, may_lag=may_lag)
        except Exception as error:  # noqa: BLE001 -- whoever waits has to hear of it, whatever it is
            if isinstance(error, TableMissing) and len({each.table for each in together}) > 1:
                # Only those are told who ask for that table.
                await asyncio.gather(*(self._answer_or_fail(each, may_lag=may_lag) for each in together))
            else:
                _fail(together, error)
        finally:
            for each in together:
                each.found.cancel()

    async def _answer_or_fail(self, wanted: _Wanted, *, may_lag: bool) -> None:
        try:
            await self._answer([wanted], may_lag=may_lag)
        except SatchelError as error:
            _fail([wanted], error)

    async def _answer(self, together: Sequence[_Wanted], *, may_lag: bool) -> None:
        names = {each.table: each.key_names for each in together}
        keys = {(each.table, identity): key for each in together for identity, key in each.keys.items()}
        asked = [(table, key) for (table, _), key in keys.items()]
        if len(asked) == 1:
            answers = [await self._get(*asked[0], may_lag=may_lag)]
        else:
            answers = await asyncio.gather(
                *(self._get_many(some, may_lag=may_lag) for some in portions(asked, _GETS_AT_ONCE))
            )
        found: dict[str, dict[Identity, Item]] = {table: {} for table in names}
        for table, item in (pair for answer in answers for pair in answer):
            found[table][identity_of(names[table], item)] = item
        for each in together:
            if not each.found.done():
                there = found[each.table]
                each.found.set_result({identity: there[identity] for identity in each.keys if identity in there})

    async def _get(self, table: str, key: dict[str, Any], *, may_lag: bool) -> list[tuple[str, Item]]:
        answer = await self._client.call(
            "get_item", repeatable=True, TableName=table, Key=key, ConsistentRead=not may_lag
        )
        return [(table, item_from_wire(answer["Item"]))] if "Item" in answer else []

    async def _get_many(self, some: Sequence[tuple[str, dict[str, Any]]], *, may_lag: bool) -> list[tuple[str, Item]]:
        request: dict[str, Any] = {}
        for table, key in some:
            request.setdefault(table, {"Keys": [], "ConsistentRead": not may_lag})["Keys"].append(key)
        answers = await in_rounds(self._client, "batch_get_item", request, "UnprocessedKeys")
        return [
            (table, item_from_wire(item))
            for answer in answers
            for table, items in answer["Responses"].items()
            for item in items
        ]


async def in_rounds(client: DynamoClient, operation: str, requests: dict[str, Any], left_over: str) -> list[Answer]:
    """The answers to a batch, asked for until DynamoDB has dealt with all of it."""
    retries = new_retries()
    answers: list[Answer] = []
    while True:
        answers.append(await client.call(operation, repeatable=True, RequestItems=requests))
        requests = answers[-1].get(left_over) or {}
        if not requests:
            return answers
        await retries.pause_or_raise(Unavailable("The table store is overloaded. Try again in a moment."))


def _fail(together: Sequence[_Wanted], error: Exception) -> None:
    for each in together:
        if not each.found.done():
            each.found.set_exception(error)


def identity_of(key_names: tuple[str, ...], item: Item) -> Identity:
    return tuple(item[name] for name in key_names)


def portions(entries: list[T], size: int) -> Iterator[list[T]]:
    return (entries[start : start + size] for start in range(0, len(entries), size))
