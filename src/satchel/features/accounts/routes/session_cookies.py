"""What a client gets at sign-in: tokens in the answer, or cookies that scripts cannot read."""

from typing import Annotated, Literal

import msgspec

from satchel.edge.api.endpoints import Cookie, Reply
from satchel.edge.api.identity import ACCESS_COOKIE
from satchel.edge.http.request_context import Client
from satchel.features.accounts.model import MAX_NAME_CHARACTERS, MAX_PASSWORD_CHARACTERS, MIN_PASSWORD_CHARACTERS
from satchel.features.accounts.service import known_devices
from satchel.features.accounts.service.context import SESSION_LIFETIME
from satchel.features.accounts.service.sessions import SignedIn
from satchel.kernel.clock import iso

REFRESH_COOKIE = "satchel_refresh"
DEVICE_COOKIE = "satchel_device"
# The refresh token and the proof of a known device are sent only to the path that uses them.
SESSIONS_PATH = "/api/v1/sessions"

Keep = Literal["token", "cookie"]
Text = Annotated[str, msgspec.Meta(max_length=1000)]
# The services refuse other lengths, in words for whoever fills in a form.
PersonName = Annotated[str, msgspec.Meta(extra_json_schema={"minLength": 1, "maxLength": MAX_NAME_CHARACTERS})]
NewPassword = Annotated[
    str, msgspec.Meta(extra_json_schema={"minLength": MIN_PASSWORD_CHARACTERS, "maxLength": MAX_PASSWORD_CHARACTERS})
]


class Tokens(msgspec.Struct, frozen=True, kw_only=True):
    """What the command line and other programs send as `Authorization: Bearer`.

    A program that keeps `known_device`, and shows it the next time it signs in, is not kept out by what others have
    guessed. A renewed session has none.
    """

    access_token: str
    access_expires_at: str
    refresh_token: str
    known_device: str | None


class SignedInView(msgspec.Struct, frozen=True, kw_only=True):
    """A new or renewed session. `tokens` is null if they were set as cookies."""

    user_id: str
    email: str
    session_id: str
    expires_at: str
    access_expires_at: str
    tokens: Tokens | None


def signed_in_reply(
    signed_in: SignedIn, keep: Keep, client: Client, known_device: str, *, is_renewed: bool = False
) -> Reply[SignedInView]:
    session, access = signed_in.session, signed_in.access
    tokens = Tokens(
        access_token=access.value,
        access_expires_at=iso(access.expires),
        refresh_token=signed_in.refresh_token,
        known_device=None if is_renewed else known_device,
    )
    view = SignedInView(
        user_id=session.user_id,
        email=session.email,
        session_id=session.session_id,
        expires_at=session.expires_at,
        access_expires_at=iso(access.expires),
        tokens=tokens if keep == "token" else None,
    )
    lifetime = int(SESSION_LIFETIME.total_seconds())
    cookies = (
        # The access cookie outlives its token, so that an expired token is told from a missing one and refreshed.
        Cookie(name=ACCESS_COOKIE, value=access.value, max_age=lifetime, secure=client.https),
        Cookie(
            name=REFRESH_COOKIE,
            value=signed_in.refresh_token,
            max_age=lifetime,
            secure=client.https,
            path=SESSIONS_PATH,
            same_site="strict",
        ),
        # It stays after signing out: what others guess meanwhile does not keep this browser out.
        Cookie(
            name=DEVICE_COOKIE,
            value=known_device,
            max_age=int(known_devices.LIFETIME.total_seconds()),
            secure=client.https,
            path=SESSIONS_PATH,
            same_site="strict",
        ),
    )
    return Reply(view, cookies=cookies if keep == "cookie" else ())


def forget_cookies(client: Client) -> tuple[Cookie, ...]:
    return (
        Cookie(name=ACCESS_COOKIE, value="", max_age=0, secure=client.https),
        Cookie(
            name=REFRESH_COOKIE,
            value="",
            max_age=0,
            secure=client.https,
            path=SESSIONS_PATH,
            same_site="strict",
        ),
    )
