"""What accounts ask of the rest of the program."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Protocol

from satchel.features.accounts.model import StoreKinds


class Issued(Protocol):
    """A signed token and when it expires, in seconds since 1970."""

    @property
    def value(self) -> str: ...

    @property
    def expires(self) -> int: ...


class AccessTokens(Protocol):
    """Short-lived access tokens, which every other slice accepts."""

    def issue_member(self, *, user_id: str, email: str, session_id: str, admin: bool) -> Issued: ...

    def issue_guest(self, *, guest_id: str, name: str) -> Issued: ...

    async def revoke(self, session_id: str) -> None:
        """Revoke the session's access tokens at once."""
        ...


class Usage(Protocol):
    """How much space a person uses."""

    @property
    def used_bytes(self) -> int: ...

    @property
    def files(self) -> int: ...


class Usages(Protocol):
    """How much room people take."""

    async def usage_of(self, user_ids: Sequence[str]) -> Sequence[Usage]:
        """One answer per person, in the order of the ids, with few reads however many there are."""
        ...


class Room(Protocol):
    """The size of a disk, and its free space."""

    @property
    def capacity_bytes(self) -> int: ...

    @property
    def free_bytes(self) -> int: ...


class Storage(Usages, Protocol):
    """Where everything is stored, and how much."""

    @property
    def kinds(self) -> StoreKinds: ...

    async def room(self) -> Room | None:
        """None if objects are not stored on a disk of this machine."""
        ...


class ChoreDone(Protocol):
    """How one chore of housekeeping went."""

    @property
    def name(self) -> str: ...

    @property
    def removed(self) -> int: ...

    @property
    def failed(self) -> bool: ...


class Sweep(Protocol):
    """One round of housekeeping."""

    @property
    def started_at(self) -> str: ...

    @property
    def ended_at(self) -> str: ...

    @property
    def chores(self) -> Sequence[ChoreDone]: ...


class Housekeeping(Protocol):
    """Removes what has expired."""

    @property
    def every(self) -> timedelta: ...

    async def last(self) -> Sweep | None:
        """The last round that any server has finished. None before the first."""
        ...
