"""`satchel send` and `satchel receive` with a real nginx in between: as we ship it, as it comes, and in the way."""

import subprocess
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from satchel.features.drop.limits import WRONG_NAMES_PER_NETWORK
from tests.application import PASSWORD
from tests.cli.drop.sender import sending
from tests.cli.terminal import Person, explains
from tests.cli.test_put_get import MEGABYTE, contents, fill
from tests.server.nginx import Nginx, nginx, plain, sample
from tests.server.process import serving
from tests.services import free_port

pytestmark = pytest.mark.slow

BYTES = "/api/v1/drop/sessions/.*/bytes"
SOCKET = "/api/v1/drop/sessions/.*/socket"


class Between:
    """An nginx that stands between two people and a server."""

    def __init__(self, url: str, proxy: Nginx, said: str = "") -> None:
        self.url = url
        # What the server has said when it started.
        self.said = said
        self.passed = proxy.passed
        self.passes = proxy.passes


@contextmanager
def behind(folder: Path, more: str = "", *, upgraded: str = "live|socket") -> Generator[Between]:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    options = ("--public-url", url, "--trusted-proxies", "127.0.0.1")
    with (
        serving(folder / "data", *options) as server,
        nginx(folder / "nginx", port, plain(port, server, more, upgraded=upgraded)) as proxy,
    ):
        yield Between(url, proxy)


def hand_over(ann: Person, bob: Person, url: str, *sent: str) -> None:
    with sending(ann, url, *sent) as sender:
        received = bob.run("receive", sender.opened["link"], "--yes", "--into", "here")
        assert received.code == 0, received
        assert sender.ends()[0] == 0


def a_film_arrives(ann: Person, bob: Person, url: str, size: int = 40 * MEGABYTE + 3) -> None:
    film = fill(ann.home / "film", size)
    hand_over(ann, bob, url, "film")
    assert (bob.home / "here/film").read_bytes() == film.read_bytes()


@pytest.fixture
def certificate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sequence[Path]:
    """And the key to it; everybody trusts it."""
    files = certificate, key = (tmp_path / "certificate.pem", tmp_path / "key.pem")
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=satchel"]
    named = [*make, "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(named, check=True, capture_output=True)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    return files


@pytest.fixture
def shipped(tmp_path: Path, certificate: Sequence[Path]) -> Iterator[Between]:
    """As `deploy/nginx.conf` has it."""
    port, port_without_tls = free_port(), free_port()
    url = f"https://127.0.0.1:{port}"
    with (
        serving(tmp_path / "data", "--public-url", url, "--trusted-proxies", "127.0.0.1") as server,
        nginx(tmp_path / "nginx", port, sample(port, port_without_tls, server, *certificate)) as proxy,
    ):
        moved = httpx.get(f"http://127.0.0.1:{port_without_tls}/drop")
        assert moved.headers["location"] == "https://127.0.0.1/drop"
        yield Between(url, proxy, server.said)


def test_as_we_ship_it_everything_passes_in_large_requests(ann: Person, bob: Person, shipped: Between) -> None:
    fill(ann.home / "band/violin.pdf", 5000)
    fill(ann.home / "band/old/viola.pdf", 3 * MEGABYTE)
    film = fill(ann.home / "film", 40 * MEGABYTE + 3)
    hand_over(ann, bob, shipped.url, "film", "band")
    assert (bob.home / "here/film").read_bytes() == film.read_bytes()
    assert contents(bob.home / "here/band") == contents(ann.home / "band")
    assert shipped.passed(f"PUT {BYTES}.* 204 204") < 12
    assert not shipped.passed(f"PUT {BYTES}.* 4.*")
    assert not shipped.passed(f"GET {SOCKET}.*")


def test_as_we_ship_it_what_is_kept_on_the_shelf_passes_too(ann: Person, shipped: Between) -> None:
    film = fill(ann.home / "film", 40 * MEGABYTE + 3)
    code = shipped.said.partition("/sign-up#invitation=")[2].split()[0]
    signup = ("signup", "--server", shipped.url, "--email", "ann@example.org", "--name", "Ann")
    strange = ann.run(*signup, SATCHEL_PASSWORD=PASSWORD)
    assert strange.code != 0
    assert "no account yet" in strange.err
    for command in ((*signup, "--invitation", code), ("put", "film"), ("get", "film", "--into", "here")):
        ran = ann.run(*command, SATCHEL_PASSWORD=PASSWORD)
        assert ran.code == 0, ran
    assert (ann.home / "here/film").read_bytes() == film.read_bytes()


def test_as_it_comes_it_takes_small_requests_only(ann: Person, bob: Person, tmp_path: Path) -> None:
    with behind(tmp_path, upgraded="live") as front:
        a_film_arrives(ann, bob, front.url)
        assert front.passed(f"PUT {BYTES}.* 413 -") == 1
        assert front.passed(f"PUT {BYTES}.* 204 204") == 41


def test_what_is_piped_passes_it_as_it_comes(ann: Person, bob: Person, tmp_path: Path) -> None:
    with behind(tmp_path, upgraded="live") as front, sending(ann, front.url, "-", "--as", "log") as sender:
        with bob.start("receive", sender.opened["link"], "--yes", "--into", "here") as received:
            sender.is_piped(bytes(3 * MEGABYTE))
            sender.has_no_more_to_come()
            assert received.wait(60) == 0
        assert sender.ends()[0] == 0
    assert (bob.home / "here/log").read_bytes() == bytes(3 * MEGABYTE)


@pytest.mark.parametrize("answer", [403, 501])
def test_where_it_refuses_requests_with_bytes_they_go_by_websocket(
    ann: Person, bob: Person, tmp_path: Path, answer: int
) -> None:
    with behind(tmp_path, f"location ~ /bytes/ {{{{ return {answer}; }}}}") as front:
        a_film_arrives(ann, bob, front.url)
        assert front.passed(f"PUT {BYTES}.* {answer} -") == 1
        assert front.passes(f"GET {SOCKET} 101 101")
        assert front.passed(f"GET {BYTES} 200 200") == 1


def test_where_it_refuses_answers_with_bytes_too_both_use_websockets(ann: Person, bob: Person, tmp_path: Path) -> None:
    with behind(tmp_path, "location ~ /bytes {{ return 403; }}") as front:
        a_film_arrives(ann, bob, front.url)
        assert front.passes(f"GET {SOCKET} 101 101")
        assert not front.passed(f".* {BYTES}.* 20.*")


def test_where_it_collects_everything_on_its_way_it_still_arrives(ann: Person, bob: Person, tmp_path: Path) -> None:
    collects = """
        client_max_body_size 0;
        location ~ /bytes {{
            proxy_pass {server}; proxy_ignore_headers X-Accel-Buffering;
            proxy_buffers 4 64m; proxy_busy_buffers_size 128m; client_body_buffer_size 64m;
        }}"""
    with behind(tmp_path, collects) as front:
        a_film_arrives(ann, bob, front.url, 100 * MEGABYTE)


def test_where_it_knows_of_no_websockets_somebody_says_so(ann: Person, tmp_path: Path) -> None:
    fill(ann.home / "film", 5)
    with behind(tmp_path, upgraded="none") as front:
        ran = ann.run("send", "film", "--server", front.url)
        assert explains(ran, 1, "websocket")


def test_those_who_come_through_it_are_counted_apart(tmp_path: Path) -> None:
    with behind(tmp_path, "proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;") as front:

        def tries(address: str, claims: str) -> int:
            transport = httpx.HTTPTransport(local_address=address)
            with httpx.Client(base_url=front.url, transport=transport) as client:
                path, claim = "/api/v1/drop/names/amber-otter-27", {"x-forwarded-for": claims}
                return client.get(path, headers=claim).status_code

        for number in range(WRONG_NAMES_PER_NETWORK.times):
            assert tries("127.0.0.2", claims=f"10.0.0.{number}") == 404
        assert tries("127.0.0.2", claims="10.1.1.1") == 429
        assert tries("127.0.0.3", claims="127.0.0.2") == 404
