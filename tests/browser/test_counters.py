"""A page of another origin with a strict policy, in Chromium: it counts by the lines that Satchel gives for it."""

from collections.abc import Generator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser.conftest import NARROW, OpenPage, sign_in, sign_up
from tests.browser.test_links import wait_until
from tests.browser.test_pages import complaints_of_axe
from tests.server.process import ServerProcess

pytestmark = [pytest.mark.services, pytest.mark.without_service_worker]


class Site:
    """Somebody's own page, on a server that has nothing to do with Satchel."""

    def __init__(self) -> None:
        self.policy = self.lines = ""
        self.posts: list[str] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = f"<!doctype html><title>Shop</title><main>{site.lines}</main>".encode()
                self.send_response(200 if self.path == "/" else 404)
                self.send_header("content-type", "text/html")
                self.send_header("content-security-policy", f"default-src 'none'; img-src data:; {site.policy}")
                self.send_header("referrer-policy", "no-referrer")
                self.end_headers()
                self.wfile.write(body if self.path == "/" else b"")

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 -- the name is the library's
                """Nobody reads it."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.origin = f"http://localhost:{self._server.server_port}"
        Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture(scope="module")
def owner(server: ServerProcess) -> dict[str, str]:
    return sign_up(server, "ann@example.org", "Ann")


@pytest.fixture
def site() -> Generator[Site]:
    site = Site()
    yield site
    site.close()


def figures(server: ServerProcess, owner: dict[str, str], counter: dict[str, Any]) -> list[int]:
    shown = server.client.get(f"/api/v1/counters/{counter['counter_id']}", headers=owner).json()
    return [shown["views"], shown["presses"], shown["people"]]


def test_a_page_counts_its_views_and_presses_and_nobody_who_declines(
    server: ServerProcess, owner: dict[str, str], open_page: OpenPage, site: Site
) -> None:
    made = server.client.post("/api/v1/counters", json={"origins": [site.origin]}, headers=owner)
    counter = made.json()
    site.lines, site.policy = counter["lines"], counter["policy"]
    page = open_page()
    sent: list[str] = []
    page.on("request", lambda request: sent.append(f"{request.method} {request.resource_type}"))
    with page.expect_response("**/clicks") as viewed:
        page.goto(site.origin)
    assert viewed.value.json() == {"counted": True}
    button = page.get_by_role("button", name="I like this")
    with page.expect_response("**/clicks") as pressed:
        button.click()
    assert pressed.value.request.headers.get("cookie") is None
    expect(page.get_by_role("button", name="Thank you!")).to_be_focused()
    # Nothing is asked beforehand, and nothing is kept.
    assert not [each for each in sent if each.startswith("OPTIONS")]
    assert page.context.cookies() == []
    assert page.evaluate("Object.keys(localStorage).length + Object.keys(sessionStorage).length") == 0
    wait_until(lambda: figures(server, owner, counter) == [1, 1, 1])
    _decline(page.context)
    page.reload()
    page.get_by_role("button").click()
    expect(page.locator("satchel-press[data-counted=false]")).to_be_visible()
    assert figures(server, owner, counter) == [1, 1, 1]


def _decline(context: BrowserContext) -> None:
    context.add_init_script("Object.defineProperty(Navigator.prototype, 'globalPrivacyControl', {value: true})")


def test_an_owner_makes_a_counter_sees_its_figures_and_takes_them_back(
    server: ServerProcess, owner: dict[str, str], open_page: OpenPage, site: Site
) -> None:
    assert owner
    page = open_page()
    sign_in(page, "ann@example.org")
    page.goto("/activity")
    page.get_by_role("button", name="New counter").click()
    page.get_by_label("Sites of your pages").fill(f"{site.origin}/index.html")
    page.get_by_role("button", name="Create", exact=True).click()
    expect(page.get_by_role("heading", name="Lines for your page")).to_be_visible()
    counter_id = page.url.rpartition("counter")[2][3:]
    expect(page.locator("pre")).to_contain_text(counter_id)
    assert complaints_of_axe(page) == []
    clicks = f"/api/v1/counters/{counter_id}/clicks"
    browser = {"origin": site.origin, "user-agent": "Mozilla/5.0 Firefox/140.0"}
    assert server.client.post(clicks, content='{"kind": "view"}', headers=browser).json() == {"counted": True}
    # With several servers a worker counts it a moment later.
    wait_until(lambda: figures(server, owner, {"counter_id": counter_id})[0] == 1)
    page.reload()
    expect(page.locator("[data-figure=total]")).to_have_text("1")
    page.get_by_role("button", name="Take counts back").click()
    dialog = page.get_by_role("dialog", name="Take counts back")
    dialog.get_by_label("From").fill("2026-01-01T00:00")
    dialog.get_by_label("To", exact=True).fill("2026-01-20T00:00")
    page.get_by_role("button", name="Take back", exact=True).click()
    expect(page.get_by_text("0 clicks taken back.")).to_be_visible()
    page.set_viewport_size(NARROW)
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
