"""Certificates of a local authority: what is in them, when they are issued anew, and what damages do."""

import logging
import os
import ssl
import stat
import time
from datetime import timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID

from satchel.edge.tls.authority import Authority, open_authority
from satchel.edge.tls.certificates import GivenCertificates, LocalCertificates, names_of_server
from satchel.kernel.clock import ManualClock
from satchel.kernel.errors import Unavailable

NAMES = ["localhost", "127.0.0.1", "satchel.local", "192.168.1.20"]
DAY = 86400.0


@pytest.fixture
def clock() -> ManualClock:
    """At the present, because OpenSSL has a clock of its own."""
    return ManualClock(time.time())


def shown(folder: Path) -> x509.Certificate:
    return x509.load_pem_x509_certificate((folder / "server.pem").read_bytes())


def names_in(certificate: x509.Certificate) -> set[str]:
    found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    return {str(each.value) for each in found}


def shakes_hands(server: ssl.SSLContext, authority: Path, name: str) -> bool:
    """Whether a strict client that knows only this authority believes the server to be of this name."""
    client = ssl.create_default_context(cafile=str(authority))
    client.verify_flags |= ssl.VERIFY_X509_STRICT
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = (
        client.wrap_bio(to_client, to_server, server_hostname=name),
        server.wrap_bio(to_server, to_client, server_side=True),
    )
    for _ in range(4):
        for end in ends:
            try:
                end.do_handshake()
            except ssl.SSLWantReadError:
                continue
            except ssl.SSLCertVerificationError:
                return False
    return True


def test_a_strict_client_believes_each_name_and_address_and_no_other(tmp_path: Path) -> None:
    certificates = LocalCertificates(tmp_path / "tls", lambda: NAMES)
    authority = tmp_path / "tls" / "authority.crt"
    assert [shakes_hands(certificates.context, authority, name) for name in NAMES] == [True] * 4
    assert not shakes_hands(certificates.context, authority, "192.168.1.21")


def test_phones_accept_what_is_in_it(tmp_path: Path, clock: ManualClock) -> None:
    certificates = LocalCertificates(tmp_path / "tls", lambda: NAMES, clock)
    leaf = shown(tmp_path / "tls")
    assert names_in(leaf) == set(NAMES)
    assert leaf.not_valid_after_utc - leaf.not_valid_before_utc <= timedelta(days=398)
    assert leaf.not_valid_before_utc.timestamp() < clock()
    usage = leaf.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert list(usage) == [ExtendedKeyUsageOID.SERVER_AUTH]
    assert certificates.authority is not None
    extensions = certificates.authority.certificate.extensions
    basic = extensions.get_extension_for_class(x509.BasicConstraints)
    assert (basic.critical, basic.value.ca, basic.value.path_length) == (True, True, 0)
    assert certificates.authority.name.startswith("Satchel on ")


def test_the_authority_cannot_vouch_for_other_sites(tmp_path: Path, clock: ManualClock) -> None:
    authority = open_authority(tmp_path / "tls", "box", ["box"], clock)
    allowed = ("box", "printer.local", "10.1.2.3", "fd00::7")
    refused = ("bank.example", "box.example", "notlocal", "8.8.8.8", "2001:db8::1")
    assert all(authority.may_vouch_for(name) for name in allowed)
    assert not any(authority.may_vouch_for(name) for name in refused)
    (tmp_path / "forged.pem").write_bytes(authority.issue(["bank.example"], clock()))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "forged.pem")
    (tmp_path / "authority.crt").write_bytes(authority.pem)
    assert not shakes_hands(context, tmp_path / "authority.crt", "bank.example")


def test_its_files_are_for_their_owner_alone(tmp_path: Path) -> None:
    LocalCertificates(tmp_path / "tls", lambda: NAMES)
    assert stat.S_IMODE((tmp_path / "tls").stat().st_mode) == 0o700
    kept = {file.name: stat.S_IMODE(file.stat().st_mode) for file in (tmp_path / "tls").iterdir()}
    assert kept == {"authority.pem": 0o600, "authority.crt": 0o600, "server.pem": 0o600}


def test_a_new_address_or_a_near_end_brings_a_certificate_of_the_same_authority(
    tmp_path: Path, clock: ManualClock
) -> None:
    names = [*NAMES]
    certificates = LocalCertificates(tmp_path / "tls", lambda: names, clock)
    assert certificates.authority is not None
    trusted, first = certificates.authority.pem, shown(tmp_path / "tls").serial_number
    certificates.renew()
    assert shown(tmp_path / "tls").serial_number == first
    names.append("192.168.7.7")
    certificates.renew()
    second = shown(tmp_path / "tls")
    assert "192.168.7.7" in names_in(second)
    assert shakes_hands(certificates.context, tmp_path / "tls" / "authority.crt", "192.168.7.7")
    names.remove("192.168.7.7")
    certificates.renew()
    assert shown(tmp_path / "tls").serial_number == second.serial_number
    clock.advance(370 * DAY)
    again = LocalCertificates(tmp_path / "tls", lambda: names, clock)
    assert shown(tmp_path / "tls").serial_number != second.serial_number
    assert again.authority is not None
    assert again.authority.pem == trusted


def test_an_address_that_it_may_not_vouch_for_is_left_out_and_named_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    names = [*NAMES]
    certificates = LocalCertificates(tmp_path / "tls", lambda: names)
    names.append("8.8.8.8")
    with caplog.at_level(logging.WARNING):
        certificates.renew()
        certificates.renew()
    assert names_in(shown(tmp_path / "tls")) == set(NAMES)
    assert [record.getMessage().count("8.8.8.8") for record in caplog.records] == [1]


def test_a_public_address_of_the_first_day_is_vouched_for(tmp_path: Path) -> None:
    LocalCertificates(tmp_path / "tls", lambda: [*NAMES, "8.8.8.8", "files.example.org"])
    assert {"8.8.8.8", "files.example.org"} <= names_in(shown(tmp_path / "tls"))


@pytest.mark.parametrize("content", [b"", b"half an author"])
def test_a_damaged_authority_is_one_sentence_and_a_damaged_certificate_is_issued_anew(
    tmp_path: Path, content: bytes
) -> None:
    LocalCertificates(tmp_path / "tls", lambda: NAMES)
    (tmp_path / "tls" / "server.pem").write_bytes(content)
    certificates = LocalCertificates(tmp_path / "tls", lambda: NAMES)
    assert shakes_hands(certificates.context, tmp_path / "tls" / "authority.crt", "localhost")
    (tmp_path / "tls" / "authority.pem").write_bytes(content)
    with pytest.raises(Unavailable, match=r"is damaged\. Restore it, or delete it"):
        LocalCertificates(tmp_path / "tls", lambda: NAMES)


def test_an_expired_authority_is_one_sentence(tmp_path: Path, clock: ManualClock) -> None:
    LocalCertificates(tmp_path / "tls", lambda: NAMES, clock)
    clock.advance(3700 * DAY)
    with pytest.raises(Unavailable, match="has expired"):
        LocalCertificates(tmp_path / "tls", lambda: NAMES, clock)


def given_files(folder: Path, authority: Authority, name: str, now: float) -> tuple[Path, Path]:
    key, _, certificate = authority.issue([name], now).partition(b"-----BEGIN CERTIFICATE-----")
    (folder / "given.key").write_bytes(key)
    (folder / "given.crt").write_bytes(b"-----BEGIN CERTIFICATE-----" + certificate)
    return folder / "given.crt", folder / "given.key"


def test_given_files_are_used_and_read_again_when_they_change(tmp_path: Path, clock: ManualClock) -> None:
    authority = open_authority(tmp_path / "elsewhere", "box", [], clock)
    (tmp_path / "authority.crt").write_bytes(authority.pem)
    certificates = GivenCertificates(*given_files(tmp_path, authority, "one.local", clock()))
    assert certificates.authority is None
    assert shakes_hands(certificates.context, tmp_path / "authority.crt", "one.local")
    files = given_files(tmp_path, authority, "two.local", clock())
    os.utime(files[0], (1, 1))
    certificates.renew()
    assert shakes_hands(certificates.context, tmp_path / "authority.crt", "two.local")
    files[1].write_bytes(b"no key")
    os.utime(files[1], (2, 2))
    certificates.renew()
    assert shakes_hands(certificates.context, tmp_path / "authority.crt", "two.local")


@pytest.mark.parametrize(("certificate", "key"), [("missing", "missing"), ("a.crt", "b.key")])
def test_given_files_that_do_not_belong_together_are_one_sentence(
    tmp_path: Path, clock: ManualClock, certificate: str, key: str
) -> None:
    authority = open_authority(tmp_path / "elsewhere", "box", [], clock)
    (tmp_path / "a.crt").write_bytes(authority.issue(["a.local"], clock()))
    (tmp_path / "b.key").write_bytes(authority.issue(["b.local"], clock()))
    with pytest.raises(Unavailable, match="cannot be used"):
        GivenCertificates(tmp_path / certificate, tmp_path / key)


def test_the_names_of_a_server_are_those_of_its_machine_and_its_settings() -> None:
    names = names_of_server("127.0.0.1", ["Satchel.Test", "*", "no_name", ""])
    assert names[:3] == ["localhost", "127.0.0.1", "::1"]
    assert {"satchel.local", "satchel.test"} <= set(names)
    assert not {"*", "no_name", "", "0.0.0.0"} & set(names)
