"""The one pub/sub connection of this process to Redis.

A connection for each reader would be costly. Here the server sends a message once, and it is passed to all who read
that channel (`ephemeral_channels.py`).
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from redis.asyncio.connection import AbstractConnection
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as NoAnswer

from satchel.stores.distributed.redis_connection import Conversation
from satchel.stores.ephemeral_channels import Channels, Subscription
from satchel.stores.ports.ephemeral import Message, SubscriptionLost


class _Joining:
    """A subscription whose channels the server has not all confirmed."""

    def __init__(self, subscription: Subscription) -> None:
        self.subscription = subscription
        self.missing = len(subscription.channels)
        self.joined: asyncio.Future[None] = asyncio.get_running_loop().create_future()


class Listener(Conversation):
    """The subscriptions of this process."""

    def __init__(self, connect: Callable[[], AbstractConnection], reply_timeout: float, prefix: str) -> None:
        super().__init__(connect, reply_timeout)
        self._prefix = prefix
        self.channels = Channels()
        # Every subscription asks the server, also for a channel that is already heard: its confirmation is how we know
        # that nothing from then on is missed. They come in the order of asking.
        self._joining: deque[_Joining] = deque()

    async def join(self, subscription: Subscription) -> None:
        """Returns when whatever is published from now on will be heard."""
        wire = await self._open_wire()
        joining = _Joining(subscription)
        self._joining.append(joining)
        wire.send([("SUBSCRIBE", *self._prefixed(subscription.channels))])
        try:
            async with asyncio.timeout(self._reply_timeout):
                await joining.joined
        except TimeoutError:
            error = NoAnswer("no confirmation")
            await self._give_up(wire, error)
            raise error from None
        except asyncio.CancelledError:
            self.leave(subscription)
            raise

    def leave(self, subscription: Subscription) -> None:
        self.channels.leave(subscription)
        unheard = {channel for channel in subscription.channels if channel not in self.channels}
        for joining in self._joining:
            if not joining.joined.done():
                unheard -= joining.subscription.channels
        if unheard and self._wire is not None:
            self._wire.send([("UNSUBSCRIBE", *self._prefixed(unheard))])

    def _prefixed(self, channels: Iterable[str]) -> Iterable[str]:
        return (self._prefix + channel for channel in channels)

    def _hear(self, reply: Any) -> None:
        match reply:
            case [b"message", bytes() as channel, bytes() as body]:
                self.channels.deliver(Message(channel.decode().removeprefix(self._prefix), body))
            case [b"subscribe", *_]:
                self._confirm(self._joining[0])
            case _:
                pass

    def _confirm(self, joining: _Joining) -> None:
        joining.missing -= 1
        if joining.missing:
            return
        self._joining.popleft()
        if not joining.joined.done():
            self.channels.join(joining.subscription)
            joining.joined.set_result(None)

    def _lose(self, error: RedisError) -> None:
        joining, self._joining = self._joining, deque()
        for waiting in joining:
            if not waiting.joined.done():
                waiting.joined.set_exception(type(error)(*error.args))
        self.channels.end_all(
            partial(SubscriptionLost, "The connection to Redis broke, and messages may be missing. Subscribe again.")
        )
