"""The files of a session: announce and withdraw."""

from starlette.requests import Request

from satchel.edge.api.endpoints import Router
from satchel.features.drop.model import FileId, FileUnknown, SessionUnknown, StateFull, TooManyFiles
from satchel.features.drop.routes.views import NewFiles, caller_of
from satchel.features.drop.service import drop_files
from satchel.features.drop.service.context import Drop
from satchel.features.drop.service.drop_files import Announcement
from satchel.kernel.errors import Conflict, Forbidden, TooMany


def routes(drop: Drop) -> Router:
    router = Router("drop")

    @router.post(
        "/drop/sessions/{session_id}/files",
        status=204,
        raises=(SessionUnknown, TooManyFiles, StateFull, Conflict, TooMany),
    )
    async def announce_drop_files(session_id: str, body: NewFiles, request: Request) -> None:
        """Announce files to the members of a session. Announcing a file again replaces its description."""
        caller = await caller_of(drop, session_id, request)
        await drop_files.announce(
            drop, caller, [Announcement(FileId(each.file_id), each.sealed) for each in body.files]
        )

    @router.delete(
        "/drop/sessions/{session_id}/files/{file_id}", raises=(SessionUnknown, FileUnknown, Forbidden, TooMany)
    )
    async def withdraw_drop_file(session_id: str, file_id: str, request: Request) -> None:
        """Withdraw a file that you have announced, or as host anybody's. Requests for it end."""
        await drop_files.withdraw_file(drop, await caller_of(drop, session_id, request), FileId(file_id))

    return router
