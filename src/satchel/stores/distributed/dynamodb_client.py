"""Sends requests to DynamoDB: signed, with a timeout, retried where that is safe, with errors translated.

The library's own retries are switched off, because they repeat a write whose answer was lost: an addition would count
twice, and a conditional put would be told that somebody else (itself) had come first.
"""

import asyncio
import io
import os
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Any, Literal, TypeAlias, cast

from aiobotocore.config import AioConfig
from aiobotocore.session import AioSession
from botocore.exceptions import BotoCoreError, ClientError

from satchel.kernel.errors import Unavailable
from satchel.stores.distributed.answer_time import time_of
from satchel.stores.distributed.dynamodb_errors import changed_nothing, may_pass, translated
from satchel.stores.patterns.backoff import Backoff, Retries

CONNECT_SECONDS = 3
READ_SECONDS = 10
MAX_CONNECTIONS = 50
_LARGE_BYTES = 512 * 1024
# Retries of a server that hangs end sooner than of one that refuses: each attempt alone can take READ_SECONDS.
_BACKOFF = Backoff(attempts=8, first_seconds=0.05, longest_seconds=2.0, jitter=0.5, within_seconds=20.0)

Answer: TypeAlias = dict[str, Any]
Service: TypeAlias = Literal["dynamodb", "dynamodbstreams"]


def new_retries() -> Retries:
    """The retries of one operation, however many requests it takes."""
    return Retries(_BACKOFF)


class DynamoClient:
    """The open connections to DynamoDB and to its streams."""

    def __init__(self, clients: Mapping[Service, Any], resources: AsyncExitStack) -> None:
        self._clients = clients
        self._resources = resources
        self._under_way: set[asyncio.Task[Answer]] = set()
        self._closing = False

    @classmethod
    async def open(cls, region: str, endpoint: str | None) -> "DynamoClient":
        config = AioConfig(
            connect_timeout=CONNECT_SECONDS,
            read_timeout=READ_SECONDS,
            max_pool_connections=MAX_CONNECTIONS,
            retries={"mode": "standard", "total_max_attempts": 1},
            # What is sent has passed our own rules, which know more than the library's.
            parameter_validation=False,
        )
        session: Any = AioSession()
        options: dict[str, Any] = {"region_name": region, "endpoint_url": endpoint, "config": config}
        async with AsyncExitStack() as resources:
            clients: dict[Service, Any] = {}
            try:
                for service in ("dynamodb", "dynamodbstreams"):
                    context = session.create_client(service, **options, **_stand_in_keys(endpoint))
                    clients[service] = await resources.enter_async_context(context)
                    clients[service].meta.events.register(f"before-send.{service}", _send_in_pieces)
            except (BotoCoreError, ValueError) as error:
                raise Unavailable("The region or endpoint of the table store is not usable. Correct it.") from error
            return cls(clients, resources.pop_all())

    async def call(
        self, operation: str, *, repeatable: bool, service: Service = "dynamodb", **parameters: Any
    ) -> Answer:
        """The answer to a request. One that is `repeatable` is sent again even if it may have been carried out."""
        retries = new_retries()
        while True:
            try:
                return await self._once(operation, service=service, **parameters)
            except (BotoCoreError, ClientError) as error:
                again = may_pass(error) if repeatable else changed_nothing(error)
                if again and await retries.pause():
                    continue
                raise translated(error) from error

    async def _once(self, operation: str, *, service: Service = "dynamodb", **parameters: Any) -> Answer:
        """The answer to a request sent once; the library's errors come as they are."""
        if self._closing:
            raise Unavailable("The table store has been closed.")
        request = asyncio.ensure_future(getattr(self._clients[service], operation)(**parameters))
        self._under_way.add(request)
        request.add_done_callback(self._under_way.discard)
        return await request

    async def time(self) -> float | None:
        """What time it is there. Any answer says so, even a refusal."""
        try:
            return time_of(await self._once("list_tables", Limit=1))
        except ClientError as refusal:
            return time_of(cast("Any", refusal).response)
        except BotoCoreError as error:
            raise translated(error) from error

    async def close(self) -> None:
        self._closing = True
        if self._under_way:
            await asyncio.wait(self._under_way)
        await self._resources.aclose()


def _send_in_pieces(request: Any, **_: Any) -> None:
    """Write a large request in pieces: a transaction can have megabytes, and would block the loop."""
    if len(request.body) >= _LARGE_BYTES:
        request.body = io.BytesIO(request.body)


def _stand_in_keys(endpoint: str | None) -> dict[str, str]:
    """Keys for a server that asks for some but checks none, such as DynamoDB Local, when there are no others."""
    sources = ("AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_WEB_IDENTITY_TOKEN_FILE")
    if endpoint is None or "amazonaws.com" in endpoint or any(name in os.environ for name in sources):
        return {}
    return {"aws_access_key_id": "satchel", "aws_secret_access_key": "satchel"}
