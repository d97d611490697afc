"""The middleware around every request: id, real client, origin check, security headers, problems, log and metrics.

It is one raw ASGI layer instead of a stack of them, because every request pays for every layer.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.requests import ClientDisconnect

from satchel.edge.http.callers import Admin, Guest, Member
from satchel.edge.http.extensions import SPLICE, WHOLE, ZERO_COPY
from satchel.edge.http.hosts import Hosts
from satchel.edge.http.logs import Journal, RequestLine, Timestamps
from satchel.edge.http.metrics import RequestMetrics
from satchel.edge.http.origins import Origins
from satchel.edge.http.problems import Problem, ShuttingDown, problem_from, with_cause
from satchel.edge.http.proxies import LOOPBACK, Network, Networks, see_through
from satchel.edge.http.request_context import RequestContext, begin
from satchel.kernel.errors import SatchelError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_log = logging.getLogger("satchel.edge")

API_POLICY = b"default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
SECURITY_HEADERS = [
    (b"content-security-policy", API_POLICY),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=(), payment=(), usb=()"),
]
_ONLY_OVER_HTTPS = [(b"strict-transport-security", b"max-age=31536000")]
_SECURITY_LINES = b"".join([b"%b: %b\r\n" % header for header in SECURITY_HEADERS])
# A page may set policies of its own; a header that it has set is left alone.
_NAMES = frozenset(name for name, _ in SECURITY_HEADERS)
# nginx's status for a client that left before it had its answer. It appears in our log alone.
CLIENT_LEFT = 499
# The connection has become a websocket.
SWITCHED = 101
_QUIET_ROUTES = frozenset({"/healthz", "/readyz", "/metrics"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Exposure:
    """How this server is exposed: proxies it trusts, its public addresses and names, networks that may read metrics."""

    trusted_proxies: Sequence[Network] = ()
    addresses: Sequence[str] = ()
    allowed_hosts: Sequence[str] = ()
    metrics_from: Sequence[Network] = LOOPBACK
    # Whether it speaks TLS itself, so that a request by plain HTTP is one, whatever the public address says.
    speaks_tls: bool = False
    # Whether browsers shall refuse plain HTTP at our name for a year. Not with a local authority: the rule is for a
    # name and all of its ports, `localhost` included, and leaves no way back when the authority is gone.
    sends_hsts: bool = True


class Middleware:
    """The outermost ASGI application."""

    def __init__(
        self,
        app: "ASGIApp",
        *,
        exposure: Exposure,
        journal: Journal,
        metrics: RequestMetrics,
        open_paths: Sequence[str] = (),
    ) -> None:
        """`open_paths` are open to pages of other sites."""
        self._app = app
        self._proxies = Networks(exposure.trusted_proxies)
        self._origins = Origins(exposure.addresses, open_paths)
        self._hosts = Hosts(exposure.addresses, exposure.allowed_hosts, speaks_tls=exposure.speaks_tls)
        self._sends_hsts = exposure.sends_hsts
        self._journal = journal
        self._metrics = metrics
        self._timestamps = Timestamps()

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        if scope["type"] == "lifespan":
            raise RuntimeError("the application is opened before the server starts, so it has no lifespan")
        started = time.perf_counter()
        context = begin(scope, see_through(scope, self._proxies) if self._proxies else None)
        answer = _Answer(scope, send, context, sends_hsts=self._sends_hsts)
        is_request = scope["type"] == "http"
        self._metrics.in_flight += is_request
        try:
            self._hosts.check(scope)
            self._origins.check(scope)
            await self._app(scope, receive, answer)
        except ClientDisconnect:
            answer.status = CLIENT_LEFT
        except asyncio.CancelledError:
            # Only a server that stops cancels a request. The task ends here, so the cancellation is not raised again.
            await answer.fail(ShuttingDown("The server is being stopped. Try again in a moment."))
        except Exception as error:  # noqa: BLE001 -- whatever it is, the client gets an answer and the log the cause
            await answer.fail(error)
        finally:
            self._metrics.in_flight -= is_request
            self._note(scope, context, answer, time.perf_counter() - started)

    def _note(self, scope: "Scope", context: RequestContext, answer: "_Answer", seconds: float) -> None:
        method = scope.get("method", "WEBSOCKET")
        self._metrics.observe(context.route, method, answer.status, seconds, answer.sent_bytes)
        if not self._journal.wants_requests or (context.route in _QUIET_ROUTES and not self._journal.wants_everything):
            return
        kind, caller_id = _named(context)
        self._journal.write_request(
            RequestLine(
                self._timestamps.now(),
                "info" if answer.status < 500 else "error",
                context.id,
                method,
                context.route,
                answer.status,
                round(seconds * 1000, 2),
                answer.sent_bytes,
                kind,
                caller_id,
            )
        )


class _Answer:
    """The `send` of one request. It completes the headers, and remembers what was sent."""

    __slots__ = ("_context", "_scope", "_send", "_sends_hsts", "sent_bytes", "status")

    def __init__(self, scope: "Scope", send: "Send", context: RequestContext, *, sends_hsts: bool) -> None:
        self._scope = scope
        self._sends_hsts = sends_hsts
        self._send = send
        self._context = context
        self.status = 0
        self.sent_bytes = 0

    async def __call__(self, message: "Message") -> None:
        kind = message["type"]
        if kind == WHOLE:
            message["header_lines"] += self._header_lines()
            await self._send(message)
            self.status = message["status"]
            self.sent_bytes = len(message["body"])
            return
        if kind == "http.response.start":
            message["headers"] = self._completed(message.get("headers", ()))
        elif kind == "websocket.accept":
            message["headers"] = [*message.get("headers", ()), (b"x-request-id", self._context.id.encode("ascii"))]
        await self._send(message)
        if kind == "http.response.body":
            self.sent_bytes += len(message.get("body", b""))
        elif kind == "http.response.start":
            self.status = message["status"]
        elif kind in (ZERO_COPY, SPLICE):
            self.sent_bytes += message["count"]
        elif kind == "websocket.accept":
            self.status = SWITCHED

    def _header_lines(self) -> bytes:
        """What `_completed` adds, as lines; an answer in one message never has policies of its own."""
        if self._context.headers or self._scope["scheme"] == "https":
            return b"".join([b"%b: %b\r\n" % header for header in self._completed([])])
        # By far the most frequent case.
        return b"x-request-id: %b\r\n%b" % (self._context.id.encode("ascii"), _SECURITY_LINES)

    def _completed(self, given: "list[tuple[bytes, bytes]]") -> "list[tuple[bytes, bytes]]":
        headers = [*given, *self._context.headers, (b"x-request-id", self._context.id.encode("ascii"))]
        own = _NAMES.intersection([name for name, _ in given])
        headers += SECURITY_HEADERS if not own else [each for each in SECURITY_HEADERS if each[0] not in own]
        if self._sends_hsts and self._scope["scheme"] in ("https", "wss"):
            headers += _ONLY_OVER_HTTPS
        return headers

    async def fail(self, error: Exception) -> None:
        if self.status:
            # It is too late for another answer. The server closes the connection of an answer that stays unfinished.
            about = {"request": self._context.id}
            if isinstance(error, SatchelError):
                _log.warning("a request failed half-way: %s", with_cause(error), extra=about)
            else:
                _log.error("a request failed half-way", exc_info=error, extra=about)
            if self.status == SWITCHED:
                with contextlib.suppress(OSError):
                    await self._send({"type": "websocket.close", "code": 1011})
            return
        problem = problem_from(error, self._context.id)
        self.status = problem.status
        self.sent_bytes = len(problem.body)
        with contextlib.suppress(ClientDisconnect):
            await self._send_problem(problem)

    async def _send_problem(self, problem: Problem) -> None:
        headers = self._completed(problem.headers)
        if self._scope["type"] == "http":
            kind = "http.response"
        elif "websocket.http.response" in self._scope.get("extensions", {}):
            kind = "websocket.http.response"
        else:
            await self._send({"type": "websocket.close", "code": 1008})
            return
        await self._send({"type": f"{kind}.start", "status": problem.status, "headers": headers})
        await self._send({"type": f"{kind}.body", "body": problem.body})


def _named(context: RequestContext) -> tuple[str, str]:
    caller = context.caller
    if isinstance(caller, Member):
        return ("admin" if isinstance(caller, Admin) else "member"), caller.user_id
    if isinstance(caller, Guest):
        return "guest", caller.id
    return "stranger", ""
