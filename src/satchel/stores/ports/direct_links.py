"""What a store of objects may offer besides its contract: clients send and fetch bytes without this process.

The folder has no server of its own, so its bytes always come through ours.
"""

from datetime import timedelta
from typing import Protocol, runtime_checkable


class DirectLinks(Protocol):
    """Links to a store that clients reach themselves."""

    @property
    def origin(self) -> str:
        """Where they lead to, such as `https://bucket.s3.eu-north-1.amazonaws.com`."""
        ...

    async def to_part(self, key: str, upload: str, number: int, size_bytes: int, lifetime: timedelta) -> str:
        """A link to which anybody can PUT this part, of exactly this size, until it expires."""
        ...

    async def to_read(self, key: str, lifetime: timedelta, *, disposition: str, content_type: str, cache: str) -> str:
        """A link from which anybody can read the object until it expires. The answer has these headers."""
        ...

    async def lets_send(self, page_origin: str) -> bool:
        """Whether pages of this origin may send parts (CORS)."""
        ...


@runtime_checkable
class OffersDirectLinks(Protocol):
    """A store of objects that clients may reach themselves, unless a setting keeps bytes in the server."""

    @property
    def direct(self) -> DirectLinks | None: ...
