"""`satchel serve --tls` as clients of all kinds meet it: curl, OpenSSL and Python, with and without trust."""

import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from websockets.sync.client import connect

from satchel.cli.serve.reach_lines import reach_lines
from satchel.config import Settings
from satchel.edge.http.lan_addresses import lan_addresses
from satchel.edge.tls.authority import open_authority
from satchel.edge.tls.certificates import LocalCertificates
from satchel.kernel.clock import system_clock
from tests.application import PASSWORD
from tests.server.process import ServerProcess, refused, serving
from tests.services import free_port

ANN = {"email": "ann@example.org", "name": "Ann", "password": PASSWORD, "keep": "cookie"}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tls") / "data"


@pytest.fixture(scope="module")
def server(data: Path) -> Iterator[ServerProcess]:
    with serving(data, "--tls", "--sign-up", "open") as server:
        yield server


@pytest.fixture
def authority(data: Path, server: ServerProcess) -> Path:
    assert server.process.poll() is None
    return data / "tls" / "authority.crt"


def curl(server: ServerProcess, address: str, *options: str) -> subprocess.CompletedProcess[str]:
    """As if from elsewhere: by a name that is mapped to this machine."""
    port = server.url.rpartition(":")[2]
    command = ["curl", "--silent", "--show-error", "--max-time", "20", "--noproxy", "*"]
    command += ["--resolve", f"satchel.local:{port}:127.0.0.1", *options, address.replace("PORT", port)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def test_curl_is_sent_to_https_and_believes_the_authority_alone(server: ServerProcess, authority: Path) -> None:
    page = "http://satchel.local:PORT/healthz?a=b"
    assert curl(server, "https://satchel.local:PORT/healthz").returncode == 60  # no known issuer
    followed = curl(
        server,
        page.replace("/healthz", "/"),
        *(
            "--location",
            "--cacert",
            str(authority),
            "--output",
            "/dev/null",
            "--write-out",
            "%{url_effective} %{http_version}",
        ),
    )
    port = server.url.rpartition(":")[2]
    assert followed.stdout == f"https://satchel.local:{port}/?a=b 1.1"
    for host in ("localhost", "127.0.0.1"):
        assert curl(server, f"https://{host}:PORT/healthz", "--cacert", str(authority)).returncode == 0


def test_a_phone_gets_the_authority_by_plain_http_and_then_trusts_the_server(
    server: ServerProcess, tmp_path: Path
) -> None:
    page = curl(server, "http://satchel.local:PORT/trust").stdout
    got = curl(server, "http://satchel.local:PORT/trust/satchel.crt", "--output", str(tmp_path / "got.crt"))
    assert got.returncode == 0
    shown = subprocess.run(
        ["openssl", "x509", "-in", str(tmp_path / "got.crt"), "-noout", "-fingerprint", "-sha256"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert shown.strip().rpartition("=")[2] in page
    assert curl(server, "https://satchel.local:PORT/healthz", "--cacert", str(tmp_path / "got.crt")).returncode == 0


def test_openssl_finds_modern_protocols_only(server: ServerProcess, authority: Path) -> None:
    address = server.url.removeprefix("http://")
    for option, is_spoken in (("-tls1_3", True), ("-tls1_2", True), ("-tls1_1", False)):
        done = subprocess.run(
            ["openssl", "s_client", "-connect", address, "-CAfile", str(authority), "-verify_return_error", option],
            input="",
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert (done.returncode == 0) is is_spoken, option


def test_accounts_cookies_and_live_events_work_by_https(server: ServerProcess, authority: Path) -> None:
    trust = ssl.create_default_context(cafile=str(authority))
    secure = server.url.replace("http:", "https:")
    with httpx.Client(base_url=secure, verify=trust, headers={"origin": secure}, timeout=20) as browser:
        signed_up = browser.post("/api/v1/accounts", json=ANN, headers={"sec-fetch-site": "same-origin"})
        assert signed_up.status_code == 201, signed_up.text
        cookies = signed_up.headers.get_list("set-cookie")
        assert cookies
        assert all("secure" in each.lower() for each in cookies)
        assert "strict-transport-security" not in signed_up.headers
        assert browser.get("/api/v1/accounts/me").json()["email"] == ANN["email"]
        sent = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
        live = secure.replace("https:", "wss:") + "/api/v1/live"
        with connect(live, ssl=trust, origin=secure, additional_headers={"cookie": sent}) as socket:  # pyright: ignore[reportArgumentType]
            assert socket.recv(timeout=20)


def test_a_restart_keeps_the_authority_and_its_files_are_for_their_owner(tmp_path: Path) -> None:
    folder = tmp_path / "data" / "tls"
    with serving(tmp_path / "data", "--tls") as server:
        first = server.client.get("/trust/satchel.crt").content
    with serving(tmp_path / "data", "--tls") as server:
        assert server.client.get("/trust/satchel.crt").content == first
    assert {file.stat().st_mode & 0o777 for file in folder.iterdir()} == {0o600}


def test_given_files_are_shown_instead_and_there_is_nothing_to_trust(tmp_path: Path) -> None:
    authority = open_authority(tmp_path, "elsewhere", [], system_clock)
    (tmp_path / "given.pem").write_bytes(authority.issue(["localhost", "127.0.0.1"], system_clock()))
    trust = ssl.create_default_context(cadata=authority.pem.decode())
    with serving(tmp_path / "data", "--tls-cert", str(tmp_path / "given.pem")) as server:
        answer = httpx.get(server.url.replace("http:", "https:") + "/healthz", verify=trust)
        assert answer.status_code == 200
        assert "strict-transport-security" in answer.headers
        assert server.client.get("/trust/satchel.crt").status_code == 404
    assert not (tmp_path / "data" / "tls").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--tls", "--tls-cert", "a.pem"), "Choose one of them"),
        (("--tls-key", "a.key"), "give that with --tls-cert"),
        (("--tls-cert", "/nowhere/a.pem"), "cannot be used"),
    ],
)
def test_what_cannot_be_is_one_sentence(tmp_path: Path, options: tuple[str, ...], said: str) -> None:
    code, words = refused(tmp_path / "data", "--port", str(free_port()), *options)
    assert code in (1, 2)
    assert said in words
    assert "Traceback" not in words


def test_without_tls_there_is_no_page_of_trust(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as server:
        assert server.client.get("/trust/satchel.crt").status_code == 404


def test_the_terminal_shows_where_phones_begin_and_what_to_compare(tmp_path: Path) -> None:
    """For the network that this machine has; nothing listens there."""
    certificates = LocalCertificates(tmp_path / "tls", lambda: ["localhost"])
    assert certificates.authority is not None
    lines = list(reach_lines(Settings(lan=True, tls=True), "http://127.0.0.1:8400", certificates))
    plain = list(reach_lines(Settings(lan=True), "http://127.0.0.1:8400"))
    if found := lan_addresses("0.0.0.0"):
        first = found[0]
        assert lines[0] == f"On your network at https://{first.host}:8400 ({first.card})"
        assert plain[0] == f"On your network at http://{first.host}:8400 ({first.card})"
        assert f"Phones trust it once, at http://{first.host}:8400/trust" in lines
        assert certificates.authority.fingerprint in lines[-1]
        assert not any("/trust" in line for line in plain)
    else:
        assert lines == plain == [lines[0]]
        assert "--public-url" in lines[0]


def test_https_for_this_machine_alone_is_said_beside_the_plain_address(tmp_path: Path) -> None:
    certificates = LocalCertificates(tmp_path / "tls", lambda: ["localhost"])
    assert certificates.authority is not None
    lines = list(reach_lines(Settings(tls=True), "http://127.0.0.1:8400", certificates))
    assert lines[0] == "By HTTPS at https://127.0.0.1:8400, once a browser trusts it: http://127.0.0.1:8400/trust"
    assert certificates.authority.fingerprint in lines[1]
    assert lines[2:] == list(reach_lines(Settings(), "http://127.0.0.1:8400"))
