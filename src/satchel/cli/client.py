"""The command's half of every conversation with a server: tokens in, typed answers out, failures as one sentence."""

import os
import socket
import ssl
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeAlias, TypeVar
from urllib.parse import urlsplit

import httpx
import msgspec

from satchel.cli.answers import GuestEntered, Problem, SignedIn
from satchel.cli.credentials import CredentialsFile, GuestPass, Session
from satchel.cli.output import CommandFailed, Misused
from satchel.cli.wire import Wire

if TYPE_CHECKING:
    from websockets.sync.client import ClientConnection

DEFAULT_SERVER = "http://127.0.0.1:8400"
API = "/api/v1"
_PATIENCE = httpx.Timeout(30, connect=10)
# The last byte of a large upload is answered when all of it is in place.
_PATIENCE_WITH_BYTES = httpx.Timeout(120, connect=10)
# What a server says when a proxy has made a plain request of a websocket.
_ASKED_AS_A_PAGE = 405
# Reasons for which only signing in again helps.
SIGN_IN_AGAIN = {"unauthenticated", "session-ended"}

T = TypeVar("T")
Proof: TypeAlias = Session | GuestPass


class Refused(CommandFailed):
    """The server understood and said no; `slug` is the stable name of its reason, `after_seconds` when to ask again."""

    def __init__(self, detail: str, slug: str, status: int, after_seconds: int = 0) -> None:
        super().__init__(detail)
        self.slug = slug
        self.status = status
        self.after_seconds = after_seconds


class Unreachable(CommandFailed):
    """Nothing answers at the address, or what answers is no Satchel."""


class Client:
    """One server, as whoever is signed in to it, else as the guest whom it let in. Use it in a `with` block."""

    def __init__(self, server: str, credentials: CredentialsFile) -> None:
        self.server = server
        self.credentials = credentials
        kept = credentials.read()
        self._session = kept.sessions.get(server)
        self._guest = _unexpired(kept.guests.get(server))
        self._http = httpx.Client(
            base_url=server,
            timeout=_PATIENCE,
            headers={"user-agent": "satchel"},
            limits=httpx.Limits(max_keepalive_connections=None),
        )

    @cached_property
    def _wire(self) -> Wire:
        return Wire(self.server, _PATIENCE_WITH_BYTES.read or 0)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.close()

    @property
    def session(self) -> Session | None:
        return self._session

    @property
    def guest(self) -> GuestPass | None:
        """Who we are here while we are not signed in."""
        return None if self._session else self._guest

    def call(
        self,
        method: str,
        path: str,
        answer: type[T],
        body: Mapping[str, object] | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        as_self: bool = True,
    ) -> T:
        """Send a request below `/api/v1` and read the answer; `as_self` with our token, renewed if it has run out."""
        if not as_self:
            return self.read(self._send(method, path, body, headers or {}), answer)
        return self._as_self(
            lambda session: self.read(self._send(method, path, body, {**(headers or {}), **_proof(session)}), answer)
        )

    def send_bytes(
        self, method: str, path: str, headers: Mapping[str, str], content: Callable[[], bytes | Iterator[bytes]]
    ) -> httpx.Headers:
        """Send a body as it is and answer the headers; `content` is asked for it again if the token has run out."""

        def send(session: Proof) -> httpx.Headers:
            with self._explained():
                response = self._http.request(
                    method,
                    API + path,
                    content=content(),
                    headers={**headers, **_proof(session)},
                    timeout=_PATIENCE_WITH_BYTES,
                )
            self.read(response, object)
            return response.headers

        return self._as_self(send)

    def post_small(self, path: str, headers: Mapping[str, str], content: bytes) -> httpx.Headers:
        """As `send_bytes`, for bodies that come by the thousand."""
        wire = self._wire
        if not wire.is_direct:
            return self.send_bytes("POST", path, headers, lambda: content)

        def post(session: Proof) -> httpx.Headers:
            with self._explained():
                response = wire.post(API + path, {**headers, **_proof(session), "user-agent": "satchel"}, content)
            self.read(response, object)
            return response.headers

        return self._as_self(post)

    def post_bytes(self, path: str, content_type: str, content: bytes, answer: type[T]) -> T:
        """Send a body as it is and read the answer."""

        def post(session: Proof) -> T:
            headers = {"content-type": content_type, **_proof(session)}
            with self._explained():
                response = self._http.post(API + path, content=content, headers=headers, timeout=_PATIENCE_WITH_BYTES)
            return self.read(response, answer)

        return self._as_self(post)

    @contextmanager
    def receive_bytes(self, path: str, headers: Mapping[str, str]) -> Generator[httpx.Response]:
        """An answer whose body the block reads as it arrives."""

        def ask(session: Proof) -> httpx.Response:
            asked = self._http.build_request("GET", API + path, headers={**headers, **_proof(session)})
            response = self._http.send(asked, stream=True)
            if not response.is_success:
                response.read()
                self.read(response, object)
            return response

        with self._explained():
            response = self._as_self(ask)
            try:
                yield response
            finally:
                response.close()

    def listen(self, path: str, subprotocols: Sequence[str] = ()) -> "ClientConnection":
        """A websocket, to be closed by whoever asked for it; as ourselves, unless subprotocols say who we are."""
        if subprotocols:
            return self._connect(path, {}, subprotocols)
        return self._as_self(lambda proof: self._connect(path, _proof(proof), None))

    def _connect(self, path: str, headers: Mapping[str, str], subprotocols: Sequence[str] | None) -> "ClientConnection":
        from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus
        from websockets.sync.client import connect
        from websockets.typing import Subprotocol

        address = "ws" + self.server.removeprefix("http") + API + path
        trust = httpx.create_ssl_context() if address.startswith("wss:") else None
        try:
            return connect(
                address,
                ssl=trust,
                additional_headers=headers,
                subprotocols=[Subprotocol(each) for each in subprotocols] if subprotocols else None,
                user_agent_header="satchel",
                compression=None,
                close_timeout=2,
                legacy=True,  # the connection itself, and not one that reconnects without telling
            )
        except InvalidStatus as error:
            answer = error.response
            if answer.status_code == _ASKED_AS_A_PAGE:
                raise Unreachable(
                    f"What stands in front of {self.server} passes no websockets on. Tell whoever runs it: "
                    "deploy/nginx.conf of Satchel shows how."
                ) from error
            content = bytes(answer.body or b"")
            response = httpx.Response(answer.status_code, headers=[*answer.headers.raw_items()], content=content)
            self.read(response, object)
            raise self._no_satchel(response) from error
        except (InvalidHandshake, ConnectionClosed, OSError) as error:
            raise self.unreachable(error) from error

    def remember_server(self) -> None:
        """Talk to this server in later commands too, unless one was remembered before."""
        with self.credentials.changing() as kept:
            kept.server = kept.server or self.server

    def keep(self, session: Session) -> None:
        """Be signed in with this from now on, also in later commands."""
        with self.credentials.changing() as kept:
            kept.server = self.server
            kept.sessions[self.server] = session
            kept.guests.pop(self.server, None)
        self._session = session

    def enter_as_guest(self, name: str) -> None:
        """Be a new guest from now on, also in later commands."""
        entered = self.call("POST", "/guests", GuestEntered, {"name": name}, as_self=False)
        with self.credentials.changing() as kept:
            kept.server = kept.server or self.server
            kept.guests[self.server] = self._guest = entered.guest_pass()

    def forget(self) -> None:
        with self.credentials.changing() as kept:
            kept.sessions.pop(self.server, None)
        self._session = None

    def _as_self(self, ask: Callable[[Proof], T]) -> T:
        proof = self._session or self._guest
        if proof is None:
            raise self._not_signed_in()
        try:
            return ask(proof)
        except Refused as refusal:
            if refusal.slug != "token-expired" or isinstance(proof, GuestPass):
                raise
        return ask(self._renew(proof))

    def _renew(self, old: Session) -> Session:
        """Trade the refresh token. It works once, so that only one command may try, and the others take what it got."""
        with self.credentials.changing() as kept:
            session = kept.sessions.get(self.server)
            if session is None:
                raise self._not_signed_in()
            if session.access_token == old.access_token:
                body = {"refresh_token": session.refresh_token}
                session = self.read(self._send("POST", "/sessions/refresh", body, {}), SignedIn).session()
                kept.sessions[self.server] = session
        self._session = session
        return session

    def _send(
        self, method: str, path: str, body: Mapping[str, object] | None, headers: Mapping[str, str]
    ) -> httpx.Response:
        with self._explained():
            return self._http.request(method, API + path, json=body, headers=headers)

    @contextmanager
    def _explained(self) -> Generator[None]:
        try:
            yield
        except httpx.TransportError as error:
            raise self.unreachable(error) from error

    def unreachable(self, error: Exception) -> Unreachable:
        return Unreachable(_explain(error, self.server))

    def read(self, response: httpx.Response, answer: type[T]) -> T:
        """What the server answered; raises `Refused` if that is no, `Unreachable` if it is no Satchel's answer."""
        content_type = response.headers.get("content-type", "").partition(";")[0]
        try:
            if response.is_success:
                return msgspec.json.decode(response.content or b"null", type=answer)
            if content_type == "application/problem+json":
                raise _refusal(msgspec.json.decode(response.content, type=Problem), response)
        except msgspec.DecodeError as error:
            raise self._no_satchel(response) from error
        raise self._no_satchel(response)

    def _not_signed_in(self) -> CommandFailed:
        return CommandFailed(f"You are not signed in to {self.server}. Use `satchel login`.")

    def _no_satchel(self, response: httpx.Response) -> Unreachable:
        if response.has_redirect_location:
            target = urlsplit(response.headers["location"])
            where = f" to {target.scheme}://{target.netloc}" if target.netloc else ""
            return Unreachable(f"{self.server} redirects{where}. Give the address it leads to with --server.")
        return Unreachable(
            f"What answers at {self.server} is not a Satchel server (it said {response.status_code}). "
            "Check the address and give the right one with --server."
        )


def open_client(server: str | None) -> Client:
    """Talk to the server named here, in SATCHEL_SERVER, or in the last login; else to one on this machine."""
    credentials = CredentialsFile.of_this_user()
    named = server or os.environ.get("SATCHEL_SERVER") or credentials.read().server or DEFAULT_SERVER
    return Client(_address(named), credentials)


def _address(written: str) -> str:
    """One form for every way of writing an address, because sessions are found by it."""
    misused = Misused(f"A server's address looks like https://satchel.example.org, not like {written!r}.")
    try:
        parts, url = urlsplit(written), httpx.URL(written)
        url.host.encode("idna")  # as the name will be looked up
    except (ValueError, httpx.InvalidURL) as error:
        raise misused from error
    if url.scheme not in ("http", "https") or not url.host or url.userinfo or url.query or url.fragment:
        raise misused
    return f"{url.scheme}://{parts.netloc.lower()}{parts.path.rstrip('/')}"


def _proof(session: Proof) -> dict[str, str]:
    return {"authorization": f"Bearer {session.access_token}"}


def _unexpired(guest: GuestPass | None) -> GuestPass | None:
    return guest if guest and datetime.fromisoformat(guest.expires_at) > datetime.now(UTC) else None


def _refusal(problem: Problem, response: httpx.Response) -> Refused:
    hint = " Use `satchel login`." if problem.slug in SIGN_IN_AGAIN else ""
    after = response.headers.get("retry-after", "")
    return Refused(problem.detail + hint, problem.slug, response.status_code, int(after) if after.isdecimal() else 0)


def _explain(error: Exception, server: str) -> str:
    for cause in _causes(error):
        match cause:
            case ssl.SSLCertVerificationError():
                return (
                    f"The certificate of {server} cannot be trusted: {cause.verify_message}. If it was made by an "
                    "authority of your own, name that authority's file in SSL_CERT_FILE."
                )
            case ssl.SSLError():
                return f"{server} does not answer in TLS. If it has no certificate, its address begins with http://."
            case socket.gaierror():
                return f"There is no machine called {urlsplit(server).hostname}. Check the address {server}."
            case ConnectionRefusedError():
                return (
                    f"Nothing answers at {server}. Start a server there with `satchel serve`, "
                    "or name another with --server."
                )
            case _:
                continue
    if isinstance(error, httpx.TimeoutException | TimeoutError):
        return f"{server} does not answer. Check the address and the network, then try again."
    if isinstance(error, httpx.RemoteProtocolError):
        return f"What answers at {server} is not a Satchel server. Check the address."
    return f"The connection to {server} failed: {error}."


def _causes(error: BaseException | None) -> Iterator[Any]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
