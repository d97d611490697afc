"""What links ask of the rest of the program: the things they lead to, people, passwords, and who counts openings."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from satchel.kernel.counted import Counted
from satchel.kernel.handed_file import HandedFile


class Inbox(Protocol):
    """The folders that files can be asked into."""

    async def admit(self, owner_id: str, folder_id: str, size_bytes: int) -> None:
        """Raises `NotFound` if there is no such folder, `OutOfSpace` if so much would not fit."""
        ...

    async def keep(self, owner_id: str, folder_id: str, file: HandedFile) -> str:
        """Make a file of an upload and take the object at its `key` away; the id that it has, which is the given one.

        Its `folder` is made below the one asked for. Doing it again comes to the same file. Raises `OutOfSpace`;
        `Gone` if the object is not there.
        """
        ...


class Known(Protocol):
    """Somebody with an account."""

    @property
    def person_id(self) -> str: ...

    @property
    def name(self) -> str: ...


class People(Protocol):
    """Who has an account; whoever is suspended has none for this purpose."""

    async def by_id(self, user_id: str) -> Known | None: ...


class Passwords(Protocol):
    """Hashes of passwords, made and checked where that blocks nobody."""

    async def hash(self, password: str) -> str: ...

    async def matches(self, stored: str | None, password: str) -> bool: ...


class LinkFigures(Protocol):
    """What was counted of one link; `last_at` is empty before the first time."""

    @property
    def opens(self) -> int: ...

    @property
    def people(self) -> int: ...

    @property
    def downloads(self) -> int: ...

    @property
    def last_at(self) -> str: ...


class Figures(Protocol):
    """Where the counts of links are read."""

    async def figures(self, link_ids: Sequence[str]) -> Mapping[str, LinkFigures]:
        """Of those that anything was counted for, by link id."""
        ...


class Counter(Protocol):
    """Who counts what happens to things that are shared."""

    async def count(self, counted: Counted) -> None: ...


class Visitors(Protocol):
    """Who tells visitors without an account apart, without keeping where they come from."""

    async def visitor_of(self, address: str, agent: str) -> str: ...
