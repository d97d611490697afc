"""Real servers and Debian's Chromium for the journeys; whatever the console complains of fails the test."""

import time
from collections.abc import Generator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, ViewportSize, expect, sync_playwright

from satchel.edge.api.identity import ACCESS_COOKIE, Identity, Member
from satchel.kernel.signature import Signer
from satchel.stores.embedded.ephemeral_memory import MemoryEphemeral
from tests.server.cluster import SECRET, cluster
from tests.server.process import ServerProcess, serving
from tests.services import tool

# A shared machine can be slow; what is expected still has to happen.
expect.set_options(timeout=20_000)
PASSWORD = "correct horse battery staple"
DESKTOP = ViewportSize(width=1280, height=900)
NARROW = ViewportSize(width=320, height=700)


class OpenPage(Protocol):
    """A new browser profile with one page in it."""

    def __call__(
        self,
        *,
        locale: str = ...,
        dark: bool = ...,
        size: ViewportSize = ...,
        may_fail: bool = ...,
        intercepted: bool = ...,
        zone: str | None = ...,
    ) -> Page: ...


class Serve(Protocol):
    """Satchel on empty stores, with these options, as `satchel serve` takes them."""

    def __call__(
        self, data: Path, *options: str, environment: Mapping[str, str] | None = ...
    ) -> AbstractContextManager[ServerProcess]: ...


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "stores" in metafunc.fixturenames:
        chosen: str | None = metafunc.config.getoption("stores")
        is_first = metafunc.definition.get_closest_marker("first_journey") is not None
        kinds = [chosen] if chosen else ["embedded", "distributed"] if is_first else ["embedded"]
        ids = [pytest.HIDDEN_PARAM if kind == kinds[0] else kind for kind in kinds]
        metafunc.parametrize("stores", kinds, ids=ids, scope="module")


@pytest.fixture(scope="module")
def serve(stores: str, request: pytest.FixtureRequest) -> Serve:
    """One server on embedded stores; or two and a worker behind nginx, on DynamoDB Local, Redis and an S3 server."""

    @contextmanager
    def one(data: Path, *options: str, environment: Mapping[str, str] | None = None) -> Generator[ServerProcess]:
        with serving(data, *options, environment={"SATCHEL_SECRET": SECRET, **(environment or {})}) as running:
            yield running

    @contextmanager
    def several(data: Path, *options: str, environment: Mapping[str, str] | None = None) -> Generator[ServerProcess]:
        dynamodb: str = request.getfixturevalue("dynamodb_endpoint")
        with cluster(data, *options, environment=environment, dynamodb=dynamodb) as running:
            yield running.front
            assert running.traces == ""

    return one if stores == "embedded" else several


@pytest.fixture(scope="module")
def data(stores: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("browser")


@pytest.fixture(scope="module")
def server(serve: Serve, data: Path) -> Generator[ServerProcess]:
    """An empty server, shared by the tests of a file."""
    with serve(data) as running:
        yield running


@pytest.fixture(scope="module")
def program() -> str:
    """Chromium without its window, which takes as much work as the page in it; whoever needs that says so."""
    return tool("chromium-headless-shell")


@pytest.fixture(scope="module")
def chromium(program: str) -> Generator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--disable-background-networking"]
        )
        yield browser
        browser.close()


@pytest.fixture
def open_page(request: pytest.FixtureRequest, chromium: Browser, server: ServerProcess) -> Generator[OpenPage]:
    """Pages whose console stays silent; `may_fail` lets refusals of the server and a lost line be, which Chromium logs.

    Requests of `intercepted` pages can be played with: past a service worker, Playwright does not see all of them.
    """
    without_worker = request.node.get_closest_marker("without_service_worker") is not None
    contexts: list[BrowserContext] = []
    complaints: list[str] = []

    def open_one(
        *,
        locale: str = "en",
        dark: bool = False,
        size: ViewportSize = DESKTOP,
        may_fail: bool = False,
        intercepted: bool = False,
        zone: str | None = None,
    ) -> Page:
        blocked = intercepted or without_worker
        context = chromium.new_context(
            base_url=server.url,
            locale=locale,
            color_scheme="dark" if dark else "light",
            viewport=size,
            timezone_id=zone,
            service_workers="block" if blocked else "allow",
        )
        contexts.append(context)
        page = context.new_page()

        def note(message: ConsoleMessage) -> None:
            refused = may_fail and (
                message.text.startswith("Failed to load resource") or "ERR_INTERNET_DISCONNECTED" in message.text
            )
            meant = blocked and message.text == "Service Worker registration blocked by Playwright"
            if message.type in ("error", "warning") and not (refused or meant):
                complaints.append(f"{page.url}: {message.text}")

        page.on("console", note)
        page.on("pageerror", lambda error: complaints.append(f"{page.url}: {error}"))
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert complaints == []


def sign_up(server: ServerProcess, email: str, name: str, *, invitation: str | None = None) -> dict[str, str]:
    """Make an account over the API; the headers with which its owner is believed."""
    body = {"email": email, "name": name, "password": PASSWORD, "invitation": invitation}
    answer = server.client.post("/api/v1/accounts", json=body)
    assert answer.status_code == 201, answer.text
    return {"authorization": f"Bearer {answer.json()['tokens']['access_token']}"}


def let_the_session_run_out(page: Page) -> str:
    """Put an access token of an hour ago in the place of the browser's own; it is what the clock would have made."""
    me = page.request.get("/api/v1/whoami").json()
    past = Identity(Signer(SECRET.encode()), MemoryEphemeral(time.time, max_bytes=0), clock=lambda: time.time() - 3600)
    member = Member(me["id"], me["email"], me["session_id"], me["administrator"])
    stale = past.issue_access(member).value
    whole_site = page.evaluate("location.origin")
    page.context.add_cookies([{"name": ACCESS_COOKIE, "value": stale, "url": whole_site, "httpOnly": True}])
    return stale


def access_cookie(page: Page) -> str:
    return next(each.get("value", "") for each in page.context.cookies() if each.get("name") == ACCESS_COOKIE)


def keep_session(page: Page, email: str) -> None:
    """Sign in as the page for it does, but without that page."""
    who = {"email": email, "password": PASSWORD, "keep": "cookie"}
    answer = page.request.post("/api/v1/sessions", data=who)
    assert answer.ok, answer.text()


def sign_in(page: Page, email: str, *, at: str = "/shelf") -> None:
    """Sign in, and wait until the app is there."""
    keep_session(page, email)
    page.goto(at)
    expect(page.locator("h1")).to_be_attached()


def at_home(page: Page) -> None:
    """Wait until home is there, which is where people come in."""
    page.wait_for_url(lambda url: urlsplit(url).path == "/")
    expect(page.locator("h1")).to_be_attached()


def sign_in_by_hand(page: Page, email: str, password: str = PASSWORD) -> None:
    """Sign in through the page, whatever its language, and wait until the app is there."""
    page.goto("/sign-in")
    page.locator("input[type=email]").fill(email)
    page.locator("input[type=password]").fill(password)
    page.locator("button[type=submit]").click()
    at_home(page)
