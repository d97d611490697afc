"""The sender's side: send, list, withdraw and resend."""

from typing import Annotated

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from satchel.edge.api.endpoints import Body, PageQuery, Query, Router
from satchel.edge.api.fields import EmailAddress
from satchel.edge.api.idempotency_key import idempotency_key_of
from satchel.edge.files.downloads import attached_as
from satchel.edge.http.callers import Guest, Member
from satchel.features.transfers.model import (
    MAX_FILES,
    MAX_NOTE_CHARACTERS,
    AlreadyTaken,
    FilesGone,
    Id,
    KeyReused,
    NoAnswersWanted,
    PersonId,
    ReceiverUnknown,
    To,
    ToYourself,
    TransferId,
)
from satchel.features.transfers.routes.receipts_csv import receipts_csv
from satchel.features.transfers.routes.transfer_view import (
    FILES_AT_ONCE,
    person_of,
    show,
    show_all,
    show_sent,
    visible_receipts,
)
from satchel.features.transfers.routes.views import TransferList, TransferView, WaitingList
from satchel.features.transfers.service import history, transfer_send
from satchel.features.transfers.service.context import Transfers
from satchel.features.transfers.service.history import Which
from satchel.kernel.errors import Forbidden, NotFound, TooLarge, TooMany

SENDS = {"Idempotency-Key": "letters, digits, - and _: a retry with the same key is the same transfer"}


class NewTransfer(Body, frozen=True, kw_only=True):
    """What goes to whom: ids of files and folders on the shelf for an e-mail address, else of files in the room.

    `wants_answers` asks everybody in a room for an answer. An answer names in `answers` what it answers, and goes to
    the person who asked even if `to` does not say so; its files have to be in the room for that person only. If that
    person has an account, the files go to their shelf at once, and stay there when the room ends.
    """

    to: To | None = None
    files: Annotated[list[Id], msgspec.Meta(min_length=1, max_length=MAX_FILES)]
    note: Annotated[str, msgspec.Meta(max_length=MAX_NOTE_CHARACTERS)] = ""
    wants_answers: bool = False
    answers: Id | None = None


class ReceiverCheck(Body, frozen=True, kw_only=True):
    """The address that files are to be sent to."""

    email: EmailAddress


class HistoryQuery(Query, frozen=True, kw_only=True):
    """Which transfers, and which page. `cursor` comes from the previous answer."""

    direction: Which = "all"
    limit: Annotated[int, msgspec.Meta(ge=1, le=200)] = 50
    cursor: Annotated[str, msgspec.Meta(max_length=4096)] | None = None


class FilesQuery(PageQuery, frozen=True, kw_only=True):
    """Which part of the files is wanted."""

    limit: Annotated[int, msgspec.Meta(ge=1, le=FILES_AT_ONCE)] = FILES_AT_ONCE


def routes(transfers: Transfers) -> Router:
    router = Router("transfers")

    @router.post(
        "/transfers",
        status=201,
        raises=(NotFound, ReceiverUnknown, ToYourself, NoAnswersWanted, TooLarge, TooMany, KeyReused),
        sends=SENDS,
    )
    async def send_files(caller: Member | Guest, body: NewTransfer, request: Request) -> TransferView:
        """Send files to an account, to one person in a room, or to everybody in it.

        Files for an e-mail address go to the receiver's shelf at once, into the folder "Received". They stay offered
        until the receiver opens the transfer, or opens, downloads, changes or sends on one of the files. If the shelf
        is full, the offer stands, and the receiver can save it later. If the receiver wants to be asked first, as they
        do by those they declined before, it is an offer, too (`asks_first`).
        """
        person_id = person_of(caller)
        order = transfer_send.Order(
            to=body.to,
            files=body.files,
            note=body.note.strip(),
            wants_answers=body.wants_answers,
            answers=None if body.answers is None else TransferId(body.answers),
            idempotency_key=idempotency_key_of(request),
        )
        sent = await transfer_send.send(transfers, person_id, order, is_member=isinstance(caller, Member))
        return await show_sent(transfers, person_id, sent)

    @router.post("/transfers/receiver", status=204, raises=(ReceiverUnknown, ToYourself, TooMany))
    async def check_receiver(caller: Member, body: ReceiverCheck) -> None:
        """Ask whether you can send files to this e-mail address, before you upload them. Nothing is sent."""
        await transfer_send.check_receiver(transfers, PersonId(caller.user_id), body.email)

    @router.get("/transfers")
    async def list_transfers(caller: Member | Guest, query: HistoryQuery) -> TransferList:
        """List what you have sent and received, the newest first."""
        page = await history.list_history(transfers, person_of(caller), query.direction, query.limit, query.cursor)
        return TransferList(await show_all(transfers, page.transfers), page.cursor)

    @router.get("/transfers/waiting")
    async def list_waiting(caller: Member | Guest) -> WaitingList:
        """List the transfers that you have received and not opened yet."""
        page = await history.list_waiting(transfers, person_of(caller))
        return WaitingList(await show_all(transfers, page.transfers), page.cursor is not None)

    @router.get("/transfers/{transfer_id}", raises=(NotFound,))
    async def read_transfer(caller: Member | Guest, transfer_id: str, query: FilesQuery) -> TransferView:
        """Read a transfer that you sent or received, with a page of its files."""
        return await show(transfers, person_of(caller), transfer_id, limit=query.limit, cursor=query.cursor)

    @router.get("/transfers/{transfer_id}/receipts.csv", produces="text/csv", raises=(NotFound,))
    async def export_receipts(caller: Member | Guest, transfer_id: str) -> Response:
        """Download the receipts of a transfer as CSV: all of them as sender, your own as receiver."""
        involved = await history.find(transfers, person_of(caller), TransferId(transfer_id))
        table = receipts_csv(await visible_receipts(transfers, involved))
        headers = {
            "content-disposition": attached_as(f"receipts {involved.transfer.timestamp[:10]}.csv"),
            "cache-control": "private, no-store",
        }
        return Response(table, media_type="text/csv; charset=utf-8", headers=headers)

    @router.post("/transfers/{transfer_id}/withdraw", raises=(NotFound, AlreadyTaken, Forbidden))
    async def withdraw_transfer(caller: Member | Guest, transfer_id: str) -> TransferView:
        """Withdraw a transfer from everybody who has not received it yet.

        Files that came to their shelf by e-mail and were not opened are removed from there.
        """
        person_id = person_of(caller)
        await transfer_send.withdraw(transfers, person_id, TransferId(transfer_id))
        return await show(transfers, person_id, transfer_id)

    @router.post(
        "/transfers/{transfer_id}/resend",
        status=201,
        raises=(NotFound, FilesGone, ReceiverUnknown, Forbidden, KeyReused),
        sends=SENDS,
    )
    async def resend_transfer(caller: Member | Guest, transfer_id: str, request: Request) -> TransferView:
        """Send the same files to the same people again."""
        person_id = person_of(caller)
        key = idempotency_key_of(request)
        sent = await transfer_send.resend(transfers, person_id, TransferId(transfer_id), key)
        return await show_sent(transfers, person_id, sent)

    return router
