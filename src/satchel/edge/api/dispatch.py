"""Turn a declared operation into the application that answers it: read, check, call, write.

What can be decided once is decided when the server starts. The caller is identified before the rest of the request is
read, so that a stranger learns nothing from how it is refused.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from satchel.edge.api.disk_reserve import DiskReserve, writes
from satchel.edge.api.endpoints import Operation, Reply
from satchel.edge.api.identity import Identity
from satchel.edge.api.turns import Turns
from satchel.edge.api.validation import json_decoder, query_decoder
from satchel.edge.http.callers import Caller, Stranger, admit
from satchel.edge.http.extensions import WHOLE
from satchel.edge.http.request_body import read_json_body
from satchel.edge.http.request_context import client_of
from satchel.kernel.errors import NotFound

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

_encode = msgspec.json.Encoder().encode
_JSON = (b"content-type", b"application/json")
# Answers are made for one caller at one moment. A handler that knows better sets the header in a Reply.
_PRIVATE = (b"cache-control", b"no-store")
_PLAIN_LINES = b"".join([b"%b: %b\r\n" % header for header in (_PRIVATE, _JSON)])
_NO_BODY = (204, 304)


class Endpoint:
    """An ASGI application that answers one operation."""

    def __init__(
        self, operation: Operation, identity: Identity, disk: DiskReserve | None = None, turns: Turns | None = None
    ) -> None:
        self._turns = turns if operation.whole_list else None
        self._disk = None if operation.when_full or not writes(operation.method) else disk
        self._handler = operation.handler
        self._status = operation.status
        self._identity = identity
        needs = operation.needs
        self._caller, self._accepts = needs.caller, needs.accepts
        self._client, self._request = needs.client, needs.request
        self._max_body_bytes = operation.max_body_bytes
        self._converted = {name: wanted for name, wanted in needs.path.items() if not _is_text(wanted)}
        self._decode_query = query_decoder(needs.query) if needs.query else None
        self._decode_body = json_decoder(needs.body) if needs.body else None

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        arguments: dict[str, Any] = {**scope["path_params"]}
        caller: Caller = Stranger()
        if self._caller is not None:
            caller = await self._identity.caller_of(scope)
            admit(caller, self._accepts)
            arguments[self._caller] = caller
        if self._disk is not None:
            self._disk.check(caller)
        if self._converted:
            self._convert(arguments)
        if self._decode_query is not None:
            arguments["query"] = self._decode_query(scope["query_string"])
        if self._decode_body is not None:
            arguments["body"] = self._decode_body(await read_json_body(scope, receive, self._max_body_bytes))
        if self._client is not None:
            arguments[self._client] = client_of(scope)
        if self._request is not None:
            arguments[self._request] = Request(scope, receive, send)
        if self._turns is None:
            answer = await self._handler(**arguments)
        else:
            async with self._turns.of(caller, client_of(scope).address):
                answer = _encoded(await self._handler(**arguments))
        if isinstance(answer, Response):
            await answer(scope, receive, send)
        elif isinstance(answer, Reply):
            await self._send_reply(answer, send)  # pyright: ignore[reportUnknownArgumentType]
        elif answer is not None and self._status not in _NO_BODY and WHOLE in scope.get("extensions", ()):
            await send({"type": WHOLE, "status": self._status, "header_lines": _PLAIN_LINES, "body": _encode(answer)})
        else:
            await self._send(send, answer, self._status, [_PRIVATE])

    def _convert(self, path: dict[str, Any]) -> None:
        try:
            for name, wanted in self._converted.items():
                path[name] = msgspec.convert(path[name], wanted, strict=False)
        except msgspec.ValidationError:
            raise NotFound("There is nothing at this address.") from None

    async def _send_reply(self, reply: Reply[Any], send: "Send") -> None:
        headers = [(name.lower().encode("ascii"), value.encode("latin-1")) for name, value in reply.headers.items()]
        if all(name != b"cache-control" for name, _ in headers):
            headers.append(_PRIVATE)
        headers.extend((b"set-cookie", cookie.encoded()) for cookie in reply.cookies)
        await self._send(send, reply.body, reply.status or self._status, headers)

    async def _send(self, send: "Send", answer: Any, status: int, headers: list[tuple[bytes, bytes]]) -> None:
        body = b"" if answer is None else _encode(answer)
        if answer is not None:
            headers.append(_JSON)
        if status not in _NO_BODY:
            headers.append((b"content-length", b"%d" % len(body)))
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})


def _encoded(answer: Any) -> Any:
    """The answer with its bytes alone, without what they were made of."""
    if isinstance(answer, Response):
        return answer
    if isinstance(answer, Reply):
        reply = cast("Reply[Any]", answer)
        return replace(reply, body=msgspec.Raw(_encode(reply.body)))
    return msgspec.Raw(_encode(answer))


def _is_text(wanted: Any) -> bool:
    # A NewType of str is checked by the type checker alone.
    while hasattr(wanted, "__supertype__"):
        wanted = wanted.__supertype__
    return wanted is str
