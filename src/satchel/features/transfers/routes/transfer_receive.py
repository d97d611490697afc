"""The receiver's side: open, decline, download, verify and save."""

from typing import Annotated

import msgspec
from starlette.responses import Response

from satchel.edge.api.endpoints import Body, Router
from satchel.edge.files.downloads import Download, attached_as, spans_of
from satchel.edge.files.pictures import BYTES, RAISES, picture_answer
from satchel.edge.http.callers import Guest, Member
from satchel.features.transfers.model import (
    AlreadyTaken,
    ChallengeOver,
    FilesGone,
    HashDiffers,
    Id,
    NotOffered,
    TransferId,
)
from satchel.features.transfers.records import FILES_SHOWN
from satchel.features.transfers.routes.transfer_view import person_of, show, show_part
from satchel.features.transfers.routes.views import SavedView, TransferView
from satchel.features.transfers.service import transfer_receive
from satchel.features.transfers.service.context import Transfers
from satchel.kernel.errors import Forbidden, NotFound, OutOfSpace
from satchel.media.pictures import Pictured


class Saving(Body, frozen=True, kw_only=True):
    """The folder on your shelf to save into. Without one it is "Received"."""

    folder_id: Id | None = None


class ChallengeView(msgspec.Struct, frozen=True):
    """The challenge, as 64 hexadecimal digits. It can be answered once, within a day."""

    challenge: str


class Verification(Body, frozen=True, kw_only=True):
    """The SHA-256 of the 32 bytes of the challenge and all bytes of the file behind them, as 64 hexadecimal digits."""

    proof: Annotated[str, msgspec.Meta(pattern="^[0-9a-fA-F]{64}$")]


def routes(transfers: Transfers) -> Router:
    router = Router("transfers")

    @router.post("/transfers/{transfer_id}/opened", raises=(NotFound, Forbidden))
    async def open_transfer(caller: Member | Guest, transfer_id: str) -> TransferView:
        """Mark a transfer as opened. It is no longer listed as waiting, and the sender sees that.

        Files that came to your shelf are yours from then on: they can no longer be withdrawn.
        """
        person_id = person_of(caller)
        return await show_part(
            transfers, await transfer_receive.open_transfer(transfers, person_id, TransferId(transfer_id))
        )

    @router.post("/transfers/{transfer_id}/decline", raises=(NotFound, AlreadyTaken, NotOffered, Forbidden))
    async def decline_transfer(caller: Member | Guest, transfer_id: str) -> TransferView:
        """Decline a transfer that you have not received yet. Its files are removed from your shelf."""
        person_id = person_of(caller)
        await transfer_receive.decline(transfers, person_id, TransferId(transfer_id))
        return await show(transfers, person_id, transfer_id)

    @router.post("/transfers/{transfer_id}/save", raises=(NotFound, NotOffered, FilesGone, OutOfSpace, Forbidden))
    async def save_transfer(member: Member, transfer_id: str, body: Saving) -> SavedView:
        """Save all files of a transfer on your shelf.

        Saving again returns the same files.
        """
        person_id = person_of(member)
        files = await transfer_receive.save(transfers, person_id, TransferId(transfer_id), body.folder_id)
        return SavedView(await show(transfers, person_id, transfer_id), files)

    @router.get(
        "/transfers/{transfer_id}/files/{place}/content",
        produces="application/octet-stream",
        raises=(NotFound, NotOffered, FilesGone),
    )
    async def download_transferred(caller: Member | Guest, transfer_id: str, place: int) -> Response:
        """Download a file of a transfer.

        Range and conditional requests are supported. A file counts as downloaded once each of its bytes has gone out.
        """
        involved, file, key = await transfer_receive.find_content(
            transfers, person_of(caller), TransferId(transfer_id), place
        )
        return Download(
            transfers.objects,
            key,
            disposition=attached_as(file.name),
            content_type=file.content_type,
            metered=spans_of(transfer_receive.Sending(transfers, involved, file)),
            sha256=file.sha256,
        )

    @router.get(
        "/transfers/{transfer_id}/files/{place}/picture/{size}/{version}",
        produces=BYTES,
        raises=(NotFound, NotOffered, FilesGone, *RAISES),
    )
    async def transferred_picture(
        caller: Member | Guest, transfer_id: str, place: int, size: str, version: str
    ) -> Response:
        """Read the picture of a file of a transfer: `grid` for lists, `preview` for looking at."""
        _, file, key = await transfer_receive.find_content(transfers, person_of(caller), TransferId(transfer_id), place)
        return await picture_answer(transfers.pictures, Pictured(key, file.name, file.content_type), size, version)

    @router.post(
        "/transfers/{transfer_id}/files/{place}/challenge", status=201, raises=(NotFound, NotOffered, Forbidden)
    )
    async def challenge_receiver(caller: Member | Guest, transfer_id: str, place: int) -> ChallengeView:
        """Ask for a challenge, to prove that you have a file. A new one takes the place of the last."""
        person_id = person_of(caller)
        return ChallengeView(await transfer_receive.challenge(transfers, person_id, TransferId(transfer_id), place))

    @router.post(
        "/transfers/{transfer_id}/files/{place}/verified",
        raises=(NotFound, NotOffered, ChallengeOver, HashDiffers, FilesGone, Forbidden),
    )
    async def verify_transferred(
        caller: Member | Guest, transfer_id: str, place: int, body: Verification
    ) -> TransferView:
        """Answer the challenge. If the answer fits the stored bytes, the file is verified.

        The transfer comes with the first of its files, since this is asked for each of thousands.
        """
        person_id = person_of(caller)
        await transfer_receive.verify(transfers, person_id, TransferId(transfer_id), place, body.proof)
        return await show(transfers, person_id, transfer_id, limit=FILES_SHOWN)

    return router
