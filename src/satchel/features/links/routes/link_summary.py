"""What the page of a link says to chats that show it. Before the password, not even the content's name."""

from typing import TYPE_CHECKING

from starlette.requests import Request

from satchel.edge.api.endpoints import PREFIX
from satchel.edge.files.page_summary import PageSummary, Summarize
from satchel.edge.http.callers import Stranger
from satchel.features.links.routes.link_visitor import visitor_of
from satchel.features.links.service.context import Links
from satchel.features.links.service.link_cover import find_cover
from satchel.features.links.service.link_open import Landing, look
from satchel.kernel.errors import SatchelError

if TYPE_CHECKING:
    from starlette.types import Scope

_SAID = {
    "file": "shares a file with you.",
    "folder": "shares files with you.",
    "selection": "shares files with you.",
    "album": "shares photos with you.",
    "photos": "shares photos with you.",
    "score": "shares sheet music with you.",
    "room": "invites you to a room.",
    "request": "asks you for files.",
}


def summary_of_link(links: Links) -> Summarize:
    async def summarize(token: str, scope: "Scope") -> PageSummary | None:
        try:
            found = await look(links, token, visitor_of(Stranger(), Request(scope)), "")
            cover = await find_cover(links, found)
        except SatchelError:
            return None
        picture = "" if cover is None else f"{PREFIX}/open/{token}/cover/{cover.version}"
        return PageSummary(title=_title(found), description=_description(found), picture=picture)

    return summarize


def _title(found: Landing) -> str:
    if found.thing is None:
        return found.link.name or "Shared with you"
    return found.link.name or found.thing.name


def _description(found: Landing) -> str:
    if found.link.note:
        return found.link.note
    said = f"{found.shared_by} {_SAID[found.link.kind]}"
    thing = found.thing
    if thing is None:
        return f"{said} It needs a password."
    has_number = thing.files is not None and found.link.kind != "file"
    counted = [f"{thing.files:,} files" if thing.files != 1 else "1 file"] if has_number else []
    if thing.size_bytes:
        counted.append(_size(thing.size_bytes))
    return f"{said} {', '.join(counted)}" if counted else said


def _size(size_bytes: int) -> str:
    """In units of a thousand, as the app writes them."""
    size, units = float(size_bytes), ["bytes", "kB", "MB", "GB", "TB"]
    while size >= 999.5 and len(units) > 1:
        size, units = size / 1000, units[1:]
    return f"{size:.3g} {units[0]}"
