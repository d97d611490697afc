"""What all connections of one server share: the application, the limits, and the lists of who is connected."""

import asyncio
import time
from email.utils import formatdate
from typing import TYPE_CHECKING, Any, Protocol, cast

from satchel.edge.http.held_bytes import HeldBytes
from satchel.edge.http.limits import Limits

if TYPE_CHECKING:
    from starlette.types import ASGIApp


class Connection(Protocol):
    """What the server asks of a connection when it stops."""

    def shutdown(self) -> None:
        """End the connection: at once if it is idle, else after the answer that is under way."""
        ...


class WaitingConnection(Connection, Protocol):
    """What the server asks of a connection when all places are taken."""

    def waits_until(self) -> float | None:
        """When it would be ended, if no request is being answered on it: nothing, or half a head, has come."""
        ...

    def give_way(self) -> None:
        """End, also if only the end of a refused request is waited for."""
        ...

    def network(self) -> str:
        """Where it comes from: an IPv4 address, or the widest network of an IPv6 one."""
        ...


class ServerState:
    """Made by the server, read by every connection."""

    __slots__ = ("_date_line", "_second", "application", "connections", "held", "limits", "loop", "tasks", "websockets")

    def __init__(self, application: "ASGIApp", limits: Limits, loop: asyncio.AbstractEventLoop) -> None:
        self.application = application
        self.limits = limits
        self.loop = loop
        self.held = HeldBytes(limits.held_bytes)
        self.connections: set[WaitingConnection] = set()
        # Apart from the others, because whoever only listens leaves the others their share of connections.
        self.websockets: set[Connection] = set()
        self.tasks: set[asyncio.Task[None]] = set()
        self._second = -1
        self._date_line = b""

    @property
    def is_full(self) -> bool:
        """Whether another request would be one too many; a task can outlive its connection, so both count."""
        limit = self.limits.connections
        return len(self.connections) >= limit or len(self.tasks) - len(self.websockets) >= limit

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
