"""Music without a network: what was stored on the device is played from, and is gone with the session."""

import time
from collections.abc import Generator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage, Serve, sign_in
from tests.browser.test_pages import complaints_of_axe
from tests.browser.test_scores import TABLET, Pen, marks, press, sheet
from tests.browser.test_transfers import Holder
from tests.server.process import ServerProcess

pytestmark = pytest.mark.services
NOTE = {"page_id": 0, "kind": "text", "colour": "#cc0000", "x": 2000, "y": 2000, "size": 600, "text": "Breathe here"}


@pytest.fixture(scope="module")
def server(serve: Serve, data: Path) -> Generator[ServerProcess]:
    with serve(data, "--sign-up", "open") as running:
        yield running


def loaded(page: Page, name: str) -> None:
    """The picture of a page is drawn, not only named."""
    shown = page.get_by_role("img", name=name)
    expect(shown).to_be_visible()
    page.wait_for_function("image => image.complete && image.naturalWidth > 0", arg=shown.element_handle())


def test_marks_that_could_not_be_sent_wait_on_the_device(server: ServerProcess, open_page: OpenPage) -> None:
    bea = Holder(server, "Bea")
    made = bea.ask("POST", "/scores", json={"title": "Air"})["score_id"]
    for number in range(2):
        bea.put(f"{number}.png", sheet(250 - number), destination="score", score=made)
    page = open_page(size=TABLET, may_fail=True)
    sign_in(page, bea.email, at=f"/scores/{made}")
    press(page, "Store on this device")
    expect(page.get_by_text("2 pages,")).to_contain_text("stored")
    page.context.set_offline(True)
    page.goto(f"/stage/{made}")
    loaded(page, "Page 1 of 2")
    press(page, "Mark")
    pen = Pen(page)
    for height in (0.2, 0.3, 0.4):
        pen.stroke((0.2, height), (0.4, height))
    press(page, "Undo")
    expect(page.get_by_text("4 changes not saved yet")).to_be_visible()

    # The tablet is put away, and taken out again where there is no network either.
    page.goto("/scores")
    expect(page.get_by_text("4 changes of marks are not sent yet.")).to_be_visible()
    page.goto(f"/stage/{made}")
    loaded(page, "Page 1 of 2")
    expect(page.get_by_text("4 changes of marks are not sent yet.")).to_be_visible()
    expect(marks(page, "pen")).to_have_count(2)

    # Wherever somebody is when the network is back, they are sent; once, in a layer of their own.
    page.goto("/scores")
    expect(page.get_by_text("4 changes of marks are not sent yet.")).to_be_visible()
    page.context.set_offline(False)
    expect(page.get_by_text("are not sent yet.")).to_have_count(0)
    stored = bea.ask("GET", f"/scores/{made}?marks=true")
    assert (len(stored["marks"]), len(stored["layers"])) == (2, 1)

    # Who signs out before that is warned, and then nothing stays.
    page.goto(f"/stage/{made}")
    loaded(page, "Page 1 of 2")
    page.context.set_offline(True)
    press(page, "Mark")
    Pen(page).stroke((0.2, 0.6), (0.4, 0.6))
    expect(page.get_by_text("Not saved yet")).to_be_visible()
    page.goto("/scores")
    expect(page.get_by_text("1 change of marks is not sent yet.")).to_be_visible()
    page.route("**/api/v1/scores/**", lambda route: route.abort())
    page.context.set_offline(False)
    press(page, "Sign out")
    expect(page.get_by_text("1 change of marks on this device has not been sent yet.")).to_be_visible()
    assert complaints_of_axe(page) == []
    press(page, "Sign out anyway")
    page.wait_for_url("**/sign-in")
    page.unroute("**/api/v1/scores/**")
    sign_in(page, bea.email, at="/scores")
    expect(page.get_by_role("link", name="Air")).to_be_visible()
    expect(page.get_by_text("not sent yet.")).to_have_count(0)
    assert len(bea.ask("GET", f"/scores/{made}?marks=true")["marks"]) == 2


def offline_caches(page: Page) -> list[str]:
    return page.evaluate("async () => (await caches.keys()).filter(name => name.startsWith('satchel-offline'))")


def one_pack_is_kept(page: Page) -> bool:
    """What was written while a pack was stored again goes a moment after the page says that it is stored."""
    deadline = time.monotonic() + 10
    while len(offline_caches(page)) != 1 and time.monotonic() < deadline:
        page.wait_for_timeout(50)
    return len(offline_caches(page)) == 1


def test_stored_music_is_played_without_a_network_and_goes_with_the_session(
    server: ServerProcess, open_page: OpenPage
) -> None:
    ann = Holder(server, "Ann")
    made: dict[str, str] = {}
    for title, count in (("Air", 2), ("Gavotte", 1)):
        made[title] = ann.ask("POST", "/scores", json={"title": title})["score_id"]
        for number in range(count):
            ann.put(f"{number}.png", sheet(250 - 20 * number), destination="score", score=made[title])
    layer = ann.ask("POST", f"/scores/{made['Air']}/layers", json={"name": "Mine"})["layer_id"]
    ann.ask("POST", f"/scores/{made['Air']}/layers/{layer}/marks", json={"add": [NOTE], "change": [], "remove": []})
    concert = ann.ask("POST", "/set-lists", json={"name": "Concert"})
    entries = [{"score_id": score_id, "notes": ""} for score_id in made.values()]
    ann.client.put(
        f"/api/v1/set-lists/{concert['list_id']}",
        headers={**ann.headers, "if-match": f'"{concert["etag"]}"'},
        json={"name": "Concert", "notes": "", "entries": entries},
    ).raise_for_status()

    page = open_page(size=TABLET, may_fail=True)
    sign_in(page, ann.email, at=f"/scores/{made['Air']}")
    press(page, "Store on this device")
    expect(page.get_by_text("2 pages,")).to_contain_text("stored")
    page.goto(f"/scores/lists/{concert['list_id']}")
    press(page, "Store on this device")
    expect(page.get_by_text("3 pages,")).to_contain_text("stored")
    assert complaints_of_axe(page) == []

    page.context.set_offline(True)
    # The stand was never opened before.
    page.goto("/scores")
    ready = page.get_by_role("list", name="Ready without a network")
    expect(ready.get_by_role("listitem")).to_have_count(2)
    ready.get_by_role("link", name="Air").click()
    loaded(page, "Page 1 of 2")
    expect(page.get_by_text("Breathe here")).to_be_attached()
    page.goto(f"/stage/list/{concert['list_id']}")
    loaded(page, "Page 1 of 3")
    page.keyboard.press("PageDown")
    page.keyboard.press("PageDown")
    loaded(page, "Page 3 of 3")
    page.goto(f"/stage/{made['Gavotte']}")
    loaded(page, "Page 1 of 1")

    page.context.set_offline(False)
    # Somebody has marked a score of it since.
    ann.ask("POST", f"/scores/{made['Air']}/layers/{layer}/marks", json={"add": [NOTE], "change": [], "remove": []})
    page.goto(f"/scores/lists/{concert['list_id']}")
    expect(page.get_by_text("It has changed since.")).to_be_visible()
    # The network goes while it is stored again: what was stored before stays whole.
    page.route("**/items/**", lambda route: route.abort())
    press(page, "Store again")
    expect(page.get_by_text("The server does not respond.")).to_be_visible()
    page.unroute("**/items/**")
    page.context.set_offline(True)
    page.goto(f"/stage/list/{concert['list_id']}")
    loaded(page, "Page 1 of 3")
    expect(page.get_by_text("Breathe here")).to_have_count(1)
    page.context.set_offline(False)
    page.goto(f"/scores/lists/{concert['list_id']}")
    press(page, "Store again")
    expect(page.get_by_text("It has changed since.")).to_have_count(0)

    page.goto("/scores")
    press(page, "Remove Concert from this device")
    expect(ready.get_by_role("listitem")).to_have_count(1)
    page.goto(f"/scores/{made['Air']}")
    expect(page.get_by_text("It has changed since.")).to_be_visible()
    assert one_pack_is_kept(page)
    # Who signs in again keeps what is theirs.
    sign_in(page, ann.email, at="/scores")
    expect(ready.get_by_role("listitem")).to_have_count(1)
    assert one_pack_is_kept(page)
    press(page, "Sign out")
    page.wait_for_url("**/sign-in")
    assert offline_caches(page) == []
