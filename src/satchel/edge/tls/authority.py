"""A certificate authority for one server on a local network: made once, trusted once by each phone.

It lives for ten years, so that a new address or a new certificate never needs a second act of trust. Its name
constraints let it vouch for local names and private addresses alone: whoever steals its key can imitate no other site.
"""

import datetime
import os
import secrets
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from satchel.kernel.clock import Clock
from satchel.kernel.errors import Unavailable

_AUTHORITY_DAYS = 3650
# Apple refuses more than 398 from public authorities, and 825 from one's own. A day of it lies in the past, because
# the clocks of phones differ.
_CERTIFICATE_DAYS = 397
_RENEW_BEFORE = datetime.timedelta(days=30)
_DAY = datetime.timedelta(days=1)

# What nobody owns on the internet (RFC 6761, 6762, 8375; ICANN's reservation of `internal`; RFC 1918, 6598, 4193).
_LOCAL_NAMES = ("localhost", "local", "home.arpa", "internal", "lan", "test")
_LOCAL_NETWORKS = tuple(
    ip_network(each)
    for each in (
        *("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "100.64.0.0/10"),
        *("::1/128", "fc00::/7", "fe80::/10"),
    )
)
Address = IPv4Address | IPv6Address


@dataclass(frozen=True, slots=True)
class Authority:
    """The authority's certificate, and the key with which it signs."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    @property
    def pem(self) -> bytes:
        return self.certificate.public_bytes(serialization.Encoding.PEM)

    @property
    def der(self) -> bytes:
        return self.certificate.public_bytes(serialization.Encoding.DER)

    @property
    def name(self) -> str:
        return str(self.certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)[0].value)

    @property
    def fingerprint(self) -> str:
        """SHA-256, as phones and browsers show it."""
        return self.certificate.fingerprint(hashes.SHA256()).hex(":").upper()

    def may_vouch_for(self, name: str) -> bool:
        allowed = self.certificate.extensions.get_extension_for_class(x509.NameConstraints).value.permitted_subtrees
        values = [each.value for each in allowed or ()]
        if (address := _address(name)) is not None:
            return any(address in value for value in values if not isinstance(value, str))
        return any(name == value or name.endswith(f".{value}") for value in values if isinstance(value, str))

    def issue(self, names: Iterable[str], now: float) -> bytes:
        """A new key with a certificate for these names and addresses, as one PEM file."""
        key = ec.generate_private_key(ec.SECP256R1())
        begins, ends = _validity(now, _CERTIFICATE_DAYS)
        certificate = (
            _builder(_subject("Satchel"), self.certificate.subject, key, begins)
            .not_valid_after(min(ends, self.certificate.not_valid_after_utc))
            .add_extension(x509.SubjectAlternativeName([_general_name(each) for each in names]), critical=False)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_key_usage(signs_certificates=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key()), critical=False)
            .sign(self.key, hashes.SHA256())
        )
        return _pem(key, certificate)

    def is_good(self, pem: bytes, names: Iterable[str], now: float) -> bool:
        """Whether such a file is of this authority, has all of these names, and does not end soon."""
        try:
            certificate = x509.load_pem_x509_certificate(pem)
            certificate.verify_directly_issued_by(self.certificate)
            found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        except (ValueError, TypeError, InvalidSignature, x509.ExtensionNotFound):
            return False
        moment = datetime.datetime.fromtimestamp(now, datetime.UTC)
        lasts = certificate.not_valid_before_utc <= moment < certificate.not_valid_after_utc - _RENEW_BEFORE
        return lasts and {_general_name(each) for each in names} <= set(found)


def open_authority(folder: Path, machine: str, names: Iterable[str], clock: Clock) -> Authority:
    """The authority that is kept in this folder. The first time it is made, and may also vouch for these names."""
    file = folder / "authority.pem"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not file.exists():
            _make(file, machine, names, clock())
        written = file.read_bytes()
    except OSError as error:
        raise Unavailable(
            f"The authority in {file} cannot be read or made ({error.strerror}). Change the rights of the data folder."
        ) from error
    try:
        certificate = x509.load_pem_x509_certificate(written)
        key = serialization.load_pem_private_key(written, password=None)
    except (ValueError, TypeError) as error:
        raise Unavailable(_damaged(file)) from error
    if not isinstance(key, ec.EllipticCurvePrivateKey) or key.public_key() != certificate.public_key():
        raise Unavailable(_damaged(file))
    if certificate.not_valid_after_utc.timestamp() < clock():
        raise Unavailable(f"The authority in {file} has expired. Delete it: phones then have to trust a new one.")
    return Authority(certificate, key)


def keep_file(file: Path, content: bytes) -> None:
    """Put a file in the place of another at once, for its owner alone."""
    draft = _draft(file, content)
    draft.replace(file)


def _make(file: Path, machine: str, names: Iterable[str], now: float) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    # Machines of one name have to be told apart in the settings of a phone.
    subject = _subject(f"Satchel on {machine[:32]} {secrets.token_hex(2)}")
    begins, ends = _validity(now, _AUTHORITY_DAYS)
    certificate = (
        _builder(subject, subject, key, begins)
        .not_valid_after(ends)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_key_usage(signs_certificates=True), critical=True)
        # Not critical, because old iPhones refuse what they do not know. Whoever knows it obeys either way.
        .add_extension(x509.NameConstraints(_permitted(names), None), critical=False)
        .sign(key, hashes.SHA256())
    )
    # Of two servers that begin at once, the first one's authority counts.
    draft = _draft(file, _pem(key, certificate))
    with suppress(FileExistsError):
        file.hardlink_to(draft)
    draft.unlink()


def _permitted(names: Iterable[str]) -> list[x509.GeneralName]:
    permitted: list[x509.GeneralName] = [x509.DNSName(each) for each in _LOCAL_NAMES]
    permitted += [x509.IPAddress(each) for each in _LOCAL_NETWORKS]
    for name in names:
        address = _address(name)
        if address is not None and not any(address in network for network in _LOCAL_NETWORKS):
            permitted.append(x509.IPAddress(ip_network(address)))
        elif address is None and not f".{name}".endswith(tuple(f".{each}" for each in _LOCAL_NAMES)):
            permitted.append(x509.DNSName(name))
    return permitted


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, begins: datetime.datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begins)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


def _subject(name: str) -> x509.Name:
    return x509.Name(
        [x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Satchel"), x509.NameAttribute(NameOID.COMMON_NAME, name)]
    )


def _key_usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _validity(now: float, days: int) -> tuple[datetime.datetime, datetime.datetime]:
    begins = datetime.datetime.fromtimestamp(int(now), datetime.UTC) - _DAY
    return begins, begins + datetime.timedelta(days=days)


def _address(name: str) -> Address | None:
    try:
        return ip_address(name)
    except ValueError:
        return None


def _general_name(name: str) -> x509.GeneralName:
    address = _address(name)
    return x509.DNSName(name) if address is None else x509.IPAddress(address)


def _pem(key: ec.EllipticCurvePrivateKey, certificate: x509.Certificate) -> bytes:
    encoded = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return encoded + certificate.public_bytes(serialization.Encoding.PEM)


def _draft(file: Path, content: bytes) -> Path:
    """Whole and on disk before it has its name."""
    draft = file.with_name(f"{file.name}.{secrets.token_hex(8)}")
    with open(draft, "xb", opener=lambda path, flags: os.open(path, flags, 0o600)) as opened:
        opened.write(content)
        opened.flush()
        os.fsync(opened.fileno())
    return draft


def _damaged(file: Path) -> str:
    return f"The authority in {file} is damaged. Restore it, or delete it: phones then have to trust a new one."
