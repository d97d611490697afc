"""Everybody with an account over HTTP, for administrators: list, promote, suspend, help with a forgotten password."""

import msgspec
from starlette.requests import Request

from satchel.edge.api.endpoints import Body, PageQuery, Router
from satchel.edge.api.idempotency_key import idempotency_key_of
from satchel.edge.api.identity import Admin
from satchel.edge.http.request_context import Client
from satchel.features.accounts.model import LastAdministrator, OwnSuspension, PasswordResetInvalid, UserId
from satchel.features.accounts.routes.session_cookies import NewPassword, Text
from satchel.features.accounts.service import directory, password_resets
from satchel.features.accounts.service.context import Accounts
from satchel.features.accounts.service.roles import change_standing
from satchel.kernel.errors import TooMany


class PersonChange(Body, frozen=True, kw_only=True):
    """What to change of a person's role. What is left out or null stays."""

    administrator: bool | None = None
    suspended: bool | None = None


class PasswordReset(Body, frozen=True, kw_only=True):
    """The token from an administrator, and the new password."""

    token: Text
    password: NewPassword


class PersonEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A person as administrators see them. Bytes that several of their files share count once."""

    user_id: str
    name: str
    email: str
    administrator: bool
    suspended: bool
    created_at: str
    last_used_at: str | None
    used_bytes: int


class PeopleList(msgspec.Struct, frozen=True):
    """A page of people in the order of sign-up, and the cursor of the next."""

    people: list[PersonEntry]
    cursor: str | None


class PasswordResetView(msgspec.Struct, frozen=True, kw_only=True):
    """A password reset that works once. The token is shown only here."""

    token: str
    expires_at: str


def directory_routes(accounts: Accounts) -> Router:
    router = Router("people")

    @router.get("/people")
    async def list_people(_admin: Admin, query: PageQuery) -> PeopleList:
        """List everybody with an account."""
        listed, cursor = await directory.list_people(accounts, query.limit, query.cursor)
        return PeopleList([_person(each) for each in listed], cursor)

    @router.patch("/people/{user_id}", when_full=True, raises=(LastAdministrator, OwnSuspension))
    async def change_person(admin: Admin, user_id: str, body: PersonChange) -> PersonEntry:
        """Make somebody an administrator, suspend them, or undo either.

        A person who is suspended, or is no longer an administrator, is signed out everywhere at once. A promotion takes
        effect within a quarter of an hour, or at the next sign-in. The data of a suspended person is kept.
        """
        user = await change_standing(
            accounts,
            UserId(admin.user_id),
            UserId(user_id),
            administrator=body.administrator,
            suspended=body.suspended,
        )
        return _person(await directory.describe_person(accounts, user))

    @router.post(
        "/people/{user_id}/password-reset",
        status=201,
        when_full=True,
        sends={"Idempotency-Key": "letters, digits, - and _: a retry with the same key is the same token"},
    )
    async def allow_password_reset(admin: Admin, user_id: str, request: Request) -> PasswordResetView:
        """Let somebody choose a new password.

        Give them the token. It works once, for a day, and only until their password changes.
        """
        key = idempotency_key_of(request)
        leave = await password_resets.allow_password_reset(accounts, UserId(admin.user_id), UserId(user_id), key)
        return PasswordResetView(token=leave.token, expires_at=leave.expires_at)

    @router.post("/password-resets", when_full=True, raises=(PasswordResetInvalid, TooMany))
    async def reset_password(body: PasswordReset, client: Client) -> None:
        """Choose a new password with a token from an administrator.

        Every session of the account is ended. Sign in with the new password.
        """
        await password_resets.reset_password(accounts, body.token, body.password, address=client.address)

    return router


def _person(listed: directory.Listed) -> PersonEntry:
    return PersonEntry(
        user_id=listed.user.user_id,
        name=listed.user.name,
        email=listed.user.email,
        administrator=listed.administrator,
        suspended=bool(listed.user.suspended_at),
        created_at=listed.user.created_at,
        last_used_at=listed.last_used_at or None,
        used_bytes=listed.used_bytes,
    )
