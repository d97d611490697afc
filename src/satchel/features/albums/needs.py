"""What albums ask of the rest of the program: grants, people, links and shelves."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from satchel.kernel.handed_file import PatchedFile
from satchel.stores.ports.table import Write


class Grant(Protocol):
    """Somebody may use something that another person owns."""

    @property
    def granted_to(self) -> str: ...

    @property
    def type(self) -> str: ...

    @property
    def resource_owner(self) -> str: ...

    @property
    def resource_id(self) -> str: ...

    @property
    def granted_at(self) -> str: ...


class Grants(Protocol):
    """Who may use which album. What is to be written is answered, so that a transaction of ours can carry it."""

    def address(self, written: str) -> str:
        """The form in which an e-mail address is stored. Raises `Invalid` if it is none."""
        ...

    def put(self, owner: str, email: str, scope_type: str, resource_id: str, resource_name: str) -> Write: ...

    def delete(self, owner: str, email: str, scope_type: str, resource_id: str) -> Write: ...

    async def has(self, owner: str, email: str, scope_types: Sequence[str], resource_id: str) -> bool:
        """Whether there is a grant of one of these types, read consistently."""
        ...

    async def of_person(self, email: str, prefix: str) -> Sequence[Grant]:
        """The grants to a person whose type begins so, without those of people whom they have blocked."""
        ...

    async def all_of_person(self, email: str, prefix: str) -> Sequence[Grant]:
        """All grants to a person whose type begins so."""
        ...

    async def of_thing(self, owner: str, scope_types: Sequence[str], resource_id: str) -> Sequence[Grant]:
        """All grants of these types for one thing. It may lag behind what was just written."""
        ...

    async def of_owner(self, owner: str, prefix: str) -> Sequence[Grant]:
        """All grants by an owner whose type begins so. It may lag behind what was just written."""
        ...


class Person(Protocol):
    """Somebody with an account."""

    @property
    def person_id(self) -> str: ...

    @property
    def name(self) -> str: ...


class People(Protocol):
    """Who has an account. A suspended person is not found."""

    async def by_id(self, user_id: str) -> Person | None: ...

    async def by_email(self, email: str) -> Person | None: ...


class Links(Protocol):
    """Public links."""

    async def has_any(self, owner: str, thing: str) -> bool:
        """Whether the owner has a link to the thing, such as `photos:<id>`, in whatever state."""
        ...

    async def count_open(self, owner: str, things: Sequence[str]) -> Mapping[str, int]:
        """How many links to each of these things, such as `album:<id>`, can be opened now."""
        ...


class Shelves(Protocol):
    """People's own files, where copies of photos wait to be handed over."""

    async def admit(self, user_id: str, folder_id: str | None, size_bytes: int) -> None:
        """Raises `NotFound` if the folder is missing, `OutOfSpace` if it exceeds the quota."""
        ...

    async def take_own(self, user_id: str, folder_id: str, files: Sequence[PatchedFile]) -> None:
        """Copy files into the folder, under the ids that they have. Doing it again changes nothing."""
        ...
