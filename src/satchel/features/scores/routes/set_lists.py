"""Set lists: list, create, read, change, delete, and export as a PDF."""

import asyncio
from typing import Annotated

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from satchel.edge.api.endpoints import Body, Query, Reply, Router
from satchel.edge.api.idempotency_key import idempotency_key_of
from satchel.edge.files.pictures import BYTES
from satchel.edge.files.streamed_file import StreamedFile
from satchel.edge.http.callers import Member
from satchel.features.scores.layout import MAX_TRANSPOSE
from satchel.features.scores.model import (
    MAX_ENTRIES,
    MAX_ENTRY_NOTES,
    EtagMissing,
    ScoreUnknown,
    SetListChanged,
    SetListRole,
    SetListUnknown,
    TooManySetLists,
    public_id,
)
from satchel.features.scores.routes.score_etag import ANSWERS, SENDS, etag_of, headers_of
from satchel.features.scores.routes.score_export import in_place
from satchel.features.scores.routes.scores import Description, Id, PageIds, Title, viewer_of
from satchel.features.scores.routes.views import name_of, time_of
from satchel.features.scores.service import set_list_change
from satchel.features.scores.service.context import Scores
from satchel.features.scores.service.layout_view import NotEngraved
from satchel.features.scores.service.score_export import NoPages
from satchel.features.scores.service.score_find import Viewer
from satchel.features.scores.service.set_list_change import NewEntry, NewSetList
from satchel.features.scores.service.set_list_export import export_set_list
from satchel.features.scores.service.set_list_find import (
    FoundSetList,
    ShownEntry,
    find_set_list,
    list_set_lists,
    show_entries,
)
from satchel.kernel.errors import Forbidden
from satchel.media.export_file import ExportTooLarge
from satchel.media.score_pages import PagesRefused

EntryNotes = Annotated[str, msgspec.Meta(max_length=MAX_ENTRY_NOTES)]


class SetListEntryBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A score that is played. Without pages, all are; a page may come more than once. Engraved music is transposed."""

    score_id: Id
    notes: EntryNotes = ""
    page_ids: PageIds = msgspec.field(default_factory=list[int])
    transpose: Annotated[int, msgspec.Meta(ge=-MAX_TRANSPOSE, le=MAX_TRANSPOSE)] = 0


class SetListBody(Body, frozen=True, kw_only=True):
    """All of a set list, with its entries in their order."""

    name: Title
    notes: Description = ""
    entries: Annotated[list[SetListEntryBody], msgspec.Meta(max_length=MAX_ENTRIES)] = msgspec.field(
        default_factory=list[SetListEntryBody]
    )


class SetListEntryView(msgspec.Struct, frozen=True, kw_only=True):
    """A score in a set list. If you may not read it, or it is gone, `is_there` is false and nothing is said of it.

    Without `page_ids`, all pages are played. `pages` is how many the score has, and `changed_at` when its structure
    has changed last. If `is_engraved`, it can be transposed.
    """

    score_id: str
    notes: str
    page_ids: list[int]
    transpose: int
    title: str
    composer: str
    pages: int
    changed_at: str
    is_there: bool
    is_engraved: bool


class SetListCard(msgspec.Struct, frozen=True, kw_only=True):
    """A set list in a list."""

    list_id: str
    owner_name: str
    role: SetListRole
    name: str
    entries: int
    changed_at: str


class SetListCards(msgspec.Struct, frozen=True):
    """Set lists by name."""

    set_lists: list[SetListCard]


class SetListView(msgspec.Struct, frozen=True, kw_only=True):
    """A set list. `etag` is the state that a change has to name."""

    list_id: str
    owner_name: str
    role: SetListRole
    etag: str
    name: str
    notes: str
    created_at: str
    changed_at: str
    entries: list[SetListEntryView]


class SetListExportQuery(Query, frozen=True, kw_only=True):
    """With or without marks."""

    marks: bool = True


def routes(scores: Scores, places: asyncio.Semaphore) -> Router:
    router = Router("set lists")

    @router.get("/set-lists", whole_list=True)
    async def list_lists(member: Member) -> SetListCards:
        """List your set lists and those shared with you, by name."""
        found = await list_set_lists(scores, viewer_of(member))
        names = {owner: await name_of(scores, owner) for owner in {each.row.owner for each in found}}
        return SetListCards([_card(each, names[each.row.owner]) for each in found])

    @router.post(
        "/set-lists",
        status=201,
        raises=(TooManySetLists, ScoreUnknown, SetListUnknown, NotEngraved),
        sends={"Idempotency-Key": "letters, digits, - and _: a retry with the same key is the same set list"},
        answers=ANSWERS,
    )
    async def create_set_list(member: Member, body: SetListBody, request: Request) -> Reply[SetListView]:
        """Create a set list of scores that you may read."""
        viewer, key = viewer_of(member), idempotency_key_of(request)
        list_id = await set_list_change.create_set_list(scores, viewer, _new(body), idempotency_key=key)
        return await _reply(scores, viewer, await find_set_list(scores, viewer, list_id), status=201)

    @router.get("/set-lists/{list_id}", raises=(SetListUnknown,), answers=ANSWERS)
    async def read_set_list(member: Member, list_id: str) -> Reply[SetListView]:
        """Read a set list of yours, or one that is shared with you. It shows those scores that you may read."""
        viewer = viewer_of(member)
        return await _reply(scores, viewer, await find_set_list(scores, viewer, list_id))

    @router.put(
        "/set-lists/{list_id}",
        raises=(SetListUnknown, Forbidden, EtagMissing, SetListChanged, ScoreUnknown, NotEngraved),
        sends=SENDS,
        answers=ANSWERS,
    )
    async def change_set_list(member: Member, list_id: str, body: SetListBody, request: Request) -> Reply[SetListView]:
        """Change a set list of yours: its name, its notes, and all entries in their order."""
        viewer = viewer_of(member)
        row = await set_list_change.change_set_list(scores, viewer, list_id, etag_of(request), _new(body))
        return await _reply(scores, viewer, FoundSetList(row, "owner"))

    @router.delete("/set-lists/{list_id}", raises=(SetListUnknown, Forbidden))
    async def delete_set_list(member: Member, list_id: str) -> None:
        """Delete a set list of yours. Its scores stay."""
        await set_list_change.delete_set_list(scores, viewer_of(member), list_id)

    @router.get(
        "/set-lists/{list_id}/export",
        produces=BYTES,
        raises=(SetListUnknown, NoPages, NotEngraved, ExportTooLarge, PagesRefused),
    )
    async def export_list(member: Member, list_id: str, query: SetListExportQuery) -> Response:
        """Export all pages of a set list as one PDF, with a bookmark for each entry, and the marks that you see."""
        made = await export_set_list(scores, viewer_of(member), list_id, with_marks=query.marks)
        pieces = in_place(places, made.pieces)
        first = await anext(pieces)
        return StreamedFile(f"{made.name}.pdf", "application/pdf", first, pieces)

    return router


async def _reply(scores: Scores, viewer: Viewer, found: FoundSetList, status: int = 200) -> Reply[SetListView]:
    row = found.row
    entries = await show_entries(scores, viewer, row.entries)
    view = SetListView(
        list_id=public_id(row.list_id),
        owner_name=await name_of(scores, row.owner),
        role=found.role,
        etag=row.etag,
        name=row.name,
        notes=row.notes,
        created_at=time_of(row.created_at),
        changed_at=time_of(row.changed_at),
        entries=[_entry(each, found.role) for each in entries],
    )
    return Reply(view, status=status, headers=headers_of(row.etag))


def _entry(shown: ShownEntry, role: SetListRole) -> SetListEntryView:
    entry, card = shown.entry, shown.card
    return SetListEntryView(
        # The owner wrote it there, and sends it again with the next change.
        score_id=public_id(entry.score_id) if card is not None or role == "owner" else "",
        notes=entry.notes,
        page_ids=[*entry.page_ids],
        transpose=entry.transpose,
        title="" if card is None else card.title,
        composer="" if card is None else card.composer,
        pages=0 if card is None else card.pages,
        changed_at="" if card is None else time_of(card.changed_at),
        is_there=card is not None,
        is_engraved=card is not None and card.cover_kind == "s",
    )


def _card(found: FoundSetList, owner_name: str) -> SetListCard:
    row = found.row
    return SetListCard(
        list_id=public_id(row.list_id),
        owner_name=owner_name,
        role=found.role,
        name=row.name,
        entries=len(row.entries),
        changed_at=time_of(row.changed_at),
    )


def _new(body: SetListBody) -> NewSetList:
    entries = [
        NewEntry(score_id=each.score_id, notes=each.notes, page_ids=each.page_ids, transpose=each.transpose)
        for each in body.entries
    ]
    return NewSetList(name=body.name, notes=body.notes, entries=entries)
