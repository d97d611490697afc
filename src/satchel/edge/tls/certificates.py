"""The certificate that a server shows: of its own local authority, or given by whoever runs it; renewed as it runs."""

import logging
import re
import socket
import ssl
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Protocol

from satchel.edge.http.lan_addresses import lan_addresses
from satchel.edge.tls.authority import Authority, keep_file, open_authority
from satchel.kernel.clock import Clock, system_clock
from satchel.kernel.errors import Unavailable

_log = logging.getLogger("satchel.edge")

# By mDNS, every server on a local network may call itself so.
MDNS_NAME = "satchel.local"
_NAME = re.compile(r"(?!-)[a-z0-9-]{1,63}(?<!-)(\.(?!-)[a-z0-9-]{1,63}(?<!-))*")


class Certificates(Protocol):
    """What the server needs of either kind."""

    # Connections that begin after a renewal use the new certificate.
    context: ssl.SSLContext
    authority: Authority | None

    def renew(self) -> None:
        """Take a new certificate if there has to be one. Called every minute."""
        ...


class LocalCertificates:
    """Issued by an authority in the data folder, for all names and addresses that this machine has at the moment."""

    def __init__(self, folder: Path, names: Callable[[], list[str]], clock: Clock = system_clock) -> None:
        self.context = _context()
        self._folder = folder
        self._names = names
        self._clock = clock
        self._left_out: set[str] = set()
        wanted = names()
        self.authority: Authority | None = open_authority(folder, machine_name(), wanted, clock)
        self._authority = self.authority
        self._show_authority()
        self._issue_if_needed()
        self.context.load_cert_chain(self._file)

    def renew(self) -> None:
        if self._issue_if_needed():
            self.context.load_cert_chain(self._file)
            _log.info("this server has a new certificate for its addresses; nobody has to trust it anew")

    @property
    def _file(self) -> Path:
        return self._folder / "server.pem"

    def _issue_if_needed(self) -> bool:
        wanted = [name for name in self._names() if self._may_vouch_for(name)]
        written = self._file.read_bytes() if self._file.exists() else b""
        if self._authority.is_good(written, wanted, self._clock()):
            return False
        keep_file(self._file, self._authority.issue(wanted, self._clock()))
        return True

    def _may_vouch_for(self, name: str) -> bool:
        if self._authority.may_vouch_for(name):
            return True
        if name not in self._left_out:
            self._left_out.add(name)
            _log.warning(
                "the local authority may not vouch for %s, so https does not work there; use another address, or "
                "delete %s and let phones trust a new authority",
                name,
                self._folder,
            )
        return False

    def _show_authority(self) -> None:
        """Beside the file with the key, one without it, to be copied and trusted."""
        shown = self._folder / "authority.crt"
        if not shown.exists() or shown.read_bytes() != self._authority.pem:
            keep_file(shown, self._authority.pem)


class GivenCertificates:
    """Files that somebody else renews, such as an ACME client; they are read again when they have changed."""

    authority: Authority | None = None

    def __init__(self, certificate: Path, key: Path) -> None:
        self.context = _context()
        self._files = (certificate, key)
        try:
            self._seen = self._changed()
            self._load()
        except (OSError, ValueError) as error:
            raise Unavailable(_unusable(certificate, key, error)) from error

    def renew(self) -> None:
        try:
            if (changed := self._changed()) != self._seen:
                self._load()
                self._seen = changed
                _log.info("the certificate was read again")
        except (OSError, ValueError) as error:
            _log.error("%s The certificate that was read before stays in use.", _unusable(*self._files, error))

    def _changed(self) -> list[int]:
        return [file.stat().st_mtime_ns for file in self._files]

    def _load(self) -> None:
        # First elsewhere, because a certificate without its key would break the context in use.
        for context in (_context(), self.context):
            context.load_cert_chain(*self._files, password="")  # a key with a password would be asked for at a terminal


def names_of_server(listens_on: str, more: Iterable[str]) -> list[str]:
    """All names and addresses by which a server that listens there can be called from near."""
    machine = machine_name()
    names = ["localhost", "127.0.0.1", "::1", machine, MDNS_NAME]
    if "." not in machine:
        names.append(f"{machine}.local")
    names += [each.host.strip("[]") for each in lan_addresses(listens_on)]
    names += [listens_on, *more]
    usable = (each.lower().rstrip(".") for each in names if each not in ("0.0.0.0", "::", "*", ""))  # noqa: S104
    return list(dict.fromkeys(name for name in usable if ":" in name or _NAME.fullmatch(name)))


def machine_name() -> str:
    name = socket.gethostname().lower()
    return name if _NAME.fullmatch(name) else "localhost"


def _context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    return context


def _unusable(certificate: Path, key: Path, error: Exception) -> str:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return (
        f"The certificate {certificate} with the key {key} cannot be used ({reason}). Give PEM files that belong "
        "together, without a password, with --tls-cert and --tls-key."
    )
