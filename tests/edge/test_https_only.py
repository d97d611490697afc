"""Plain HTTP at a server that speaks TLS: pages are sent to HTTPS, all else is refused, this machine goes on."""

import httpx
import pytest

from satchel.edge.http.middleware import Exposure
from tests.edge.given import Edge


@pytest.fixture
def door(edge: Edge) -> Edge:
    router = edge.router()

    @router.get("/things")
    async def things() -> list[str]:
        return ["a thing"]

    @router.post("/things")
    async def add() -> None: ...

    edge.exposure = Exposure(addresses=("https://satchel.test",), allowed_hosts=("*",), speaks_tls=True)
    return edge


def slug(answer: httpx.Response) -> str:
    return answer.json()["type"].rpartition("#")[2]


@pytest.mark.parametrize(
    ("host", "location"),
    [
        ("satchel.test", "https://satchel.test/a%20b?c=%2F"),
        ("192.168.1.20:8400", "https://192.168.1.20:8400/a%20b?c=%2F"),
        ("[fd00::5]:8400", "https://[fd00::5]:8400/a%20b?c=%2F"),
    ],
)
async def test_whoever_reads_is_sent_to_the_same_place_by_https(door: Edge, host: str, location: str) -> None:
    for method in ("GET", "HEAD"):
        answer = await door.client().request(method, "/a%20b?c=%2F", headers={"host": host})
        assert (answer.status_code, answer.headers["location"]) == (307, location)
        assert answer.headers["cache-control"] == "no-store"


async def test_whatever_else_is_refused_and_told_where_to_go(door: Edge) -> None:
    answer = await door.client().post("/api/v1/things")
    assert (answer.status_code, slug(answer)) == (403, "https-needed")
    assert "https://satchel.test" in answer.json()["detail"]


async def test_a_redirect_never_leads_to_another_host(door: Edge) -> None:
    for host in ("a@evil.test", "evil.test/x", "evil test", "evil.test:port"):
        answer = await door.client().get("/", headers={"host": host})
        assert "location" not in answer.headers


async def test_by_https_everything_works_and_browsers_are_told_to_stay(door: Edge) -> None:
    answer = await door.client(https=True).get("/api/v1/things")
    assert answer.json() == ["a thing"]
    assert "strict-transport-security" in answer.headers


async def test_this_machine_needs_no_certificate_for_itself(door: Edge) -> None:
    here = door.client(peer="127.0.0.1")
    for host in ("127.0.0.1:8400", "localhost:8400"):
        assert (await here.get("/api/v1/things", headers={"host": host})).status_code == 200
    # Neither is enough alone: a proxy on this machine, and somebody who only says so.
    assert (await here.get("/api/v1/things", headers={"host": "satchel.test"})).status_code == 307
    assert (await door.client().get("/api/v1/things", headers={"host": "localhost"})).status_code == 307


async def test_a_page_that_came_in_the_clear_cannot_write_by_https(door: Edge) -> None:
    secure = door.client(https=True)
    refused = await secure.post("/api/v1/things", headers={"origin": "http://satchel.test"})
    assert (refused.status_code, slug(refused)) == (403, "cross-origin")
    taken = await secure.post("/api/v1/things", headers={"origin": "https://satchel.test"})
    assert taken.status_code == 204


async def test_probes_come_as_they_always_have(door: Edge) -> None:
    assert (await door.client().get("/healthz")).status_code == 200
