"""Sessions over HTTP: sign in, renew, list and end."""

from contextlib import suppress
from typing import Annotated

import msgspec
from starlette.requests import Request

from satchel.edge.api.endpoints import Body, Query, Reply, Router, read_cookie
from satchel.edge.api.fields import EmailAddress
from satchel.edge.api.identity import Member
from satchel.edge.http.request_body import stream_body
from satchel.edge.http.request_context import Client
from satchel.edge.http.shared_addresses import MAX_FORM_BYTES, SHARE_TARGET, SHARED_PAGE
from satchel.features.accounts.model import AccountSuspended, Email, SessionEnded, SessionId, WrongCredentials
from satchel.features.accounts.records import SessionRow
from satchel.features.accounts.routes.session_cookies import (
    DEVICE_COOKIE,
    REFRESH_COOKIE,
    SESSIONS_PATH,
    Keep,
    SignedInView,
    Text,
    forget_cookies,
    signed_in_reply,
)
from satchel.features.accounts.service import known_devices, sessions
from satchel.features.accounts.service.context import Accounts
from satchel.features.accounts.service.sessions import SignedIn
from satchel.kernel.errors import NotFound, SatchelError, TooMany


class SignIn(Body, frozen=True, kw_only=True):
    """Who signs in, and what to call the device in the list of sessions."""

    email: EmailAddress
    password: Text
    device: Text | None = None
    known_device: Text | None = None
    keep: Keep = "token"


class Refresh(Body, frozen=True, kw_only=True):
    """The refresh token; a browser leaves it out and sends its cookie."""

    refresh_token: Annotated[str, msgspec.Meta(max_length=4096)] | None = None


class EndQuery(Query, frozen=True, kw_only=True):
    """Whether this device stays signed in."""

    keep_current: bool = True


class SessionView(msgspec.Struct, frozen=True, kw_only=True):
    """A signed-in device."""

    session_id: str
    device: str
    purpose: str
    created_at: str
    last_used_at: str
    expires_at: str
    current: bool


class SessionList(msgspec.Struct, frozen=True):
    """All sessions of a person, last used first."""

    sessions: list[SessionView]


def session_routes(accounts: Accounts) -> Router:
    router = Router("sessions")

    def reply(
        signed_in: SignedIn, keep: Keep, client: Client, shown: str | None, *, is_renewed: bool = True
    ) -> Reply[SignedInView]:
        session = signed_in.session
        is_known = known_devices.read(accounts, shown, session.email) is not None
        known = shown if shown and is_known else known_devices.give(accounts, session.email, session.session_id)
        return signed_in_reply(signed_in, keep, client, known, is_renewed=is_renewed)

    @router.post("/sessions", status=201, when_full=True, raises=(WrongCredentials, AccountSuspended, TooMany))
    async def sign_in(body: SignIn, request: Request, client: Client) -> Reply[SignedInView]:
        """Sign in.

        An unknown address and a wrong password get the same answer. After many wrong passwords from your network, a
        device that has signed in before is still let in: a browser by its cookie, a program by `known_device`.

        An account has a most of sessions. Signing in beyond it ends the one that was used the longest ago.
        """
        known = body.known_device or read_cookie(request, DEVICE_COOKIE, SESSIONS_PATH)
        signed_in = await sessions.sign_in(
            accounts,
            body.email,
            body.password,
            purpose="web" if body.keep == "cookie" else "cli",
            device=body.device or client.user_agent,
            known=known,
            address=client.address,
        )
        return reply(signed_in, body.keep, client, known, is_renewed=False)

    @router.post("/sessions/refresh", when_full=True, raises=(SessionEnded,))
    async def refresh(body: Refresh, request: Request, client: Client) -> Reply[SignedInView]:
        """Renew a session.

        Each refresh token works once. Using an old one again ends the session, except within half a minute: then the
        request is taken for a retry after a lost answer.
        """
        cookie = read_cookie(request, REFRESH_COOKIE, SESSIONS_PATH)
        token = body.refresh_token or cookie
        if not token:
            raise SessionEnded("Send the refresh token, or sign in again.")
        signed_in = await sessions.refresh(accounts, token)
        known = read_cookie(request, DEVICE_COOKIE, SESSIONS_PATH)
        return reply(signed_in, "token" if body.refresh_token else "cookie", client, known)

    @router.post(
        "/sessions/renewal", status=307, also=(303,), answers={"Location": "where the form is to be sent again"}
    )
    async def renew_for_form(request: Request, client: Client) -> Reply[None]:
        """Renew the session of a browser whose form came with an access token that has expired.

        Another app shares by such a form. The browser then sends it once more to where it came from.
        """
        async for _ in stream_body(request, MAX_FORM_BYTES):
            pass
        try:
            signed_in = await sessions.refresh(accounts, read_cookie(request, REFRESH_COOKIE, SESSIONS_PATH) or "")
        except SatchelError as problem:
            return Reply(None, status=303, headers={"Location": f"{SHARED_PAGE}?problem={problem.slug}"})
        renewed = reply(signed_in, "cookie", client, read_cookie(request, DEVICE_COOKIE, SESSIONS_PATH))
        return Reply(None, headers={"Location": SHARE_TARGET}, cookies=renewed.cookies)

    @router.get("/sessions")
    async def list_sessions(member: Member) -> SessionList:
        """List the devices you are signed in on."""
        found = await sessions.list_sessions(accounts, Email(member.email))
        return SessionList([_session(each, current=each.session_id == member.session_id) for each in found])

    @router.delete("/sessions")
    async def end_sessions(member: Member, query: EndQuery, client: Client) -> Reply[None]:
        """Sign out everywhere else.

        With `keep_current=false`, here too.
        """
        keep = SessionId(member.session_id) if query.keep_current else None
        await sessions.end_all_sessions(accounts, Email(member.email), except_for=keep)
        return Reply(None, cookies=() if query.keep_current else forget_cookies(client))

    @router.delete("/sessions/current")
    async def sign_out(member: Member, client: Client) -> Reply[None]:
        """Sign out."""
        # A session that ended meanwhile is what was asked for.
        with suppress(NotFound):
            await sessions.end_session(accounts, Email(member.email), SessionId(member.session_id))
        return Reply(None, cookies=forget_cookies(client))

    @router.delete("/sessions/{session_id}", raises=(NotFound,))
    async def end_session(member: Member, session_id: str) -> None:
        """Sign out one device.

        A session that has ended already is not found.
        """
        await sessions.end_session(accounts, Email(member.email), SessionId(session_id))

    return router


def _session(row: SessionRow, *, current: bool) -> SessionView:
    return SessionView(
        session_id=row.session_id,
        device=row.device,
        purpose=row.purpose,
        created_at=row.created_at,
        last_used_at=row.last_used_at,
        expires_at=row.expires_at,
        current=current,
    )
