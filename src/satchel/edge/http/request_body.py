"""Request bodies with a bound on their size while they stream in; silence in between is the connection's concern."""

import time
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from starlette.requests import ClientDisconnect

from satchel.edge.http.extensions import KEEPS_BODY
from satchel.edge.http.problems import TooSlow, WrongMediaType
from satchel.edge.http.request_context import header
from satchel.kernel.errors import TooLarge

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import Receive, Scope

JSON_SECONDS = 30.0


async def read_json_body(scope: "Scope", receive: "Receive", max_bytes: int) -> bytes:
    """The whole body of a request that says it is JSON."""
    content_type = header(scope, b"content-type")
    if content_type != b"application/json" and not _is_json(content_type or b""):
        raise WrongMediaType("Send the body as JSON, with the header `Content-Type: application/json`.")
    _within(declared_length(scope) or 0, max_bytes)
    scope[KEEPS_BODY] = True
    body, more = await _next(receive)
    if more:
        deadline = time.monotonic() + JSON_SECONDS
        whole = bytearray(body)
        while more:
            _within(len(whole), max_bytes)
            if time.monotonic() > deadline:
                raise TooSlow(f"The body did not arrive within {JSON_SECONDS:g} seconds. Send the request again.")
            body, more = await _next(receive)
            whole += body
        body = bytes(whole)
    _within(len(body), max_bytes)
    return body


async def stream_body(request: "Request", max_bytes: int) -> AsyncIterator[bytes]:
    """The body as it arrives; raises at the first byte over the limit."""
    _within(declared_length(request.scope) or 0, max_bytes)
    seen, more = 0, True
    while more:
        piece, more = await _next(request.receive)
        seen += len(piece)
        _within(seen, max_bytes)
        if piece:
            yield piece


def declared_length(scope: "Scope") -> int | None:
    """How many bytes the client says will come; None if it does not say."""
    value = header(scope, b"content-length")
    return int(value) if value is not None and value.isdigit() else None


async def _next(receive: "Receive") -> tuple[bytes, bool]:
    message = await receive()
    if message["type"] == "http.disconnect":
        raise ClientDisconnect
    return message.get("body", b""), message.get("more_body", False)


def _within(size: int, max_bytes: int) -> None:
    if size > max_bytes:
        raise TooLarge(f"The body may have at most {max_bytes} bytes.", limit_bytes=max_bytes)


def _is_json(content_type: bytes) -> bool:
    kind, _, parameters = content_type.lower().partition(b";")
    return kind.strip() == b"application/json" and parameters.strip() in (
        b"",
        b"charset=utf-8",
        b'charset="utf-8"',
    )
