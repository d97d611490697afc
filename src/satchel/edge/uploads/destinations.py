"""What a slice offers to receive uploads: a word before the first byte, and one after the last."""

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

import msgspec

from satchel.edge.http.callers import Guest, Member
from satchel.kernel.errors import SatchelError


class Announced(msgspec.Struct, frozen=True, kw_only=True):
    """What a client says of an upload before it sends a byte; nothing of it is believed, all of it is bounded."""

    owner: Member | Guest
    name: str
    content_type: str
    size_bytes: int
    # The rest of the client's `Upload-Metadata`, for the destination to check.
    details: Mapping[str, str]
    # What unfinished uploads to the same place will take, besides this one.
    reserved_bytes: int = 0


class Arrived(Announced, frozen=True, kw_only=True):
    """An upload that is complete: the bytes stand at `key`, and whoever receives them moves or deletes that object."""

    upload_id: str
    key: str
    sha256: str


class Small(Announced, frozen=True, kw_only=True):
    """A file that came whole among others; its bytes are in memory and nowhere else."""

    upload_id: str
    data: bytes
    sha256: str


class Destination(Protocol):
    """Where uploads of one kind go. Clients choose it by the metadata `destination`."""

    def place_of(self, announced: Announced) -> str:
        """Whose room an upload will take: those of one place count against one quota. Nothing is checked yet."""
        ...

    async def admit(self, announced: Announced) -> None:
        """Raise what is wrong with this upload, before any byte of it is taken."""
        ...

    async def receive(self, arrived: Arrived) -> str:
        """Take over the bytes and answer the id of what they became.

        After a crash it is called again for the same `upload_id`, and has to come to the same end. `UploadUnwanted`
        says that there is no place for the bytes any more: the upload ends, and nobody tries again.
        """
        ...


@runtime_checkable
class OpenDestination(Destination, Protocol):
    """A destination that also takes uploads from people who have shown nothing of themselves."""

    def stranger_of(self, details: Mapping[str, str]) -> Guest:
        """As whom a stranger sends what is described so; `admit` then decides whether they may.

        Such an upload belongs to whoever knows its address, which nobody guesses.
        """
        ...


@runtime_checkable
class BundleDestination(Destination, Protocol):
    """A destination that also takes many small files at once."""

    async def receive_bundle(self, files: Sequence[Small]) -> Sequence[str | SatchelError]:
        """For each file, which nobody has admitted yet, the id of what it became, or why it was refused.

        They have one owner. What it answers an id for is kept for good. When a client repeats a file, this is called
        again with the same `upload_id`, and has to come to the same end.
        """
        ...
