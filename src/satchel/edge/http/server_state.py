"""What all connections of one server share: the application, the limits, and the lists of who is connected."""

import asyncio
import time
from collections.abc import Iterator
from email.utils import formatdate
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, cast

from satchel.edge.http.held_bytes import HeldBytes
from satchel.edge.http.limits import Limits

if TYPE_CHECKING:
    from starlette.types import ASGIApp


class Connection(Protocol):
    """What the server asks of a connection when it stops."""

    def shutdown(self) -> None:
        """End the connection: at once if it is idle, else after the answer that is under way."""
        ...


class LocatedConnection(Connection, Protocol):
    """A connection of which one knows whose places it takes."""

    def network(self) -> str:
        """Where it comes from: an IPv4 address, or the widest network of an IPv6 one."""
        ...


class WaitingConnection(LocatedConnection, Protocol):
    """What the server asks of a connection when all places are taken."""

    def waits_until(self) -> float | None:
        """When it would be ended, if no request is being answered on it: nothing, or half a head, has come."""
        ...

    def give_way(self) -> None:
        """End, also if only the end of a refused request is waited for."""
        ...


C = TypeVar("C", bound=LocatedConnection)


class Places(Generic[C]):
    """Who is connected, at most so many, and how many of them are of one network."""

    __slots__ = ("_limit", "_networks", "_numbers")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._networks: dict[C, str] = {}
        # A plain dict, because this is asked at every request.
        self._numbers: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._networks)

    def __iter__(self) -> Iterator[C]:
        return iter(self._networks)

    def __contains__(self, connection: object) -> bool:
        return connection in self._networks

    def add(self, connection: C) -> None:
        self._networks[connection] = network = connection.network()
        self._numbers[network] = self._numbers.get(network, 0) + 1

    def discard(self, connection: C) -> None:
        network = self._networks.pop(connection, None)
        if network is not None:
            left = self._numbers.pop(network) - 1
            if left:
                self._numbers[network] = left

    def are_kept_from(self, connection: LocatedConnection) -> bool:
        """Whether the places that are left are for other networks.

        A school may have three quarters of all. Who has a quarter does not get the last quarter as well.
        """
        is_crowded = len(self._networks) * 4 >= self._limit * 3
        return is_crowded and self._numbers.get(connection.network(), 0) * 4 >= self._limit


class ServerState:
    """Made by the server, read by every connection."""

    __slots__ = (
        *("_date_line", "_second", "answering", "application", "connections", "held", "limits", "loop", "tasks"),
        "websockets",
    )

    def __init__(self, application: "ASGIApp", limits: Limits, loop: asyncio.AbstractEventLoop) -> None:
        self.application = application
        self.limits = limits
        self.loop = loop
        self.held = HeldBytes(limits.held_bytes)
        self.connections: set[WaitingConnection] = set()
        # Those of them on which a request is being answered: unlike those that wait, they cannot be ended for others.
        self.answering = Places[LocatedConnection](limits.connections)
        # Apart from the others, because whoever only listens leaves the others their share of connections.
        self.websockets = Places[LocatedConnection](limits.websockets)
        self.tasks: set[asyncio.Task[None]] = set()
        self._second = -1
        self._date_line = b""

    def is_full_for(self, connection: LocatedConnection) -> bool:
        """Whether another request would be one too many; a task can outlive its connection, so both count."""
        limit = self.limits.connections
        is_full = len(self.connections) >= limit or len(self.tasks) - len(self.websockets) >= limit
        return is_full or self.answering.are_kept_from(connection)

    def make_room(self, newcomer: WaitingConnection) -> None:
        """When the last place is taken, end connections that wait, of the network that has the most of them.

        Whoever opens thousands and sends half a request on each takes only their own places.
        """
        if len(self.connections) < self.limits.connections:
            return
        waiting: dict[str, list[tuple[float, int, WaitingConnection]]] = {}
        for number, each in enumerate(self.connections):
            if each is not newcomer and (until := each.waits_until()) is not None:
                waiting.setdefault(each.network(), []).append((until, number, each))
        if waiting:
            most = sorted(max(waiting.values(), key=len))
            # Several at once, so that not every further connection has to look at all of them.
            for _, _, each in most[: -(-len(most) // 8)]:
                # At once, not when it has ended: in a burst, every newcomer would end as many again, or be refused.
                self.connections.discard(each)
                each.give_way()

    @property
    def is_in_use(self) -> bool:
        return bool(self.connections or self.websockets or self.tasks)

    def date_line(self) -> bytes:
        """The `date` header; it is made once per second."""
        second = int(time.time())
        if second != self._second:
            self._second = second
            self._date_line = f"date: {formatdate(second, usegmt=True)}\r\n".encode("ascii")
        return self._date_line


def write_at_once(transport: asyncio.Transport) -> None:
    """Tell the protocol of every byte that the client does not take, so that it can be counted."""
    if transport.get_extra_info("sslcontext") is None:
        transport.set_write_buffer_limits(high=0)
    else:
        # Encryption takes what is written in the next turn of the loop.
        transport.set_write_buffer_limits(high=16 * 1024)


def address_of(name: Any) -> tuple[str, int] | None:
    """Host and port out of what a socket is called; nothing if it has no port, as a Unix socket has not."""
    if not isinstance(name, tuple):
        return None
    host, port, *_ = cast("tuple[Any, ...]", name)
    return host, port
