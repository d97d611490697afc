"""Subscriptions of one process, and when a slow reader is dropped: the part of pub/sub that every store shares."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from functools import partial

from satchel.kernel.errors import Invalid
from satchel.stores.ephemeral_rules import check_key
from satchel.stores.ports.ephemeral import MAX_BEHIND_BYTES, MAX_BEHIND_MESSAGES, Message, SubscriptionLost

_CROWD = MAX_BEHIND_MESSAGES // 10
# What a message takes besides its body.
_MESSAGE_BYTES = 100


class Subscription:
    """The messages that one reader has not read yet. The iterator ends with its block."""

    def __init__(self, channels: Iterable[str]) -> None:
        self.channels = frozenset(channels)
        if not self.channels:
            raise Invalid("A subscription needs at least one channel.")
        for channel in self.channels:
            check_key(channel)
        self._unheard: deque[tuple[Message, int]] = deque()
        self.unheard_bytes = 0
        # Whoever adds up what all readers have not read.
        self.count: Callable[[int], None] = _nobody_counts
        self._news = asyncio.Event()
        self._over: Callable[[], Exception] | None = None

    def __aiter__(self) -> "Subscription":
        return self

    async def __anext__(self) -> Message:
        while not self._unheard:
            if self._over is not None:
                raise self._over()
            self._news.clear()
            await self._news.wait()
        message, size = self._unheard.popleft()
        self._add(-size)
        return message

    @property
    def behind(self) -> int:
        return len(self._unheard)

    def hear(self, message: Message, size: int) -> None:
        """`size` is what it takes in memory for this reader."""
        if self._over is not None:
            return
        self._unheard.append((message, size))
        self._add(size)
        if len(self._unheard) > MAX_BEHIND_MESSAGES:
            self.drop()
        self._news.set()

    def drop(self) -> None:
        """End it because it is too far behind."""
        self.end(
            partial(SubscriptionLost, "This reader was too slow to hear everything. Subscribe again, then re-read.")
        )

    def end(self, error: Callable[[], Exception]) -> None:
        """Drop all unread messages. From now on the reader gets the error."""
        if self._over is None:
            self._over = error
            self._unheard.clear()
            self._add(-self.unheard_bytes)
        self._news.set()

    def _add(self, number: int) -> None:
        self.unheard_bytes += number
        self.count(number)


def _nobody_counts(number: int) -> None:
    pass


class Channels:
    """The subscriptions of this process, by channel."""

    def __init__(self) -> None:
        self._listening: dict[str, set[Subscription]] = {}
        # A reader is far behind, perhaps only because no other task ever yields to it.
        self.crowded = False
        self._unheard_bytes = 0

    def __contains__(self, channel: str) -> bool:
        return channel in self._listening

    def join(self, subscription: Subscription) -> None:
        subscription.count = self._count
        for channel in subscription.channels:
            self._listening.setdefault(channel, set()).add(subscription)

    def leave(self, subscription: Subscription) -> None:
        subscription.end(StopAsyncIteration)
        for channel in subscription.channels:
            listening = self._listening.get(channel, set())
            listening.discard(subscription)
            if not listening:
                self._listening.pop(channel, None)

    def deliver(self, message: Message) -> None:
        listening = self._listening.get(message.channel, ())
        for subscription in listening:
            # They share its body.
            subscription.hear(message, len(message.body) // len(listening) + _MESSAGE_BYTES)
            self.crowded |= subscription.behind > _CROWD
        while self._unheard_bytes > MAX_BEHIND_BYTES:
            readers = (each for listening in self._listening.values() for each in listening)
            max(readers, key=lambda each: each.unheard_bytes).drop()

    def _count(self, number: int) -> None:
        self._unheard_bytes += number

    async def let_them_read(self) -> None:
        self.crowded = False
        await asyncio.sleep(0)

    def end_all(self, error: Callable[[], Exception]) -> None:
        for listening in self._listening.values():
            for subscription in listening:
                subscription.end(error)
