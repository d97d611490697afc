"""What somebody is told of what happens: heard where the server publishes it, before any websocket."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from satchel.live import person_channel
from satchel.stores.ports.ephemeral import Ephemeral


class Hearing:
    """What somebody was told so far."""

    def __init__(self, messages: Any) -> None:
        self._messages = messages

    async def next(self) -> dict[str, Any]:
        return msgspec.json.decode((await anext(self._messages)).body)

    async def until(self, kind: str) -> dict[str, Any]:
        """The next event of this kind."""
        while (event := await self.next())["type"] != kind:
            pass
        return event


@asynccontextmanager
async def heard_by(ephemeral: Ephemeral, person_id: str) -> AsyncGenerator[Hearing]:
    async with ephemeral.subscribe(person_channel(person_id)) as messages:
        yield Hearing(messages)
