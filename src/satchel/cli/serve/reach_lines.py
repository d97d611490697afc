"""What `satchel serve` prints of how others reach it: addresses of the local network, with a QR code in a terminal."""

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from satchel.cli.engine.terminal.qr_code import qr_code
from satchel.config import Settings
from satchel.edge.http.lan_addresses import ALL, ALL_IPV4, is_only_here, lan_addresses
from satchel.edge.tls.trust_page import TRUST

if TYPE_CHECKING:
    from satchel.edge.tls.certificates import Certificates

_MOST_SHOWN = 4


def reach_lines(settings: Settings, address: str, certificates: "Certificates | None" = None) -> Iterator[str]:
    """The lines for a server that runs at this address."""
    parts = urlsplit(address)
    scheme = "https" if settings.speaks_tls else "http"
    if settings.listens_on in (ALL_IPV4, ALL):
        if settings.public_url:
            return
        found = lan_addresses(settings.listens_on)[:_MOST_SHOWN]
        if not found:
            yield "No network was found. In a container, name the address that others use with --public-url."
            return
        for each in found:
            yield f"On your network at {scheme}://{each.host}:{parts.port} ({each.card})"
        if settings.is_announced:
            yield f"Most devices also find it at {scheme}://{settings.lan_name}:{parts.port}"
        start = f"{scheme}://{found[0].host}:{parts.port}"
        if certificates and certificates.authority:
            # By plain HTTP, because HTTPS shows a warning until the phone trusts us.
            start = f"http://{found[0].host}:{parts.port}{TRUST}"
            yield f"Phones trust it once, at {start}"
            yield f"Its authority has the fingerprint {certificates.authority.fingerprint}"
        if sys.stdout.isatty():
            yield from qr_code(start)
    elif is_only_here(parts.hostname or ""):
        if settings.speaks_tls:
            trusted = f", once a browser trusts it: {address}{TRUST}" if certificates and certificates.authority else ""
            yield f"By HTTPS at https://{parts.netloc}{trusted}"
        if certificates and certificates.authority:
            yield f"Its authority has the fingerprint {certificates.authority.fingerprint}"
        yield "Only this machine can reach it. For phones and others on your network, start it with --lan."
