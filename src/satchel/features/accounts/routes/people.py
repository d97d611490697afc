"""Accounts over HTTP: sign up, read and change your own account, ask who you are."""

from typing import Literal

import msgspec
from starlette.requests import Request

from satchel.edge.api.endpoints import Body, Reply, Router
from satchel.edge.api.fields import EmailAddress
from satchel.edge.api.identity import Guest, Member, Stranger
from satchel.edge.http.request_context import Client
from satchel.features.accounts.model import (
    EmailTaken,
    InvitationInvalid,
    Person,
    SessionId,
    SetUpNeeded,
    SignUpClosed,
    UserId,
    WrongCredentials,
)
from satchel.features.accounts.routes.session_cookies import (
    Keep,
    NewPassword,
    PersonName,
    SignedInView,
    Text,
    signed_in_reply,
)
from satchel.features.accounts.service import known_devices, people
from satchel.features.accounts.service import sign_up as signing_up
from satchel.features.accounts.service.context import Accounts
from satchel.kernel.errors import TooMany


class SignUp(Body, frozen=True, kw_only=True):
    """A new account. With `keep` "cookie" the answer sets cookies instead of carrying tokens."""

    email: EmailAddress
    name: PersonName
    password: NewPassword
    invitation: Text | None = None
    device: Text | None = None
    keep: Keep = "token"


class Rename(Body, frozen=True, kw_only=True):
    """A new name for yourself."""

    name: PersonName


class PasswordChange(Body, frozen=True, kw_only=True):
    """Your current password, and the new one."""

    current: Text
    new: NewPassword


class PersonView(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody with an account, as they see themselves."""

    user_id: str
    email: str
    name: str
    administrator: bool


class CallerView(msgspec.Struct, frozen=True, kw_only=True):
    """The caller as the server sees them."""

    kind: Literal["stranger", "guest", "member"]
    id: str | None = None
    name: str | None = None
    email: str | None = None
    session_id: str | None = None
    administrator: bool = False


def people_routes(accounts: Accounts) -> Router:
    router = Router("accounts")

    @router.post("/accounts", status=201, raises=(EmailTaken, SignUpClosed, SetUpNeeded, InvitationInvalid, TooMany))
    async def sign_up(body: SignUp, client: Client) -> Reply[SignedInView]:
        """Create an account and sign in.

        The first account on an empty server administers it. From another machine its `invitation` is the code in the
        link that the server prints when it starts. After that, who may sign up is the administrator's choice.
        """
        signed_in = await signing_up.sign_up(
            accounts,
            email=body.email,
            name=body.name,
            password=body.password,
            invitation=body.invitation,
            purpose="web" if body.keep == "cookie" else "cli",
            device=body.device or client.user_agent,
            address=client.address,
            is_here=client.is_here,
        )
        known_device = known_devices.give(accounts, signed_in.session.email, signed_in.session.session_id)
        return signed_in_reply(signed_in, body.keep, client, known_device)

    @router.get("/accounts/me")
    async def read_me(member: Member) -> PersonView:
        """Read your account."""
        user = await people.find_user(accounts, UserId(member.user_id))
        return _person(await people.describe(accounts, user))

    @router.patch("/accounts/me")
    async def rename_me(member: Member, body: Rename) -> PersonView:
        """Change your name."""
        return _person(await people.rename(accounts, UserId(member.user_id), body.name))

    @router.put("/accounts/me/password", when_full=True, raises=(WrongCredentials, TooMany))
    async def change_password(
        member: Member, body: PasswordChange, request: Request, client: Client
    ) -> Reply[SignedInView]:
        """Change your password.

        Every session of the account is ended, and a new one begins here: its tokens, or cookies, are in the answer.
        """
        signed_in = await people.change_password(
            accounts,
            UserId(member.user_id),
            body.current,
            body.new,
            keep=SessionId(member.session_id),
            address=client.address,
        )
        keep: Keep = "token" if "authorization" in request.headers else "cookie"
        known_device = known_devices.give(accounts, signed_in.session.email, signed_in.session.session_id)
        return signed_in_reply(signed_in, keep, client, known_device)

    @router.get("/whoami")
    async def who_am_i(caller: Stranger | Guest | Member) -> CallerView:
        """Read who you are signed in as."""
        match caller:
            case Member():
                return CallerView(
                    kind="member",
                    id=caller.user_id,
                    email=caller.email,
                    session_id=caller.session_id,
                    administrator=caller.admin,
                )
            case Guest():
                return CallerView(kind="guest", id=caller.id, name=caller.name)
            case Stranger():
                return CallerView(kind="stranger")

    return router


def _person(person: Person) -> PersonView:
    return PersonView(user_id=person.user_id, email=person.email, name=person.name, administrator=person.administrator)
