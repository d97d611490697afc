"""Deleting accounts over HTTP: see what would go, and do it, for oneself or as an administrator."""

import msgspec

from satchel.edge.api.endpoints import Body, Reply, Router
from satchel.edge.api.identity import Admin, Member
from satchel.edge.http.request_context import Client
from satchel.features.accounts.model import LastAdministrator, SessionId, UserId, WrongCredentials
from satchel.features.accounts.routes.session_cookies import Text, forget_cookies
from satchel.features.accounts.service import account_delete
from satchel.features.accounts.service.context import Accounts
from satchel.kernel.errors import NotFound, TooMany


class Deletion(Body, frozen=True, kw_only=True):
    """Your own password, also if you delete the account of somebody else."""

    password: Text


class DeletionPreview(msgspec.Struct, frozen=True, kw_only=True):
    """What goes with an account, for good. `transfers` are entries of the history; what others received stays theirs.

    `shared` is how much others share with the person. `last_administrator`: somebody else has to become one first.
    """

    user_id: str
    name: str
    email: str
    last_administrator: bool
    files: int
    file_bytes: int
    photos: int
    photo_bytes: int
    albums: int
    scores: int
    set_lists: int
    links: int
    rooms: int
    transfers: int
    uploads: int
    sessions: int
    shared: int


class DeletionView(msgspec.Struct, frozen=True):
    """The account is gone. Unless `finished`, what belonged to it is still being deleted, and its address is taken."""

    finished: bool


def deletion_routes(accounts: Accounts) -> Router:
    router = Router("accounts")

    async def delete(by: Member, user_id: str, body: Deletion, client: Client) -> Reply[DeletionView]:
        finished = await account_delete.delete_account(
            accounts,
            UserId(user_id),
            by=UserId(by.user_id),
            session_id=SessionId(by.session_id),
            password=body.password,
            address=client.address,
        )
        return Reply(DeletionView(finished), cookies=forget_cookies(client) if user_id == by.user_id else ())

    @router.get("/accounts/me/deletion")
    async def preview_own_deletion(member: Member) -> DeletionPreview:
        """Read what would be deleted with your account."""
        return _preview(await account_delete.preview(accounts, UserId(member.user_id)))

    @router.post("/accounts/me/deletion", when_full=True, raises=(WrongCredentials, LastAdministrator, TooMany))
    async def delete_own_account(member: Member, body: Deletion, client: Client) -> Reply[DeletionView]:
        """Delete your account, with all that is yours.

        It cannot be undone. What others received from you stays theirs, and names "a deleted person".
        """
        return await delete(member, member.user_id, body, client)

    @router.get("/people/{user_id}/deletion", raises=(NotFound,))
    async def preview_deletion(_admin: Admin, user_id: str) -> DeletionPreview:
        """Read what would be deleted with somebody's account."""
        return _preview(await account_delete.preview(accounts, UserId(user_id)))

    @router.post(
        "/people/{user_id}/deletion",
        when_full=True,
        raises=(NotFound, WrongCredentials, LastAdministrator, TooMany),
    )
    async def delete_account(admin: Admin, user_id: str, body: Deletion, client: Client) -> Reply[DeletionView]:
        """Delete somebody's account, with all that is theirs.

        It cannot be undone. To keep their things, suspend them instead.
        """
        return await delete(admin, user_id, body, client)

    return router


def _preview(found: account_delete.Preview) -> DeletionPreview:
    user, tally = found.user, found.tally
    return DeletionPreview(
        user_id=user.user_id,
        name=user.name,
        email=user.email,
        last_administrator=found.is_last_administrator,
        files=tally.files,
        file_bytes=tally.file_bytes,
        photos=tally.photos,
        photo_bytes=tally.photo_bytes,
        albums=tally.albums,
        scores=tally.scores,
        set_lists=tally.set_lists,
        links=tally.links,
        rooms=tally.rooms,
        transfers=tally.transfers,
        uploads=tally.uploads,
        sessions=tally.sessions,
        shared=tally.shared,
    )
