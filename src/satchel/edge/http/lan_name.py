"""Announces the server on the local network by a name (mDNS), so that an address need not be typed.

It is a convenience: where it fails, the addresses and the QR code work all the same, so a failure is a line of the log.
"""

import asyncio
import logging
import socket
from collections.abc import Callable, Sequence
from ipaddress import IPv4Address, ip_address
from typing import TYPE_CHECKING, Any

from satchel.edge.http.lan_addresses import LanAddress

if TYPE_CHECKING:
    from zeroconf.asyncio import AsyncZeroconf

# How often the addresses are looked at, which change with the network that a laptop is in.
_LOOK_EVERY_SECONDS = 30
_ASKED_FOR_SECONDS = 1.0

_log = logging.getLogger("satchel.lan")


async def announce(name: str, port: int, *, speaks_tls: bool, addresses: Callable[[], Sequence[LanAddress]]) -> None:
    """Go on until cancelled; begin anew when the addresses change."""
    failed = ""
    while True:
        found = _ipv4(addresses())
        try:
            if found:
                await _announce_at(name, port, found, speaks_tls=speaks_tls, addresses=addresses)
        # Whatever the network does to us, the server is more important.
        except Exception as error:  # noqa: BLE001
            if str(error) != failed:
                _log.warning("the network does not learn the name %s: %s", name, error or type(error).__name__)
            failed = str(error)
        await asyncio.sleep(_LOOK_EVERY_SECONDS)


async def _announce_at(
    name: str,
    port: int,
    found: Sequence[str],
    *,
    speaks_tls: bool,
    addresses: Callable[[], Sequence[LanAddress]],
) -> None:
    """Until the addresses are others."""
    # Imported here, because most servers are not announced.
    from zeroconf import IPVersion
    from zeroconf.asyncio import AsyncServiceInfo, AsyncZeroconf

    kind = f"_{'https' if speaks_tls else 'http'}._tcp.local."
    network = AsyncZeroconf(interfaces=list(found), ip_version=IPVersion.V4Only)
    try:
        if (other := await _owner_of(network, name)) and other not in found:
            _log.warning("another device at %s has the name %s, so this server has its addresses alone", other, name)
        else:
            service = AsyncServiceInfo(
                kind,
                f"Satchel on {socket.gethostname()}.{kind}",
                addresses=[IPv4Address(each).packed for each in found],
                port=port,
                server=f"{name}.",
            )
            # What it answers is half typed, and nobody wants it.
            register: Any = getattr(network, "async_register_service")  # noqa: B009
            await register(service, allow_name_change=True)
            _log.info("the network knows this server as %s", name)
        # No system tells a program in the same way when its addresses change.
        while _ipv4(addresses()) == found:  # noqa: ASYNC110
            await asyncio.sleep(_LOOK_EVERY_SECONDS)
    finally:
        await network.async_unregister_all_services()
        await network.async_close()


async def _owner_of(network: "AsyncZeroconf", name: str) -> str:
    """The address of the device that has the name already; empty if none has."""
    from zeroconf import AddressResolverIPv4  # pyright: ignore[reportPrivateImportUsage]

    asked = AddressResolverIPv4(f"{name}.")
    if not await asked.async_request(network.zeroconf, _ASKED_FOR_SECONDS * 1000):
        return ""
    return next(iter(asked.parsed_addresses()), "")


def _ipv4(found: Sequence[LanAddress]) -> list[str]:
    return [each.host for each in found if "[" not in each.host and ip_address(each.host).version == 4]
