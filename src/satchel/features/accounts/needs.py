"""What accounts ask of the rest of the program."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Protocol

from satchel.features.accounts.model import StoreKinds


class Issued(Protocol):
    """A signed proof of identity and the moment (seconds since 1970) it stops being one."""

    @property
    def value(self) -> str: ...

    @property
    def expires(self) -> int: ...


class AccessTokens(Protocol):
    """Short-lived proof of who somebody is, which every other slice believes."""

    def issue_member(self, *, user_id: str, email: str, session_id: str, admin: bool) -> Issued: ...

    def issue_guest(self, *, guest_id: str, name: str) -> Issued: ...

    async def revoke(self, session_id: str) -> None:
        """Make the session's access tokens worthless at once."""
        ...


class Usage(Protocol):
    """How much room somebody takes."""

    @property
    def used_bytes(self) -> int: ...

    @property
    def files(self) -> int: ...


class Usages(Protocol):
    """How much room people take."""

    async def usage_of(self, user_ids: Sequence[str]) -> Sequence[Usage]:
        """One answer per person, in the order asked, with few reads however many there are."""
        ...


class Room(Protocol):
    """How much a disk can hold, and how much of that is free."""

    @property
    def capacity_bytes(self) -> int: ...

    @property
    def free_bytes(self) -> int: ...


class Storage(Usages, Protocol):
    """Where everything is kept, and how much of it."""

    @property
    def kinds(self) -> StoreKinds: ...

    async def room(self) -> Room | None:
        """None where bytes are not kept on a disk of this machine."""
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
    """What takes away everything that is over."""

    @property
    def every(self) -> timedelta: ...

    async def last(self) -> Sweep | None:
        """The last round that any server has finished; None before the first."""
        ...
