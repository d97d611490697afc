"""What only a whole browser can show of a shelf."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.shelf.conftest import Shelf
from tests.browser.shelf.contents import pdf
from tests.browser.shelf.listing import open_entry
from tests.services import tool

pytestmark = [pytest.mark.services, pytest.mark.without_service_worker]


@pytest.fixture(scope="module")
def program() -> str:
    return tool("chromium")


def test_a_pdf_is_looked_at_in_the_browsers_own_viewer(page: Page, shelf: Shelf) -> None:
    here = shelf.folder("Reading")
    shelf.put("programme.pdf", pdf(), here, "application/pdf")
    page.goto(f"/shelf/{here}")
    with page.expect_response("**/preview") as shown:
        open_entry(page, "programme.pdf")
    assert shown.value.headers["content-type"] == "application/pdf"
    expect(page.get_by_role("dialog").locator("iframe")).to_have_attribute("title", "programme.pdf")
