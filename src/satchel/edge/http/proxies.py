"""Find the client behind proxies. Only proxies that the settings name are trusted."""

from collections.abc import Sequence
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import Scope

Network = IPv4Network | IPv6Network
LOOPBACK: tuple[Network, ...] = (ip_network("127.0.0.0/8"), ip_network("::1/128"))
# A client seen through a trusted proxy: its address is known, its port is not.
_PORT_UNKNOWN = 0


class Networks:
    """A set of networks, with a cache of the addresses it was asked about."""

    def __init__(self, networks: Sequence[Network]) -> None:
        self._networks = tuple(networks)
        self.hold = lru_cache(maxsize=4096)(self._hold)

    def _hold(self, address: str) -> bool:
        try:
            parsed = ip_address(address)
        except ValueError:
            return False
        if isinstance(parsed, IPv6Address) and parsed.ipv4_mapped is not None:
            parsed = parsed.ipv4_mapped
        return any(parsed in network for network in self._networks)

    def __bool__(self) -> bool:
        return bool(self._networks)


def see_through(scope: "Scope", trusted: Networks) -> bytes | None:
    """Put the real client and scheme into the scope if a trusted proxy sent this. Returns the request id it proposes.

    `X-Forwarded-For` is read from the right: the first address that is no proxy of ours is the last one that
    somebody we trust has seen. What stands further left is the client's own claim.
    """
    peer = scope.get("client")
    if peer is None or not trusted.hold(peer[0]):
        return None
    forwarded: list[bytes] = []
    request_id = None
    for key, value in scope["headers"]:
        if key == b"x-forwarded-for":
            forwarded.append(value)
        elif key == b"x-forwarded-proto":
            _believe_scheme(scope, value)
        elif key == b"x-request-id":
            request_id = value
    address = _first_unknown(b",".join(forwarded).decode("latin-1"), trusted)
    if address is not None:
        scope["client"] = (address, _PORT_UNKNOWN)
    return request_id


def came_by_unknown_proxy(scope: "Scope") -> bool:
    """Whether a proxy passed this on that the settings do not name: its address says nothing about the client."""
    peer = scope.get("client")
    if peer is not None and peer[1] == _PORT_UNKNOWN:
        return False
    return any(key in (b"x-forwarded-for", b"forwarded", b"via") for key, _ in scope["headers"])


def _believe_scheme(scope: "Scope", value: bytes) -> None:
    # Several proxies append; the last entry is from the one next to us.
    secure = value.rpartition(b",")[2].strip().lower() in (b"https", b"wss")
    if scope["type"] == "websocket":
        scope["scheme"] = "wss" if secure else "ws"
    else:
        scope["scheme"] = "https" if secure else "http"


def _first_unknown(forwarded_for: str, trusted: Networks) -> str | None:
    address = None
    for entry in reversed(forwarded_for.split(",")):
        try:
            address = str(ip_address(_without_port(entry.strip())))
        except ValueError:
            # Not an address: nothing to the left of it can be trusted.
            return address
        if not trusted.hold(address):
            return address
    return address


def _without_port(entry: str) -> str:
    if entry.startswith("["):
        return entry[1:].partition("]")[0]
    return entry.partition(":")[0] if entry.count(":") == 1 else entry
