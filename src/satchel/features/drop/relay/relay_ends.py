"""The two ends of a stream as the relay sees them, whatever kind of connection each of them is."""

from collections.abc import AsyncIterator
from typing import Protocol

# What passes in one piece, where it does not pass from socket to socket.
PIECE_BYTES = 256 * 1024


class ReceiverLeft(Exception):
    """The receiver's connection is gone, or takes nothing."""


class Inlet(Protocol):
    """Where a part of a stream comes from."""

    @property
    def length(self) -> int | None:
        """How many bytes; None if that is known only at its end."""
        ...

    def pieces(self) -> AsyncIterator[bytes]:
        """All of it; a `SatchelError` when it does not come to its end."""
        ...


class Outlet(Protocol):
    """Where a stream goes to. Everything but `left` raises `ReceiverLeft` when that is no longer possible."""

    async def begin(self, total: int | None) -> None:
        """The first bytes are there; so many will come, if that is known."""
        ...

    async def write(self, piece: bytes) -> None: ...

    async def pour(self, inlet: Inlet) -> int:
        """Write all that comes out of an inlet of known length, in the shortest way; how much it was."""
        ...

    async def finish(self) -> None:
        """Everything has been written."""
        ...

    async def left(self) -> None:
        """Returns once the receiver has gone."""
        ...
