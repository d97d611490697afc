"""The check against cross-site request forgery: a page of another site may not use the cookies of its reader here.

A few addresses are open to pages of all sites. There such a page is a stranger: its cookies and tokens are dropped
before anybody looks at them.
"""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from satchel.edge.http.problems import CrossOrigin

if TYPE_CHECKING:
    from starlette.types import Scope

_PARAMETER = re.compile(r"\\{\w+\\}")
_CREDENTIALS = frozenset({b"cookie", b"authorization"})
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


class Origins:
    """Our own origins besides the address that a request was sent to, such as the public address behind a proxy."""

    def __init__(self, addresses: Iterable[str] = (), open_paths: Iterable[str] = ()) -> None:
        """`open_paths` are templates such as `/api/v1/counters/{counter_id}/clicks`."""
        patterns = [_PARAMETER.sub("[^/]+", re.escape(path)) for path in open_paths]
        self._open = re.compile("|".join(patterns)) if patterns else None
        self._own = frozenset(
            f"{parts.scheme}://{parts.netloc}".lower().encode("ascii")
            for parts in (urlsplit(address) for address in addresses if address)
        )

    def check(self, scope: "Scope") -> None:
        """Raise `CrossOrigin` for a write, or a websocket, that comes from a page of another site.

        Browsers send the origin of every write. A request without one does not come from a page.
        """
        if scope["type"] == "http" and scope["method"] in _SAFE_METHODS:
            return
        site = origin = None
        host = b""
        for key, value in scope["headers"]:
            if key == b"origin":
                origin = value.lower()
            elif key == b"sec-fetch-site":
                site = value
            elif key == b"host":
                host = value.lower()
        if site in (b"same-origin", b"none") or origin in self._own:
            return
        if site is None and origin is None:
            return
        if self._open is not None and scope["type"] == "http" and self._open.fullmatch(scope["path"]):
            scope["headers"] = [each for each in scope["headers"] if each[0] not in _CREDENTIALS]
            return
        # Over TLS of our own, a page of the same host that came in the clear may be anybody's.
        if scope["scheme"] in ("https", "wss") and origin is not None and not origin.startswith(b"https:"):
            raise CrossOrigin("A page without HTTPS sent this. Open Satchel by HTTPS and do it there.")
        # Else the scheme is not compared: behind a proxy that ends TLS we do not see the one that the browser sees.
        # For websockets, browsers differ in what they call the same site, but all of them send the origin.
        names_us = origin is not None and host != b"" and origin.partition(b"://")[2] == host
        if names_us and (site is None or scope["type"] == "websocket"):
            return
        raise CrossOrigin("A page of another site sent this. Open Satchel and do it there.")
