"""The names by which this server may be called, so that another site's name that leads here is refused.

A page of a stranger's site can be given our address by DNS after it was loaded (DNS rebinding). Its requests then name
that site as their host, and would pass for requests of our own pages.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from satchel.edge.http.problems import UnknownHost
from satchel.edge.http.request_context import header

if TYPE_CHECKING:
    from starlette.types import Scope

ANY = "*"
_HOST = re.compile(r"(?:\[([0-9a-f:.]+(?:%[\w.~-]+)?)\]|([^][:@/?#\s]+))(?::[0-9]*)?")
# Nobody can register a name below these on the internet (RFC 6761, 6762, 8375; ICANN's reservation of `internal`).
_PRIVATE = (".localhost", ".local", ".home.arpa", ".internal", ".lan", ".test")


class Hosts:
    """Knows our own names: those of the settings, addresses as numbers, and names that no stranger can register."""

    def __init__(self, addresses: Iterable[str] = (), allowed: Iterable[str] = (), *, speaks_tls: bool = False) -> None:
        public = [urlsplit(address) for address in addresses if address]
        self._own = {(each.hostname or "").lower() for each in public} | {name.lower().rstrip(".") for name in allowed}
        self._secure = frozenset(each.netloc.lower() for each in public if each.scheme == "https" and not speaks_tls)
        self.allow = lru_cache(maxsize=1024)(self._allow)

    def check(self, scope: "Scope") -> None:
        """Raise `UnknownHost` for a name that is not ours. Where the public address is https, so is the request.

        A proxy that ends TLS and is not among the trusted ones cannot tell us so. Where we speak TLS, we know.
        """
        found = header(scope, b"host")
        if not found:
            return
        host = found.decode("latin-1").lower()
        if not self.allow(host):
            raise UnknownHost(
                "This server is not known by that name. Whoever runs it adds the name with --public-url or "
                "--allowed-hosts."
            )
        if host in self._secure:
            scope["scheme"] = "https" if scope["type"] == "http" else "wss"

    def _allow(self, host: str) -> bool:
        if ANY in self._own:
            return True
        name = _without_port(host)
        if name is None:
            return False
        if name in self._own or ("." not in name.rstrip(".") and ":" not in name):
            return True
        return _is_address(name) or name.rstrip(".").endswith(_PRIVATE)


def _without_port(host: str) -> str | None:
    """The name alone; None if this is no host, such as one with a user in front."""
    found = _HOST.fullmatch(host)
    return None if found is None else found[1] or found[2].rstrip(".")


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
