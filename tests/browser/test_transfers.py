"""Handing over in real browsers: by e-mail from shelf and device, taken, declined, withdrawn, and looked back on."""

import base64
import re
import zipfile
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Download, FilePayload, Locator, Page, Route, expect

from tests.browser.conftest import NARROW, PASSWORD, OpenPage, Serve, let_the_session_run_out, sign_in, sign_up
from tests.browser.test_pages import complaints_of_axe
from tests.server.process import ServerProcess

pytestmark = [pytest.mark.services, pytest.mark.without_service_worker]

QUOTA_BYTES = 1_000_000


@pytest.fixture(scope="module")
def server(serve: Serve, data: Path) -> Generator[ServerProcess]:
    """Small shelves: on one that is full nothing lands by itself, so that what is offered waits to be taken."""
    with serve(data, "--sign-up", "open", "--quota", str(QUOTA_BYTES)) as running:
        yield running


class Holder:
    """Somebody with an account, and what they do over the API."""

    def __init__(self, server: ServerProcess, name: str) -> None:
        self.name = name
        self.email = f"{name.lower()}@example.org"
        self.client = server.client
        self.headers = sign_up(server, self.email, name)

    def folder(self, name: str) -> str:
        body = {"name": name, "folder_id": "root"}
        return self.ask("POST", "/shelf/folders", json=body)["id"]

    def put(self, name: str, content: bytes, **where: str) -> str:
        """The id of the new file; it goes onto the shelf unless `where` says otherwise."""
        said = {"destination": "shelf", "filename": name, **where}
        headers = {
            **self.headers,
            "tus-resumable": "1.0.0",
            "upload-length": str(len(content)),
            "upload-metadata": ",".join(f"{key} {base64.b64encode(said[key].encode()).decode()}" for key in said),
            "content-type": "application/offset+octet-stream",
        }
        made = self.client.post("/api/v1/uploads", headers=headers, content=content)
        assert made.status_code == 201, made.text
        return self.ask("GET", f"/uploads/{made.headers['location'].rpartition('/')[2]}")["became"]

    def fill_the_shelf(self) -> "Holder":
        self.put("everything.bin", bytes(QUOTA_BYTES))
        return self

    def send(self, to: "Holder", *files: str, note: str = "") -> str:
        body = {"to": {"kind": "email", "email": to.email}, "files": files, "note": note}
        return self.ask("POST", "/transfers", json=body)["transfer_id"]

    def ask(self, method: str, path: str, **request: Any) -> Any:
        answer = self.client.request(method, f"/api/v1{path}", headers=self.headers, **request)
        assert answer.is_success, answer.text
        return answer.json() if answer.content else None


def open_transfer(page: Page, transfer_id: str) -> None:
    page.goto(f"/transfers/{transfer_id}")
    page.get_by_role("heading", level=1).wait_for()


def receipt(page: Page) -> Locator:
    return page.get_by_role("list", name="Receipts").get_by_role("listitem")


@pytest.mark.first_journey
def test_what_is_handed_over_by_e_mail_lies_on_the_other_shelf_and_both_see_it(
    server: ServerProcess, open_page: OpenPage
) -> None:
    ann, bob = Holder(server, "Ann"), Holder(server, "Bob")
    ann.put("plan.txt", b"at eight")
    ann.put("lake.txt", b"blue")
    ann.put("viola.txt", b"do re mi", folder=ann.folder("Parts"))
    sender, receiver = open_page(), open_page()
    sign_in(sender, ann.email)
    for name in ("Parts", "plan.txt", "lake.txt"):
        sender.get_by_role("checkbox", name=f"Select {name}").check()
    sender.get_by_role("toolbar").get_by_role("button", name="Share").click()
    dialog = sender.get_by_role("dialog")
    dialog.get_by_role("button", name="A person").click()
    expect(dialog.get_by_role("listitem")).to_have_count(3)
    dialog.get_by_label("E-mail address").fill(bob.email)
    dialog.get_by_label("Note").fill("For Thursday.\nBring the parts.")
    dialog.get_by_role("button", name="Send", exact=True).click()
    sender.get_by_role("button", name="Show", exact=True).click()
    expect(sender.get_by_role("heading", level=1)).to_have_text("To Bob")
    expect(receipt(sender)).to_contain_text("not opened yet")

    sign_in(receiver, bob.email)
    notice = receiver.get_by_role("status").filter(has_text="Ann sends you 3 files")
    expect(notice).to_contain_text("plan.txt")
    expect(receiver.get_by_role("link", name="Home 1")).to_be_visible()
    notice.get_by_role("link", name="View").click()
    expect(receiver.get_by_role("heading", level=1)).to_have_text("From Ann")
    expect(receiver.get_by_text("Bring the parts.")).to_be_visible()
    expect(receiver.get_by_role("link", name="Home", exact=True).first).to_be_visible()
    expect(receipt(sender)).to_contain_text(re.compile("opened .*M"))
    expect(receipt(sender)).to_contain_text("on the shelf")
    expect(receipt(sender)).not_to_contain_text("verified")
    receiver.get_by_role("button", name="Show on my shelf").click()
    expect(receiver.get_by_role("heading", level=1)).to_have_text("Received")
    expect(receiver.get_by_role("link", name="viola.txt")).to_have_count(0)
    expect(receiver.get_by_role("link", name="plan.txt")).to_be_visible()
    expect(receiver.get_by_role("link", name="Parts")).to_be_visible()


def test_what_a_full_shelf_cannot_take_is_downloaded_checked_and_seen_to_be_whole(
    server: ServerProcess, open_page: OpenPage
) -> None:
    cleo, dan = Holder(server, "Cleo"), Holder(server, "Dan").fill_the_shelf()
    content = bytes(range(256)) * 2000
    files = [cleo.put("plan.bin", content), cleo.put("樂譜.txt", b"do re mi", folder=(parts := cleo.folder("Parts")))]
    transfer_id = cleo.send(dan, files[0], parts)
    sender, receiver = open_page(), open_page()
    sign_in(sender, cleo.email, at=f"/transfers/{transfer_id}")
    expect(receipt(sender)).to_contain_text("offered")
    sign_in(receiver, dan.email, at=f"/transfers/{transfer_id}")
    expect(receipt(sender)).to_contain_text("opened")
    with receiver.expect_download() as download:
        receiver.get_by_role("button", name="Download all").click()
    assert download.value.suggested_filename == "From Cleo.zip"
    with zipfile.ZipFile(download.value.path()) as archive:
        assert archive.testzip() is None
        assert {name: archive.read(name) for name in archive.namelist()} == {
            "plan.bin": content,
            "Parts/樂譜.txt": b"do re mi",
        }
    expect(receipt(sender).get_by_text("verified").first).to_be_visible()
    expect(receiver.get_by_role("list", name="Files").get_by_text("verified")).to_have_count(2)
    with receiver.expect_download() as download:
        receiver.get_by_role("button", name="Download 樂譜.txt").click()
    assert download.value.suggested_filename == "樂譜.txt"
    assert Path(download.value.path()).read_bytes() == b"do re mi"


def test_bytes_that_were_damaged_on_the_way_are_not_handed_to_anybody(
    server: ServerProcess, open_page: OpenPage
) -> None:
    sender, receiver = Holder(server, "Edda"), Holder(server, "Finn").fill_the_shelf()
    transfer_id = sender.send(receiver, sender.put("plan.txt", b"at eight"))
    page = open_page(intercepted=True)
    sign_in(page, receiver.email, at=f"/transfers/{transfer_id}")

    def damage(route: Route) -> None:
        route.fulfill(status=200, body=b"at  nine", content_type="application/octet-stream")

    page.context.route("**/files/0/content", damage)
    downloads: list[Download] = []
    page.on("download", lambda download: downloads.append(download))
    page.get_by_role("button", name="Download", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("plan.txt differs from what was sent")
    assert downloads == []
    page.context.unroute("**/files/0/content")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download", exact=True).click()
    assert Path(download.value.path()).read_bytes() == b"at eight"
    expect(page.get_by_role("alert")).to_have_count(0)


def test_a_copy_that_came_unseen_is_checked_on_the_device(server: ServerProcess, open_page: OpenPage) -> None:
    sender, receiver = Holder(server, "Gil"), Holder(server, "Hana").fill_the_shelf()
    transfer_id = sender.send(receiver, sender.put("plan.txt", b"at eight"))
    got = server.client.get(f"/api/v1/transfers/{transfer_id}/files/0/content", headers=receiver.headers)
    page = open_page()
    sign_in(page, receiver.email, at=f"/transfers/{transfer_id}")
    for content in (b"at nine", got.content):
        with page.expect_file_chooser() as chooser:
            page.get_by_role("button", name="Verify my copy of plan.txt").click()
        copy = FilePayload(name="plan (1).txt", mimeType="text/plain", buffer=content)
        chooser.value.set_files(copy)
        if content != got.content:
            expect(page.get_by_role("alert")).to_contain_text("differs from what was sent")
    expect(page.get_by_role("list", name="Files")).to_contain_text("verified")
    expect(page.get_by_role("button", name="Verify my copy of plan.txt")).to_have_count(0)


def test_what_is_too_large_to_be_held_goes_straight_to_the_disk_and_is_checked_there(
    server: ServerProcess, open_page: OpenPage
) -> None:
    sender, receiver = Holder(server, "Sam"), Holder(server, "Tess").fill_the_shelf()
    transfer_id = sender.send(receiver, sender.put("film.bin", b"moving pictures"))

    def call_it_large(route: Route) -> None:
        transfer = route.fetch().json()
        transfer["files"][0]["size_bytes"] = 600 * 2**20
        route.fulfill(json=transfer)

    page = open_page(intercepted=True)
    sign_in(page, receiver.email)
    page.route(f"**/api/v1/transfers/{transfer_id}*", call_it_large)
    page.route(f"**/api/v1/transfers/{transfer_id}/opened", call_it_large)
    open_transfer(page, transfer_id)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download", exact=True).click()
    assert download.value.url.startswith("http")
    copy = Path(download.value.path())
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Verify my copy of film.bin").click()
    chooser.value.set_files(copy)
    expect(page.get_by_role("list", name="Files")).to_contain_text("verified")
    assert sender.ask("GET", f"/transfers/{transfer_id}")["state"] == "verified"
    page.unroute_all(behavior="wait")


def test_a_download_renews_a_session_that_has_run_out(server: ServerProcess, open_page: OpenPage) -> None:
    sender, receiver = Holder(server, "Uma"), Holder(server, "Vic").fill_the_shelf()
    transfer_id = sender.send(receiver, sender.put("plan.txt", b"at eight"))
    page = open_page(may_fail=True)
    sign_in(page, receiver.email, at=f"/transfers/{transfer_id}")
    let_the_session_run_out(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download", exact=True).click()
    assert Path(download.value.path()).read_bytes() == b"at eight"
    expect(page.get_by_role("list", name="Files")).to_contain_text("verified")


def test_what_is_declined_or_withdrawn_is_so_on_both_sides_at_once_and_can_be_sent_again(
    server: ServerProcess, open_page: OpenPage
) -> None:
    ida, jan = Holder(server, "Ida"), Holder(server, "Jan").fill_the_shelf()
    file = ida.put("plan.txt", b"at eight")
    first, second = ida.send(jan, file), ida.send(jan, file)
    sender, receiver = open_page(), open_page()
    sign_in(sender, ida.email)
    sign_in(receiver, jan.email)
    open_transfer(sender, first)
    open_transfer(receiver, first)
    receiver.get_by_role("button", name="Decline").click()
    expect(receiver.get_by_text("You declined this.")).to_be_visible()
    expect(receipt(sender)).to_contain_text("declined")
    expect(sender.get_by_role("button", name="Withdraw")).to_have_count(0)

    open_transfer(sender, second)
    open_transfer(receiver, second)
    sender.get_by_role("button", name="Withdraw").click()
    expect(receiver.get_by_text("The sender withdrew this.")).to_be_visible()
    expect(receiver.get_by_role("button", name="Download", exact=True)).to_have_count(0)
    expect(receipt(sender)).to_contain_text("withdrawn")

    receiver.goto("/shelf")
    sender.get_by_role("button", name="Send again").click()
    expect(receipt(sender)).not_to_contain_text("withdrawn")
    assert sender.url.rpartition("/")[2] not in (first, second)
    # Told while they are here, without asking.
    expect(receiver.get_by_role("status").filter(has_text="Ida sends you a file")).to_be_visible()
    receiver.get_by_role("button", name="Later").click()
    expect(receiver.get_by_role("status").filter(has_text="Ida sends you a file")).to_have_count(0)
    expect(receiver.get_by_role("link", name="Home 1")).to_be_visible()


def test_who_is_blocked_offers_in_vain_and_a_deleted_person_is_named_so(
    server: ServerProcess, open_page: OpenPage
) -> None:
    # Whoever comes first is the administrator, who cannot leave alone.
    fay, eve = Holder(server, "Fay").fill_the_shelf(), Holder(server, "Eve")
    file = eve.put("again.txt", b"again")
    first = eve.send(fay, file)
    page = open_page(may_fail=True)
    sign_in(page, fay.email)
    open_transfer(page, first)
    page.get_by_role("button", name="Block", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Block", exact=True).click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("main").get_by_text("declined").first).to_be_visible()
    eve.send(fay, file)
    assert fay.ask("GET", "/transfers/waiting")["transfers"] == []
    page.goto("/account")
    page.get_by_role("button", name="Unblock Eve").click()
    expect(page.get_by_role("button", name="Unblock Eve")).to_have_count(0)

    leaver = open_page(may_fail=True)
    sign_in(leaver, eve.email, at="/account")
    leaver.get_by_role("button", name="Delete account…").click()
    dialog = leaver.get_by_role("dialog")
    expect(dialog).to_contain_text("1 file")
    for password in ("not the password", PASSWORD):
        dialog.get_by_label("Current password").fill(password)
        dialog.get_by_role("button", name="Delete for good").click()
        if password != PASSWORD:
            expect(dialog).to_contain_text("The password is wrong")
    leaver.wait_for_url(lambda url: "/account" not in url)
    open_transfer(page, first)
    expect(page.get_by_role("main")).to_contain_text("a deleted person")


def test_history_is_read_in_both_directions_page_by_page(server: ServerProcess, open_page: OpenPage) -> None:
    kim, lea = Holder(server, "Kim"), Holder(server, "Lea")
    there, back = kim.put("there.txt", b"there"), lea.put("back.txt", b"back")
    # Whom Lea does not know may not send her so much.
    lea.send(kim, back)
    for _ in range(70):
        kim.send(lea, there)
    for _ in range(3):
        lea.send(kim, back)
    page = open_page()
    sign_in(page, kim.email, at="/transfers")
    lines = page.get_by_role("list", name="Transfers").get_by_role("listitem")
    expect(lines.first).to_contain_text("From Lea")
    expect(lines.first).to_contain_text("new")
    expect(lines.nth(3)).to_contain_text("To Lea")
    assert lines.count() < 74
    for _ in range(20):
        page.mouse.wheel(0, 20_000)
        if lines.count() == 74:
            break
        page.wait_for_timeout(100)
    expect(lines).to_have_count(74)
    tabs = page.get_by_role("navigation", name="Which transfers")
    tabs.get_by_role("link", name="Received").click()
    expect(lines).to_have_count(4)
    assert page.url.endswith("/transfers?show=received")
    tabs.get_by_role("link", name="Sent").click()
    expect(lines.first).to_contain_text("To Lea")
    page.go_back()
    expect(lines).to_have_count(4)
    lea.send(kim, back)
    expect(lines).to_have_count(5)
    lines.first.get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("From Lea")


def test_files_of_the_device_go_onto_the_shelf_and_from_there_to_somebody(
    server: ServerProcess, open_page: OpenPage
) -> None:
    mia, nils = Holder(server, "Mia"), Holder(server, "Nils")
    page = open_page(may_fail=True)
    sign_in(page, mia.email, at="/transfers")
    files = [FilePayload(name=name, mimeType="text/plain", buffer=name.encode()) for name in ("one.txt", "two.txt")]
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Send files").click()
    chooser.value.set_files(files)
    page.get_by_role("dialog").get_by_label("E-mail address").fill("nobody@example.org")
    page.get_by_role("dialog").get_by_role("button", name="Send", exact=True).click()
    # Said before anything is uploaded, at the field itself.
    address = page.get_by_label("E-mail address")
    expect(address).to_have_accessible_description(re.compile("Nobody here has this e-mail address"))
    address.fill(nils.email)
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.get_by_role("list", name="Transfers").get_by_role("listitem")).to_contain_text("one.txt, two.txt")
    expect(page.get_by_role("heading", name="For")).to_have_count(0)
    waiting = nils.ask("GET", "/transfers/waiting")["transfers"]
    assert [file["name"] for file in waiting[0]["files"]] == ["one.txt", "two.txt"]
    page.goto("/shelf")
    expect(page.get_by_role("link", name="Sent")).to_be_visible()


def test_a_hand_out_names_who_is_missing_and_an_answer_comes_back_to_who_asked(
    server: ServerProcess, open_page: OpenPage
) -> None:
    olga, paul = Holder(server, "Olga"), Holder(server, "Paul")
    room = olga.ask("POST", "/rooms", json={"name": "Class"})
    paul.ask("POST", "/rooms/join", json={"code": room["code"]})
    sheet = olga.put("sheet.txt", b"1 + 1 =", destination="room", room=room["room_id"])
    body = {"to": {"kind": "room", "room_id": room["room_id"]}, "files": [sheet], "wants_answers": True}
    transfer_id = olga.ask("POST", "/transfers", json=body)["transfer_id"]
    teacher, pupil = open_page(), open_page()
    sign_in(teacher, olga.email, at=f"/transfers/{transfer_id}")
    missing = teacher.get_by_role("list", name="Still missing")
    expect(missing).to_contain_text("Paul")
    expect(
        teacher.get_by_text(re.compile("Answers come to your shelf, into the folder “Received/.* sheet.txt”"))
    ).to_be_visible()
    sign_in(pupil, paul.email, at=f"/transfers/{transfer_id}")
    pupil.get_by_role("button", name="Hand in").click()
    expect(pupil.get_by_role("dialog")).to_contain_text("It goes to the shelf of Olga")
    with pupil.expect_file_chooser() as chooser:
        pupil.get_by_role("dialog").get_by_role("button", name=re.compile("files", re.I)).first.click()
    chooser.value.set_files(FilePayload(name="answer.txt", mimeType="text/plain", buffer=b"2"))
    expect(pupil.get_by_text("Handed in: 1 file is now on the shelf of Olga.")).to_be_visible()
    expect(teacher.get_by_text("Everybody has handed in.")).to_be_visible()
    olga.ask("DELETE", f"/rooms/{room['room_id']}")
    receipt(teacher).get_by_role("link", name="Answer").click()
    expect(teacher.get_by_role("heading", level=1)).to_have_text("From Paul")
    expect(teacher.get_by_role("list", name="Files")).to_contain_text("answer.txt")
    expect(teacher.get_by_text(re.compile("on your shelf, in the folder “Received/.*/Paul”"))).to_be_visible()
    teacher.get_by_role("button", name="Show on my shelf").click()
    expect(teacher.get_by_role("row").filter(has_text="answer.txt")).to_be_visible()


@pytest.mark.parametrize("locale", ["en", "zh-TW", "ja"])
def test_pages_fit_a_narrow_screen_and_everybody(server: ServerProcess, open_page: OpenPage, locale: str) -> None:
    sender, receiver = Holder(server, f"Quin{locale[:2]}"), Holder(server, f"Rosa{locale[:2]}").fill_the_shelf()
    name = f"{'a very long name ' * 6}.txt"
    transfer_id = sender.send(receiver, sender.put(name, b"do"), note="no-break " * 40)
    page = open_page(locale=locale, size=NARROW, dark=locale == "ja")
    sign_in(page, receiver.email)
    for path in ("/shelf", "/transfers", f"/transfers/{transfer_id}"):
        page.goto(path)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        page.get_by_text(re.compile(f"Quin{locale[:2]}|a very long")).first.wait_for()
        assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
        assert complaints_of_axe(page) == []


def test_administrators_see_when_the_house_was_kept(server: ServerProcess, open_page: OpenPage) -> None:
    page = open_page()
    sign_in(page, "ann@example.org", at="/administration")
    panel = (
        page.get_by_role("region")
        .or_(page.locator("section"))
        .filter(has=page.get_by_role("heading", name="Housekeeping"))
    )
    expect(panel).to_contain_text(re.compile("Last run|Not run yet"))
