"""What clients see of transfers."""

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from satchel.features.transfers.model import Direction, PersonKind, State, TransferFile, least_advanced
from satchel.features.transfers.records import ReceiptRow
from satchel.features.transfers.service.history import Involved
from satchel.media.pictures import PictureView


class SenderView(msgspec.Struct, frozen=True, kw_only=True):
    """The sender of a transfer."""

    person_id: str
    name: str
    kind: PersonKind


class ReceiverView(msgspec.Struct, frozen=True, kw_only=True):
    """The receiver of a transfer: a person, everybody in a room, or somebody whose account was deleted."""

    kind: Literal["person", "room", "deleted"]
    id: str
    name: str


class TransferFileView(msgspec.Struct, frozen=True, kw_only=True):
    """One of the files. `folder` is "a/b" or empty. `state` is the caller's own, if they are a receiver.

    In lists of transfers, files have no `picture`.
    """

    place: int
    name: str
    folder: str
    size_bytes: int
    content_type: str
    sha256: str
    modified_at: str | None
    executable: bool
    state: State | None
    picture: PictureView | None


class ReceiptView(msgspec.Struct, frozen=True, kw_only=True):
    """How far a transfer has come with one receiver. `answer` is the transfer by which they answered.

    `shelved_at` is when the files came to their shelf, `downloaded_at` when every byte had gone to them, `verified_at`
    when they had proved that they have every byte.
    """

    person_id: str
    name: str
    kind: PersonKind
    state: State
    offered_at: str
    shelved_at: str | None
    opened_at: str | None
    downloaded_at: str | None
    verified_at: str | None
    declined_at: str | None
    answer: str | None


class CountsView(msgspec.Struct, frozen=True, kw_only=True):
    """How many receivers are in which state."""

    offered: int
    shelved: int
    opened: int
    downloaded: int
    verified: int
    declined: int
    withdrawn: int


class MissingView(msgspec.Struct, frozen=True, kw_only=True):
    """A person who was asked for an answer and has not handed in."""

    person_id: str
    name: str


class TransferView(msgspec.Struct, frozen=True, kw_only=True):
    """A transfer as the caller sees it.

    In lists, `files` are the first ten and `receipts` at most the caller's own. Asked for by itself, a transfer has its
    first thousand files, and `cursor` if it has more; the sender sees all receipts and who has not answered. `state` is
    the receiver's own; for the sender it is that of the least advanced receiver. `is_available` says whether these
    files still exist; in lists as far as is known without a lookup for each.

    With `asks_first` the files stay on the sender's shelf until the receiver saves them.

    `shelf_folder` is the folder on the receiver's shelf that the files go into by themselves. Without one they stay in
    the room. `answers_folder` is the same for the answers that the sender wants.
    """

    transfer_id: str
    direction: Direction
    sender: SenderView
    receiver: ReceiverView
    sent_at: str
    note: str
    file_count: int
    size_bytes: int
    files: list[TransferFileView]
    receipts: list[ReceiptView]
    counts: CountsView
    state: State
    is_available: bool
    asks_first: bool
    wants_answers: bool
    answers: str | None
    shelf_folder: str | None
    answers_folder: str | None
    missing: list[MissingView]
    cursor: str | None


class TransferList(msgspec.Struct, frozen=True):
    """A page of transfers, the newest first, and the cursor of the next."""

    transfers: list[TransferView]
    cursor: str | None


class WaitingList(msgspec.Struct, frozen=True):
    """The transfers that the caller has not opened, the newest first, and whether there are more."""

    transfers: list[TransferView]
    more: bool


class SavedView(msgspec.Struct, frozen=True):
    """A transfer that was saved, and the ids of its files on the caller's shelf, by place."""

    transfer: TransferView
    files: list[str]


def transfer_view(
    involved: Involved,
    files: Sequence[TransferFile],
    receipts: Sequence[ReceiptRow],
    *,
    is_available: bool,
    pictures: Mapping[int, PictureView] | None = None,
    cursor: str | None = None,
) -> TransferView:
    """`pictures` are those of the files, by place. At `cursor` there are more."""
    transfer, own = involved.transfer, involved.receipt
    sender = transfer.sent_by
    return TransferView(
        transfer_id=transfer.transfer_id,
        direction=involved.direction,
        sender=SenderView(person_id=sender.person_id, name=sender.name, kind=sender.kind),
        receiver=ReceiverView(
            kind="room" if transfer.is_to_room else "deleted" if transfer.receiver_deleted else "person",
            id=transfer.receiver_id,
            name=transfer.receiver_name,
        ),
        sent_at=transfer.timestamp,
        note=transfer.note,
        file_count=transfer.file_count,
        size_bytes=transfer.size_bytes,
        files=[_file_view(file, own, (pictures or {}).get(file.place)) for file in files],
        receipts=[_receipt_view(each) for each in receipts],
        counts=CountsView(**transfer.counts),
        state=least_advanced(transfer.counts) if own is None else own.state,
        is_available=is_available,
        asks_first=transfer.asks_first,
        wants_answers=transfer.wants_answers,
        answers=transfer.answers or None,
        shelf_folder=transfer.shelf_folder or None,
        answers_folder=transfer.folder_asked_into or None,
        missing=_missing(involved, receipts),
        cursor=cursor,
    )


def _file_view(file: TransferFile, own: ReceiptRow | None, picture: PictureView | None) -> TransferFileView:
    return TransferFileView(
        place=file.place,
        name=file.name,
        folder=file.folder,
        size_bytes=file.size_bytes,
        content_type=file.content_type,
        sha256=file.sha256,
        modified_at=file.modified_at or None,
        executable=file.executable,
        state=None if own is None else _state_of(file, own),
        picture=picture,
    )


def _state_of(file: TransferFile, own: ReceiptRow) -> State:
    if file.place in own.verified:
        return "verified"
    return "downloaded" if file.place in own.downloaded else own.state


def _receipt_view(receipt: ReceiptRow) -> ReceiptView:
    return ReceiptView(
        person_id=receipt.person_id,
        name=receipt.name,
        kind=receipt.kind,
        state=receipt.state,
        offered_at=receipt.offered_at,
        shelved_at=receipt.saved_at or None,
        opened_at=receipt.opened_at or None,
        downloaded_at=receipt.downloaded_at or None,
        verified_at=receipt.verified_at or None,
        declined_at=receipt.declined_at or None,
        answer=receipt.answer or None,
    )


def _missing(involved: Involved, receipts: Sequence[ReceiptRow]) -> list[MissingView]:
    if involved.receipt is not None or not involved.transfer.wants_answers:
        return []
    return [
        MissingView(person_id=each.person_id, name=each.name)
        for each in receipts
        if not each.answer and each.state != "withdrawn"
    ]
