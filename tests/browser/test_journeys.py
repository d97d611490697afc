"""What people do in the app, in a real browser: accounts, sessions, administration, and the shell around them."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import (
    NARROW,
    PASSWORD,
    OpenPage,
    access_cookie,
    at_home,
    let_the_session_run_out,
    sign_in,
    sign_in_by_hand,
    sign_up,
)
from tests.server.process import ServerProcess

pytestmark = pytest.mark.services

BOB = "robert@example.org"


@pytest.fixture(scope="module", autouse=True)
def inhabitants(server: ServerProcess) -> None:
    """Ann, who administers, and Bob, who does not."""
    ann = sign_up(server, "ann@example.org", "Ann")
    invited = server.client.post("/api/v1/invitations", headers=ann, json={}).json()
    sign_up(server, BOB, "Bob", invitation=invited["token"])


@pytest.fixture
def ann(server: ServerProcess) -> dict[str, str]:
    """The headers with which Ann is believed; some tests sign her out."""
    answer = server.client.post("/api/v1/sessions", json={"email": "ann@example.org", "password": PASSWORD})
    return {"authorization": f"Bearer {answer.json()['tokens']['access_token']}"}


def test_a_wrong_password_is_said_where_it_was_typed_and_in_the_language_of_the_reader(open_page: OpenPage) -> None:
    page = open_page(locale="ja-JP", may_fail=True)
    page.goto("/sign-in")
    page.locator("input[type=email]").fill("ann@example.org")
    page.locator("input[type=password]").fill("not her password")
    page.locator("button[type=submit]").click()
    expect(page.get_by_role("alert")).to_contain_text("メールアドレスまたはパスワードが違います")
    assert page.url.endswith("/sign-in")


def test_what_is_wrong_with_a_field_is_said_at_the_field(open_page: OpenPage) -> None:
    page = open_page(may_fail=True)
    sign_in(page, "ann@example.org", at="/account")
    page.get_by_label("Current password").fill(PASSWORD)
    new = page.get_by_label("New password")
    new.fill("short")
    page.get_by_role("button", name="Change password").click()
    expect(new).to_have_attribute("aria-invalid", "true")
    expect(new).to_have_accessible_description(re.compile("Choose a password of 8 to 256 characters"))


def test_a_device_is_signed_out_from_another(open_page: OpenPage) -> None:
    phone, laptop = open_page(size=NARROW, may_fail=True), open_page()
    sign_in(phone, "ann@example.org")
    sign_in(laptop, "ann@example.org", at="/account")
    devices = laptop.get_by_role("list", name="Signed-in devices").get_by_role("listitem")
    expect(devices.filter(has_text="This device")).to_have_count(1)
    laptop.get_by_role("button", name="Sign out all others").click()
    expect(devices).to_have_count(1)
    phone.reload()
    phone.wait_for_url("**/sign-in?next=%2Fshelf")


def test_a_name_is_changed_and_seen_at_once(open_page: OpenPage) -> None:
    page = open_page()
    sign_in(page, "ann@example.org", at="/account")
    name = page.get_by_label("Name", exact=True)
    expect(name).to_have_value("Ann")
    name.fill("Ann 🎻 “O'Neill”")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Your name has been changed.")).to_be_visible()
    expect(page.locator(".side").get_by_text("Ann 🎻 “O'Neill”")).to_be_visible()
    name.fill("Ann")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".side strong")).to_have_text("Ann")


def test_somebody_is_invited_comes_in_is_suspended_and_let_in_again(open_page: OpenPage) -> None:
    admin, guest = open_page(), open_page(may_fail=True)
    sign_in(admin, "ann@example.org", at="/administration")
    admin.get_by_role("button", name="Invite somebody").click()
    admin.get_by_label("Note").fill("the drummer")
    admin.get_by_role("button", name="Create invitation").click()
    link = admin.get_by_label("Invitation link").input_value()
    admin.keyboard.press("Escape")
    expect(admin.get_by_role("list", name="Invitations")).to_contain_text("the drummer")

    guest.goto(link)
    expect(guest.get_by_text("You have been invited.")).to_be_visible()
    guest.get_by_label("Name").fill("Rob")
    guest.get_by_label("E-mail address").fill("bob@example.org")
    guest.get_by_label("Password", exact=True).fill(PASSWORD)
    guest.get_by_role("button", name="Create account").click()
    at_home(guest)
    expect(guest.get_by_role("link", name="Administration")).to_have_count(0)
    guest.goto("/administration")
    expect(guest.get_by_role("heading", name="Page not found")).to_be_visible()

    admin.reload()
    admin.get_by_role("button", name="Manage Rob").click()
    admin.get_by_role("button", name="Suspend").click()
    expect(admin.get_by_role("list", name="People")).to_contain_text("suspended")
    guest.goto("/account")
    guest.wait_for_url("**/sign-in?next=%2Faccount")
    guest.get_by_label("E-mail address").fill("bob@example.org")
    guest.get_by_label("Password", exact=True).fill(PASSWORD)
    guest.get_by_role("button", name="Sign in").click()
    expect(guest.get_by_role("alert")).to_contain_text("suspended")

    admin.get_by_role("button", name="Manage Rob").click()
    admin.get_by_role("button", name="Lift suspension").click()
    expect(admin.get_by_role("list", name="People")).not_to_contain_text("suspended")
    admin.get_by_role("button", name="Manage Rob").click()
    admin.get_by_role("button", name="Create reset link").click()
    reset = admin.get_by_label("Reset link").input_value()
    guest.goto(reset)
    guest.get_by_label("New password").fill("another horse entirely")
    guest.get_by_role("button", name="Set password").click()
    guest.wait_for_url("**/sign-in")
    sign_in_by_hand(guest, "bob@example.org", "another horse entirely")
    guest.goto(reset)
    guest.get_by_label("New password").fill("a third horse, once more")
    guest.get_by_role("button", name="Set password").click()
    expect(guest.get_by_role("alert")).to_be_visible()


def test_who_may_sign_up_is_chosen_and_told_to_strangers(open_page: OpenPage) -> None:
    admin, stranger = open_page(), open_page()
    sign_in(admin, "ann@example.org", at="/administration")
    admin.get_by_role("radio", name="Nobody new").check()
    expect(admin.get_by_text("The setting has been changed.")).to_be_visible()
    stranger.goto("/sign-up")
    expect(stranger.get_by_text("This server accepts no new accounts.")).to_be_visible()
    expect(stranger.get_by_role("button", name="Create account")).to_have_count(0)
    with admin.expect_response("**/api/v1/sign-up") as changed:
        admin.get_by_role("radio", name="By invitation").check()
    assert changed.value.ok


def test_the_back_button_closes_a_dialog_and_stays_on_the_page(open_page: OpenPage) -> None:
    page = open_page()
    sign_in(page, "ann@example.org")
    page.goto("/administration")
    invite, dialog = page.get_by_role("button", name="Invite somebody"), page.get_by_role("dialog")
    for close in (page.go_back, lambda: page.keyboard.press("Escape"), page.get_by_role("button", name="Close").click):
        invite.click()
        expect(dialog.get_by_role("heading", name="Invite somebody")).to_be_visible()
        close()
        expect(dialog).to_have_count(0)
        assert page.url.endswith("/administration")
        expect(invite).to_be_focused()
    # No way of closing leaves an entry behind: one step back is the page before.
    page.go_back()
    page.wait_for_url("**/shelf")


def test_everything_is_reached_from_the_keyboard_by_the_command_palette(open_page: OpenPage) -> None:
    page = open_page()
    sign_in(page, "ann@example.org")
    page.keyboard.press("Control+k")
    search = page.get_by_role("combobox", name="Search")
    expect(search).to_be_focused()
    search.fill("ACC go")
    expect(page.get_by_role("listbox").get_by_role("option").first).to_have_text("Go to Account")
    page.keyboard.press("Enter")
    page.wait_for_url("**/account")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("Control+k")
    search.fill("theme dark")
    page.keyboard.press("Enter")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.keyboard.press("Control+k")
    search.fill("sign out")
    page.keyboard.press("Enter")
    page.wait_for_url("**/sign-in")


def test_the_first_key_press_offers_to_skip_the_navigation(open_page: OpenPage) -> None:
    page = open_page()
    sign_in(page, "ann@example.org")
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("main")).to_be_focused()


def test_language_and_theme_are_chosen_and_remembered(open_page: OpenPage) -> None:
    page = open_page(locale="fr-FR")
    page.goto("/sign-in")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    page.get_by_label("Language").select_option("zh-Hant")
    expect(page.get_by_role("heading", name="登入")).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", name="登入")).to_be_visible()
    assert page.locator("html").get_attribute("lang") == "zh-Hant"


def test_a_guest_comes_in_under_a_name_and_is_known_after_a_reload(open_page: OpenPage) -> None:
    page = open_page()
    page.goto("/guest")
    page.get_by_label("Name").fill("Mallory 🦊")
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("heading", name="Hello, Mallory 🦊")).to_be_visible()
    page.goto("/")
    page.wait_for_url("**/guest")
    expect(page.get_by_role("heading", name="Hello, Mallory 🦊")).to_be_visible()
    page.get_by_role("button", name="Leave").click()
    page.wait_for_url("**/sign-in")


def test_two_tabs_know_when_another_person_signs_in(open_page: OpenPage) -> None:
    first = open_page()
    sign_in(first, "ann@example.org", at="/account")
    expect(first.get_by_label("Name", exact=True)).to_have_value("Ann")
    second = first.context.new_page()
    sign_in_by_hand(second, BOB)
    expect(first.get_by_label("Name", exact=True)).to_have_value("Bob")
    expect(first.get_by_role("list", name="Signed-in devices").get_by_text("This device")).to_be_visible()


def test_a_session_that_was_ended_leads_to_signing_in_and_back(
    open_page: OpenPage, server: ServerProcess, ann: dict[str, str]
) -> None:
    page = open_page(may_fail=True)
    # Else it might learn that, and lead there, before the button is pressed.
    page.route_web_socket("**/api/v1/live", lambda _: None)
    sign_in(page, "ann@example.org", at="/account")
    page.get_by_label("Name", exact=True).fill("Another")
    assert server.client.delete("/api/v1/sessions", headers=ann).status_code == 204
    page.get_by_role("button", name="Save").click()
    page.wait_for_url("**/sign-in?next=%2Faccount")


def test_somebody_made_an_administrator_sees_the_page_at_once(
    open_page: OpenPage, server: ServerProcess, ann: dict[str, str]
) -> None:
    page = open_page()
    sign_in(page, BOB)
    people = server.client.get("/api/v1/people", headers=ann).json()["people"]
    [user_id] = [person["user_id"] for person in people if person["email"] == BOB]
    promoted = server.client.patch(f"/api/v1/people/{user_id}", headers=ann, json={"administrator": True})
    assert promoted.status_code == 200
    page.goto("/administration")
    expect(page.get_by_role("list", name="People")).to_contain_text("Ann")


def test_a_choice_that_could_not_be_made_goes_back(open_page: OpenPage) -> None:
    page = open_page(may_fail=True, intercepted=True)
    sign_in(page, "ann@example.org", at="/administration")
    expect(page.get_by_role("radio", name="By invitation")).to_be_checked()
    page.route("**/api/v1/sign-up", lambda route: route.fulfill(status=502, body="<h1>Bad gateway</h1>"))
    page.get_by_role("radio", name="Anybody").click()
    expect(page.get_by_text("A proxy between you and Satchel answered")).to_be_visible()
    expect(page.get_by_role("radio", name="By invitation")).to_be_checked()


def test_two_tabs_know_when_one_signs_out(open_page: OpenPage) -> None:
    first = open_page()
    sign_in(first, "ann@example.org")
    second = first.context.new_page()
    second.goto("/account")
    expect(second.get_by_role("heading", name="Your account")).to_be_visible()
    first.goto("/account")
    first.get_by_role("main").get_by_role("button", name="Sign out", exact=True).click()
    second.wait_for_url("**/sign-in?next=%2Faccount")


def test_a_session_that_ran_out_is_renewed_without_a_word(open_page: OpenPage) -> None:
    page = open_page(may_fail=True)
    sign_in(page, "ann@example.org")
    stale = let_the_session_run_out(page)
    page.goto("/account")
    expect(page.get_by_role("list", name="Signed-in devices")).to_be_visible()
    assert access_cookie(page) != stale


PARTS = """(async () => {
  const [name] = await caches.keys();
  const kept = name ? (await (await caches.open(name)).keys()).map(request => request.url) : [];
  const loaded = performance.getEntriesByType('resource').map(resource => resource.name);
  return [kept, loaded].map(urls => [...new Set(urls.filter(url => url.includes('/_app/immutable/')))].sort().join());
})()"""


def test_the_banner_tells_of_a_lost_line_and_the_app_opens_without_one(open_page: OpenPage) -> None:
    page = open_page(may_fail=True)
    sign_in(page, "ann@example.org")
    # It has the parts of the pages that were visited, and none of the others.
    page.wait_for_function(f"async () => {{ const [kept, loaded] = await {PARTS}; return kept === loaded; }}")
    page.context.set_offline(True)
    expect(page.get_by_text("You are offline.")).to_be_visible()
    page.reload()
    expect(page.get_by_text("You are offline. Try again when the connection is back.")).to_be_visible()
    page.context.set_offline(False)
    expect(page.get_by_role("heading", name="Shelf", level=1)).to_be_visible()
