"""What rooms ask of the rest of the program."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from satchel.kernel.handed_file import HandedFile


class Named(Protocol):
    """Somebody with an account."""

    @property
    def name(self) -> str: ...


class People(Protocol):
    """Who has an account."""

    async def by_id(self, user_id: str) -> Named | None: ...


class Attending(Protocol):
    """Presence: who has a page open right now."""

    async def present(self, person_ids: Iterable[str]) -> dict[str, list[str]]:
        """The devices of each person. Empty for those who are away."""
        ...


class Shelves(Protocol):
    """People's own files."""

    async def gather(self, user_id: str, entry_ids: Sequence[str], at_most: int) -> Sequence[HandedFile]:
        """These files and everything in these folders. `NotFound` unless all exist, `Invalid` if there are too many."""
        ...

    async def note_handed_on(self, user_id: str, files: Sequence[HandedFile]) -> None:
        """Files that came to this person by transfers are used by sharing them."""
        ...
