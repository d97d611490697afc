"""What a person leaves when their account is deleted: each slice counts what it holds of them, and deletes it."""

from dataclasses import dataclass, fields
from typing import Protocol

# Instead of a name, in what others keep.
DELETED_PERSON = "a deleted person"


@dataclass(frozen=True, slots=True)
class Leaver:
    """Whose account is being deleted. `email` is empty once somebody else may have the address."""

    user_id: str
    email: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """How much there is of what goes with an account."""

    files: int = 0
    file_bytes: int = 0
    photos: int = 0
    photo_bytes: int = 0
    albums: int = 0
    scores: int = 0
    set_lists: int = 0
    links: int = 0
    rooms: int = 0
    transfers: int = 0
    uploads: int = 0
    sessions: int = 0
    # What others share with them.
    shared: int = 0

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(**{each.name: getattr(self, each.name) + getattr(other, each.name) for each in fields(Tally)})


class Holdings(Protocol):
    """What one slice holds of people."""

    async def count(self, leaver: Leaver) -> Tally:
        """With few reads."""
        ...

    async def delete(self, leaver: Leaver) -> None:
        """Delete all of it. After a crash it is called again, and once more when nothing can come any more."""
        ...
