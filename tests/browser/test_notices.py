"""Notices of the system in a whole Chromium, which has them: what is told, when nothing is, and where they lead."""

import hashlib
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.conftest import keep_session
from tests.browser.test_transfers import Holder
from tests.server.process import ServerProcess, serving
from tests.services import tool

pytestmark = pytest.mark.services

_SHOWN = """async (least) => {
  const worker = await navigator.serviceWorker.ready;
  for (let tries = 0; tries < 200; tries++) {
    const shown = await worker.getNotifications();
    if (shown.length >= least) return shown.map(({ title, body }) => `${title}: ${body}`).sort();
    await new Promise((wake) => setTimeout(wake, 100));
  }
  return ['nothing'];
}"""
_FOCUSED = """async (url) => {
  const pages = await clients.matchAll({ type: 'window', includeUncontrolled: true });
  return pages.some((page) => page.url === url && page.focused);
}"""
_PRESS = """async (tag) => {
  const [notification] = await registration.getNotifications({ tag });
  dispatchEvent(new NotificationEvent('notificationclick', { notification }));
}"""
_FORGET = """async () => {
  for (const each of await (await navigator.serviceWorker.ready).getNotifications()) each.close();
}"""


@pytest.fixture(scope="module")
def program() -> str:
    """The whole of it: without its window it has no notices."""
    return tool("chromium")


@pytest.fixture(scope="module")
def server(data: Path) -> Generator[ServerProcess]:
    with serving(data, "--sign-up", "open") as running:
        yield running


@pytest.fixture
def device(chromium: Browser, server: ServerProcess) -> Generator[BrowserContext]:
    """On which notices are allowed."""
    context = chromium.new_context(base_url=server.url, locale="en", permissions=["notifications"])
    yield context
    context.close()


def told(page: Page, least: int = 1) -> list[str]:
    """What the system shows; it is gone then."""
    shown = page.evaluate(_SHOWN, least)
    page.evaluate(_FORGET)
    return shown


def open_app(device: BrowserContext, email: str, at: str = "/links") -> Page:
    page = device.new_page()
    keep_session(page, email)
    page.goto(at)
    return page


def turn_on(page: Page) -> None:
    page.get_by_role("button", name="Notifications: off").click()
    dialog = page.get_by_role("dialog", name="Notifications")
    dialog.get_by_role("button", name="Turn on notifications").click()
    dialog.get_by_role("checkbox", name="Quiet hours").uncheck()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Notifications: on")).to_be_visible()
    page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    page.wait_for_load_state("networkidle")


def look_away(page: Page) -> None:
    """Playwright lets every page believe that somebody looks at it."""
    devtools: Any = page.context.new_cdp_session(page)
    devtools.send("Emulation.setFocusEmulationEnabled", {"enabled": False})
    page.context.new_page().bring_to_front()
    worker = page.context.service_workers[0]
    while worker.evaluate(_FOCUSED, page.url):
        page.wait_for_timeout(100)


def test_what_happens_is_told_and_leads_to_where_it_happened(device: BrowserContext, server: ServerProcess) -> None:
    ann, ben, cleo = Holder(server, "Ann"), Holder(server, "Ben"), Holder(server, "Cleo")
    page = open_app(device, ben.email)
    turn_on(page)
    look_away(page)

    offer = ann.send(ben, ann.put("notes.txt", b"for Ben"))
    assert page.evaluate(_SHOWN, 1) == ["Ann sends you a file: notes.txt"]
    # Nothing is loaded anew: an upload would be broken off.
    page.evaluate("window.stays = true")
    device.service_workers[0].evaluate(_PRESS, offer)
    page.wait_for_url(f"**/transfers/{offer}")
    assert page.evaluate("window.stays")
    page.evaluate(_FORGET)

    room = ben.ask("POST", "/rooms", json={"name": "Physics"})
    ann.ask("POST", "/rooms/join", json={"code": room["code"]})
    assert told(page) == ["Ann has come into your room: Physics"]
    ben.ask("PATCH", f"/rooms/{room['room_id']}", json={"admits": "knock"})
    cleo.ask("POST", "/rooms/join", json={"code": room["code"]})
    assert told(page) == ["Cleo wants to join: Physics"]

    thing = {"kind": "request", "id": ben.folder("Homework")}
    token = ben.ask("POST", "/links", json={"thing": thing})["token"]
    entered = ann.ask("POST", f"/open/{token}/enter", json={})
    about = {"destination": "link", "link": token, "pass": entered["pass"], "uploader": "Ann"}
    ann.put("essay.txt", b"by Ann", **about)
    assert told(page) == ["A file came by your link: Ann: essay.txt"]

    sent = ben.send(ann, ben.put("answer.txt", b"for Ann"))
    challenge = ann.ask("POST", f"/transfers/{sent}/files/0/challenge")["challenge"]
    proof = hashlib.sha256(bytes.fromhex(challenge) + b"for Ann").hexdigest()
    ann.ask("POST", f"/transfers/{sent}/files/0/verified", json={"proof": proof})
    assert told(page) == ["Ann has received and verified it: answer.txt"]


def test_nothing_is_told_while_somebody_looks_or_in_quiet_hours(device: BrowserContext, server: ServerProcess) -> None:
    dora, emil = Holder(server, "Dora"), Holder(server, "Emil")
    page = open_app(device, emil.email)
    turn_on(page)
    # Another page of the app is looked at: the one behind it keeps silent, too.
    front = open_app(device, emil.email, "/shelf")
    look_away(page)
    dora.send(emil, dora.put("seen.txt", b"1"))
    expect(front.get_by_role("status").filter(has_text="Dora sends you a file")).to_be_visible()
    front.wait_for_timeout(1000)
    front.close()
    page.bring_to_front()
    page.get_by_role("button", name="Notifications: on").click()
    dialog = page.get_by_role("dialog", name="Notifications")
    dialog.get_by_role("checkbox", name="Quiet hours").check()
    now = page.evaluate("new Date().getHours()")
    dialog.get_by_label("From").fill(f"{now:02}:00")
    dialog.get_by_label("To").fill(f"{(now + 2) % 24:02}:00")
    page.keyboard.press("Escape")
    look_away(page)
    dora.send(emil, dora.put("quiet.txt", b"2"))
    page.wait_for_timeout(1500)
    assert page.evaluate(_SHOWN, 0) == []
    page.bring_to_front()
    page.get_by_role("button", name="Notifications: on").click()
    dialog.get_by_role("checkbox", name="Quiet hours").uncheck()
    page.keyboard.press("Escape")
    look_away(page)
    dora.send(emil, dora.put("loud.txt", b"3"))
    assert told(page) == ["Dora sends you a file: loud.txt"]
