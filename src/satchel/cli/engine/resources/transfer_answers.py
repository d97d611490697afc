"""What a server says of transfers, as far as the command reads it."""

from collections.abc import Mapping
from typing import Literal, TypeAlias

import msgspec

State: TypeAlias = Literal["offered", "opened", "downloaded", "verified", "declined", "withdrawn"]
# Nothing more will happen to a receipt that says so.
FINAL_STATES = ("verified", "declined", "withdrawn")


class Sender(msgspec.Struct, frozen=True):
    """Whom it comes from."""

    person_id: str
    name: str


class Receiver(msgspec.Struct, frozen=True):
    """Whom it is for."""

    kind: Literal["person", "room"]
    id: str
    name: str


class TransferFile(msgspec.Struct, frozen=True):
    """One of the files, by its place; `state` is how far we have come with it, if it is for us."""

    place: int
    name: str
    folder: str
    size_bytes: int
    sha256: str
    state: State | None = None

    @property
    def path(self) -> str:
        return f"{self.folder}/{self.name}" if self.folder else self.name


class Receipt(msgspec.Struct, frozen=True):
    """How far somebody has come with all of it, and when."""

    person_id: str
    name: str
    state: State
    offered_at: str | None = None
    opened_at: str | None = None
    downloaded_at: str | None = None
    verified_at: str | None = None
    declined_at: str | None = None
    answer: str | None = None


class Missing(msgspec.Struct, frozen=True):
    """Somebody who has not answered a hand-out."""

    person_id: str
    name: str


class Transfer(msgspec.Struct, frozen=True, kw_only=True):
    """Files on their way from one person to others."""

    transfer_id: str
    direction: Literal["sent", "received"]
    sender: Sender
    receiver: Receiver
    sent_at: str
    note: str
    file_count: int
    size_bytes: int
    files: list[TransferFile]
    receipts: list[Receipt]
    counts: Mapping[str, int]
    state: State
    is_available: bool
    wants_answers: bool
    answers: str | None
    missing: list[Missing]


class Transfers(msgspec.Struct, frozen=True):
    """A page of one's history, newest first."""

    transfers: list[Transfer]
    cursor: str | None


class Waiting(msgspec.Struct, frozen=True):
    """What came and was not looked at yet."""

    transfers: list[Transfer]
    more: bool
