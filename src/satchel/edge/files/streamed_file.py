"""A file that is made while it is sent, so that its length is not known before."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING

from starlette.responses import Response

from satchel.edge.files.downloads import attached_as

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send


class StreamedFile(Response):
    """An attachment of pieces. `first` is there already: what failed before it was answered as a problem."""

    def __init__(self, name: str, content_type: str, first: bytes, rest: AsyncGenerator[bytes]) -> None:
        super().__init__()
        self._name = name
        self._content_type = content_type
        self._first = first
        self._rest = rest

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:  # noqa: ARG002 -- ASGI
        headers = [
            (b"content-type", self._content_type.encode("latin-1")),
            (b"content-disposition", attached_as(self._name).encode("latin-1")),
            (b"cache-control", b"private, no-store"),
        ]
        async with aclosing(self._rest) as rest:
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            if scope["method"] != "HEAD":
                await send({"type": "http.response.body", "body": self._first, "more_body": True})
                async for piece in rest:
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
