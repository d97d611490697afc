"""The two ends of a stream as the relay sees them, whatever kind of connection each of them is."""

from collections.abc import AsyncIterator
from typing import Protocol

# The size of one piece, where the bytes are not spliced from socket to socket.
PIECE_BYTES = 256 * 1024


class ReceiverLeft(Exception):
    """The receiver's connection is closed, or stalled."""


class Inlet(Protocol):
    """The source of a segment."""

    @property
    def length(self) -> int | None:
        """The number of bytes. None if it is known only at the end."""
        ...

    def pieces(self) -> AsyncIterator[bytes]:
        """All bytes. Raises a `SatchelError` if they end too early."""
        ...


class Outlet(Protocol):
    """The destination of a stream. Everything but `left` raises `ReceiverLeft` once the receiver is gone."""

    async def begin(self, total: int | None) -> None:
        """The first bytes are there; so many will come, if that is known."""
        ...

    async def write(self, piece: bytes) -> None: ...

    async def pour(self, inlet: Inlet) -> int:
        """Write everything from an inlet of known length, by the shortest way. Returns the number of bytes."""
        ...

    async def finish(self) -> None:
        """Everything has been written."""
        ...

    async def left(self) -> None:
        """Returns once the receiver has disconnected."""
        ...
