"""Whole addresses of pages on this server, for links that people hand on."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.requests import Request


@dataclass(frozen=True, slots=True)
class Addresses:
    """Made from the public address of the server; without one, from the address at which a request came."""

    public_url: str

    def of(self, path: str, request: "Request") -> str:
        """The address of a path that begins with a slash."""
        base = self.public_url or f"{request.url.scheme}://{request.url.netloc}"
        return f"{base}{path}"
