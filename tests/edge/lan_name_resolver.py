"""Announces a name, asks for it as another device would, and prints the answer; to be run in a network of its own."""

import asyncio

from zeroconf import (
    AddressResolverIPv4,  # pyright: ignore[reportPrivateImportUsage]
    IPVersion,
)
from zeroconf.asyncio import AsyncZeroconf

from satchel.edge.http.lan_addresses import LanAddress
from satchel.edge.http.lan_name import announce

NAME = "satchel.local"
ATTEMPTS = 15


async def resolve() -> list[str]:
    """What a device on the network finds, asked for again until there is an answer."""
    device = AsyncZeroconf(interfaces=["127.0.0.1"], ip_version=IPVersion.V4Only)
    try:
        for _ in range(ATTEMPTS):
            asked = AddressResolverIPv4(f"{NAME}.")
            if await asked.async_request(device.zeroconf, 2000):
                return asked.parsed_addresses()
    finally:
        await device.async_close()
    return []


async def main() -> None:
    here = [LanAddress("127.0.0.1", "lo")]
    announcing = asyncio.create_task(announce(NAME, 8400, speaks_tls=False, addresses=lambda: here))
    print(await resolve())
    announcing.cancel()
    await asyncio.gather(announcing, return_exceptions=True)


if __name__ == "__main__":
    asyncio.run(main())
