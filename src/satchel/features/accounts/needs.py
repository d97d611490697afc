"""What accounts ask of the rest of the program."""

from typing import Protocol


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


class Limit(Protocol):
    """A bound on how often something may be done from one network address."""

    async def count(self, address: str) -> None:
        """Once more; raises `TooMany` when that is too often."""
        ...


class GuessLimits(Protocol):
    """A bound on guessing passwords: from one address, against one account, and above all of one account from one."""

    async def count(self, account: str, address: str) -> None:
        """One more guess; raises `TooMany` when there were too many."""
        ...

    async def forgive(self, account: str, address: str) -> None:
        """The guess was right: forget those before it from there."""
        ...
