"""What is stored of transfers: the transfer itself, its files, a receipt for each receiver, and pointers to find it by.

Ids sort by time, so a person's pointers are their history. The transfer's own row is written last and alone makes it
visible: a pointer without one is skipped. The counts in it change only together with the receipts that they count.
"""

from collections.abc import Mapping, Sequence

import msgspec

from satchel.features.transfers.model import (
    NOWHERE,
    RECEIVED_FOLDER,
    Direction,
    Party,
    PersonId,
    PersonKind,
    RoomId,
    State,
    TransferFile,
    TransferId,
    answers_folder,
)
from satchel.stores.schema import EphemeralKey, Record, Shape, attribute
from satchel.tables import CATALOG, USER_TRANSFERS

OWNER = "transfers"
# How many names and how many whole files the transfer's own row has: enough to show it in a list.
NAMES_SHOWN = 100
FILES_SHOWN = 10
FILES_PER_ROW = 100
# Interrupted operations are found through this index, as are expired sessions and uploads.
POSTING_INDEX = "RefreshTokenExpiration"
POSTING_SORT = "#POSTING"
_PERSON, _ROOM = "User#", "Room#"


class TransferRow(Record, frozen=True, kw_only=True):
    """Who sent what to whom. `roomId` is where the files are. Without it they are on the sender's shelf.

    `answersFolder` is the folder on the receiver's shelf that an answer goes into, if a member asked for it.
    """

    transfer_id: TransferId = attribute("transferId")
    sender: str
    receiver: str
    timestamp: str
    file_names: list[str] = attribute("fileName")
    file_count: int = attribute("fileCount")
    size_bytes: int = attribute("sizeBytes")
    first_files: list[TransferFile] = attribute("firstFiles")
    sender_name: str = attribute("senderName")
    sender_kind: PersonKind = attribute("senderKind", default="member")
    receiver_name: str = attribute("receiverName")
    # Whether the account of the one receiver is gone.
    receiver_deleted: bool = attribute("receiverDeleted", default=False)
    room_id: RoomId = attribute("roomId", default=NOWHERE)
    note: str = ""
    # Of what goes by e-mail: it waits for the receiver's consent; or it is never shown to them.
    asks_first: bool = attribute("asksFirst", default=False)
    hidden: bool = attribute("hidden", default=False)
    wants_answers: bool = attribute("wantsAnswers", default=False)
    answers: str = ""
    answers_folder: str = attribute("answersFolder", default="")
    withdrawn_at: str = attribute("withdrawnAt", default="")
    offered: int = attribute("offeredCount", default=0)
    shelved: int = attribute("shelvedCount", default=0)
    opened: int = attribute("openedCount", default=0)
    downloaded: int = attribute("downloadedCount", default=0)
    verified: int = attribute("verifiedCount", default=0)
    declined: int = attribute("declinedCount", default=0)
    withdrawn: int = attribute("withdrawnCount", default=0)

    @property
    def sent_by(self) -> Party:
        return Party(PersonId(self.sender.removeprefix(_PERSON)), self.sender_name, self.sender_kind)

    @property
    def is_to_room(self) -> bool:
        return self.receiver.startswith(_ROOM)

    @property
    def receiver_id(self) -> str:
        return self.receiver.partition("#")[2]

    @property
    def shelf_folder(self) -> str:
        """The folder on the receiver's shelf that the files go into by themselves. Empty if they stay in the room."""
        return self.answers_folder or ("" if self.room_id else RECEIVED_FOLDER)

    @property
    def folder_asked_into(self) -> str:
        """The folder on the sender's shelf for the answers. Empty if none are wanted, or a guest asks."""
        if not self.wants_answers or self.sender_kind == "guest":
            return ""
        return answers_folder(self.timestamp, self.note, self.file_names[0])

    @property
    def counts(self) -> dict[State, int]:
        return {
            "offered": self.offered,
            "shelved": self.shelved,
            "opened": self.opened,
            "downloaded": self.downloaded,
            "verified": self.verified,
            "declined": self.declined,
            "withdrawn": self.withdrawn,
        }

    def with_counts(self, counts: Mapping[State, int]) -> "TransferRow":
        return msgspec.structs.replace(self, **dict(counts))


class FilesRow(Record, frozen=True, kw_only=True):
    """Some of the files of a transfer that has more than its own row shows."""

    transfer_id: TransferId = attribute("transferId")
    chunk: str
    files: list[TransferFile]


class ReceiptRow(Record, frozen=True, kw_only=True):
    """How far a transfer has come with one receiver, as a whole and file by file.

    `going` says which bytes went of files that did not go as a whole yet, by place.
    `version` increases with every change, so that no update is lost. 0 is a receipt that is not stored yet.
    """

    transfer_id: TransferId = attribute("transferId")
    person_id: PersonId = attribute("personId")
    name: str = attribute("personName")
    kind: PersonKind = attribute("personKind", default="member")
    state: State
    offered_at: str = attribute("offeredAt")
    opened_at: str = attribute("openedAt", default="")
    downloaded_at: str = attribute("downloadedAt", default="")
    verified_at: str = attribute("verifiedAt", default="")
    declined_at: str = attribute("declinedAt", default="")
    withdrawn_at: str = attribute("withdrawnAt", default="")
    saved_at: str = attribute("savedAt", default="")
    going: dict[str, list[tuple[int, int]]] = attribute("going", default={})
    downloaded: frozenset[int] = frozenset()
    verified: frozenset[int] = frozenset()
    answer: str = ""
    version: int = 0


class PointerRow(Record, frozen=True, kw_only=True):
    """Points a person to one of their transfers, as sender or receiver."""

    person_id: PersonId = attribute("personId")
    transfer_id: TransferId = attribute("transferId")
    direction: Direction
    timestamp: str


class PostingRow(Record, frozen=True, kw_only=True):
    """Journal entry: a transfer is being made or ended, and for whom. After `due`, recovery finishes it."""

    transfer_id: TransferId = attribute("TransferId")
    sender_id: PersonId = attribute("SenderId")
    receiver_ids: list[PersonId] = attribute("ReceiverIds")
    due: str = attribute("AbsoluteExpiryTime")


class KeyRow(Record, frozen=True, kw_only=True):
    """An idempotency key of a sender, and the transfer that it became. `order` is the digest of what was asked for."""

    sender_id: PersonId = attribute("senderId")
    key: str = attribute("idempotencyKey")
    transfer_id: TransferId = attribute("transferId")
    order: str = attribute("orderDigest")


TRANSFER = Shape(
    TransferRow,
    USER_TRANSFERS,
    {"PK": "Transfer#{transfer_id}", "SK": "Transfer#{transfer_id}"},
    owner=OWNER,
    about="What was sent to whom, and how many receivers are in which state",
)
FILES = Shape(
    FilesRow,
    USER_TRANSFERS,
    {"PK": "Transfer#{transfer_id}", "SK": "Files#{chunk}"},
    owner=OWNER,
    about="The files past the first ten, a hundred in a row",
)
RECEIPT = Shape(
    ReceiptRow,
    USER_TRANSFERS,
    {"PK": "Transfer#{transfer_id}", "SK": "Receipt#{person_id}"},
    owner=OWNER,
    about="How far a transfer has come with one receiver",
)
POINTER = Shape(
    PointerRow,
    USER_TRANSFERS,
    {"PK": "User#{person_id}", "SK": "Transfer#{transfer_id}"},
    owner=OWNER,
    about="A person's history, both directions; ids sort by time",
)
SENT = Shape(
    PointerRow,
    USER_TRANSFERS,
    {"PK": "User#{person_id}", "SK": "Sent#{transfer_id}"},
    owner=OWNER,
    about="What a person has sent",
)
RECEIVED = Shape(
    PointerRow,
    USER_TRANSFERS,
    {"PK": "User#{person_id}", "SK": "Received#{transfer_id}"},
    owner=OWNER,
    about="What a person was given",
)
WAITING = Shape(
    PointerRow,
    USER_TRANSFERS,
    {"PK": "User#{person_id}", "SK": "Waiting#{transfer_id}"},
    owner=OWNER,
    about="What a person has received and not opened yet",
)
HIDDEN = Shape(
    PointerRow,
    USER_TRANSFERS,
    {"PK": "User#{person_id}", "SK": "Hidden#{transfer_id}"},
    owner=OWNER,
    about="What a person never sees, because they have blocked its sender",
)
POSTING = Shape(
    PostingRow,
    CATALOG,
    {"PK": "TRANSFER#{transfer_id}", "SK": POSTING_SORT},
    owner=OWNER,
    about="Journal: a transfer that is being made or ended; interrupted ones through RefreshTokenExpiration",
)
KEY = Shape(
    KeyRow,
    USER_TRANSFERS,
    {"PK": "User#{sender_id}", "SK": "Key#{key}"},
    owner=OWNER,
    about="Idempotency key of a sender → transfer; written together with the transfer's own row",
)
SHAPES = (TRANSFER, FILES, RECEIPT, POINTER, SENT, RECEIVED, WAITING, HIDDEN, POSTING, KEY)
CHALLENGE = EphemeralKey(
    "transfer-challenge:{transfer_id}:{person_id}:{place}",
    "value",
    owner=OWNER,
    about="The challenge by which a receiver proves that they have a file",
)
EPHEMERAL_KEYS = (CHALLENGE,)


def as_person(person_id: str) -> str:
    return _PERSON + person_id


def as_room(room_id: str) -> str:
    return _ROOM + room_id


def chunk_of(place: int) -> str:
    """Which row has the file of this place, if the transfer's own does not."""
    return f"{(place - FILES_SHOWN) // FILES_PER_ROW:02}"


def rows_of_files(transfer_id: TransferId, files: Sequence[TransferFile]) -> list[FilesRow]:
    """Rows for the files that the transfer's own row does not have."""
    return [
        FilesRow(transfer_id=transfer_id, chunk=chunk_of(start), files=list(files[start : start + FILES_PER_ROW]))
        for start in range(FILES_SHOWN, len(files), FILES_PER_ROW)
    ]
