"""What a drop asks of the rest of the program."""

from collections.abc import Iterable
from typing import Protocol


class Attending(Protocol):
    """Who is connected."""

    async def present(self, person_ids: Iterable[str]) -> dict[str, list[str]]:
        """The devices of each of these people; none for those who are away."""
        ...


class Limits(Protocol):
    """How much one network may do; each raises `TooMany` and says which limit it was."""

    async def count_call(self, network: str) -> None:
        """Once more within this second."""
        ...

    async def check_attempts(self, session_id: str, network: str) -> None:
        """Whether so many have failed to get into this session that even right ones are refused."""
        ...

    async def count_attempt(self, session_id: str, network: str) -> None:
        """One more has failed to get in."""
        ...

    async def forgive_attempt(self, session_id: str, network: str) -> None:
        """One that was counted has turned out to be right."""
        ...

    async def check_names(self, network: str) -> None:
        """Whether so many names were wrong that even right ones are refused."""
        ...

    async def count_name(self, network: str) -> None:
        """One more name that no session has."""
        ...
