"""The first visit to an empty server, in a real browser: set it up, sign out, sign in again."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PASSWORD, OpenPage, at_home

pytestmark = pytest.mark.services


@pytest.mark.first_journey
def test_the_first_visitor_sets_the_server_up_signs_out_and_signs_in_again(open_page: OpenPage) -> None:
    page = open_page()
    page.goto("/")
    page.wait_for_url("**/sign-up")
    expect(page.get_by_role("heading", name="Set up this server")).to_be_visible()
    page.get_by_label("Name").fill("Ann")
    page.get_by_label("E-mail address").fill("ann@example.org")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Create account").click()
    at_home(page)
    expect(page.get_by_role("heading", name="Three steps to begin")).to_be_visible()

    page.get_by_role("link", name="Account", exact=True).click()
    devices = page.get_by_role("list", name="Signed-in devices")
    expect(devices.get_by_role("listitem")).to_have_count(1)
    expect(devices.get_by_text("This device")).to_be_visible()
    page.get_by_role("main").get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/sign-in")

    page.goto("/account")
    page.wait_for_url(re.compile(r"/sign-in\?next=%2Faccount$"))
    page.get_by_label("E-mail address").fill("ann@example.org")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/account")
