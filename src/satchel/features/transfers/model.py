"""Plain types of transfers, the states of a receipt, and the errors of this slice."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal, NewType, TypeAlias

import msgspec

from satchel.kernel.errors import Conflict, Invalid, NotFound
from satchel.kernel.names import clean_name

TransferId = NewType("TransferId", str)
# Of a member or of a guest.
PersonId = NewType("PersonId", str)
RoomId = NewType("RoomId", str)
# Instead of a room id, for files that are in no room.
NOWHERE = RoomId("")

# "deleted": somebody whose account is gone.
PersonKind = Literal["member", "guest", "deleted"]
Direction = Literal["sent", "received"]
State = Literal["offered", "shelved", "opened", "downloaded", "verified", "declined", "withdrawn"]

# The states of a receipt in order, each of which somebody has seen to happen. It may skip a state but never goes back.
# Shelved: on the receiver's shelf. Downloaded: every byte went to them. Verified: they proved that they have them.
STEPS: tuple[State, ...] = ("offered", "shelved", "opened", "downloaded", "verified")
TAKEN: tuple[State, ...] = ("downloaded", "verified")
ENDED: tuple[State, ...] = ("declined", "withdrawn")

MAX_FILES = 5000
MAX_NOTE_CHARACTERS = 500
MAX_ID_CHARACTERS = 64
MAX_EMAIL_CHARACTERS = 1000
# The folder of a shelf for received files.
RECEIVED_FOLDER = "Received"
# How much of a note becomes the name of the folder of its answers.
MAX_TITLE_CHARACTERS = 60

Id = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_ID_CHARACTERS)]


class ReceiverUnknown(NotFound):
    """Nobody has this e-mail address, or the person is not in the room."""

    slug = "receiver-unknown"
    title = "Receiver not found"


class ToYourself(Conflict):
    """Sender and receiver are the same person."""

    slug = "to-yourself"
    title = "You cannot send to yourself"


class AlreadyTaken(Conflict):
    """The files were downloaded or saved, so the transfer can no longer be withdrawn or declined."""

    slug = "already-taken"
    title = "The files were already received"


class NotOffered(Conflict):
    """The transfer was withdrawn by its sender, or declined by the caller."""

    slug = "not-offered"
    title = "This transfer is no longer offered"


class FilesGone(Conflict):
    """The bytes were deleted, or the caller can no longer reach the room that held them."""

    slug = "files-gone"
    title = "The files no longer exist"


class HashDiffers(Invalid):
    """The receiver's bytes differ from those that were sent. Download the file again."""

    slug = "hash-differs"
    title = "The received file differs"


class ChallengeOver(Conflict):
    """There is no challenge to answer: none was asked for, it was answered, or it has expired."""

    slug = "challenge-over"
    title = "Ask for a new challenge"


class NoAnswersWanted(Conflict):
    """The transfer does not ask for answers."""

    slug = "no-answers-wanted"
    title = "This transfer does not ask for answers"


class KeyReused(Invalid):
    """The idempotency key came with another transfer before. Use a new key for each transfer."""

    slug = "transfer-key-reused"
    title = "This key was used for another transfer"


@dataclass(frozen=True, slots=True)
class Party:
    """A sender or receiver."""

    person_id: PersonId
    name: str
    kind: PersonKind


class TransferFile(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One of the files of a transfer. `file_id` is its id on the sender's shelf or in the room."""

    place: int
    file_id: str
    name: str
    size_bytes: int
    content_type: str
    sha256: str
    folder: str = ""
    modified_at: str = ""
    executable: bool = False


class _To(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", forbid_unknown_fields=True):
    """The receiver of a transfer."""


class ToEmail(_To, frozen=True, kw_only=True, tag="email"):
    """The account with this address. Files come from the sender's shelf and go to the receiver's."""

    email: Annotated[str, msgspec.Meta(max_length=MAX_EMAIL_CHARACTERS)]


class ToPerson(_To, frozen=True, kw_only=True, tag="person"):
    """Somebody in a room, with files of that room."""

    room_id: Id
    person_id: Id


class ToRoom(_To, frozen=True, kw_only=True, tag="room"):
    """Everybody in a room, including those who join later, with files of that room."""

    room_id: Id


To: TypeAlias = ToEmail | ToPerson | ToRoom


def answers_folder(asked_at: str, note: str, first_file: str) -> str:
    """The folder on the asker's shelf for answers. The first line of the note is its name, or else the first file's."""
    title = next((line for line in note.splitlines() if line.strip()), first_file)
    return f"{RECEIVED_FOLDER}/{_folder_name(f'{asked_at[:10]} {title[:MAX_TITLE_CHARACTERS]}')}"


def folder_of_one(answers: str, name: str) -> str:
    """The folder for the answers of one person, in that one."""
    return f"{answers}/{_folder_name(name)}"


def _folder_name(text: str) -> str:
    return clean_name(re.sub(r"[/\\]", "-", text)) or "-"


def furthest(one: State, other: State) -> State:
    return one if STEPS.index(one) >= STEPS.index(other) else other


def least_advanced(counts: Mapping[State, int]) -> State:
    """The state that all receivers have reached. Declined and withdrawn receipts do not count."""
    for state in (*STEPS, *ENDED):
        if counts[state]:
            return state
    return "offered"
