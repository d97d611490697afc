"""Photos and albums in a browser: uploaded, found in their albums, shared, moved by dates, deleted and restored."""

import json
import re
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import FilePayload, Locator, Page, WebSocketRoute, expect

from tests.browser.conftest import DESKTOP, NARROW, OpenPage, Serve, sign_in
from tests.browser.test_pages import complaints_of_axe
from tests.browser.test_transfers import Holder
from tests.features.albums.photos_given import photo
from tests.features.albums.test_photo_access import PLACED
from tests.features.albums.test_photo_places import has_place
from tests.media import samples
from tests.server.process import ServerProcess

# Some photos are headers without pixels, which browsers cannot show; Chromium logs that nobody has a picture of them.
pytestmark = [pytest.mark.services, pytest.mark.without_service_worker]


@pytest.fixture(scope="module")
def server(serve: Serve, data: Path) -> Generator[ServerProcess]:
    with serve(data, "--sign-up", "open") as running:
        yield running


def taken(name: str, moment: str) -> FilePayload:
    return {"name": name, "mimeType": "image/jpeg", "buffer": photo(moment, mark=name)}


def tiles(page: Page) -> Locator:
    return page.get_by_role("main").get_by_role("button", name=re.compile("^Photo, "))


def album(page: Page, name: str) -> Locator:
    return page.get_by_role("list", name="Albums").get_by_role("link").filter(has_text=name)


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def assert_everybody_can_use(page: Page) -> None:
    for size in (NARROW, DESKTOP):
        page.set_viewport_size(size)
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"], page.url
        assert complaints_of_axe(page) == [], (page.url, size)


def assert_one_timeline(bob: Holder, open_page: OpenPage) -> None:
    """What others share stands among one's own photos, with a sign, until one wants to be alone."""
    page = open_page(may_fail=True)
    sign_in(page, bob.email, at="/photos")
    page.locator("input[type=file]").first.set_input_files([taken("mine.jpg", "2025:07:15 10:00:00")])
    expect(tiles(page)).to_have_count(2)
    given = tiles(page).and_(page.get_by_role("button", name=re.compile("shared with you$")))
    expect(given).to_have_count(1)
    assert_everybody_can_use(page)
    together = page.get_by_role("checkbox", name="With albums that others share with me")
    together.uncheck()
    expect(tiles(page)).to_have_count(1)
    expect(given).to_have_count(0)
    page.reload()
    expect(together).not_to_be_checked()
    expect(tiles(page)).to_have_count(1)


@pytest.mark.first_journey
def test_photos_come_into_albums_by_date_and_move_with_them(server: ServerProcess, open_page: OpenPage) -> None:
    ann, bob = Holder(server, "Ann"), Holder(server, "Bob")
    page = open_page(may_fail=True)
    sign_in(page, ann.email, at="/photos")
    expect(page.get_by_text("No photos yet")).to_be_visible()
    files = [taken("a.jpg", "2025:07:14 10:00:00"), taken("b.jpg", "2025:08:01 11:00:00")]
    page.locator("input[type=file]").first.set_input_files(files)
    expect(tiles(page)).to_have_count(2)
    expect(page.get_by_text("2 photos", exact=True)).to_be_visible()
    assert_everybody_can_use(page)

    page.get_by_role("link", name="Albums").click()
    expect(album(page, "Q3 2025")).to_contain_text("2 photos")
    assert_everybody_can_use(page)

    press(page, "New album")
    page.get_by_label("Name").fill("Sea")
    page.get_by_label("First day").fill("2025-07-10")
    page.get_by_label("Last day").fill("2025-07-20")
    plan = page.get_by_role("dialog")
    expect(plan).to_contain_text(re.compile(r"One photo\s*Q3 2025"))
    assert complaints_of_axe(page) == []
    press(page, "Create album")
    expect(album(page, "Sea")).to_contain_text("One photo")
    expect(album(page, "Q3 2025")).to_contain_text("One photo")

    album(page, "Sea").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sea")
    expect(tiles(page)).to_have_count(1)
    press(page, "Share")
    page.get_by_role("dialog").get_by_role("button", name="A person").click()
    page.get_by_label("E-mail address").fill(bob.email)
    press(page, "Share album")
    expect(page.get_by_role("list", name="Who sees this album")).to_contain_text("Bob")
    places = page.get_by_role("checkbox", name="Others also get the place")
    expect(places).not_to_be_checked()
    places.check()
    expect(places).to_be_checked()
    assert complaints_of_axe(page) == []
    page.keyboard.press("Escape")
    assert [(each["name"], each["with_location"]) for each in bob.ask("GET", "/albums")["albums"]] == [("Sea", True)]
    assert_one_timeline(bob, open_page)

    # Longer, it wins the other photo, too; and it is said who will see that one.
    press(page, "Dates")
    page.get_by_label("Last day").fill("2025-08-10")
    expect(page.get_by_role("dialog")).to_contain_text("Bob will newly see these.")
    press(page, "Change dates")
    # Others hear of it before the answer is here which can be undone.
    expect(page.get_by_text("Sea has been changed.")).to_be_visible()
    expect(tiles(page)).to_have_count(2)
    page.get_by_role("button", name="Undo", exact=True).last.click()
    expect(tiles(page)).to_have_count(1)

    # A camera whose clock was a month behind: its photo leaves these dates, and comes back.
    press(page, "Correct a camera’s clock")
    page.get_by_label("Days").fill("30")
    clock = page.get_by_role("dialog")
    expect(clock).to_contain_text("Canon R5a.jpg")
    expect(clock).to_contain_text(re.compile(r"July 14, 2025 .* August 13, 2025", re.DOTALL))
    expect(clock).to_contain_text(re.compile(r"One photo\s*Sea"))
    assert complaints_of_axe(page) == []
    press(page, "Correct clock")
    expect(page.get_by_text("The clock of Canon R5a.jpg has been corrected.")).to_be_visible()
    expect(tiles(page)).to_have_count(0)
    page.get_by_role("button", name="Undo", exact=True).last.click()
    expect(tiles(page)).to_have_count(1)
    assert_everybody_can_use(page)


def test_chosen_photos_are_shared_by_a_link_and_its_visitors_see_these_alone(
    server: ServerProcess, open_page: OpenPage
) -> None:
    uma = Holder(server, "Uma")
    for day in (1, 2, 3):
        uma.put(f"{day}.jpg", photo(f"2025:05:0{day} 10:00:00", mark=str(day)), destination="photos")
    page = open_page(may_fail=True)
    sign_in(page, uma.email, at="/photos")
    expect(tiles(page)).to_have_count(3)

    tiles(page).first.click()
    press(page, "Share")
    sheet = page.get_by_role("dialog", name="Share a photo")
    expect(sheet.get_by_role("button", name="Your room")).to_have_count(0)
    assert complaints_of_axe(page) == []
    sheet.get_by_role("button", name="Link and QR code").click()
    expect(page.get_by_role("img", name="QR code")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("img", name="QR code")).to_have_count(0)
    page.keyboard.press("Escape")

    tiles(page).last.click(button="right")
    page.get_by_role("checkbox", name=re.compile("May 2, 2025")).check()
    page.get_by_role("toolbar").get_by_role("button", name="Share").click()
    sheet = page.get_by_role("dialog", name="Share 2 photos")
    sheet.get_by_role("button", name="Link and QR code").click()
    expect(page.get_by_role("img", name="QR code")).to_be_visible()
    links = uma.ask("GET", "/links")["links"]
    assert [link["thing"]["kind"] for link in links] == ["photos", "photos"]

    visitor = open_page(may_fail=True)
    visitor.goto(f"/l/{links[0]['token']}")
    expect(visitor.get_by_text("Uma shares photos with you")).to_be_visible()
    press(visitor, "Show photos")
    expect(tiles(visitor)).to_have_count(2)
    assert_everybody_can_use(visitor)


def test_photos_go_to_a_person_and_to_a_room_without_their_places(server: ServerProcess, open_page: OpenPage) -> None:
    vic, wim = Holder(server, "Vic"), Holder(server, "Wim")
    for day, content in ((1, photo("2025:05:01 10:00:00")), (2, PLACED)):
        vic.put(f"{day}.jpg", content, destination="photos")
    room = vic.ask("POST", "/rooms", json={"name": "Physics"})
    wim.ask("POST", "/rooms/join", json={"code": room["code"]})
    page = open_page(may_fail=True)
    sign_in(page, vic.email, at="/photos")
    expect(tiles(page)).to_have_count(2)

    def share(way: str) -> None:
        for each in page.get_by_role("main").get_by_role("checkbox", name=re.compile("202")).all():
            each.check()
        page.get_by_role("toolbar").get_by_role("button", name="Share").click()
        sheet = page.get_by_role("dialog", name="Share 2 photos")
        expect(sheet).to_contain_text("Others get photos without the place")
        # While it fades in, its colours are not yet what they will be.
        page.evaluate(
            "Promise.race([Promise.allSettled(document.getAnimations().map(each => each.finished)),"
            " new Promise(done => setTimeout(done, 2000))]).then(() => null)"
        )
        assert complaints_of_axe(page) == []
        sheet.get_by_role("button", name=way).click()

    share("A person")
    dialog = page.get_by_role("dialog", name="Share 2 photos")
    dialog.get_by_label("E-mail address").fill("nobody@example.org")
    dialog.get_by_role("button", name="Send", exact=True).click()
    expect(dialog).to_contain_text("Nobody here has this e-mail address.")
    assert vic.ask("GET", "/shelf/entries")["entries"] == []
    dialog.get_by_label("E-mail address").fill(wim.email)
    dialog.get_by_role("button", name="Send", exact=True).click()
    expect(page.get_by_text("Sent to Wim.")).to_be_visible()
    (transfer,) = wim.ask("GET", "/transfers")["transfers"]
    assert transfer["file_count"] == 2
    # A dialog that closes goes back in the history. At the same time as a reload, one of the two is lost.
    page.wait_for_function("!Object.values(history.state ?? {}).some(each => each?.dialog)")
    page.reload()
    expect(tiles(page)).to_have_count(2)
    share("Your room: Physics")
    files: list[dict[str, Any]] = []
    for _ in range(100):
        if len(files := wim.ask("GET", f"/rooms/{room['room_id']}/files")["files"]) == 2:
            break
        page.wait_for_timeout(200)
    assert sorted(file["name"][:10] for file in files) == ["2024-01-31", "2025-05-01"]
    path = f"/api/v1/rooms/{room['room_id']}/files/{{}}/content"
    for file in files:
        content = wim.client.get(path.format(file["file_id"]), headers=wim.headers).content
        assert not has_place(content)


def test_open_pages_follow_what_others_do(server: ServerProcess, open_page: OpenPage) -> None:
    cat, dan = Holder(server, "Cat"), Holder(server, "Dan")
    made = cat.ask("POST", "/albums", json={"name": "Lake", "start": "2025-05-01", "end": "2025-06-01"})
    album_id = made["album"]["album_id"]
    cat.ask("PUT", f"/albums/{album_id}/shares/{dan.email}", json={"role": "visitor"})
    first = cat.put("1.jpg", photo("2025:05:02 10:00:00", mark="1"), destination="photos")
    timeline, page, mine = (open_page(may_fail=True) for _ in range(3))
    listen(timeline, dan, "/photos")
    listen(page, dan, f"/albums/{album_id}")
    listen(mine, cat, "/photos")
    for each in (timeline, page, mine):
        expect(tiles(each)).to_have_count(1)

    cat.put("2.jpg", photo("2025:05:03 10:00:00", mark="2"), destination="photos")
    for each in (timeline, page, mine):
        expect(tiles(each)).to_have_count(2)
    expect(page.get_by_role("main")).to_contain_text("2 photos")
    owner = cat.ask("GET", "/accounts/me")["user_id"]
    cat.ask("DELETE", f"/photos/{owner}/{first}")
    for each in (timeline, page, mine):
        expect(tiles(each)).to_have_count(1)
    cat.ask("PATCH", f"/albums/{album_id}", json={"name": "Pond"})
    expect(page.get_by_role("heading", level=1)).to_have_text("Pond")
    # Whoever lost the album does not go on looking at it.
    cat.ask("DELETE", f"/albums/{album_id}/shares/{dan.email}")
    expect(page.get_by_role("heading", level=1)).not_to_have_text("Pond")
    for each in (timeline, page):
        expect(tiles(each)).to_have_count(0)
    expect(tiles(mine)).to_have_count(1)


def listen(page: Page, person: Holder, at: str) -> None:
    """Sign in, and wait until the page hears what happens."""
    frames: list[object] = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: frames.append(frame)))
    sign_in(page, person.email, at=at)
    while not frames:
        page.wait_for_timeout(20)


def test_a_page_shows_what_came_before_its_live_connection_stood(server: ServerProcess, open_page: OpenPage) -> None:
    eve = Holder(server, "Eve")
    page = open_page(may_fail=True)
    sign_in(page, eve.email)
    held: list[WebSocketRoute] = []
    page.route_web_socket("**/api/v1/live", lambda line: held.append(line))
    page.goto("/photos")
    expect(page.get_by_text("No photos yet")).to_be_visible()
    eve.put("early.jpg", photo("2025:07:14 10:00:00"), destination="photos")
    expect(page.get_by_text("No photos yet")).to_be_visible()
    for line in held:
        line.connect_to_server()
    expect(tiles(page)).to_have_count(1)


def test_a_photo_is_looked_at_enlarged_deleted_and_restored(server: ServerProcess, open_page: OpenPage) -> None:
    cas = Holder(server, "Cas")
    for day in (1, 2, 3):
        content = samples.taken(f"2024:05:0{day} 10:00:00", day)
        cas.put(f"IMG_{day}.JPG", content, destination="photos", filetype="image/jpeg")
    page = open_page(may_fail=True)
    sign_in(page, cas.email, at="/photos")
    tiles(page).first.click()
    viewer = page.get_by_role("dialog")
    shown, title = viewer.locator("img"), viewer.get_by_role("heading", level=2)
    expect(title).to_contain_text("May 3, 2024")
    page.keyboard.press("ArrowRight")
    expect(title).to_contain_text("May 2, 2024")
    page.keyboard.press("i")
    expect(viewer.get_by_role("complementary")).to_contain_text("IMG_2.JPG")
    assert complaints_of_axe(page) == []
    press(page, "Favourite")
    expect(viewer.get_by_role("button", name="Not a favourite")).to_be_visible()

    # Enlarged, it is the original; and whole again for whoever goes on.
    press(page, "Zoom in")
    expect(shown).to_have_attribute("style", re.compile(r"scale\(2\.5\)"))
    expect(shown).to_have_attribute("src", re.compile("/preview$"))
    page.keyboard.press("ArrowRight")
    expect(title).to_contain_text("May 1, 2024")
    expect(shown).to_have_attribute("style", re.compile(r"scale\(1\)"))

    # What was deleted can be undone without leaving; and the slideshow goes on by itself.
    page.keyboard.press("Delete")
    expect(title).to_contain_text("May 2, 2024")
    viewer.get_by_role("button", name="Undo").click()
    expect(viewer.get_by_role("button", name="Next photo")).to_be_visible()
    press(page, "Slideshow")
    expect(title).to_contain_text("May 1, 2024")
    page.keyboard.press("Escape")
    expect(viewer).to_have_count(0)

    for day in (1, 2):
        page.get_by_role("checkbox", name=re.compile(f"May {day}, 2024")).check()
    with page.expect_download() as begun:
        page.get_by_role("toolbar").get_by_role("button", name="Download").click()
    assert begun.value.suggested_filename == "Photos.zip"
    page.keyboard.press("Escape")
    expect(page.get_by_role("toolbar")).to_have_count(0)
    page.get_by_role("checkbox", name=re.compile("May 1, 2024")).check()
    page.get_by_role("toolbar").get_by_role("button", name="Delete").click()
    expect(tiles(page)).to_have_count(2)
    page.get_by_role("link", name="Bin").click()
    expect(tiles(page)).to_have_count(1)
    assert_everybody_can_use(page)
    page.get_by_role("checkbox", name=re.compile("May 1, 2024")).check()
    page.get_by_role("toolbar").get_by_role("button", name="Restore").click()
    expect(page.get_by_text("The bin is empty")).to_be_visible()
    page.get_by_role("link", name="All photos").click()
    expect(tiles(page)).to_have_count(3)

    page.get_by_role("link", name="Favourites").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Favourites")
    expect(tiles(page)).to_have_count(1)
    page.get_by_role("link", name="Search", exact=True).click()
    page.get_by_label("Words").fill("img_3 2024-05")
    page.keyboard.press("Enter")
    expect(page.get_by_text("One photo found.")).to_be_visible()
    expect(tiles(page)).to_have_count(1)
    assert_everybody_can_use(page)


def test_a_folder_is_taken_in_and_strangers_see_its_album_by_a_link(
    server: ServerProcess, open_page: OpenPage, tmp_path: Path
) -> None:
    dee = Holder(server, "Dee")
    known = samples.taken("2023:02:01 10:00:00", 1)
    dee.put("first.jpg", known, destination="photos", filetype="image/jpeg")
    takeout = {"title": "sea.jpg", "photoTakenTime": {"timestamp": "1675339200"}}
    for name, content in {
        "copy.jpg": known,
        "sea.jpg": samples.jpeg(),
        "sea.jpg.supplemental-metadata.json": json.dumps(takeout).encode(),
        "notes.txt": b"not a photo",
    }.items():
        (tmp_path / name).write_bytes(content)
    page = open_page(may_fail=True)
    sign_in(page, dee.email, at="/photos")
    expect(tiles(page)).to_have_count(1)
    page.locator("input[webkitdirectory]").set_input_files(tmp_path)
    fates = page.get_by_role("region", name="What became of the files")
    for fate in ("1 uploaded", "1 here already", "One sidecar used", "1 left out: no photo or video"):
        expect(fates).to_contain_text(fate)
    fates.get_by_role("button", name="1 here already").click()
    expect(fates).to_contain_text("copy.jpg")
    assert_everybody_can_use(page)
    # The sidecar says when it was taken.
    expect(tiles(page)).to_have_count(2)
    expect(page.get_by_role("button", name=re.compile("^Photo, Thursday, February 2, 2023"))).to_be_visible()

    album_id = dee.ask("GET", "/albums")["albums"][0]["album_id"]
    link = dee.ask("POST", "/links", json={"thing": {"kind": "album", "id": album_id}, "may_add": True})
    stranger = open_page(may_fail=True)
    stranger.goto(f"/l/{link['token']}")
    press(stranger, "Show photos")
    expect(tiles(stranger)).to_have_count(2)
    # They may add theirs, and see what became of each file.
    notes: FilePayload = {"name": "notes.txt", "mimeType": "text/plain", "buffer": b"not a photo"}
    stranger.get_by_label("Your name").fill("Gus")
    stranger.locator("input[type=file]").first.set_input_files([taken("mine.jpg", "2023:03:01 10:00:00"), notes])
    fates = stranger.get_by_role("region", name="What became of the files")
    expect(fates).to_contain_text("1 uploaded")
    expect(fates).to_contain_text("1 left out: no photo or video")
    expect(tiles(stranger)).to_have_count(3)
    expect(stranger.get_by_role("heading", name="February 1 – March 1, 2023")).to_be_visible()
    assert_everybody_can_use(stranger)
    added = dee.ask("GET", f"/albums/{album_id}/medias")
    path = f"/photos/{added['owners'][-1]}/{added['ids'][-1]}"
    assert dee.ask("GET", path)["added_by"] == {"kind": "guest", "name": "Gus"}
    tiles(stranger).first.click()
    with stranger.expect_download() as begun:
        press(stranger, "Download the original")
    assert begun.value.suggested_filename.endswith(".jpg")
    assert complaints_of_axe(stranger) == []
    stranger.go_back()
    expect(stranger.get_by_role("dialog")).to_have_count(0)
    expect(tiles(stranger)).to_have_count(3)


def test_a_photo_counts_as_seen_when_it_is_shown_and_not_when_its_neighbour_is(
    server: ServerProcess, open_page: OpenPage
) -> None:
    ida = Holder(server, "Ida")
    lake = {"name": "Lake", "start": "2025-05-01", "end": "2025-06-01"}
    album_id = ida.ask("POST", "/albums", json=lake)["album"]["album_id"]
    ids = [
        ida.put(f"{day}.jpg", samples.taken(f"2025:05:0{day} 10:00:00"), destination="photos") for day in (1, 2, 3, 4)
    ]
    link = ida.ask("POST", "/links", json={"thing": {"kind": "album", "id": album_id}})
    page = open_page(may_fail=True)
    fetched: list[tuple[str, int]] = []
    page.on("response", lambda answer: fetched.append((answer.url, answer.status)))
    page.goto(f"/l/{link['token']}")
    press(page, "Show photos")
    expect(tiles(page)).to_have_count(4)

    def fetches_of(photo_id: str) -> list[int]:
        return [status for url, status in fetched if f"/files/{photo_id}/picture/preview/" in url]

    def views() -> list[int]:
        return [ida.ask("GET", f"/stats/thing:photo:{each}/summary")["total"].get("view", 0) for each in ids]

    def seen(wanted: list[int], fetched: int) -> None:
        """So many photos were fetched, and these were seen."""
        for _ in range(100):
            if views() == wanted and sum(200 in fetches_of(each) for each in ids) == fetched:
                return
            page.wait_for_timeout(100)
        raise AssertionError((views(), [fetches_of(each) for each in ids]))

    tiles(page).nth(1).click()
    seen([0, 1, 0, 0], 3)
    page.keyboard.press("ArrowRight")
    seen([0, 1, 1, 0], 4)
    album_views = ida.ask("GET", f"/stats/thing:album:{album_id}/summary")["total"]["view"]
    assert album_views == 2
    # What was fetched ahead counts when it is shown, also after the page was read again.
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.reload()
    tiles(page).nth(3).click()
    seen([0, 1, 1, 1], 4)
    assert {status for each in ids for status in fetches_of(each)} == {200}


def test_the_video_of_a_live_photo_plays_in_its_place(server: ServerProcess, open_page: OpenPage) -> None:
    fay = Holder(server, "Fay")
    page = open_page(may_fail=True)
    sign_in(page, fay.email, at="/photos")
    name = "IMG_20250714_100000"
    still = taken(f"{name}.JPG", "2025:07:14 10:00:00")
    clip: FilePayload = {
        "name": f"{name}.webm",
        "mimeType": "video/webm",
        "buffer": samples.video("webm", "libvpx-vp9"),
    }
    page.locator("input[type=file]").first.set_input_files([still, clip])
    expect(tiles(page)).to_have_count(1)
    tiles(page).click()
    page.keyboard.press("i")
    facts = page.get_by_role("complementary", name="Information")
    expect(facts.get_by_text(f"{name}.webm")).to_be_visible()
    with page.expect_download() as download:
        facts.get_by_role("link", name="Download the original").click()
    assert download.value.path().read_bytes() == clip["buffer"]
    press(page, "Play the live photo")
    film = page.locator("dialog video")
    expect(film).to_be_visible()
    # It ends by itself, and the photo is there again.
    expect(film).to_have_count(0)


def test_a_contributor_takes_back_what_they_added(server: ServerProcess, open_page: OpenPage) -> None:
    zelda, yannis = Holder(server, "Zelda"), Holder(server, "Yannis")
    lake = {"name": "Lake", "start": "2025-05-01", "end": "2025-06-01"}
    album_id = zelda.ask("POST", "/albums", json=lake)["album"]["album_id"]
    zelda.ask("PUT", f"/albums/{album_id}/shares/{yannis.email}", json={"role": "contributor"})
    zelda.put("hers.jpg", photo("2025:05:02 10:00:00", mark="1"), destination="photos")
    yannis.put("his.jpg", photo("2025:05:03 10:00:00", mark="2"), destination="photos", album=album_id)
    owner, page = open_page(may_fail=True), open_page(may_fail=True)
    sign_in(owner, zelda.email, at=f"/albums/{album_id}")
    sign_in(page, yannis.email, at=f"/albums/{album_id}")
    for each, day, giver in ((owner, "3", "by Yannis"), (page, "2", ""), (page, "3", "by Yannis")):
        tiles(each).and_(each.get_by_role("button", name=re.compile(f"May {day}, 2025"))).click()
        press(each, "Information")
        facts = each.get_by_role("complementary", name="Information")
        expect(facts.get_by_text("by Yannis")).to_have_count(1 if giver else 0)
        back = facts.get_by_role("button", name="Remove from the album")
        expect(back).to_have_count(1 if giver and each is page else 0)
        if each is page and giver:
            back.click()
            expect(each.get_by_text("The owner of the album can restore it for 30 days.")).to_be_visible()
        press(each, "Close")
    expect(tiles(page)).to_have_count(1)
    expect(tiles(owner)).to_have_count(1)
    assert len(zelda.ask("GET", "/photos/bin")["ids"]) == 1
