"""The page at which phones learn to trust the local authority, and the files that it hands out."""

import plistlib
import re
import ssl
from pathlib import Path

import httpx
import pytest
from cryptography import x509

from satchel.edge.http.middleware import Exposure
from satchel.edge.tls import trust_page
from satchel.edge.tls.authority import Authority, open_authority
from satchel.kernel.clock import ManualClock
from tests.edge.given import Edge

IPHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 Version/18.6 Mobile Safari/604.1"
PIXEL = "Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 Chrome/142.0.0.0 Mobile Safari/537.36"
MAC = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Version/18.6 Safari/605.1.15"
WINDOWS = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/142.0.0.0 Safari/537.36"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return open_authority(tmp_path / "tls", "box", [], ManualClock(1_800_000_000))


@pytest.fixture
def phone(edge: Edge, authority: Authority) -> httpx.AsyncClient:
    """By plain HTTP from elsewhere on the network, as whoever trusts nothing here yet."""
    edge.routers.append(trust_page.routes(authority))
    edge.exposure = Exposure(speaks_tls=True, sends_hsts=False)
    return edge.client()


def opened(page: str) -> str:
    """The device whose steps are open."""
    [name] = re.findall(r"<details class=\"card\" open><summary>([^<]+)", page)
    return name


@pytest.mark.parametrize(
    ("agent", "first"),
    [
        (IPHONE, "iPhone and iPad"),
        (PIXEL, "Android"),
        (MAC, "Mac"),
        (WINDOWS, "Windows"),
        (FIREFOX, "Firefox on a computer"),
        ("", "Linux"),
    ],
)
async def test_the_steps_of_the_device_that_asks_are_open_and_all_others_are_there(
    phone: httpx.AsyncClient, agent: str, first: str
) -> None:
    page = (await phone.get("/trust", headers={"user-agent": agent})).text
    assert opened(page) == first
    assert page.count("<details") == 6


async def test_an_ipad_calls_itself_a_mac_so_both_stand_first(phone: httpx.AsyncClient) -> None:
    page = (await phone.get("/trust", headers={"user-agent": MAC})).text
    assert page.index("Mac<") < page.index("iPhone and iPad<") < page.index("Other devices")


async def test_it_shows_the_fingerprint_and_the_name_and_where_https_is(
    phone: httpx.AsyncClient, authority: Authority
) -> None:
    answer = await phone.get("/trust")
    assert authority.fingerprint in answer.text
    assert authority.name in answer.text
    assert 'href="https://satchel.test/"' in answer.text
    assert "img-src https://satchel.test" in answer.headers["content-security-policy"]
    assert "strict-transport-security" not in answer.headers


@pytest.mark.parametrize(
    ("query", "header", "language"),
    [
        ("", "ja,en;q=0.8", "ja"),
        ("", "zh-TW", "zh-Hant"),
        ("", "zh-CN,ja", "zh-Hant"),
        ("", "fr,de", "en"),
        ("?lang=ja", "en", "ja"),
        ("?lang=%22%3E", "en-GB", "en"),
    ],
)
async def test_it_speaks_the_language_of_the_browser_or_the_one_that_was_chosen(
    phone: httpx.AsyncClient, query: str, header: str, language: str
) -> None:
    page = (await phone.get(f"/trust{query}", headers={"accept-language": header})).text
    assert f'<html lang="{language}">' in page


def test_every_language_has_every_word() -> None:
    words = trust_page.words()
    shapes = [{key: isinstance(text, str) or len(text) for key, text in each.items()} for each in words.values()]
    assert set(words) == {"en", "zh-Hant", "ja"}
    assert all(shape == shapes[0] for shape in shapes)


async def test_the_certificate_is_the_authority_and_holds_no_key(
    phone: httpx.AsyncClient, authority: Authority
) -> None:
    answer = await phone.get("/trust/satchel.crt")
    assert answer.headers["content-type"] == "application/x-x509-ca-cert"
    assert x509.load_pem_x509_certificate(answer.content) == authority.certificate
    assert b"PRIVATE" not in answer.content
    assert ssl.create_default_context(cadata=answer.text).cert_store_stats()["x509_ca"] >= 1


async def test_the_profile_holds_the_authority_and_is_the_same_each_time(
    phone: httpx.AsyncClient, authority: Authority
) -> None:
    answer = await phone.get("/trust/satchel.mobileconfig")
    assert answer.headers["content-type"] == "application/x-apple-aspen-config"
    [payload] = plistlib.loads(answer.content)["PayloadContent"]
    assert (payload["PayloadType"], payload["PayloadContent"]) == ("com.apple.security.root", authority.der)
    assert (await phone.get("/trust/satchel.mobileconfig")).content == answer.content


async def test_the_green_tick_comes_by_https_alone(phone: httpx.AsyncClient, edge: Edge) -> None:
    plain = await phone.get("/trust/tick.svg")
    assert (plain.status_code, plain.headers["location"]) == (307, "https://satchel.test/trust/tick.svg")
    secure = await edge.client(https=True).get("/trust/tick.svg")
    assert secure.headers["content-type"] == "image/svg+xml"
    assert secure.headers["cross-origin-resource-policy"] == "cross-origin"
