"""What links ask of the rest of the program: link targets, people, passwords, and the counting of openings."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from satchel.kernel.handed_file import HandedFile


class Inbox(Protocol):
    """Folders and albums that visitors of a link can put files into."""

    async def admit(self, owner_id: str, thing_id: str, size_bytes: int) -> None:
        """Raises `NotFound` if the thing is missing, `OutOfSpace` if it exceeds the quota."""
        ...

    async def keep(self, owner_id: str, thing_id: str, file: HandedFile, details: Mapping[str, str]) -> str:
        """Make a file of an upload and delete the object at its `key`. Returns its id.

        Its `folder` is created below the one asked for. `details` is what the sender says of it. Idempotent. Raises
        `OutOfSpace`; `Gone` if the object is missing.
        """
        ...


class Known(Protocol):
    """Somebody with an account."""

    @property
    def person_id(self) -> str: ...

    @property
    def name(self) -> str: ...


class People(Protocol):
    """People with an account. A suspended person is not found."""

    async def by_id(self, user_id: str) -> Known | None: ...


class Passwords(Protocol):
    """Password hashes, computed off the event loop."""

    async def hash(self, password: str, address: str) -> str: ...

    async def matches(self, stored: str | None, password: str, address: str) -> bool: ...


class LinkFigures(Protocol):
    """The counts of one link. `last_at` is empty before the first opening."""

    @property
    def opens(self) -> int: ...

    @property
    def people(self) -> int: ...

    @property
    def downloads(self) -> int: ...

    @property
    def last_at(self) -> str: ...


class Figures(Protocol):
    """Reads the counts of links."""

    async def figures(self, link_ids: Sequence[str]) -> Mapping[str, LinkFigures]:
        """The counts by link id. Links without any are left out."""
        ...


class Visitors(Protocol):
    """Tells visitors without an account apart, without storing their address."""

    async def visitor_of(self, address: str, agent: str) -> str: ...
