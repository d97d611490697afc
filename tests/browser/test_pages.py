"""The server's own pages in a real browser: they fit, they follow the colour scheme, and the policy lets them be."""

from collections.abc import Generator
from pathlib import Path

import pytest

from tests.browser.driving import Browser, browser
from tests.server.process import ServerProcess, serving

pytestmark = pytest.mark.services

BACKGROUND = "getComputedStyle(document.body).backgroundColor"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[ServerProcess]:
    folder: Path = tmp_path_factory.mktemp("pages")
    with serving(folder) as running:
        yield running


@pytest.fixture(scope="module")
def window() -> Generator[Browser]:
    with browser() as opened:
        yield opened


@pytest.mark.parametrize("path", ["/", "/api/v1/docs", "/problems"])
@pytest.mark.parametrize("width", [320, 1280])
def test_a_page_fits_in_both_colour_schemes(server: ServerProcess, window: Browser, path: str, width: int) -> None:
    seen: list[str] = []
    for dark in (False, True):
        window.show(server.url + path, width=width, dark=dark)
        assert window.run("document.title")
        assert window.run("document.documentElement.scrollWidth") <= width
        assert window.run("document.styleSheets.length") == 1
        seen.append(window.run(BACKGROUND))
    assert seen[0] != seen[1]
    assert [each for each in window.complaints() if "favicon" not in each] == []


def test_the_reference_leads_to_every_operation(server: ServerProcess, window: Browser) -> None:
    window.show(f"{server.url}/api/v1/docs", width=1280, dark=False)
    targets = "[...document.querySelectorAll('nav a[href^=\"#\"]')]"
    assert window.run(f"{targets}.length") > 20
    assert window.run(f"{targets}.filter(a => !document.getElementById(a.hash.slice(1))).length") == 0
