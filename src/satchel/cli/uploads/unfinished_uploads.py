"""Unfinished uploads: read from the server, shown in columns, cancelled."""

from collections.abc import Iterator, Sequence
from urllib.parse import quote

from satchel.cli.engine.api_types.shelf_types import UploadList, UploadState
from satchel.cli.engine.http.client import Client
from satchel.cli.engine.terminal.columns import fitted, room_for, shown_width
from satchel.cli.engine.terminal.output import paint, printable
from satchel.cli.engine.terminal.sizes import shown_bytes, shown_moment

_PAGE = 100
# As much of the end of an id as tells a few uploads apart.
_SHORT_ID = 6
_TUS = {"tus-resumable": "1.0.0"}
_TAKEN = 60


def every_upload(client: Client) -> Iterator[UploadState]:
    """Newest first."""
    cursor = ""
    while True:
        page = client.call("GET", f"/uploads?limit={_PAGE}{cursor}", UploadList)
        yield from page.uploads
        if page.cursor is None:
            return
        cursor = f"&cursor={quote(page.cursor, safe='')}"


def cancel_upload(client: Client, upload: UploadState) -> None:
    client.send_bytes("DELETE", f"/uploads/{upload.upload_id}", _TUS, bytes)


def lines(uploads: Sequence[UploadState]) -> Iterator[str]:
    if not uploads:
        yield "Nothing is unfinished."
        return
    names = [printable(upload.name) for upload in uploads]
    widest = room_for(max(map(shown_width, names)), _TAKEN)
    for upload, name in zip(uploads, names, strict=True):
        stored = f"{shown_bytes(upload.offset_bytes)} of {shown_bytes(upload.size_bytes)}"
        begun = paint(f"since {shown_moment(upload.created_at)}", "quiet")
        yield f"{fitted(name, widest)}  {stored:<20}  {upload.destination:<6}  {begun}  {upload.upload_id[-_SHORT_ID:]}"
