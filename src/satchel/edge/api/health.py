"""Endpoints for monitoring: whether the server is alive, whether it is ready, and its metrics."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

import msgspec

from satchel.edge.http.metrics import Metrics
from satchel.edge.http.proxies import Networks, came_by_unknown_proxy
from satchel.kernel.errors import NotFound, SatchelError, Unavailable
from satchel.stores.schema import EphemeralKey

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

READY_SECONDS = 3.0
METRICS_TYPE = b"text/plain; version=0.0.4; charset=utf-8"
# Read to see whether the store answers; nobody writes it.
PROBE = EphemeralKey("ready", "value", owner="health", about="Asked for by readiness checks, and never there")
EPHEMERAL_KEYS = (PROBE,)

# By the name of a store: a function that returns if the store answers, and raises if not.
Checks = Mapping[str, Callable[[], Awaitable[object]]]


class NotReady(Unavailable):
    """Something that this server needs does not answer; `checks` says which of them."""

    slug = "not-ready"
    title = "Not ready"


async def alive(_scope: "Scope", _receive: "Receive", send: "Send") -> None:
    """GET /healthz: the process runs and its event loop is not stuck."""
    await _send(send, b'{"status":"alive"}', b"application/json")


def ready(checks: Checks, seconds: float = READY_SECONDS) -> "ASGIApp":
    """GET /readyz: the stores that this server needs answer, too."""

    async def answer(_scope: "Scope", _receive: "Receive", send: "Send") -> None:
        outcomes = await asyncio.gather(*(_outcome(check, seconds) for check in checks.values()))
        found = dict(zip(checks, outcomes, strict=True))
        failing = [name for name, outcome in found.items() if outcome != "ok"]
        if failing:
            raise NotReady(f"No answer from: {', '.join(failing)}.", checks=found)
        await _send(send, msgspec.json.encode({"status": "ready", "checks": found}), b"application/json")

    return answer


def numbers(metrics: Metrics, allowed: Networks) -> "ASGIApp":
    """GET /metrics, for the networks that the settings name. For others the address does not exist."""

    async def answer(scope: "Scope", _receive: "Receive", send: "Send") -> None:
        peer = scope.get("client")
        # Behind a proxy that the settings do not name, every client would look like this machine.
        if peer is None or not allowed.hold(peer[0]) or came_by_unknown_proxy(scope):
            raise NotFound("There is nothing at this address.")
        await _send(send, metrics.page(), METRICS_TYPE)

    return answer


async def _outcome(check: Callable[[], Awaitable[object]], seconds: float) -> str:
    try:
        async with asyncio.timeout(seconds):
            await check()
    except TimeoutError:
        return "too slow"
    except SatchelError as error:
        return error.slug
    return "ok"


async def _send(send: "Send", body: bytes, media_type: bytes) -> None:
    headers = [
        (b"content-type", media_type),
        (b"content-length", b"%d" % len(body)),
        (b"cache-control", b"no-store"),
    ]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})
