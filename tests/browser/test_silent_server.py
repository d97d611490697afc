"""A server that takes a request and says nothing: the page says so, and goes on with one guest once it answers."""

import re

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import OpenPage

pytestmark = pytest.mark.services

PATIENCE_MS = 15_000
SILENT = re.compile("has not answered for 5 seconds")


def test_a_page_says_that_the_server_is_silent_and_comes_in_as_one_guest(open_page: OpenPage) -> None:
    page = open_page(may_fail=True, intercepted=True)
    held: list[Route] = []
    page.route("**/api/v1/guests", lambda route: held.append(route))
    page.clock.install()
    page.goto("/guest")
    page.get_by_label("Name").fill("Gus")
    page.get_by_role("button", name="Continue").click()
    until_held(page, held, 1)
    expect(page.get_by_text(SILENT)).to_have_count(0)
    page.clock.fast_forward(6_000)
    expect(page.get_by_text(SILENT)).to_be_visible()
    # The first request has reached the server, but its answer is lost.
    first = held[0].fetch().json()
    held[0].abort()
    page.clock.fast_forward(1_000)
    until_held(page, held, 2)
    second = held[1].fetch()
    assert second.json()["guest_id"] == first["guest_id"]
    held[1].fulfill(response=second)
    expect(page.get_by_text("Hello, Gus")).to_be_visible()
    expect(page.get_by_text(SILENT)).to_have_count(0)


def until_held(page: Page, held: list[Route], number: int) -> None:
    for _ in range(PATIENCE_MS // 25):
        if len(held) >= number:
            return
        page.wait_for_timeout(25)
    raise AssertionError(f"{len(held)} requests came, not {number}")
