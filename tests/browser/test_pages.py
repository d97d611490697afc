"""Every page in a real browser: it fits at every width, in both themes and three languages, and axe finds nothing."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import DESKTOP, NARROW, OpenPage, keep_session, sign_in, sign_up
from tests.server.process import ServerProcess

pytestmark = pytest.mark.services

AXE = Path(__file__).parent.parent.parent / "web" / "node_modules" / "axe-core" / "axe.min.js"
LANGUAGES = {"en-GB": "en", "zh-TW": "zh-Hant", "ja-JP": "ja"}
OUTSIDE = ["/", "/sign-in", "/sign-up", "/guest", "/reset", "/reset#token=some", "/no/such/page"]
INSIDE = [
    "/",
    "/shelf",
    "/shelf/bin",
    "/shelf/no-such-folder",
    "/shelf?q=nothing",
    "/links",
    "/account",
    "/administration",
]


@pytest.fixture(scope="module", autouse=True)
def inhabitants(server: ServerProcess) -> None:
    """Enough people and invitations that no list is empty; names and notes that are hard to lay out."""
    ann = sign_up(server, "ann@example.org", "Ann")
    for email, note in [("bob@example.org", "b" * 80), (None, "ありがとうございます、よろしくお願いします")]:
        made = server.client.post("/api/v1/invitations", headers=ann, json={"email": email, "note": note})
        assert made.status_code == 201
    invited = server.client.post("/api/v1/invitations", headers=ann, json={"administrator": True}).json()
    sign_up(server, f"{'long' * 10}@example.org", "Wolfeschlegelsteinhausenbergerdorff", invitation=invited["token"])


def complaints_of_axe(page: Page, *rules: str) -> list[Any]:
    page.evaluate(AXE.read_text(encoding="utf-8"))
    options = {"runOnly": list(rules)} if rules else {}
    found = page.evaluate("async (options) => (await axe.run(options)).violations", options)
    return [(each["id"], [node["html"] for node in each["nodes"]]) for each in found]


def look(page: Page, path: str, language: str, *, dark: bool) -> None:
    page.goto("about:blank")  # or a page that differs by its fragment alone would not be loaded
    page.goto(path)
    expect(page.locator("h1")).to_be_attached()
    page.wait_for_load_state("networkidle")
    assert page.locator("html").get_attribute("lang") == language
    assert page.title().endswith("Satchel")
    for size in (NARROW, DESKTOP):
        page.set_viewport_size(size)
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"], (path, language, size)
        # What axe judges is the same in every language, and all of it but contrast in the dark.
        if language == "en":
            assert complaints_of_axe(page, *(["color-contrast"] if dark else [])) == [], (path, size)


# Words take room and colours do not, so not every language is tried in both.
@pytest.mark.without_service_worker
@pytest.mark.parametrize(("locale", "dark"), [("en-GB", False), ("en-GB", True), ("zh-TW", False), ("ja-JP", True)])
def test_the_pages_fit_and_can_be_used_by_everybody(open_page: OpenPage, locale: str, *, dark: bool) -> None:
    page = open_page(locale=locale, dark=dark, may_fail=True)
    for path in OUTSIDE:
        look(page, path, LANGUAGES[locale], dark=dark)
    keep_session(page, "ann@example.org")
    for path in INSIDE:
        look(page, path, LANGUAGES[locale], dark=dark)


@pytest.mark.without_service_worker
@pytest.mark.parametrize("dark", [False, True])
def test_what_opens_over_a_page_can_be_used_by_everybody(open_page: OpenPage, *, dark: bool) -> None:
    page = open_page(dark=dark)
    sign_in(page, "ann@example.org")
    page.locator("input[type=file]").first.set_input_files({"name": "a.txt", "mimeType": "", "buffer": b"a"})
    expect(page.get_by_role("main").get_by_text("a.txt")).to_be_visible()
    assert complaints_of_axe(page) == []  # with a file on the shelf, and one in the tray
    page.goto("/administration")
    for opener in ("Invite somebody", "Manage Wolfeschlegelsteinhausenbergerdorff", "Search"):
        page.get_by_role("button", name=opener).first.click()
        expect(page.get_by_role("dialog")).to_be_visible()
        for size in (NARROW, DESKTOP):
            page.set_viewport_size(size)
            assert complaints_of_axe(page) == [], (opener, size)
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)


def test_the_app_can_be_installed(open_page: OpenPage) -> None:
    page = open_page()
    page.goto("/sign-in")
    devtools: Any = page.context.new_cdp_session(page)
    found = devtools.send("Page.getInstallabilityErrors")
    assert [each for each in found["installabilityErrors"] if each["errorId"] != "in-incognito"] == []
    manifest = devtools.send("Page.getAppManifest")
    assert manifest["url"].endswith("/manifest.webmanifest")
    assert manifest["errors"] == []


@pytest.mark.parametrize("path", ["/api/v1/docs", "/problems"])
def test_a_page_of_the_server_itself_fits_in_both_colour_schemes(open_page: OpenPage, path: str) -> None:
    seen: list[str] = []
    for dark in (False, True):
        page = open_page(dark=dark)
        page.goto(path)
        for size in (NARROW, DESKTOP):
            page.set_viewport_size(size)
            assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
        seen.append(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert seen[0] != seen[1]


def test_the_reference_leads_to_every_operation(open_page: OpenPage) -> None:
    page = open_page()
    page.goto("/api/v1/docs")
    targets = "[...document.querySelectorAll('nav a[href^=\"#\"]')]"
    assert page.evaluate(f"{targets}.length") > 20
    assert page.evaluate(f"{targets}.filter(a => !document.getElementById(a.hash.slice(1))).length") == 0
