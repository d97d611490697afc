"""The contract of the store of short-lived state: Redis's model, as commands that are plain values.

    await ephemeral.run(Increment("attempts:1.2.3.4"))
    await ephemeral.together(SetAdd("room:AB", "ann"), Put("userId:ann", b"AB"), Publish("room:AB", b"joined"))

Clauses that hold for every implementation, each quoted by name in the conformance suite:

- *atomic*: nothing runs between the commands given to one `together`, and nobody sees some of them without the rest.
- *kinds*: a key holds a value, a hash, a set or a list. A command for another kind raises `WrongKind`; in `together`
  the other commands still happen, as on Redis: it is a programming error, not a way to decide.
- *vanishing*: a hash, set or list that loses its last element is absent, and its expiry with it.
- *expiring*: a key is absent from the instant its time to live ends (milliseconds count). `Put` forgets an earlier
  expiry; the other commands keep it.
- *bounded*: keys and channels are 1 to 1024 bytes of UTF-8, values (and members, fields, messages) up to 8 MiB, numbers
  64 bits; more raises `Invalid`. A store whose memory is used up raises `OutOfSpace` for commands that would need more,
  and still reads and deletes. In `together`, either error means that nothing happened.
- *kept*: what is declared durable survives the death of the process once the call has returned; the rest need not.
- *failing*: `Unavailable` when the store cannot be reached; a write that raised it may or may not have happened.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Generic, Protocol, TypeVar, overload

from satchel.kernel.errors import StoreRefused, Unavailable

MAX_KEY_BYTES = 1024
MAX_VALUE_BYTES = 8 * 1024 * 1024
MAX_BEHIND_MESSAGES = 1000
# Of all readers of one process together: beyond it, the one that is behind the most is dropped.
MAX_BEHIND_BYTES = 16 * 1024 * 1024

T = TypeVar("T")
T1 = TypeVar("T1")
T2 = TypeVar("T2")
T3 = TypeVar("T3")


class WrongKind(StoreRefused):
    """The key holds something of another kind, or a number was asked of what is none."""


class SubscriptionLost(Unavailable):
    """Messages may have been missed: the reader was too slow or the connection broke. Subscribe again, then re-read."""

    slug = "subscription-lost"


class Command(Generic[T]):
    """Something to do, answered by a T."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Get(Command[bytes | None]):
    """The value, or None."""

    key: str


@dataclass(frozen=True, slots=True)
class Put(Command[bool]):
    """Store a value; answers whether it was stored, which `only_if_absent` makes a question.

    A `ttl` that is not positive ends it at once.
    """

    key: str
    value: bytes
    ttl: timedelta | None = None
    only_if_absent: bool = False


@dataclass(frozen=True, slots=True)
class Increment(Command[int]):
    """Add to a whole number (absent counts as 0; 64 bits) and answer the sum."""

    key: str
    by: int = 1


@dataclass(frozen=True, slots=True)
class Delete(Command[bool]):
    """Take away a key of any kind; answers whether it was there."""

    key: str


@dataclass(frozen=True, slots=True)
class Exists(Command[bool]):
    """Whether there is something of any kind."""

    key: str


@dataclass(frozen=True, slots=True)
class Expire(Command[bool]):
    """Let the key end after this time (at once if not positive); answers whether the key was there.

    With `only_if_unset` an expiry that is already running is left alone, and the answer is False.
    """

    key: str
    ttl: timedelta
    only_if_unset: bool = False


@dataclass(frozen=True, slots=True)
class TimeToLive(Command[timedelta | None]):
    """How long the key will last; None when it is absent or never ends (`Exists` tells the two apart)."""

    key: str


@dataclass(frozen=True, slots=True)
class HashPut(Command[int]):
    """Set fields of a hash; answers how many are new. At least one field."""

    key: str
    fields: Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class HashGet(Command[bytes | None]):
    """One field of a hash, or None."""

    key: str
    field: str


@dataclass(frozen=True, slots=True)
class HashAll(Command[dict[str, bytes]]):
    """The whole hash; empty when absent."""

    key: str


@dataclass(frozen=True, slots=True)
class HashDelete(Command[bool]):
    """Take one field away; answers whether it was there."""

    key: str
    field: str


@dataclass(frozen=True, slots=True)
class HashIncrement(Command[int]):
    """Add to a field that holds a whole number, as `Increment` does."""

    key: str
    field: str
    by: int = 1


@dataclass(frozen=True, slots=True)
class SetAdd(Command[bool]):
    """Add a member; answers whether it is new."""

    key: str
    member: str


@dataclass(frozen=True, slots=True)
class SetRemove(Command[bool]):
    """Take a member out; answers whether it was in."""

    key: str
    member: str


@dataclass(frozen=True, slots=True)
class SetHas(Command[bool]):
    """Whether this is a member."""

    key: str
    member: str


@dataclass(frozen=True, slots=True)
class SetAll(Command[frozenset[str]]):
    """All members; empty when absent."""

    key: str


@dataclass(frozen=True, slots=True)
class SetSize(Command[int]):
    """How many members."""

    key: str


@dataclass(frozen=True, slots=True)
class ListPush(Command[int]):
    """Put a value in at the left; answers the new length. Whoever waits longest in `wait_pop` gets it."""

    key: str
    value: bytes


@dataclass(frozen=True, slots=True)
class ListPop(Command[bytes | None]):
    """Take the value at the right end out, or None: left in, right out."""

    key: str


@dataclass(frozen=True, slots=True)
class ListRange(Command[list[bytes]]):
    """Values from `start` to `stop`, both included, counted from the left; negative counts from the right."""

    key: str
    start: int = 0
    stop: int = -1


@dataclass(frozen=True, slots=True)
class ListTrim(Command[None]):
    """Keep only what `ListRange` with the same numbers would answer."""

    key: str
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class ListSize(Command[int]):
    """How many values."""

    key: str


@dataclass(frozen=True, slots=True)
class Publish(Command[None]):
    """Tell everybody who is subscribed to the channel right now, on every server."""

    channel: str
    message: bytes


@dataclass(frozen=True, slots=True)
class Message:
    """What a subscriber hears."""

    channel: str
    body: bytes


class Ephemeral(Protocol):
    """A store of short-lived state. Safe to use from many tasks of one event loop at once."""

    async def run(self, command: Command[T]) -> T:
        """Do one thing."""
        ...

    @overload
    async def together(self, a: Command[T1], b: Command[T2], /) -> tuple[T1, T2]: ...
    @overload
    async def together(self, a: Command[T1], b: Command[T2], c: Command[T3], /) -> tuple[T1, T2, T3]: ...
    @overload
    async def together(self, *commands: Command[Any]) -> tuple[Any, ...]: ...
    async def together(self, *commands: Command[Any]) -> tuple[Any, ...]:
        """Do these as one step (see *atomic*) and answer each in order."""
        ...

    async def wait_pop(self, key: str, timeout: timedelta) -> bytes | None:
        """`ListPop`, waiting for a value to come; None after `timeout`. A cancelled wait takes nothing away.

        What a cancelled wait was just being handed goes back to its place; a list made anew by that has no expiry.
        """
        ...

    def subscribe(self, *channels: str) -> AbstractAsyncContextManager[AsyncIterator[Message]]:
        """Hear what is published from the moment the block is entered, in order per channel.

        A reader that falls more than 1000 messages (or 64 MiB of them) behind, or loses its connection, gets
        `SubscriptionLost` from the iterator. At least one channel.
        """
        ...

    async def close(self) -> None:
        """Release every resource; those waiting or subscribed get `Unavailable`."""
        ...
