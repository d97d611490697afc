"""Send whoever comes by plain HTTP to HTTPS, where the server itself speaks TLS.

This machine may go on with plain HTTP at its loopback addresses: nobody can listen there, browsers take them for
secure, and neither its browser nor its command line has to trust a certificate for them.
"""

from collections.abc import Container
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from satchel.edge.http.lan_addresses import is_only_here
from satchel.edge.http.problems import HttpsNeeded
from satchel.edge.http.request_context import context_of, header

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send


class HttpsOnly:
    """An ASGI application around another one. Some paths are open, such as those that make a phone trust HTTPS."""

    def __init__(self, app: "ASGIApp", open_paths: Container[str]) -> None:
        self._app = app
        self._open_paths = open_paths

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        if scope["scheme"] in ("https", "wss") or scope["path"] in self._open_paths or _stays_here(scope):
            await self._app(scope, receive, send)
            return
        context_of(scope).route = "/*"
        origin = _secure_origin(scope)
        if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD") or not origin:
            # What was sent with the request was sent in the clear already; doing it would only hide that.
            where = origin or "the address that begins with https://"
            raise HttpsNeeded(f"This server wants to be asked by HTTPS. Use {where} instead.")
        query = b"?" + scope["query_string"] if scope["query_string"] else b""
        location = origin.encode("ascii") + scope["raw_path"] + query
        # Temporary, because a permanent one would outlive a server that is started without TLS one day.
        headers = [(b"location", location), (b"cache-control", b"no-store"), (b"content-length", b"0")]
        await send({"type": "http.response.start", "status": 307, "headers": headers})
        await send({"type": "http.response.body", "body": b""})


def _stays_here(scope: "Scope") -> bool:
    peer = scope.get("client")
    host = _host(scope)
    return peer is not None and host is not None and is_only_here(peer[0]) and is_only_here(host[0])


def _secure_origin(scope: "Scope") -> str:
    """The same host and port with HTTPS; empty if the request does not say which."""
    host = _host(scope)
    if host is None:
        return ""
    name, port = host
    return f"https://{f'[{name}]' if ':' in name else name}{f':{port}' if port else ''}"


def _host(scope: "Scope") -> tuple[str, int | None] | None:
    found = header(scope, b"host")
    try:
        host = found.decode("ascii") if found else ""
        parts = urlsplit(f"//{host}")
        is_a_host = parts.netloc == host and "@" not in host and " " not in host
        return (parts.hostname, parts.port) if parts.hostname and is_a_host else None
    except ValueError:
        return None
