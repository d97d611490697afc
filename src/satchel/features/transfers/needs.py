"""What transfers ask of the rest of the program: people, their shelves, rooms and what is in them."""

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

from satchel.features.transfers.model import PersonKind
from satchel.kernel.handed_file import HandedFile
from satchel.stores.ports.table import Write


class Known(Protocol):
    """A person by id, name and kind."""

    @property
    def person_id(self) -> str: ...

    @property
    def name(self) -> str: ...

    @property
    def kind(self) -> PersonKind: ...


class People(Protocol):
    """People with an account. A suspended person is not found."""

    async def id_of(self, email: str) -> str | None:
        """Whose address it is, suspended or not. Raises `Invalid` if it is not an e-mail address."""
        ...

    async def by_id(self, user_id: str) -> Known | None: ...


Manner = Literal["takes", "takes-some", "asks", "hides"]


class Contacts(Protocol):
    """From whom people take things."""

    async def manner(self, receiver_id: str, sender_id: str) -> Manner:
        """Whether something from this sender comes to the receiver's shelf at once, as an offer, or not at all.

        "takes-some" is for somebody whom the receiver does not know.
        """
        ...

    async def noting(self, person_id: str, other_id: str, *, known: bool) -> Sequence[Write]:
        """What to write so that the person knows the other; or, after a decline, wants to be asked by them."""
        ...

    async def note(self, person_id: str, other_id: str, *, known: bool) -> None:
        """The same, written."""
        ...


class Shelf(Protocol):
    """The shelves of members."""

    async def gather(self, user_id: str, entry_ids: Sequence[str], at_most: int) -> Sequence[HandedFile]:
        """The selected files and those in selected folders. `NotFound` if one is missing, `TooLarge` if too many."""
        ...

    async def note_handed_on(self, user_id: str, files: Sequence[HandedFile]) -> None:
        """Files that came to this person by transfers are used by sending them on."""
        ...

    async def locate(self, user_id: str, file_ids: Sequence[str]) -> Mapping[str, str]:
        """Keys of the objects of those files that are on the shelf, by file id."""
        ...

    async def is_any_in(self, user_id: str, folder_id: str, file_ids: Sequence[str]) -> bool:
        """Whether one of these files is in the folder, or in a folder below it."""
        ...

    async def admit(self, user_id: str, folder_id: str | None, size_bytes: int) -> None:
        """Raises `NotFound` if the folder is missing, `OutOfSpace` if it exceeds the quota."""
        ...

    async def keep_all(
        self,
        user_id: str,
        files: Sequence[HandedFile],
        *,
        folder_id: str | None,
        top: str,
        came_by: str,
        is_first: bool,
        beside: Sequence[Write],
    ) -> bool:
        """Copy files onto the shelf under the ids that they have, in their own folders, below `top` if no folder
        is named. Doing it again changes nothing. Raises `OutOfSpace`; `Gone` if an object is missing.

        With `is_first` none of them was ever there. Whether the writes `beside` were made, in one transaction with the
        files: not if there are many files, or one of them needs another name.
        """
        ...

    async def discard(self, user_id: str, file_ids: Sequence[str]) -> None:
        """Delete copies for good. Missing ones are no error."""
        ...


class Audience(Protocol):
    """A room as one of its members sees it, with everybody in it, themselves included."""

    @property
    def name(self) -> str: ...

    @property
    def people(self) -> Sequence[Known]: ...


class Rooms(Protocol):
    """Rooms, for the people in them. For everybody else they are `NotFound`."""

    async def audience(self, room_id: str, person_id: str) -> Audience: ...

    async def lend(self, room_id: str, person_id: str, file_ids: Sequence[str]) -> Sequence[HandedFile]:
        """These files in this order. `NotFound` if one is missing or this person may not see it."""
        ...

    async def mark_handed(self, room_id: str, file_ids: Sequence[str], transfer_id: str) -> None:
        """Mark each file with its transfer and its place in there."""
        ...

    async def keys_of(self, room_id: str, file_ids: Sequence[str]) -> Mapping[str, str]:
        """The objects of the files that exist, by file id. Does not check who asks."""
        ...

    async def take_back(self, room_id: str, file_ids: Sequence[str], *, by: str, transfer_id: str) -> None:
        """Delete the files that the sender added for a withdrawn transfer."""
        ...
