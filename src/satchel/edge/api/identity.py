"""Identity: the only place that issues access and guest tokens, and that turns a token into a caller.

A token is taken from `Authorization: Bearer` or from our own cookies. It is never taken from an address, because
addresses end up in histories and logs. When both are sent, only the header counts.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

import msgspec

from satchel.edge.http.callers import Admin, Caller, Guest, Member, Stranger
from satchel.edge.http.request_context import context_of
from satchel.kernel.clock import Clock, system_clock
from satchel.kernel.errors import Unauthenticated
from satchel.kernel.signature import BadSignature, Signer
from satchel.live import session_channel
from satchel.stores.ports.ephemeral import Ephemeral, Exists, Publish, Put
from satchel.stores.schema import EphemeralKey

if TYPE_CHECKING:
    from starlette.types import Scope

ACCESS_COOKIE = "satchel_access"
GUEST_COOKIE = "satchel_guest"
# Of verified tokens; each takes less than a kilobyte.
MAX_VERIFIED = 2048
ACCESS_LIFETIME = timedelta(minutes=15)
GUEST_LIFETIME = timedelta(days=30)
# A session that was ended stays ended when the server starts anew.
REVOKED = EphemeralKey(
    "revoked:{session_id}",
    "value",
    owner="identity",
    about="That a session was ended, as long as an access token of it could be good",
    durable=True,
    essential=True,
)
EPHEMERAL_KEYS = (REVOKED,)


class CookieDead(Unauthenticated):
    """The cookie will never be valid again. The answer deletes it, so that the next request comes from a stranger."""

    forgets_cookie = ACCESS_COOKIE


class GuestCookieDead(CookieDead):
    """The same for the cookie of a guest."""

    forgets_cookie = GUEST_COOKIE


class TokenExpired(Unauthenticated):
    """The access token has expired. Refresh it, then repeat the request."""

    slug = "token-expired"
    title = "The access token has expired"


_STRANGER = Stranger()


class _Access(msgspec.Struct, frozen=True, array_like=True):
    user_id: str
    email: str
    session_id: str
    admin: bool
    expires: int


class _GuestClaims(msgspec.Struct, frozen=True, array_like=True):
    id: str
    name: str
    expires: int


_encode = msgspec.msgpack.Encoder().encode
_decode_access = msgspec.msgpack.Decoder(_Access).decode
_decode_guest = msgspec.msgpack.Decoder(_GuestClaims).decode


@dataclass(frozen=True, slots=True)
class Token:
    """A signed proof of identity, and when it expires, in seconds since 1970."""

    value: str
    expires: int


class Identity:
    """Issues and verifies access and guest tokens."""

    def __init__(
        self,
        signer: Signer,
        ephemeral: Ephemeral,
        *,
        clock: Clock = system_clock,
        access_lifetime: timedelta = ACCESS_LIFETIME,
        guest_lifetime: timedelta = GUEST_LIFETIME,
    ) -> None:
        self._signer = signer
        self._ephemeral = ephemeral
        self._clock = clock
        self.access_lifetime = access_lifetime
        self.guest_lifetime = guest_lifetime
        # Access tokens whose signature was right, the oldest first. What a token says never changes, so it is verified
        # once; whether it has run out or was revoked is looked at every time.
        self._verified: dict[str, _Access] = {}

    def issue_access(self, member: Member) -> Token:
        expires = int(self._clock() + self.access_lifetime.total_seconds())
        claims = _Access(member.user_id, member.email, member.session_id, member.admin, expires)
        return Token(self._signer.sign("access", _encode(claims)), expires)

    def issue_guest(self, guest: Guest) -> Token:
        expires = int(self._clock() + self.guest_lifetime.total_seconds())
        return Token(self._signer.sign("guest", _encode(_GuestClaims(guest.id, guest.name, expires))), expires)

    async def revoke(self, session_id: str) -> None:
        """Refuse the access tokens of this session until all of them have expired, and end its sockets."""
        await self._ephemeral.together(
            Put(REVOKED(session_id=session_id), b"1", ttl=self.access_lifetime),
            Publish(session_channel(session_id), b"ended"),
        )

    async def caller_of(self, scope: "Scope") -> Caller:
        """Who sent this: a Stranger if no token was sent. A token that is not valid is `Unauthenticated`."""
        context = context_of(scope)
        if context.caller is None:
            context.caller = await self.identify(scope)
        return context.caller

    async def identify(self, scope: "Scope") -> Caller:
        """The same without the cache of the request context: for connections that can outlive a session."""
        bearer, access, guest = _tokens_in(scope)
        if bearer is not None:
            try:
                return await self._member(bearer)
            except BadSignature:
                return self._guest(bearer)
        if access is not None:
            return await self._member_by_cookie(access)
        if guest is not None:
            return self._guest_by_cookie(guest)
        return _STRANGER

    async def _member_by_cookie(self, token: str) -> Member:
        try:
            return await self._member(token)
        except TokenExpired:
            raise
        except (BadSignature, Unauthenticated):
            raise CookieDead("This session has ended. Sign in again.") from None

    def _guest_by_cookie(self, token: str) -> Guest:
        try:
            return self._guest(token)
        except Unauthenticated:
            raise GuestCookieDead("This guest pass is no longer valid. Enter your name again.") from None

    async def _member(self, token: str) -> Member:
        claims = self._verified.get(token)
        if claims is None:
            claims = _decode_access(self._signer.open("access", token))
            self._remember(token, claims)
        if claims.expires <= self._clock():
            raise TokenExpired("The access token has expired. Refresh it, then repeat the request.")
        if await self._ephemeral.run(Exists(REVOKED(session_id=claims.session_id))):
            raise Unauthenticated("This session has ended. Sign in again.")
        kind = Admin if claims.admin else Member
        return kind(claims.user_id, claims.email, claims.session_id, claims.admin)

    def _remember(self, token: str, claims: _Access) -> None:
        if len(self._verified) >= MAX_VERIFIED:
            del self._verified[next(iter(self._verified))]
        self._verified[token] = claims

    def _guest(self, token: str) -> Guest:
        try:
            claims = _decode_guest(self._signer.open("guest", token))
        except BadSignature:
            raise _not_good() from None
        if claims.expires <= self._clock():
            raise Unauthenticated("This guest pass has expired. Ask for a new one.")
        return Guest(claims.id, claims.name)


def _not_good() -> Unauthenticated:
    return Unauthenticated("This server did not issue this token. Sign in again.")


def _tokens_in(scope: "Scope") -> tuple[str | None, str | None, str | None]:
    """The bearer token, and the values of the two cookies."""
    found: dict[str, str] = {}
    for key, value in scope["headers"]:
        if key == b"authorization":
            scheme, _, token = value.decode("latin-1").partition(" ")
            if scheme.lower() != "bearer" or not token.strip():
                raise Unauthenticated("Send the token as `Authorization: Bearer <token>`.")
            return token.strip(), None, None
        if key == b"cookie":
            for part in value.decode("latin-1").split(";"):
                name, _, content = part.strip().partition("=")
                found[name] = content
    # An empty cookie is one that the browser was told to delete. Names without the prefix are from before this server
    # was reached over https, or older.
    access, guest = (found.get(f"__Host-{name}") or found.get(name) for name in (ACCESS_COOKIE, GUEST_COOKIE))
    return None, access or None, guest or None
