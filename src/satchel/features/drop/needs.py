"""What a drop asks of the rest of the program."""

from collections.abc import Iterable
from typing import Protocol


class Attending(Protocol):
    """Who is connected."""

    async def present(self, person_ids: Iterable[str]) -> dict[str, list[str]]:
        """The devices of each of these people. Empty for those who are away."""
        ...
