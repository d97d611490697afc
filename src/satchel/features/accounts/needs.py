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
    """A bound on how often something may be tried by or against one subject."""

    async def count(self, subject: str) -> None:
        """One more attempt; raises `TooMany` when there were too many."""
        ...

    async def forgive(self, subject: str) -> None:
        """Start counting anew."""
        ...
