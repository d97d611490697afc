"""Guests over HTTP."""

import msgspec
from starlette.requests import Request

from satchel.edge.api.endpoints import Body, Cookie, Reply, Router
from satchel.edge.api.idempotency_key import idempotency_key_of
from satchel.edge.api.identity import GUEST_COOKIE
from satchel.edge.http.request_context import Client
from satchel.features.accounts.needs import Issued
from satchel.features.accounts.routes.session_cookies import Keep, PersonName, forget_cookies
from satchel.features.accounts.service import guests
from satchel.features.accounts.service.context import Accounts
from satchel.kernel.clock import iso
from satchel.kernel.errors import TooMany


class GuestEntry(Body, frozen=True, kw_only=True):
    """The name of the guest."""

    name: PersonName
    keep: Keep = "token"


class GuestView(msgspec.Struct, frozen=True, kw_only=True):
    """A guest's identity. `token` is null if it was set as a cookie."""

    guest_id: str
    name: str
    expires_at: str
    token: str | None


def guest_routes(accounts: Accounts) -> Router:
    router = Router("guests")

    @router.post(
        "/guests",
        status=201,
        raises=(TooMany,),
        sends={
            "Idempotency-Key": "32 letters and digits or more, drawn at random and told to nobody: a retry with the "
            "same key and name is the same guest"
        },
    )
    async def enter_as_guest(body: GuestEntry, request: Request, client: Client) -> Reply[GuestView]:
        """Continue as a guest, without an account."""
        key = idempotency_key_of(request)
        entered = await guests.enter_as_guest(accounts, body.name, address=client.address, idempotency_key=key)
        as_cookie = body.keep == "cookie"
        view = GuestView(
            guest_id=entered.guest_id,
            name=entered.name,
            expires_at=iso(entered.token.expires),
            token=None if as_cookie else entered.token.value,
        )
        cookie = _cookie(GUEST_COOKIE, entered.token, accounts.clock(), client)
        # A guest identity replaces whatever the caller was signed in as.
        return Reply(view, cookies=(cookie, *forget_cookies(client)) if as_cookie else ())

    @router.delete("/guests/current")
    async def leave_as_guest(client: Client) -> Reply[None]:
        """Stop being a guest in this browser.

        A token given to a program works until it expires. Programs simply delete theirs.
        """
        return Reply(None, cookies=(Cookie(name=GUEST_COOKIE, value="", max_age=0, secure=client.https),))

    return router


def _cookie(name: str, token: Issued, now: float, client: Client) -> Cookie:
    return Cookie(name=name, value=token.value, max_age=int(token.expires - now), secure=client.https)
