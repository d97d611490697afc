"""Signed links to objects of the folder store, which has no server of its own as S3 has."""

from collections.abc import AsyncIterable
from typing import Protocol, runtime_checkable

from starlette.requests import Request
from starlette.responses import Response

from satchel.edge.api.endpoints import Reply, Router
from satchel.edge.files.downloads import Download, Readable
from satchel.edge.http.problems import WrongMediaType
from satchel.edge.http.request_body import declared_length, stream_body
from satchel.stores.ports.objects import Stored


class Claim(Protocol):
    """What a link allows: one method on one key."""

    @property
    def key(self) -> str: ...
    @property
    def disposition(self) -> str | None: ...
    @property
    def content_type(self) -> str: ...


@runtime_checkable
class LinkedObjects(Readable, Protocol):
    """A store that signs links to this server and can tell what they allow."""

    def open_link(self, token: str, method: str) -> Claim: ...

    async def put(
        self, key: str, body: AsyncIterable[bytes], *, length: int | None = None, content_type: str = ...
    ) -> Stored: ...


def routes(objects: LinkedObjects, max_bytes: int) -> Router:
    """GET, HEAD and PUT of `/objects/{token}`. The link itself is the permission, so the caller does not matter."""
    router = Router("objects", prefix="")

    @router.get("/objects/{token}")
    async def read_linked_object(token: str) -> Response:
        """Read what a signed link points to."""
        claim = objects.open_link(token, "GET")
        return Download(objects, claim.key, disposition=claim.disposition or "inline")

    @router.put("/objects/{token}")
    async def write_linked_object(token: str, request: Request) -> Reply[None]:
        """Store what a signed link asks for."""
        claim = objects.open_link(token, "PUT")
        if request.headers.get("content-type", "") != claim.content_type:
            raise WrongMediaType(f"This link is for `Content-Type: {claim.content_type}`.")
        stored = await objects.put(
            claim.key,
            stream_body(request, max_bytes),
            length=declared_length(request.scope),
            content_type=claim.content_type,
        )
        return Reply(None, status=200, headers={"etag": f'"{stored.etag}"'})

    return router
