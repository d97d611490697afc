"""What another app shares with the installed app lands where one chooses, with a service worker and without."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage, sign_in, sign_up
from tests.browser.test_pages import complaints_of_axe
from tests.server.process import ServerProcess

pytestmark = pytest.mark.services

TEXT = "a & b # c 🎻 https://example.org/?a=1&b=2#c"
# As the system posts it, which no test can make it do.
_SHARE = """([name, text]) => {
  const form = document.createElement('form');
  Object.assign(form, { action: '/share-target', method: 'post', enctype: 'multipart/form-data' });
  const files = Object.assign(document.createElement('input'), { type: 'file', name: 'files', multiple: true });
  const given = new DataTransfer();
  given.items.add(new File(['at eight'], name, { type: 'text/plain' }));
  files.files = given.files;
  const said = Object.assign(document.createElement('input'), { name: 'text', value: text });
  form.append(files, said);
  document.body.append(form);
  form.submit();
}"""
# To wait for a condition, Playwright makes code from text again and again, which the page's policy refuses.
_CONTROLLED = """() => new Promise((done) => {
  if (navigator.serviceWorker.controller) done();
  else navigator.serviceWorker.addEventListener('controllerchange', () => done(), { once: true });
})"""


@pytest.fixture(scope="module", autouse=True)
def ann(server: ServerProcess) -> None:
    sign_up(server, "ann@example.org", "Ann")


def share(page: Page, name: str) -> None:
    with page.expect_navigation():
        page.evaluate(_SHARE, [name, TEXT])


def test_what_is_shared_waits_until_somebody_says_where_it_goes(open_page: OpenPage) -> None:
    page = open_page()
    sign_in(page, "ann@example.org")
    page.evaluate(_CONTROLLED)
    share(page, "plan & notes.txt")
    expect(page.get_by_role("heading", name="Where should it go?")).to_be_visible()
    expect(page.get_by_text("plan & notes.txt")).to_be_visible()
    expect(page.get_by_text(TEXT)).to_be_visible()
    assert complaints_of_axe(page) == []
    waiting = page.url
    page.get_by_role("button", name="Keep it").click()
    page.wait_for_url("**/shelf")
    expect(page.get_by_role("link", name="plan & notes.txt")).to_be_visible()
    expect(page.get_by_role("link", name="a & b # c 🎻 https")).to_be_visible()
    page.goto(waiting)
    expect(page.get_by_role("heading", name="Nothing is here any more")).to_be_visible()


@pytest.mark.without_service_worker
def test_without_a_service_worker_the_server_keeps_it(open_page: OpenPage) -> None:
    page = open_page()
    sign_in(page, "ann@example.org")
    share(page, "kept.txt")
    expect(page.get_by_role("heading", name="Kept on your shelf")).to_be_visible()
    page.get_by_role("button", name="Share", exact=True).click()
    expect(page.get_by_role("dialog")).to_contain_text("Link and QR code")
    page.goto("/shelf")
    expect(page.get_by_role("link", name="kept.txt")).to_be_visible()


@pytest.mark.without_service_worker
def test_a_stranger_is_told_what_to_do(open_page: OpenPage) -> None:
    page = open_page()
    page.goto("/sign-in")
    share(page, "lost.txt")
    expect(page.get_by_role("heading", name="Nothing is here any more")).to_be_visible()
