"""What `satchel serve` prints of how others reach it: addresses of the local network, with a QR code in a terminal."""

import sys
from collections.abc import Iterator
from urllib.parse import urlsplit

from satchel.cli.engine.terminal.qr_code import qr_code
from satchel.config import Settings
from satchel.edge.http.lan_addresses import ALL, ALL_IPV4, is_only_here, lan_addresses

_MOST_SHOWN = 4


def reach_lines(settings: Settings, address: str) -> Iterator[str]:
    """The lines for a server that runs at this address."""
    parts = urlsplit(address)
    if settings.listens_on in (ALL_IPV4, ALL):
        if settings.public_url:
            return
        found = lan_addresses(settings.listens_on)[:_MOST_SHOWN]
        if not found:
            yield "No network was found. In a container, name the address that others use with --public-url."
            return
        for each in found:
            yield f"On your network at {parts.scheme}://{each.host}:{parts.port} ({each.card})"
        if sys.stdout.isatty():
            yield from qr_code(f"{parts.scheme}://{found[0].host}:{parts.port}")
    elif is_only_here(parts.hostname or ""):
        yield "Only this machine can reach it. For phones and others on your network, start it with --lan."
