"""Where others on the local network reach this machine, the likeliest address first."""

import socket
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

ALL_IPV4, ALL = "0.0.0.0", "::"  # noqa: S104  # compared with, not listened on
_CARRIER = ip_network("100.64.0.0/10")  # overlay networks such as Tailscale use it
# Networks of containers, virtual machines and tunnels: no phone is in them.
_VIRTUAL = ("br-", "docker", "podman", "tap", "tun", "utun", "vboxnet", "veth", "virbr", "vmnet", "wg")
# Never sent anything: asking for a route to it tells which of our addresses would be used.
_READ_AGAIN_SECONDS = 10
_ELSEWHERE = ("198.51.100.1", 9)


@dataclass(frozen=True, slots=True)
class LanAddress:
    """An address as it stands in a URL, and the network card that has it."""

    host: str
    card: str


def lan_addresses(listens_on: str) -> list[LanAddress]:
    """Where others reach a server that listens on all networks; empty for one that listens on a single address."""
    if listens_on not in (ALL_IPV4, ALL):
        return []
    return _read(listens_on, int(time.monotonic() / _READ_AGAIN_SECONDS))


@lru_cache(maxsize=2)
def _read(listens_on: str, _: int) -> list[LanAddress]:
    """A list of links asks for each of them; to read the network cards takes a millisecond."""
    return likeliest_first(_cards(), _usual_address(), ipv6=listens_on == ALL)


def likeliest_first(cards: Iterable[tuple[str, str]], usual: str | None, *, ipv6: bool) -> list[LanAddress]:
    """Of the network cards and their addresses, those at which a phone could find us."""
    found: list[tuple[int, LanAddress]] = []
    for card, each in cards:
        address = ip_address(each)
        reaches_nobody = address.is_loopback or address.is_link_local or card.lower().startswith(_VIRTUAL)
        if reaches_nobody or (address.version == 6 and not ipv6):
            continue
        shown = f"[{address}]" if address.version == 6 else str(address)
        found.append((_rank(address, usual), LanAddress(shown, card)))
    return [address for _, address in sorted(found, key=lambda each: each[0])]


def is_only_here(host: str) -> bool:
    """Whether nobody but this machine can follow a link with this host."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _cards() -> Iterator[tuple[str, str]]:
    import ifaddr  # late: it loads ctypes, which a server at one address does not need

    for card in ifaddr.get_adapters():
        for each in card.ips:
            yield card.nice_name, each.ip if isinstance(each.ip, str) else each.ip[0]


def _rank(address: IPv4Address | IPv6Address, usual: str | None) -> int:
    if str(address) == usual:
        return 0
    if address.version == 6:
        return 3
    return 2 if address in _CARRIER else 1


def _usual_address() -> str | None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        try:
            asked.connect(_ELSEWHERE)
        except OSError:  # no route anywhere
            return None
        return str(asked.getsockname()[0])
