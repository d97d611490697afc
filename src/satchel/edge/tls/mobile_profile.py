"""An Apple configuration profile that holds one certificate authority, so that iPhones offer to install it."""

from typing import TYPE_CHECKING
from uuid import NAMESPACE_URL, uuid5

if TYPE_CHECKING:
    from satchel.edge.tls.authority import Authority


def mobile_profile(authority: "Authority") -> bytes:
    """The same bytes each time, so that a second download replaces the first on the phone."""
    import plistlib  # it brings an XML parser, which few servers ever need

    identifier = f"satchel.authority.{authority.fingerprint.replace(':', '').lower()[:32]}"
    certificate = {
        "PayloadType": "com.apple.security.root",
        "PayloadVersion": 1,
        "PayloadIdentifier": f"{identifier}.certificate",
        "PayloadUUID": _uuid(f"{identifier}.certificate"),
        "PayloadDisplayName": authority.name,
        "PayloadCertificateFileName": "satchel.crt",
        "PayloadContent": authority.der,
    }
    profile = {
        "PayloadType": "Configuration",
        "PayloadVersion": 1,
        "PayloadIdentifier": identifier,
        "PayloadUUID": _uuid(identifier),
        "PayloadDisplayName": authority.name,
        "PayloadDescription": "Lets this device trust a Satchel server on the local network.",
        "PayloadContent": [certificate],
    }
    return plistlib.dumps(profile)


def _uuid(name: str) -> str:
    return str(uuid5(NAMESPACE_URL, name)).upper()
