"""The items of scores: list, show, straighten, delete, and their pictures."""

from starlette.responses import Response

from satchel.edge.api.endpoints import Router
from satchel.edge.files.downloads import Download, attached_as
from satchel.edge.files.pictures import BYTES, RAISES, picture_answer
from satchel.edge.http.callers import Member
from satchel.features.scores.item_records import ItemEntry, item_key, pictured
from satchel.features.scores.layout import read_layout_page
from satchel.features.scores.model import (
    CONTENT_TYPES,
    PAGES,
    PICTURED,
    ItemInUse,
    ItemUnknown,
    ScoresFull,
    ScoreUnknown,
    TooManyItems,
    read_id,
)
from satchel.features.scores.routes.scores import Anybody, viewer_of
from satchel.features.scores.routes.views import ScoreItemList, ScoreItemView, item_views
from satchel.features.scores.service import item_delete
from satchel.features.scores.service.context import Scores
from satchel.features.scores.service.item_delete import is_pinned
from satchel.features.scores.service.layout_view import NotEngraved, find_layout_page
from satchel.features.scores.service.page_set import read_items
from satchel.features.scores.service.photo_straighten import straighten_photo
from satchel.features.scores.service.score_find import Found, find_score
from satchel.kernel.errors import Forbidden
from satchel.media.pictures import NoPicture
from satchel.media.score_pages import PagesRefused

# An item never changes. It is for this browser only.
_FOR_EVER = "private, max-age=31536000, immutable"


def routes(scores: Scores) -> Router:
    router = Router("scores")

    @router.get("/scores/{score_id}/items", raises=(ScoreUnknown, Forbidden))
    async def list_items(member: Member, score_id: str) -> ScoreItemList:
        """List the stored files of a score that you may edit, also those that no page shows."""
        found = await find_score(scores, viewer_of(member), score_id, "editor")
        items = await read_items(scores, found)
        return ScoreItemList(list((await item_views(scores, items, items.items)).values()))

    @router.delete("/scores/{score_id}/items/{item_id}", raises=(ScoreUnknown, Forbidden, ItemUnknown, ItemInUse))
    async def delete_item(member: Member, score_id: str, item_id: str) -> None:
        """Delete a stored file that no page and no snapshot shows."""
        await item_delete.delete_item(scores, viewer_of(member), score_id, item_id)

    @router.post(
        "/scores/{score_id}/items/{item_id}/straighten",
        raises=(ScoreUnknown, Forbidden, ItemUnknown, PagesRefused, ScoresFull, TooManyItems),
    )
    async def straighten_item(member: Member, score_id: str, item_id: str) -> ScoreItemView:
        """Crop and level a photo of a page. The answer is a new item for a page to show; the photo stays as it is.

        If there is nothing to straighten, the answer is the photo. No page changes by it.
        """
        items, made = await straighten_photo(scores, viewer_of(member), score_id, item_id)
        return (await item_views(scores, items, [made]))[made.item_id]

    @router.get(
        "/scores/{score_id}/items/{item_id}/content",
        produces=BYTES,
        raises=(ScoreUnknown, ItemUnknown, NotEngraved, PagesRefused),
    )
    async def show_item(caller: Anybody, score_id: str, item_id: str) -> Response:
        """Show a page as it was uploaded. What is at this address never changes, so keep it."""
        found = await find_score(scores, viewer_of(caller), score_id)
        if (laid := read_layout_page(item_id)) is not None:
            key = (await find_layout_page(scores, found, laid)).key
            return Download(scores.objects, key, disposition="inline", cache=_FOR_EVER, content_type=CONTENT_TYPES["s"])
        entry = await _find_item(scores, found, item_id)
        key = item_key(found.owner, found.score_id, entry.item_id, entry.kind)
        disposition = "inline" if entry.kind in PAGES else attached_as(entry.name)
        content_type = CONTENT_TYPES[entry.kind]
        return Download(scores.objects, key, disposition=disposition, cache=_FOR_EVER, content_type=content_type)

    @router.get(
        "/scores/{score_id}/items/{item_id}/picture/{size}/{version}",
        produces=BYTES,
        raises=(ScoreUnknown, ItemUnknown, *RAISES),
    )
    async def item_picture(caller: Anybody, score_id: str, item_id: str, size: str, version: str) -> Response:
        """Read the picture of an item: `grid` for lists, `preview` for looking at; 202 while it is being made."""
        found = await find_score(scores, viewer_of(caller), score_id)
        entry = await _find_item(scores, found, item_id)
        if entry.kind not in PICTURED:
            raise NoPicture("This item has no picture. Show its content instead.")
        source = pictured(found.owner, found.score_id, entry.item_id, entry.kind)
        return await picture_answer(scores.pictures, source, size, version)

    return router


async def _find_item(scores: Scores, found: Found, item_id: str) -> ItemEntry:
    """One that a page or a snapshot shows; editors see all."""
    wanted, pages = read_id(item_id), found.row.data.pages
    items = await read_items(scores, found)
    entry = next((each for each in items.items if each.item_id == wanted), None)
    is_shown = any(page.item_id == wanted for page in pages) or found.role in ("owner", "editor")
    if entry is None or not (is_shown or await is_pinned(scores, found, entry.item_id)):
        raise ItemUnknown("This score has no such item.")
    return entry
