"""The page of limits, from their declarations: rates of each slice, connections, and live sockets."""

from collections.abc import Iterator
from dataclasses import fields
from datetime import timedelta
from typing import Any

from satchel.edge.http.limits import Limits
from satchel.edge.live.live_sockets import Bounds
from satchel.slices import SLICES
from satchel.stores.patterns.throttle import GuessThrottle

_CONNECTIONS = {
    "connections": "Connections at once. When the last is taken, waiting ones of the network with the most are ended; "
    "if none waits, 503 `busy`",
    "address_bytes": "Bytes of an address; 414 `address-too-long`",
    "head_bytes": "Bytes of request line and headers; 431 `headers-too-large`",
    "headers": "Headers of a request; 431 `headers-too-large`",
    "pipelined": "Requests sent before earlier ones were answered; the connection is ended",
    "held_bytes": "Bytes that all connections hold: half requests, bodies under way, answers that are not taken. "
    "Beyond it, connections of the network that holds the most are ended, the largest first",
    "head_seconds": "Seconds for the headers to arrive; 408 `too-slow`",
    "keep_alive_seconds": "Seconds that an idle connection is kept",
    "stalled_seconds": "Seconds without a byte of a body, or of an answer taken; the connection is ended",
    "websockets": "Websockets at once, those included that are not admitted yet; 503 `busy`",
    "websocket_bytes": "Bytes of a frame of a websocket; it is closed with 1009",
}
_SOCKETS = {
    "sockets": "Live connections at once; 503 `busy`",
    "sockets_per_network": "Live connections of one network, once three quarters of all are taken; 503 `busy`",
    "sockets_per_person": "Live connections of one person; 429 `too-many`",
    "send_timeout": "Time for a client to take a frame; it is cut off",
    "lifetime": "Time after which a client has to connect again",
}


def limits_page(notice: str) -> Iterator[str]:
    yield "# Limits\n"
    yield notice
    yield "## Attempts\n"
    yield "Beyond these the answer is 429 with `Retry-After`, unless it says otherwise below."
    yield "[Decision 30](decisions/0030-a-limit-slows-the-guesser.md) gives the reasons.\n"
    yield "- A network is an IPv4 address. Of IPv6, a /64 has a limit once, the /56 around it four times,"
    yield "  the /48 sixteen times. Drop counts the /64 alone."
    yield f"- Past the limit of an account or a link, each network has {GuessThrottle.FEW} attempts at it."
    yield "- Past the limits of room codes, guests without the key of a link knock."
    yield "  Past the higher one they are refused.\n"
    yield "| slice | what | at most | within | per |"
    yield "|---|---|---|---|---|"
    for each in sorted(SLICES, key=lambda each: each.name):
        for limit in each.limits:
            yield f"| {each.name} | {limit.about} | {limit.times} | {_spoken(limit.window)} | {limit.per} |"
    yield ""
    yield "## Connections\n"
    yield from _table(Limits(), _CONNECTIONS)
    yield "## Live connections\n"
    yield from _table(Bounds(), _SOCKETS)


def _table(values: Any, about: dict[str, str]) -> Iterator[str]:
    known = {each.name for each in fields(values)}
    yield "| limit | what, and what is answered |"
    yield "|---|---|"
    for name, text in about.items():
        if name not in known:
            raise ValueError(f"there is no limit called {name}")
        value = getattr(values, name)
        yield f"| {_spoken(value) if isinstance(value, timedelta) else f'{value:,}'} | {text} |"
    yield ""


def _spoken(time: timedelta) -> str:
    seconds = int(time.total_seconds())
    for unit, size in (("day", 86400), ("hour", 3600), ("minute", 60)):
        if seconds % size == 0:
            return f"{seconds // size} {unit}{'s' if seconds != size else ''}"
    return f"{seconds} second{'s' if seconds != 1 else ''}"
