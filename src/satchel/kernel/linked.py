"""What a link leads to: the types that the slices with things and the links slice share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from satchel.kernel.handed_file import HandedFile

ThingKind = Literal["file", "folder", "room", "request"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedThing:
    """What a visitor of a link may know of a thing. `file_id` is set for one file, `goto` for a page of the app.

    How many files a folder has, and how large they are together, is known only where it was counted.
    """

    name: str
    content_type: str | None = None
    size_bytes: int | None = None
    files: int | None = None
    file_id: str | None = None
    goto: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedFile(HandedFile):
    """One of the files that a link leads to. Its `folder` is relative to the thing that the link is for."""

    at: str

    @property
    def path(self) -> str:
        return f"{self.folder}/{self.name}" if self.folder else self.name


@dataclass(frozen=True, slots=True)
class LinkedFiles:
    """A page of the files of a thing, and the cursor of the next one."""

    files: list[LinkedFile]
    cursor: str | None


class Things(Protocol):
    """The things of one kind. What was deleted, is in the bin or has ended is not there."""

    async def describe(self, owner_id: str, thing_id: str, *, counted: bool = False) -> LinkedThing | None:
        """What it is, None if it is not there; with `counted`, how much is in it, if that is found out soon."""
        ...

    async def names(self, owner_id: str, thing_ids: Sequence[str]) -> Mapping[str, str]:
        """What those are called that are there."""
        ...

    async def files(self, owner_id: str, thing_id: str, cursor: str | None) -> LinkedFiles:
        """Some of the files in it; none if it is not there. `Conflict` if the place to go on at is gone meanwhile."""
        ...

    async def file(self, owner_id: str, thing_id: str, file_id: str) -> LinkedFile | None:
        """One of the files in it."""
        ...
