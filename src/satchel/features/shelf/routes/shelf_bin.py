"""The bin: list, restore, and delete for good."""

from satchel.edge.api.endpoints import PageQuery, Router
from satchel.edge.http.callers import Member
from satchel.features.shelf.model import EntryId, UserId
from satchel.features.shelf.routes.views import BinList, EntryView, bin_view, entry_view
from satchel.features.shelf.service import purge, shelf_bin
from satchel.features.shelf.service.context import Shelf


def routes(shelf: Shelf) -> Router:
    router = Router("shelf")

    @router.get("/shelf/bin")
    async def list_bin(member: Member, query: PageQuery) -> BinList:
        """List what you have deleted. It is deleted for good after 30 days."""
        page = await shelf_bin.list_bin(shelf, UserId(member.user_id), query.limit, query.cursor)
        return BinList([bin_view(each) for each in page.binned], page.cursor)

    @router.post("/shelf/bin/{entry_id}/restore")
    async def restore_entry(member: Member, entry_id: str) -> EntryView:
        """Restore an item from the bin.

        It returns to its folder, or to the top if that is gone, and gets a numbered name if its own is taken.
        """
        return await entry_view(shelf, await shelf_bin.restore(shelf, UserId(member.user_id), EntryId(entry_id)))

    @router.delete("/shelf/bin/{entry_id}")
    async def delete_for_good(member: Member, entry_id: str) -> None:
        """Delete an item in the bin for good."""
        await purge.delete_for_good(shelf, UserId(member.user_id), EntryId(entry_id))

    @router.delete("/shelf/bin")
    async def empty_bin(member: Member) -> None:
        """Empty the bin for good."""
        await purge.empty_bin(shelf, UserId(member.user_id))

    return router
