"""Who sees an album: share, stop sharing, list, leave; and which medias stay in it against their date."""

from typing import Literal

from satchel.edge.api.endpoints import Body, Router
from satchel.edge.api.fields import EmailAddress
from satchel.edge.http.callers import Member
from satchel.features.albums.media_records import MediaRow
from satchel.features.albums.model import AlbumId, AlbumUnknown, Email, MediaUnknown, OwnerId, TooManyPeople
from satchel.features.albums.routes.albums import owner_of
from satchel.features.albums.routes.views import AlbumShareList, AlbumShareView, PinView, share_view
from satchel.features.albums.service import album_share, media_home, media_pin
from satchel.features.albums.service.context import Albums
from satchel.features.albums.service.library import find_own
from satchel.kernel.errors import TooMany


class ShareBody(Body, frozen=True, kw_only=True):
    """A visitor sees an album. A contributor may add to it, too."""

    role: Literal["visitor", "contributor"] = "visitor"


def routes(albums: Albums) -> Router:
    router = Router("albums")

    @router.get("/albums/{album_id}/shares", raises=(AlbumUnknown,))
    async def list_shares(member: Member, album_id: str) -> AlbumShareList:
        """List who sees an album of yours."""
        shares = await album_share.list_shares(albums, OwnerId(member.user_id), AlbumId(album_id))
        return AlbumShareList([share_view(each) for each in shares])

    @router.put("/albums/{album_id}/shares/{email}", raises=(AlbumUnknown, TooManyPeople, TooMany))
    async def share_album(member: Member, album_id: str, email: EmailAddress, body: ShareBody) -> AlbumShareView:
        """Share an album of yours with an e-mail address, with or without an account; or change the role."""
        owner = owner_of(member)
        await find_own(albums, owner.owner, album_id)
        return share_view(await album_share.share(albums, owner, AlbumId(album_id), email, body.role))

    @router.delete("/albums/{album_id}/shares/{email}", raises=(AlbumUnknown,))
    async def stop_sharing_album(member: Member, album_id: str, email: EmailAddress) -> None:
        """Stop sharing an album of yours with an address."""
        await album_share.revoke(albums, owner_of(member), AlbumId(album_id), email)

    @router.delete("/albums/{album_id}/membership", raises=(AlbumUnknown,))
    async def leave_album(member: Member, album_id: str) -> None:
        """Leave an album that somebody shares with you."""
        await album_share.leave(albums, Email(member.email), album_id)

    @router.put("/albums/{album_id}/pins/{media_id}", raises=(AlbumUnknown, MediaUnknown))
    async def pin_media(member: Member, album_id: str, media_id: str) -> PinView:
        """Put a media of yours into an album against its date, and keep it there."""
        owner = OwnerId(member.user_id)
        await find_own(albums, owner, album_id)
        return _pin(await media_pin.pin(albums, owner, media_id, AlbumId(album_id)))

    @router.delete("/albums/{album_id}/pins/{media_id}", status=200, raises=(AlbumUnknown, MediaUnknown))
    async def unpin_media(member: Member, album_id: str, media_id: str) -> PinView:
        """Let the date of a media decide about its album again."""
        owner = OwnerId(member.user_id)
        await find_own(albums, owner, album_id)
        if (await media_pin.find_media(albums, owner, media_id)).pinned != album_id:
            raise MediaUnknown("This photo is not pinned to this album.")
        return _pin(await media_home.unpin(albums, owner, media_id))

    return router


def _pin(media: MediaRow) -> PinView:
    return PinView(media_id=media.media_id, album_id=media.album_id, pinned=bool(media.pinned))
