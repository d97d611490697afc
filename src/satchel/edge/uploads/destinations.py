"""The interface of a slice that receives uploads: it is asked before the first byte, and told after the last."""

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

import msgspec

from satchel.edge.http.callers import Guest, Member
from satchel.kernel.errors import SatchelError


class Announced(msgspec.Struct, frozen=True, kw_only=True):
    """What a client says about an upload before it sends a byte. None of it is trusted, and all of it is limited."""

    owner: Member | Guest
    name: str
    content_type: str
    size_bytes: int
    # The rest of the client's `Upload-Metadata`, for the destination to check.
    details: Mapping[str, str]
    # Bytes that are reserved for other unfinished uploads to the same place.
    reserved_bytes: int = 0


class Arrived(Announced, frozen=True, kw_only=True):
    """A complete upload. Its bytes are the object at `key`, which the destination moves or deletes."""

    upload_id: str
    key: str
    sha256: str


class Small(Announced, frozen=True, kw_only=True):
    """A file of a bundle. Its bytes are in memory and nowhere else."""

    upload_id: str
    data: bytes
    sha256: str


class Destination(Protocol):
    """Receives uploads of one kind. Clients choose it by the metadata `destination`."""

    def place_of(self, announced: Announced) -> str:
        """The place whose quota an upload counts against. Nothing is checked yet."""
        ...

    async def admit(self, announced: Announced) -> None:
        """Raise if this upload is to be refused, before any byte of it is read."""
        ...

    async def receive(self, arrived: Arrived) -> str:
        """Take over the bytes. Returns the id of what they became.

        After a crash it is called again for the same `upload_id`, and has to come to the same end. `UploadUnwanted`
        says that there is no place for the bytes any more: the upload ends, and nobody tries again.
        """
        ...


@runtime_checkable
class OpenDestination(Destination, Protocol):
    """A destination that also takes uploads from strangers."""

    def stranger_of(self, details: Mapping[str, str]) -> Guest:
        """Whom an upload of a stranger belongs to; `admit` then decides whether they may send it.

        Such an upload belongs to whoever knows its address, which nobody guesses.
        """
        ...


@runtime_checkable
class BundleDestination(Destination, Protocol):
    """A destination that also takes many small files at once."""

    async def receive_bundle(self, files: Sequence[Small]) -> Sequence[str | SatchelError]:
        """For each file, none of which was admitted yet, the id of what it became, or why it was refused.

        They have one owner. What it answers an id for is kept for good. When a client repeats a file, this is called
        again with the same `upload_id`, and has to come to the same end.
        """
        ...
