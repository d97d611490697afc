"""Several files and folders as one thing to link to."""

from typing import Annotated

import msgspec

from satchel.edge.api.endpoints import Body, Router
from satchel.edge.http.callers import Member
from satchel.features.shelf.model import FileId, FolderId, UserId
from satchel.features.shelf.service.context import MAX_ID_CHARACTERS, Shelf
from satchel.features.shelf.service.selections import MOST_ENTRIES, make_selection
from satchel.kernel.errors import NotFound

Id = Annotated[str, msgspec.Meta(max_length=MAX_ID_CHARACTERS)]
Ids = Annotated[list[Id], msgspec.Meta(max_length=MOST_ENTRIES)]


class NewSelection(Body, frozen=True, kw_only=True):
    """Files and folders of your shelf, up to 100 together."""

    files: Ids = msgspec.field(default_factory=list[Id])
    folders: Ids = msgspec.field(default_factory=list[Id])


class SelectionView(msgspec.Struct, frozen=True, kw_only=True):
    """A selection to give a link to. Until there is a link, it is kept for a week."""

    selection_id: str
    name: str


def routes(shelf: Shelf) -> Router:
    router = Router("shelf")

    @router.post("/shelf/selections", status=201, raises=(NotFound,))
    async def make(member: Member, body: NewSelection) -> SelectionView:
        """Put several files and folders together, so that one link leads to all of them.

        The same ones are always the same selection.
        """
        folders, files = [FolderId(each) for each in body.folders], [FileId(each) for each in body.files]
        row, name = await make_selection(shelf, UserId(member.user_id), folders, files)
        return SelectionView(selection_id=row.selection_id, name=name)

    return router
