"""The client of a server's API: adds tokens, decodes typed answers, and turns failures into one sentence."""

import json
import os
import secrets
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from datetime import UTC, datetime
from http.client import HTTPException
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeAlias, TypeVar
from urllib.parse import urlsplit

import msgspec

from satchel.cli.engine.api_types.account_types import GuestView, SignedInView
from satchel.cli.engine.http import guess_work
from satchel.cli.engine.http.bucket_links import BucketLinks
from satchel.cli.engine.http.credentials import CredentialsFile, GuestPass, Session
from satchel.cli.engine.http.failures import (
    Problem,
    Refused,
    Unreachable,
    WorkAsked,
    explain,
    is_lost,
    may_be_done,
    no_http,
)
from satchel.cli.engine.http.http_connection import Answer, Body, BodyFailed, ServerConnections, StreamedAnswer, trust
from satchel.cli.engine.http.retry import Retry
from satchel.cli.engine.http.silence import SilenceWatch
from satchel.cli.engine.terminal.output import CommandFailed, Misused, note

if TYPE_CHECKING:
    from websockets.sync.client import ClientConnection

DEFAULT_SERVER = "http://127.0.0.1:8400"
API = "/api/v1"
_TIMEOUT_SECONDS = 30.0
# The last byte of a large upload is answered when all of it is in place.
_BODY_TIMEOUT_SECONDS = 120.0
# With turns of some seconds, about a minute.
_MOST_PROOFS = 12
# The server may be gone, and Ctrl-C waits for this.
_CLOSE_SECONDS = 0.3
# What a server says when a proxy has made a plain request of a websocket.
_ASKED_AS_A_PAGE = 405
# Reasons for which only signing in again helps.
SIGN_IN_AGAIN = {"unauthenticated", "session-ended"}

_OURS = {"user-agent": "satchel"}

T = TypeVar("T")
Proof: TypeAlias = Session | GuestPass


class Download:
    """The body of an answer, as it arrives; what goes wrong is `Unreachable`."""

    def __init__(self, answer: StreamedAnswer, explained: Callable[[], AbstractContextManager[None]]) -> None:
        self._answer = answer
        self._explained = explained
        self.status = answer.status
        self.headers = answer.headers

    def chunks(self, most_bytes: int) -> Iterator[bytes]:
        while True:
            with self._explained():
                piece = self._answer.read_some(most_bytes)
            if not piece:
                return
            yield piece

    def read(self) -> bytes:
        with self._explained():
            return self._answer.read()


class Client:
    """One server, as the account that is signed in to it, else as a guest. Use it in a `with` block.

    With `as_stranger` also without credentials, where the server allows that.
    """

    def __init__(self, server: str, credentials: CredentialsFile, *, as_stranger: bool = False) -> None:
        self.server = server
        self._as_stranger = as_stranger
        self.credentials = credentials
        kept = credentials.read()
        self._session = kept.sessions.get(server)
        self._guest = _unexpired(kept.guests.get(server))
        self.silence = SilenceWatch()
        self._connections = ServerConnections(server, silence=self.silence)
        self._buckets = BucketLinks()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connections.close()
        self._buckets.close()

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
            return self._ask(method, path, body, headers or {}, answer)
        return self._as_self(
            lambda session: self._ask(method, path, body, {**(headers or {}), **_proof(session)}, answer)
        )

    def make(
        self,
        path: str,
        answer: type[T],
        body: Mapping[str, object] | None = None,
        *,
        key: str | None = None,
        as_self: bool = True,
    ) -> T:
        """POST what makes something, under an idempotency key.

        If the answer is lost on the way, it is asked for again until the server is back, and nothing is made twice.
        """
        headers = {"idempotency-key": key or secrets.token_hex(16)}
        retry, was_lost = Retry(threading.Event(), note), False
        while True:
            try:
                return self.call("POST", path, answer, body, headers=headers, as_self=as_self)
            except (Refused, Unreachable) as error:
                was_lost = was_lost or may_be_done(error)
                if not was_lost:
                    raise
                retry.wait_after(error)

    def send_bytes(
        self, method: str, path: str, headers: Mapping[str, str], content: Callable[[], Body]
    ) -> Mapping[str, str]:
        """Send a body as it is and answer the headers; `content` is asked for it again if the token has run out.

        A body that is an iterator needs the header `content-length`.
        """

        def send(session: Proof | None) -> Mapping[str, str]:
            proven = {**headers, **_proof(session)}
            try:
                answered = self._exchange(method, path, content(), proven, _BODY_TIMEOUT_SECONDS)
            except BodyFailed as failed:
                raise failed.error from failed
            self.read(answered, object)
            return answered.headers

        return self._as_self(send)

    def put_elsewhere(self, url: str, size_bytes: int, content: Iterator[bytes]) -> None:
        """Send a body to a link that the server has signed."""
        self._buckets.put(url, size_bytes, content, _BODY_TIMEOUT_SECONDS)

    def post_bytes(self, path: str, content_type: str, content: bytes, answer: type[T]) -> T:
        """Send a body as it is and read the answer."""

        def post(session: Proof | None) -> T:
            headers = {"content-type": content_type, **_proof(session)}
            return self.read(self._exchange("POST", path, content, headers, _BODY_TIMEOUT_SECONDS), answer)

        return self._as_self(post)

    @contextmanager
    def receive_bytes(self, path: str, headers: Mapping[str, str]) -> Generator["Download"]:
        """An answer whose body the block reads as it arrives, from the bucket itself if the server leads us there."""
        wanted = {**headers, **self._buckets.preference}
        with ExitStack() as stack:

            def ask(session: Proof | None) -> StreamedAnswer:
                asked = {**wanted, **_proof(session), **_OURS}
                with self._explained():
                    answer = stack.enter_context(
                        self._connections.stream("GET", API + path, asked, None, _TIMEOUT_SECONDS)
                    )
                    if not 200 <= answer.status < 300 and not self._buckets.led_to(answer):
                        self.read(Answer(answer.status, answer.headers, answer.read()), object)
                return answer

            answer = self._as_self(ask)
            if link := self._buckets.led_to(answer):
                with self._explained():
                    answer.read()
                answer = stack.enter_context(self._buckets.get(link, headers, _TIMEOUT_SECONDS))
            yield Download(answer, self._explained)

    def listen(self, path: str, subprotocols: Sequence[str] = ()) -> "ClientConnection":
        """A websocket, which the caller closes; with our token, unless subprotocols say who we are."""
        if subprotocols:
            return self._connect(path, {}, subprotocols)
        return self._as_self(lambda proof: self._connect(path, _proof(proof), None))

    def _connect(self, path: str, headers: Mapping[str, str], subprotocols: Sequence[str] | None) -> "ClientConnection":
        from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus
        from websockets.sync.client import connect
        from websockets.typing import Subprotocol

        address = "ws" + self.server.removeprefix("http") + API + path
        try:
            return connect(
                address,
                ssl=trust() if address.startswith("wss:") else None,
                additional_headers=headers,
                subprotocols=[Subprotocol(each) for each in subprotocols] if subprotocols else None,
                user_agent_header="satchel",
                compression=None,
                close_timeout=_CLOSE_SECONDS,
                legacy=True,  # the connection itself, and not one that reconnects without telling
            )
        except InvalidStatus as error:
            answer = error.response
            if answer.status_code == _ASKED_AS_A_PAGE:
                raise Unreachable(
                    f"The proxy in front of {self.server} does not pass websockets on. Tell its administrator: "
                    "deploy/nginx.conf of Satchel shows how."
                ) from error
            headers = {name.lower(): value for name, value in answer.headers.raw_items()}
            answered = Answer(answer.status_code, headers, bytes(answer.body or b""))
            self.read(answered, object)
            raise self._no_satchel(answered) from error
        except (InvalidHandshake, ConnectionClosed, OSError) as error:
            raise self.unreachable(error) from error

    def remember_server(self) -> None:
        """Talk to this server in later commands too, unless one was remembered before."""
        with self.credentials.changing() as kept:
            kept.server = kept.server or self.server

    def session_of(self, signed_in: SignedInView) -> Session:
        if signed_in.tokens is None:  # a server puts them into cookies only for browsers
            raise Unreachable(no_http(self.server))
        return Session(
            email=signed_in.email,
            access_token=signed_in.tokens.access_token,
            refresh_token=signed_in.tokens.refresh_token,
        )

    def keep(self, signed_in: SignedInView) -> None:
        """Be signed in with this from now on, also in later commands."""
        session = self.session_of(signed_in)
        with self.credentials.changing() as kept:
            kept.server = self.server
            kept.sessions[self.server] = session
            if signed_in.tokens is not None and signed_in.tokens.known_device is not None:
                kept.devices[self.server] = signed_in.tokens.known_device
            kept.guests.pop(self.server, None)
        self._session = session

    @property
    def known_device(self) -> str | None:
        """What proves to the server that somebody has signed in from here before."""
        return self.credentials.read().devices.get(self.server)

    def enter_as_guest(self, name: str) -> None:
        """Be a new guest from now on, also in later commands."""
        entered = self.make("/guests", GuestView, {"name": name}, as_self=False)
        with self.credentials.changing() as kept:
            kept.server = kept.server or self.server
            kept.guests[self.server] = self._guest = GuestPass(
                guest_id=entered.guest_id,
                name=entered.name,
                access_token=entered.token or "",
                expires_at=entered.expires_at,
            )

    def forget(self) -> None:
        with self.credentials.changing() as kept:
            kept.sessions.pop(self.server, None)
        self._session = None

    def _as_self(self, ask: Callable[[Proof | None], T]) -> T:
        proof = self._session or self._guest
        if proof is None and not self._as_stranger:
            raise self._not_signed_in()
        try:
            return self._as(proof, ask)
        except Refused as refusal:
            is_over = refusal.slug in {"token-expired", *SIGN_IN_AGAIN}
            if proof is None or not is_over or not self._as_stranger:
                raise
        self._session = self._guest = None
        return ask(None)

    def _as(self, proof: Proof | None, ask: Callable[[Proof | None], T]) -> T:
        try:
            return ask(proof)
        except Refused as refusal:
            if refusal.slug != "token-expired" or not isinstance(proof, Session):
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
                session = self.session_of(self.read(self._send("POST", "/sessions/refresh", body, {}), SignedInView))
                kept.sessions[self.server] = session
        self._session = session
        return session

    def _ask(
        self, method: str, path: str, body: Mapping[str, object] | None, headers: Mapping[str, str], answer: type[T]
    ) -> T:
        """Send a request and read the answer, with a proof of work where others have guessed too often."""
        for _ in range(_MOST_PROOFS):
            try:
                return self.read(self._send(method, path, body, headers), answer)
            except WorkAsked as asked:
                note("Others at this address have guessed too often. Waiting for a turn.")
                due = time.monotonic() + asked.after_seconds
                headers = {**headers, guess_work.HEADER: guess_work.solve(asked.problem.challenge, asked.problem.bits)}
                time.sleep(max(0.0, due - time.monotonic()))
        return self.read(self._send(method, path, body, headers), answer)

    def _send(self, method: str, path: str, body: Mapping[str, object] | None, headers: Mapping[str, str]) -> Answer:
        if body is None:
            return self._exchange(method, path, None, headers, _TIMEOUT_SECONDS)
        content = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
        return self._exchange(method, path, content, {"content-type": "application/json", **headers}, _TIMEOUT_SECONDS)

    def _exchange(
        self, method: str, path: str, content: Body, headers: Mapping[str, str], timeout_seconds: float
    ) -> Answer:
        with self._explained():
            return self._connections.request(method, API + path, {**headers, **_OURS}, content, timeout_seconds)

    @contextmanager
    def _explained(self) -> Generator[None]:
        try:
            yield
        except (OSError, HTTPException) as error:
            raise self.unreachable(error) from error

    def unreachable(self, error: Exception) -> Unreachable:
        return Unreachable(explain(error, self.server), answer_lost=is_lost(error))

    def read(self, answered: Answer, form: type[T]) -> T:
        """What the server answered; raises `Refused` if that is no, `Unreachable` if it is no Satchel's answer."""
        content_type = answered.headers.get("content-type", "").partition(";")[0]
        try:
            if answered.is_success:
                return msgspec.json.decode(answered.content or b"null", type=form)
            if content_type == "application/problem+json":
                raise _refusal(msgspec.json.decode(answered.content, type=Problem), answered)
        except msgspec.DecodeError as error:
            raise self._no_satchel(answered) from error
        raise self._no_satchel(answered)

    def _not_signed_in(self) -> CommandFailed:
        return CommandFailed(f"You are not signed in to {self.server}. Use `satchel login`.")

    def _no_satchel(self, answered: Answer) -> Unreachable:
        if 300 <= answered.status < 400 and "location" in answered.headers:
            target = urlsplit(answered.headers["location"])
            where = f" to {target.scheme}://{target.netloc}" if target.netloc else ""
            return Unreachable(f"{self.server} redirects{where}. Give the address it leads to with --server.")
        return Unreachable(
            f"The program at {self.server} is not a Satchel server (status {answered.status}). "
            "Check the address and give the right one with --server."
        )


def open_client(server: str | None, *, as_stranger: bool = False) -> Client:
    """Talk to the server named here, in SATCHEL_SERVER, or in the last login; else to one on this machine."""
    credentials = CredentialsFile.of_this_user()
    named = server or os.environ.get("SATCHEL_SERVER") or credentials.read().server or DEFAULT_SERVER
    return Client(_address(named), credentials, as_stranger=as_stranger)


def _address(written: str) -> str:
    """One form for every way of writing an address, because sessions are found by it."""
    misused = Misused(f"A server's address looks like https://satchel.example.org, not like {written!r}.")
    try:
        parts = urlsplit(written)
        host = (parts.hostname or "").encode("idna")  # as the name will be looked up
        is_reachable = host and parts.port != 0  # raises if it is no number
    except ValueError as error:
        raise misused from error
    has_more = "@" in parts.netloc or parts.query or parts.fragment or " " in written or not written.isprintable()
    if parts.scheme not in ("http", "https") or not is_reachable or has_more:
        raise misused
    return f"{parts.scheme}://{parts.netloc.lower()}{parts.path.rstrip('/')}"


def _proof(session: Proof | None) -> dict[str, str]:
    return {} if session is None else {"authorization": f"Bearer {session.access_token}"}


def _unexpired(guest: GuestPass | None) -> GuestPass | None:
    return guest if guest and datetime.fromisoformat(guest.expires_at) > datetime.now(UTC) else None


def _refusal(problem: Problem, answered: Answer) -> Refused:
    hint = " Use `satchel login`." if problem.slug in SIGN_IN_AGAIN else ""
    after = answered.headers.get("retry-after", "")
    seconds = int(after) if after.isdecimal() else 0
    if problem.challenge:
        return WorkAsked(problem, answered.status, seconds)
    return Refused(problem.detail + hint, problem.slug, answered.status, seconds)
