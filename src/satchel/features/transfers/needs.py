"""What transfers ask of the rest of the program: people, their shelves, rooms and what is in them."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from satchel.features.transfers.model import PersonKind
from satchel.kernel.handed_file import HandedFile


class Known(Protocol):
    """Somebody by id, name and kind."""

    @property
    def person_id(self) -> str: ...

    @property
    def name(self) -> str: ...

    @property
    def kind(self) -> PersonKind: ...


class People(Protocol):
    """Who has an account; whoever is suspended has none for this purpose."""

    async def by_email(self, email: str) -> Known | None:
        """Raises `Invalid` for what is no e-mail address."""
        ...

    async def by_id(self, user_id: str) -> Known | None: ...


class Shelf(Protocol):
    """The shelves of members."""

    async def gather(self, user_id: str, entry_ids: Sequence[str], at_most: int) -> Sequence[HandedFile]:
        """The chosen files and those in chosen folders; `NotFound` if one is not there, `TooLarge` if too many."""
        ...

    async def locate(self, user_id: str, file_ids: Sequence[str]) -> Mapping[str, str]:
        """Keys of the objects of those files that are on the shelf, by file id."""
        ...

    async def admit(self, user_id: str, folder_id: str | None, size_bytes: int) -> None:
        """Raises `NotFound` if there is no such folder, `OutOfSpace` if so much would not fit."""
        ...

    async def keep(
        self,
        user_id: str,
        file: HandedFile,
        *,
        file_id: str,
        folder_id: str | None,
        top: str,
        came_by: str,
    ) -> None:
        """Copy a file onto the shelf under this id, in its own folders, below `top` if no folder
        is named. Doing it again changes nothing. Raises `OutOfSpace`; `Gone` if there is no such object."""
        ...

    async def discard(self, user_id: str, file_ids: Sequence[str]) -> None:
        """Take copies away for good; those that are not there are no error."""
        ...


class Audience(Protocol):
    """A room as one of its members sees it, with everybody in it, themselves included."""

    @property
    def name(self) -> str: ...

    @property
    def people(self) -> Sequence[Known]: ...


class Rooms(Protocol):
    """Rooms, for those who are in them: to everybody else they are `NotFound`."""

    async def audience(self, room_id: str, person_id: str) -> Audience: ...

    async def lend(self, room_id: str, person_id: str, file_ids: Sequence[str]) -> Sequence[HandedFile]:
        """These files in this order; `NotFound` if one is not there or not for this person to see."""
        ...

    async def mark_handed(self, room_id: str, file_ids: Sequence[str], transfer_id: str) -> None:
        """Remember of which transfer each file is which place."""
        ...

    async def keys_of(self, room_id: str, file_ids: Sequence[str]) -> Mapping[str, str]:
        """Where the bytes stand of those files that are there, by file id; asks nobody who wants to know."""
        ...

    async def take_back(self, room_id: str, file_ids: Sequence[str], *, by: str, transfer_id: str) -> None:
        """The sender has withdrawn this transfer: what they brought for it goes."""
        ...
