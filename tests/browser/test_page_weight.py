"""What a page asks for on a first visit: few requests, little script, and nothing that jumps while it arrives."""

import base64
from collections.abc import Mapping

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from tests.browser.conftest import DESKTOP, OpenPage, keep_session, sign_up
from tests.features.albums.photos_given import photo
from tests.server.process import ServerProcess

pytestmark = pytest.mark.services

PHONE = ViewportSize(width=390, height=844)
# Kilobytes of compressed script, and requests with the page itself.
MOST = {"/sign-in": (60, 12), "link": (80, 15), "/join/AAAAA": (80, 15), "/shelf": (120, 20)}
MOST_SHIFT = 0.05
OUTSIDE = ["/", "/sign-in", "/sign-up", "/guest", "/drop", "link", "/join/AAAAA"]
INSIDE = [
    *("/", "/shelf", "/photos", "/albums", "/scores", "/rooms", "/links", "/transfers", "/activity", "/account"),
    *("room", "/administration"),
]
_LOADED = """() => performance.getEntriesByType('resource')
  .filter(({ name }) => name.startsWith(location.origin)).map((each) => [each.name, each.encodedBodySize])"""
_WATCH = """window.shifted = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifted += entry.value;
}).observe({ type: 'layout-shift', buffered: true });"""


@pytest.fixture(scope="module")
def paths(server: ServerProcess) -> Mapping[str, str]:
    """Where a link with two files leads to. Its giver has photos, more files, and an offer that waits."""
    ann = sign_up(server, "ann@example.org", "Ann")
    folder = server.client.post("/api/v1/shelf/folders", headers=ann, json={"name": "Concert"}).json()["id"]
    for name in ("plan.txt", "notes.txt"):
        described = {"destination": "shelf", "folder": folder, "filename": name, "filetype": "text/plain"}
        put_file(server, ann, described, b"at eight")
    for number in range(12):
        described = {"destination": "shelf", "filename": f"{number}.txt", "filetype": "text/plain"}
        put_file(server, ann, described, str(number).encode())
        put_file(server, ann, {"destination": "photos", "filename": f"{number}.jpg"}, photo(mark=str(number)))
    invited = server.client.post("/api/v1/invitations", headers=ann, json={}).json()
    ben = sign_up(server, "ben@example.org", "Ben", invitation=invited["token"])
    put_file(server, ben, {"destination": "shelf", "filename": "map.txt"}, b"north")
    entries = server.client.get("/api/v1/shelf/entries", headers=ben).json()["entries"]
    offer = {"to": {"kind": "email", "email": "ann@example.org"}, "files": [entry["id"] for entry in entries]}
    assert server.client.post("/api/v1/transfers", headers=ben, json=offer).status_code == 201
    thing = {"thing": {"kind": "folder", "id": folder}}
    token = server.client.post("/api/v1/links", headers=ann, json=thing).json()["token"]
    assert server.client.post(f"/api/v1/open/{token}/enter", json={}).status_code == 200
    room = server.client.post("/api/v1/rooms", headers=ann, json={"name": "Physics"}).json()["room_id"]
    return {"link": f"/l/{token}", "room": f"/rooms/{room}"}


def put_file(server: ServerProcess, headers: dict[str, str], described: dict[str, str], content: bytes) -> None:
    metadata = ",".join(f"{name} {base64.b64encode(value.encode()).decode()}" for name, value in described.items())
    sent = {
        "tus-resumable": "1.0.0",
        "upload-length": str(len(content)),
        "upload-metadata": metadata,
        "content-type": "application/offset+octet-stream",
    }
    answer = server.client.post("/api/v1/uploads", headers={**headers, **sent}, content=content)
    assert answer.status_code == 201, answer.text


def show(page: Page, path: str) -> None:
    page.goto("about:blank")
    page.goto(path)
    expect(page.locator("h1").first).to_be_attached()
    page.wait_for_load_state("networkidle")


@pytest.mark.without_service_worker
@pytest.mark.parametrize("what", MOST)
def test_a_first_visit_asks_for_little(open_page: OpenPage, paths: Mapping[str, str], what: str) -> None:
    page = open_page()
    if what == "/shelf":
        keep_session(page, "ann@example.org")
    show(page, paths.get(what, what))
    most_kilobytes, most_requests = MOST[what]
    loaded: list[tuple[str, int]] = page.evaluate(_LOADED)
    scripts = {name: size for name, size in loaded if name.endswith(".js")}
    assert 20_000 < sum(scripts.values()) < most_kilobytes * 1000, scripts
    assert 1 + len(loaded) <= most_requests, [name for name, _ in loaded]
    # Neither another language nor a second copy of this one.
    assert page.locator("html").get_attribute("lang") == "en"


def test_the_service_worker_keeps_only_what_was_visited(open_page: OpenPage) -> None:
    page = open_page()
    show(page, "/sign-in")
    page.evaluate("navigator.serviceWorker.ready")
    names = "caches.keys().then(async (all) => (await Promise.all(all.map(async (name) => "
    kept: list[str] = page.evaluate(
        f"{names}(await (await caches.open(name)).keys()).map(({{ url }}) => url)))).flat())"
    )
    assert len(kept) < 15, kept


@pytest.mark.without_service_worker
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["wide", "phone"])
def test_no_page_jumps_while_it_arrives(open_page: OpenPage, paths: Mapping[str, str], size: ViewportSize) -> None:
    page = open_page(size=size, may_fail=True)
    page.add_init_script(_WATCH)
    jumped: dict[str, float] = {}
    for path in OUTSIDE:
        show(page, paths.get(path, path))
        jumped[path] = page.evaluate("window.shifted")
    keep_session(page, "ann@example.org")
    # That something waits is known from the second page on.
    show(page, INSIDE[0])
    for path in INSIDE:
        show(page, paths.get(path, path))
        jumped[f"{path} inside"] = page.evaluate("window.shifted")
    assert {path: shift for path, shift in jumped.items() if shift > MOST_SHIFT} == {}
