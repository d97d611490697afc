"""The web app's files as the server gives them out: encodings, caching, policies, and the one page of every address."""

import base64
import hashlib
from collections.abc import AsyncGenerator
from pathlib import Path

import httpx
import pytest

from satchel.edge.files.site import Site
from satchel.kernel.errors import Unavailable
from tests.application import Satchel, running_satchel


@pytest.fixture
async def satchel(tmp_path: Path) -> AsyncGenerator[Satchel]:
    async with running_satchel(tmp_path) as running:
        yield running


@pytest.fixture
async def client(satchel: Satchel) -> AsyncGenerator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(satchel.app)
    async with httpx.AsyncClient(transport=transport, base_url="http://satchel.test") as opened:
        yield opened


def some_script(page: str) -> str:
    start = page.index("/_app/immutable/chunks/")
    return page[start : page.index('"', start)]


@pytest.mark.parametrize("path", ["/", "/sign-in", "/shelf", "/no/such/page", "/caf%C3%A9"])
async def test_every_address_of_the_app_is_answered_with_its_one_page(client: httpx.AsyncClient, path: str) -> None:
    answer = await client.get(path)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["cache-control"] == "no-cache"
    assert "<title>Satchel</title>" in answer.text


@pytest.mark.parametrize(
    "path",
    [
        "/api",
        "/api/v1/nothing",
        "/_app/immutable/gone.js",
        "/objects/x/y",
        "/.well-known/security",
        "/x.php",
        "/../a.txt",
    ],
)
async def test_what_a_program_asks_for_in_vain_is_not_found(client: httpx.AsyncClient, path: str) -> None:
    answer = await client.get(path)
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"


async def test_a_page_is_only_read(client: httpx.AsyncClient) -> None:
    assert (await client.post("/sign-in")).status_code == 404
    assert (await client.delete("/")).status_code == 404


async def test_the_policy_lets_the_built_in_scripts_run_and_no_others(client: httpx.AsyncClient) -> None:
    answer = await client.get("/")
    policy = dict(part.strip().split(" ", 1) for part in answer.headers["content-security-policy"].split(";"))
    scripts = answer.text.split("<script>")[1:]
    hashes = [hashlib.sha256(script.split("</script>")[0].encode()).digest() for script in scripts]
    allowed = {f"'sha256-{base64.b64encode(digest).decode()}'" for digest in hashes}
    assert set(policy["script-src"].split()) == {"'self'", *allowed}
    assert len(allowed) == 2
    assert policy["default-src"] == "'none'"
    assert policy["frame-ancestors"] == "'none'"
    assert "unsafe-inline" not in answer.headers["content-security-policy"]


async def test_the_service_worker_may_fetch_and_nothing_else(client: httpx.AsyncClient) -> None:
    answer = await client.get("/service-worker.js")
    assert answer.headers["content-security-policy"] == "default-src 'none'; connect-src 'self'"
    assert answer.headers["cache-control"] == "no-cache"


async def test_hashed_files_are_kept_for_good_and_come_compressed(client: httpx.AsyncClient) -> None:
    script = some_script((await client.get("/")).text)
    plain = await client.get(script, headers={"accept-encoding": "identity"})
    assert plain.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert "content-encoding" not in plain.headers
    seen = {plain.headers["etag"]}
    for wanted, given in [("br;q=1.0, gzip", "br"), ("gzip, br;q=0", "gzip"), ("GZIP", "gzip")]:
        async with client.stream("GET", script, headers={"accept-encoding": wanted}) as answer:
            raw = b"".join([piece async for piece in answer.aiter_raw()])
        assert answer.headers["content-encoding"] == given
        assert answer.headers["vary"] == "accept-encoding"
        assert 0 < len(raw) == int(answer.headers["content-length"]) < len(plain.content)
        seen.add(answer.headers["etag"])
    assert len(seen) == 3


async def test_what_has_not_changed_is_not_sent_again(client: httpx.AsyncClient) -> None:
    first = await client.get("/")
    again = await client.get("/", headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["content-security-policy"] == first.headers["content-security-policy"]
    head = await client.head("/")
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == first.headers["content-length"]


def test_a_site_that_was_not_built_is_said_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="not built"):
        Site(tmp_path)
