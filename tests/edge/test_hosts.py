"""The names that this server answers to, and cookies where its public address is https."""

from pathlib import Path

import httpx
import pytest

from satchel.edge.http.hosts import Hosts
from tests.application import PASSWORD, running_satchel, set_up_code

PUBLIC = "https://satchel.example.org"


@pytest.mark.parametrize(
    "host",
    [
        *("127.0.0.1:8400", "192.168.1.7", "[::1]:8400", "[2001:db8::1]", "localhost:8400", "nas", "nas.local:8400"),
        *("satchel.example.org", "SATCHEL.example.org:443", "files.example.org", "satchel.example.org."),
    ],
)
def test_own_names_are_answered(host: str) -> None:
    assert Hosts([PUBLIC], ["files.example.org"]).allow(host.lower())


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example", "evil.example:8400", "example.org", "local.evil.example", "127.0.0.1.nip.io"),
        # What begins like a name of ours, and would lead elsewhere in an address that is made of it.
        *("[::1]evil.example", "[::1]@evil.example", "127.0.0.1:8400@evil.example", "nas:x@evil.example", "nas:80/x"),
    ],
)
def test_names_that_strangers_can_register_are_not(host: str) -> None:
    assert not Hosts([PUBLIC], ["files.example.org"]).allow(host)
    assert Hosts([PUBLIC], ["*"]).allow(host)


async def test_a_page_whose_name_was_led_here_gets_nothing(tmp_path: Path) -> None:
    """DNS rebinding: Host and Origin agree, and the connection comes from this very machine."""
    async with running_satchel(tmp_path) as satchel:
        evil = {"host": "evil.example:8400", "origin": "http://evil.example:8400"}
        body = {"email": "mal@example.org", "name": "Mal", "password": PASSWORD}
        refused = await satchel.caller()("POST", "/accounts", json=body, headers=evil)
        assert (refused.status_code, refused.json()["type"]) == (421, "/problems#unknown-host")
        assert "--allowed-hosts" in refused.json()["detail"]
        for path in ("/metrics", "/", "/api/v1/sign-up"):
            assert (await satchel.caller().http.get(path, headers=evil)).status_code == 421
        assert (await satchel.caller()("GET", "/sign-up")).json()["empty"]


async def test_cookies_are_for_https_and_this_host_where_the_public_address_is(tmp_path: Path) -> None:
    """Also behind a proxy that nobody has told us to trust."""
    async with running_satchel(tmp_path, public_url=PUBLIC) as satchel:
        transport = httpx.ASGITransport(satchel.app, client=("127.0.0.1", 50000))
        async with httpx.AsyncClient(transport=transport, base_url=PUBLIC) as browser:
            body = {"email": "ann@example.org", "name": "Ann", "password": PASSWORD, "keep": "cookie"}
            answer = await browser.post("/api/v1/accounts", json={**body, "invitation": set_up_code(satchel)})
            assert answer.status_code == 201
            assert "max-age" in answer.headers["strict-transport-security"]
            cookies = {each.split("=")[0]: each for each in answer.headers.get_list("set-cookie")}
            assert set(cookies) == {"__Host-satchel_access", "__Secure-satchel_refresh", "__Secure-satchel_device"}
            assert all("; Secure" in each and "HttpOnly" in each for each in cookies.values())
            assert (await browser.get("/api/v1/accounts/me")).status_code == 200
            assert (await browser.post("/api/v1/sessions/refresh", json={})).status_code == 200
            # A session from before, whose cookies have no prefix, goes on and gets new ones.
            values = {name.partition("_")[2].partition("-")[2]: value for name, value in browser.cookies.items()}
            browser.cookies.clear()
            for name, value in values.items():
                browser.cookies.set(name, value)
            assert (await browser.get("/api/v1/accounts/me")).status_code == 200
            renewed = await browser.post("/api/v1/sessions/refresh", json={})
            assert "__Host-satchel_access" in renewed.headers["set-cookie"]
            await browser.delete("/api/v1/sessions/current")
            assert (await browser.get("/api/v1/accounts/me")).status_code == 401
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8400") as local:
            plain = await local.post("/api/v1/guests", json={"name": "Gus", "keep": "cookie"})
            assert plain.headers["set-cookie"].startswith("satchel_guest=")
            assert "strict-transport-security" not in plain.headers
