"""Sends files from a shelf to an account, or from a room to one or all people in it; resends and withdraws."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from satchel.features.transfers.model import (
    MAX_FILES,
    AlreadyTaken,
    FilesGone,
    NoAnswersWanted,
    Party,
    PersonId,
    ReceiverUnknown,
    RoomId,
    To,
    ToEmail,
    ToPerson,
    ToRoom,
    ToYourself,
    TransferFile,
    TransferId,
    folder_of_one,
)
from satchel.features.transfers.needs import Audience, Known
from satchel.features.transfers.records import TRANSFER, TransferRow, as_person, as_room
from satchel.features.transfers.service import history, receipts, transfer_contents
from satchel.features.transfers.service.consent import Consent, consent_of
from satchel.features.transfers.service.context import Transfers
from satchel.features.transfers.service.history import Involved
from satchel.features.transfers.service.idempotency import SenderKey, sender_key
from satchel.features.transfers.service.transfer_end import noted, withdraw_from_all
from satchel.features.transfers.service.transfer_notify import tell_changed
from satchel.features.transfers.service.transfer_recovery import finish
from satchel.features.transfers.service.transfer_write import Parcel, Posted, deliver, write_down
from satchel.kernel.errors import Forbidden, SatchelError, Unauthenticated, Unavailable
from satchel.kernel.handed_file import HandedFile
from satchel.kernel.side_by_side import outcome, side_by_side
from satchel.kernel.unfit import ChoiceUnfit, CombinationUnfit
from satchel.stores.ports.expressions import assign, attr


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What shall be sent to whom. An answer (`answers` is what it answers) goes to whoever asked for it.

    Asked for again with the same `idempotency_key`, it is the same transfer.
    """

    to: To | None
    files: Sequence[str]
    note: str = ""
    wants_answers: bool = False
    answers: TransferId | None = None
    idempotency_key: str | None = None


async def send(transfers: Transfers, sender_id: PersonId, order: Order, *, is_member: bool) -> Posted | TransferId:
    """The transfer as it is now, or the id of an earlier one with the same key."""
    key = _key(transfers, sender_id, order)
    by_email = order.to if is_member and isinstance(order.to, ToEmail) else None
    earlier, looked = await side_by_side(_earlier(key), outcome(_look(transfers, sender_id, order, by_email)))
    if earlier is not None:
        await finish(transfers, earlier)
        return earlier
    asked = None if order.answers is None else await _asked(transfers, sender_id, order.answers)
    to = order.to or (None if asked is None else _back_to(asked.transfer))
    match to:
        case None:
            raise CombinationUnfit("Choose a receiver.", field="to")
        case ToEmail():
            found = looked()
            if found is None:
                raise Unauthenticated("Sign in to send files from a shelf.")
            parcel = await _from_shelf(transfers, sender_id, order, found)
        case ToPerson() | ToRoom():
            parcel = await _from_room(transfers, sender_id, order, to)
    if asked is not None:
        parcel = _handed_in(parcel, asked.transfer)
    if order.wants_answers and not parcel.is_to_room:
        raise CombinationUnfit("Only a transfer to everybody in a room can ask for answers.", field="wants_answers")
    return await _write_once(transfers, parcel, key)


async def _is_hidden(transfers: Transfers, sender: Party, receiver: Party | None) -> bool:
    """Whether one person in a room has blocked the other. Guests have nobody blocked, and are blocked by nobody."""
    if receiver is None or sender.kind != "member" or receiver.kind != "member":
        return False
    return await transfers.contacts.manner(receiver.person_id, sender.person_id) == "hides"


def _key(transfers: Transfers, sender_id: PersonId, order: Order) -> SenderKey | None:
    if order.idempotency_key is None:
        return None
    asked = (order.to, sorted(order.files), order.note, order.wants_answers, order.answers)
    return sender_key(transfers.tables, sender_id, order.idempotency_key, *asked)


async def _earlier(key: SenderKey | None) -> TransferId | None:
    return None if key is None else await key.find()


async def _write_once(transfers: Transfers, parcel: Parcel, key: SenderKey | None) -> Posted | TransferId:
    """Write and deliver it, unless the key became a transfer while this one was prepared."""
    posted = await write_down(transfers, parcel, key)
    if posted is not None:
        return await deliver(transfers, posted)
    earlier = await _earlier(key)
    if earlier is None:
        raise Unavailable("This transfer is being sent. Try again in a moment.")
    return earlier


async def resend(
    transfers: Transfers, person_id: PersonId, transfer_id: TransferId, idempotency_key: str | None = None
) -> Posted | TransferId:
    """Send the same files to the same people, or to those in the room now. All files have to exist."""
    key = None
    if idempotency_key is not None:
        key = sender_key(transfers.tables, person_id, idempotency_key, "resend", transfer_id)
        if (earlier := await key.find()) is not None:
            await finish(transfers, earlier)
            return earlier
    involved = await _sent(transfers, person_id, transfer_id)
    old = involved.transfer
    files = await history.files_of(transfers, old)
    if len(await transfer_contents.keys_of(transfers, involved, files)) < len(files):
        raise FilesGone("Some of the files no longer exist, so they cannot be sent again.")
    room = await transfers.rooms.audience(old.room_id, person_id) if old.room_id else None
    if old.is_to_room:
        receivers = [] if room is None else _others(room, person_id)
    else:
        receivers = [await _same_receiver(transfers, old, room)]
    if old.room_id:
        hidden = await _is_hidden(transfers, old.sent_by, None if old.is_to_room else receivers[0])
        consent = Consent(asks_first=hidden, hidden=hidden)
    else:
        manner = await transfers.contacts.manner(old.receiver_id, person_id)
        consent = await consent_of(transfers, manner, old.receiver_id, person_id, old.size_bytes)
    parcel = Parcel(
        asks_first=consent.asks_first,
        hidden=consent.hidden,
        sender=old.sent_by,
        receiver=old.receiver,
        receiver_name=old.receiver_name,
        receivers=receivers,
        files=files,
        room_id=old.room_id,
        note=old.note,
        wants_answers=old.wants_answers,
        answers=old.answers,
        answers_folder=old.answers_folder,
    )
    return await _write_once(transfers, parcel, key)


async def withdraw(transfers: Transfers, person_id: PersonId, transfer_id: TransferId) -> None:
    """Withdraw from everybody who has not received it. People who join later find nothing."""
    transfer = (await _sent(transfers, person_id, transfer_id)).transfer
    before = await history.receipts_of(transfers, transfer)
    if before and all(each.state == "declined" or receipts.is_received(each) for each in before):
        raise AlreadyTaken("Everybody has already received or declined this.")
    ended = TRANSFER.update(
        [assign("withdrawnAt", transfers.now(), only_if_absent=True)],
        when=attr("PK").exists(),
        transfer_id=transfer_id,
    )
    async with noted(transfers, transfer):
        await transfers.tables.update(ended.table, ended.key, ended.actions, when=ended.when)
        after = await withdraw_from_all(transfers, transfer)
    if transfer.room_id:
        files = await history.files_of(transfers, transfer)
        file_ids = [file.file_id for file in files]
        await transfers.rooms.take_back(transfer.room_id, file_ids, by=person_id, transfer_id=transfer_id)
    if after and not any(each.state == "withdrawn" for each in after):
        raise AlreadyTaken("Everybody has already received this.")
    await tell_changed(transfers, [person_id], transfer_id)


async def check_receiver(transfers: Transfers, sender_id: PersonId, email: str) -> None:
    """Raises what sending to this address would raise."""
    sender, receiver_id = await side_by_side(transfers.people.by_id(sender_id), transfers.people.id_of(email))
    receiver = None if receiver_id is None else await transfers.people.by_id(receiver_id)
    await _check_parties(transfers, sender_id, sender, receiver)


async def _check_parties(
    transfers: Transfers, sender_id: PersonId, sender: Known | None, receiver: Known | None
) -> tuple[Known, Known]:
    if receiver is None or sender is None:
        await transfers.unknown_receivers.count(sender_id)
        raise ReceiverUnknown("Nobody here has this e-mail address.", field="to")
    # Only now: of many addresses tried at once, the right ones must not stand out above the limit.
    await transfers.unknown_receivers.check(sender_id)
    _check_other(sender_id, receiver.person_id)
    return sender, receiver


@dataclass(frozen=True, slots=True)
class _Found:
    """What an order by e-mail is about: its sender, whose the address is, and the files once these matter."""

    sender: Known | None
    receiver_id: str | None
    files: Callable[[], Sequence[HandedFile]]


async def _look(transfers: Transfers, sender_id: PersonId, order: Order, to: ToEmail | None) -> _Found | None:
    """Read at once what an order by e-mail needs."""
    if to is None:
        return None
    files = transfers.shelf.gather(sender_id, order.files, MAX_FILES)
    people = transfers.people
    return _Found(*await side_by_side(people.by_id(sender_id), people.id_of(to.email), outcome(files)))


async def _from_shelf(transfers: Transfers, sender_id: PersonId, order: Order, found: _Found) -> Parcel:
    receiver, manner, beside, has_room = None, "asks", (), False
    if found.receiver_id is not None:
        contacts = transfers.contacts
        receiver, manner, beside, has_room = await side_by_side(
            transfers.people.by_id(found.receiver_id),
            contacts.manner(found.receiver_id, sender_id),
            # Who is sent something may send something back.
            contacts.noting(sender_id, found.receiver_id, known=True),
            _has_room(transfers, found.receiver_id, found),
        )
    sender, receiver = await _check_parties(transfers, sender_id, found.sender, receiver)
    files = found.files()
    await transfers.shelf.note_handed_on(sender_id, files)
    size_bytes = sum(file.size_bytes for file in files)
    consent = await consent_of(transfers, manner, receiver.person_id, sender_id, size_bytes)
    return Parcel(
        asks_first=consent.asks_first,
        hidden=consent.hidden,
        sender=_party(sender),
        receiver=as_person(receiver.person_id),
        receiver_name=receiver.name,
        receivers=[_party(receiver)],
        files=_numbered(files),
        note=order.note,
        answers=order.answers or "",
        keys={place: file.key for place, file in enumerate(files)} if has_room else None,
        beside=beside,
    )


async def _has_room(transfers: Transfers, receiver_id: str, found: _Found) -> bool:
    try:
        await transfers.shelf.admit(receiver_id, None, sum(file.size_bytes for file in found.files()))
    except SatchelError:
        return False
    return True


async def _from_room(transfers: Transfers, sender_id: PersonId, order: Order, to: ToPerson | ToRoom) -> Parcel:
    room = await transfers.rooms.audience(to.room_id, sender_id)
    sender = _in_room(room, sender_id)
    if isinstance(to, ToPerson):
        _check_other(sender_id, to.person_id)
        only = _in_room(room, to.person_id)
        receiver, name, receivers = as_person(only.person_id), only.name, [only]
    else:
        only = None
        receiver, name, receivers = as_room(to.room_id), room.name, _others(room, sender_id)
    lent = await transfers.rooms.lend(to.room_id, sender_id, list(dict.fromkeys(order.files)))
    _check_privacy(lent, only, is_answer=order.answers is not None)
    hidden = await _is_hidden(transfers, sender, only)
    return Parcel(
        asks_first=hidden,
        hidden=hidden,
        sender=sender,
        receiver=receiver,
        receiver_name=name,
        receivers=receivers,
        files=_numbered(lent),
        room_id=RoomId(to.room_id),
        note=order.note,
        wants_answers=order.wants_answers,
        answers=order.answers or "",
    )


def _check_privacy(lent: Sequence[HandedFile], only: Party | None, *, is_answer: bool) -> None:
    """A file that was uploaded for one person goes to nobody else. An answer is for one person."""
    person_id = None if only is None else only.person_id
    if any(file.to not in (None, person_id) for file in lent):
        raise ChoiceUnfit("One of the files was uploaded for somebody else.", field="files")
    if is_answer and any(file.to != person_id for file in lent):
        raise ChoiceUnfit("Upload the files of an answer for the person who asked, not for everybody.", field="files")


async def _asked(transfers: Transfers, person_id: PersonId, transfer_id: TransferId) -> Involved:
    asked = await history.find(transfers, person_id, transfer_id)
    if asked.receipt is None or not asked.transfer.wants_answers:
        raise NoAnswersWanted("This transfer does not ask you for an answer.")
    return asked


def _handed_in(parcel: Parcel, asked: TransferRow) -> Parcel:
    """An answer to a member goes to their shelf. It outlives the room, which an answer to a guest does not."""
    if parcel.receiver != asked.sender:
        raise CombinationUnfit("An answer goes to the person who asked for it. Leave `to` out.", field="to")
    folder = asked.folder_asked_into
    return replace(parcel, answers_folder=folder and folder_of_one(folder, parcel.sender.name))


def _back_to(asked: TransferRow) -> ToPerson:
    return ToPerson(room_id=asked.room_id, person_id=asked.sent_by.person_id)


async def _sent(transfers: Transfers, person_id: PersonId, transfer_id: TransferId) -> Involved:
    involved = await history.find(transfers, person_id, transfer_id)
    if involved.receipt is not None:
        raise Forbidden("Only the person who sent this can do this.")
    return involved


async def _same_receiver(transfers: Transfers, transfer: TransferRow, room: Audience | None) -> Party:
    if room is not None:
        return _in_room(room, transfer.receiver_id)
    receiver = await transfers.people.by_id(transfer.receiver_id)
    if receiver is None:
        raise ReceiverUnknown("The receiver no longer has an account here.")
    return _party(receiver)


def _in_room(room: Audience, person_id: str) -> Party:
    for each in room.people:
        if each.person_id == person_id:
            return _party(each)
    raise ReceiverUnknown("This person is not in the room.", field="to")


def _others(room: Audience, person_id: PersonId) -> list[Party]:
    return [_party(each) for each in room.people if each.person_id != person_id]


def _check_other(sender_id: str, receiver_id: str) -> None:
    if sender_id == receiver_id:
        raise ToYourself("You cannot send to yourself. Choose somebody else.", field="to")


def _party(known: Known) -> Party:
    return Party(PersonId(known.person_id), known.name, known.kind)


def _numbered(sources: Sequence[HandedFile]) -> list[TransferFile]:
    if not sources:
        raise ChoiceUnfit("There are no files in your selection. Choose a file.", field="files")
    return [
        TransferFile(
            place=place,
            file_id=source.file_id,
            name=source.name,
            folder=source.folder,
            size_bytes=source.size_bytes,
            content_type=source.content_type,
            sha256=source.sha256,
            modified_at=source.modified_at,
            executable=source.executable,
        )
        for place, source in enumerate(sources)
    ]
