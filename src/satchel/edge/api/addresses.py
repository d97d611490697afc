"""Whole addresses of pages on this server, for links that people hand on."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from satchel.edge.http.lan_addresses import is_only_here, lan_addresses

if TYPE_CHECKING:
    from starlette.requests import Request


@dataclass(frozen=True, slots=True)
class Addresses:
    """Made from the public address of the server; without one, from the address at which a request came.

    Somebody at the machine of a server that others reach, too, gets links for the others.
    """

    public_url: str = ""
    listens_on: str = ""
    speaks_tls: bool = False

    def of(self, path: str, request: "Request") -> str:
        """The address of a path that begins with a slash."""
        return f"{self.public_url or self._asked_at(request)}{path}"

    def _asked_at(self, request: "Request") -> str:
        asked, server = request.url, request.scope.get("server")
        # At another port, a tunnel or a container's mapping is in between: the network does not know that one.
        is_direct = server is not None and asked.port is not None and asked.port == server[1]
        if is_direct and is_only_here(asked.hostname or "") and (others := lan_addresses(self.listens_on)):
            scheme = "https" if self.speaks_tls else asked.scheme
            return f"{scheme}://{others[0].host}:{asked.port}"
        return f"{asked.scheme}://{asked.netloc}"
