"""Giving links from a terminal, and coming by them without an account, to get files or to send some."""

import os
import random
from pathlib import Path
from typing import Any

import msgspec
import pytest

from satchel.cli.engine.resources.link_address import LinkAddress
from satchel.cli.engine.terminal.output import Misused
from satchel.cli.links.link_expiry import moment_of
from tests.cli.photo_card import shoot
from tests.cli.terminal import AtOnce, Person, Ran, explains
from tests.cli.test_put_get import MEGABYTE, contents, described, fill, listed, objects, wait_until
from tests.cli.test_rooms import sign_up
from tests.server.process import ServerProcess

pytestmark = pytest.mark.slow

PASSWORD = {"SATCHEL_LINK_PASSWORD": "swordfish"}


@pytest.fixture(scope="module")
def owner(tmp_path_factory: pytest.TempPathFactory, server: ServerProcess) -> Person:
    """Somebody with a folder of three files on their shelf, who gives many links."""
    ann = Person(tmp_path_factory.mktemp("ann"))
    sign_up(ann, server, "Ann")
    fill(ann.home / "Band/violin.pdf", 5000)
    fill(ann.home / "Band/old/viola.pdf", 3000)
    fill(ann.home / "Band/empty.txt", 0)
    assert ann.run("put", "Band", "--quiet").code == 0
    return ann


@pytest.fixture
def stranger(bob: Person) -> Person:
    """Somebody who has never heard of the server."""
    return bob


def given(owner: Person, *arguments: str, **extra: str) -> Any:
    ran = owner.run("link", *arguments, "--json", **extra)
    assert ran.code == 0, ran
    return ran.json


def shown(owner: Person, link: Any) -> Any:
    return owner.run("links", "show", link["link_id"], "--json").json


def fetched(person: Person, link: Any, *options: str, **extra: str) -> Ran:
    ran = person.run("get", link["address"], *options, **extra)
    assert ran.code == 0, ran
    return ran


def test_a_stranger_gets_a_file_by_its_link_and_its_owner_sees_that(owner: Person, stranger: Person) -> None:
    link = given(owner, "violin.pdf", "--note", "for Sunday", "--name", "The part")
    assert link["note"] == "for Sunday"
    assert "fetched violin.pdf (5.0 kB)" in fetched(stranger, link).out
    assert (stranger.home / "violin.pdf").read_bytes() == (owner.home / "Band/violin.pdf").read_bytes()
    assert not stranger.credentials.exists()
    now = shown(owner, link)
    assert [now[name] for name in ("opens", "people", "downloads", "state")] == [1, 1, 1, "active"]
    out = owner.run("links", "show", link["link_id"][-8:]).out
    assert "The part, active" in out
    assert "Opened once by 1 person, last on 20" in out
    assert "Visitors without an account count once a month." in out
    assert "Downloaded once." in out


def test_a_folder_comes_with_its_structure_and_nothing_is_overwritten_or_fetched_again(
    owner: Person, stranger: Person
) -> None:
    link = given(owner, "Band")
    (stranger.home / "Band").mkdir()
    (stranger.home / "Band/violin.pdf").write_text("mine")
    for _ in range(2):
        fetched(stranger, link)
    band = contents(owner.home / "Band")
    taken = {"violin (1).pdf": band.pop("violin.pdf"), "violin.pdf": b"mine"}
    assert contents(stranger.home / "Band") == {**band, **taken}
    # However many files it has, a folder taken whole is one download.
    assert shown(owner, link)["downloads"] == 1


def test_times_programs_and_empty_folders_come_by_a_link_as_they_were(owner: Person, stranger: Person) -> None:
    kit = owner.home / "Kit"
    fill(kit / "deep/run.sh", 10).chmod(0o755)
    (kit / "deep/hollow").mkdir()
    for path in (kit / "deep/run.sh", kit / "deep/hollow", kit / "deep", kit):
        os.utime(path, ns=(0, random.randrange(10**17, 10**18)))
    assert owner.run("put", "Kit", "--quiet").code == 0
    fetched(stranger, given(owner, "Kit"))
    assert described(stranger.home / "Kit") == described(kit)
    assert (stranger.home / "Kit").stat().st_mtime_ns == kit.stat().st_mtime_ns


def test_a_killed_download_goes_on_and_is_one_download(owner: Person, stranger: Person) -> None:
    sent = fill(owner.home / "large.bin", 100 * MEGABYTE)
    assert owner.run("put", "large.bin", "--quiet").code == 0
    link = given(owner, "large.bin", "--downloads", "1")
    command = stranger.start("get", link["address"])
    part = stranger.home / "large.bin.part"
    wait_until(lambda: part.exists() and part.stat().st_size > MEGABYTE)
    command.kill()
    command.communicate()
    assert not (stranger.home / "large.bin").exists()
    (line,) = objects(fetched(stranger, link, "--json").out)
    assert (line["result"], line["saved_as"]) == ("fetched", "large.bin")
    assert (stranger.home / "large.bin").read_bytes() == sent.read_bytes()
    assert [shown(owner, link)[name] for name in ("downloads_used", "downloads", "state")] == [1, 1, "used-up"]
    assert explains(stranger.run("get", link["address"], "-o", "again"), 1, "reached its download limit")


def test_a_password_is_taken_from_the_environment_or_typed_unseen(owner: Person, stranger: Person) -> None:
    link = given(owner, "violin.pdf", "--password", **PASSWORD)
    assert link["has_password"]
    assert explains(stranger.run("get", link["address"]), 2, "SATCHEL_LINK_PASSWORD")
    wrong = stranger.run("get", link["address"], SATCHEL_LINK_PASSWORD="guessed")
    assert explains(wrong, 1, "password is wrong")
    typed = [("Password of the link from Ann", "guessed\n"), ("Password again", "swordfish\n")]
    ran = stranger.run_in_terminal("get", link["address"], answers=typed)
    assert ran.code == 0, ran
    assert "swordfish" not in ran.out
    fetched(stranger, link, "-o", "again", **PASSWORD)
    again = owner.run("links", "change", link["link_id"], "--no-password", "--json")
    assert not again.json["has_password"]


def test_where_somebody_has_guessed_the_right_password_gets_in_by_a_proof_of_work(
    owner: Person, stranger: Person, server: ServerProcess
) -> None:
    link = given(owner, "violin.pdf", "--password", **PASSWORD)
    enter = f"/api/v1/open/{link['address'].rpartition('/')[2]}/enter"
    while server.client.post(enter, json={"password": "guessed"}).status_code != 429:
        pass
    ran = fetched(stranger, link, **PASSWORD)
    assert "Waiting for a turn" in ran.err


def test_files_that_are_asked_for_arrive_in_the_folder_and_no_more_than_that(owner: Person, stranger: Person) -> None:
    link = given(owner, "--ask", "Band/old", "--up-to", "10kB", "--password", **PASSWORD)
    assert (link["thing"]["kind"], link["max_bytes"]) == ("request", 10_000)
    fill(stranger.home / "work/essay.txt", 6000)
    fill(stranger.home / "work/more/notes.txt", 6000)
    put = ("put", "work", "--link", link["address"], "--name", "Bob")
    ran = stranger.run(*put, **PASSWORD)
    assert ran.code == 1
    assert "reached its size limit" in ran.err
    assert owner.run("links", "change", link["link_id"], "--up-to", "20kB").code == 0
    ran = stranger.run(*put, **PASSWORD)
    assert ran.code == 0, ran
    assert "1 file was sent before." in ran.out
    assert not stranger.credentials.exists()
    assert sorted(listed(owner, "Band/old/Bob/work")) == ["essay.txt", "more"]
    assert listed(owner, "Band/old/Bob/work/more") == ["notes.txt"]
    assert explains(stranger.run("get", link["address"]), 1, "satchel put")
    assert explains(stranger.run("put", "work", "--link", given(owner, "Band")["address"]), 1, "satchel get")


def test_a_link_can_be_paused_resumed_extended_and_revoked(owner: Person, stranger: Person) -> None:
    link = given(owner, "violin.pdf", "--expires", "2h")
    assert "violin.pdf, paused" in owner.run("links", "pause", link["address"]).out
    assert explains(stranger.run("get", link["address"]), 1, "paused")
    assert "violin.pdf, active" in owner.run("links", "resume", link["token"]).out
    assert owner.run("links", "extend", link["link_id"], "never", "--json").json["expires_at"] is None
    badge = owner.run("links", "change", link["link_id"], "--badge", "--downloads", "7", "--json").json
    assert badge["badge_address"]
    assert badge["downloads_limit"] == 7
    assert owner.run("links", "revoke", link["link_id"][-8:]).out == "violin.pdf, revoked\n"
    assert explains(stranger.run("get", link["address"]), 1, "revoked")
    heading, line = owner.run("links", "--limit", "1").out.splitlines()
    assert heading.split() == ["name", "kind", "state", "opened", "people", "taken", "id"]
    assert line.split() == ["violin.pdf", "file", "revoked", "0", "0", "0", link["link_id"][-8:]]


def test_a_link_to_a_room_says_how_to_come_in(owner: Person, stranger: Person, server: ServerProcess) -> None:
    code = owner.run("room", "open", "--json").json["code"]
    link = given(owner, "--room", code.lower())
    came = stranger.run("get", link["address"])
    # With its key, the invitation is never taken for a guess.
    assert explains(came, 1, f"satchel room join {code}#", f"--server {server.url}")


def test_a_link_to_an_album_gives_strangers_its_photos(owner: Person, stranger: Person) -> None:
    shoot(owner.home / "card/IMG_1.JPG")
    assert owner.run("photos", "backup", "card", "--quiet").code == 0
    link = given(owner, "--album", "q3 2024", "--may-add")
    assert (link["thing"]["kind"], link["may_add"]) == ("album", True)
    fetched(stranger, link)
    assert len(list(stranger.home.rglob("*_IMG_1_*.JPG"))) == 1
    assert explains(owner.run("link", "--album", "Nowhere"), 1, "satchel album list")


def test_who_is_signed_in_comes_by_their_own_link_without_counting(owner: Person) -> None:
    link = given(owner, "violin.pdf")
    fetched(owner, link, "-o", "again")
    assert shown(owner, link)["opens"] == 0


def test_who_was_signed_in_once_comes_by_a_link_as_a_stranger(
    owner: Person, bob: Person, server: ServerProcess
) -> None:
    sign_up(bob, server, "Bob")
    ended = {**bob.kept["sessions"][server.url], "access_token": "ended", "refresh_token": "ended"}
    bob.credentials.write_bytes(msgspec.json.encode({**bob.kept, "sessions": {server.url: ended}}))
    assert explains(bob.run("ls"), 1, "satchel login")
    fetched(bob, given(owner, "violin.pdf"))
    fill(bob.home / "essay.txt", 10)
    asking = given(owner, "--ask", "Band/old")
    assert bob.run("put", "essay.txt", "--link", asking["address"], "--name", "Once Bob").code == 0
    assert listed(owner, "Band/old/Once Bob") == ["essay.txt"]


def test_a_narrow_terminal_shows_a_line_for_each_link(owner: Person) -> None:
    given(owner, "violin.pdf", "--name", "A very long name for a part that everybody has to play")
    out = owner.run_in_terminal("links", COLUMNS="50", NO_COLOR="1").out
    assert max(map(len, out.splitlines())) <= 50
    assert "A very" in out


def test_in_a_terminal_there_is_a_qr_code_and_elsewhere_a_line_with_the_address(owner: Person) -> None:
    out = owner.run_in_terminal("link", "Band", "--downloads", "3", NO_COLOR="1").out
    assert "Anybody with this link can download everything in Band, 3 times in all." in out
    assert "▀" in out
    assert "▀" not in owner.run_in_terminal("link", "Band", "--no-qr").out
    lines = owner.run("link", "Band").out.splitlines()
    assert LinkAddress.read(lines[2]).server


def test_what_cannot_be_meant_is_said_before_a_server_is_asked(at_once: AtOnce) -> None:
    unknown = f"https://satchel.example.org/l/{'A' * 22}"
    assert explains(at_once("link"), 2, "--room")
    assert explains(at_once("link", "Band", "--album", "Sea"), 2, "--album")
    assert explains(at_once("link", "Band", "--may-add"), 2, "--album")
    assert explains(at_once("link", "Band", "--up-to", "2GB"), 2, "--ask")
    assert explains(at_once("link", "Band", "--expires", "soon"), 2, "'soon'", "7d")
    for downloads in ("few", "0", "²", "1000000000"):
        assert explains(at_once("link", "Band", "--downloads", downloads), 2, "--downloads", "from 1 to")
    for size in ("0", "much", ".GB", "99999999TB"):
        assert explains(at_once("link", "--ask", "Band", "--up-to", size), 2, "--up-to", "2GB")
    assert explains(at_once("links", "--limit", "few"), 2, "--limit")
    assert explains(at_once("links", "change", "zzzzzzzz"), 2, "--help")
    assert explains(at_once("get", "https://satchel.example.org/drop/x"), 2, "/l/")
    assert explains(at_once("get", unknown.removeprefix("https://")), 2, "https://")
    assert explains(at_once("get", unknown, "violin.pdf"), 2, "of its own")
    assert explains(at_once("put", "Band", "--link", unknown, "--to", "bob@example.org"), 2, "--link")


def test_what_is_not_there_is_said_and_nothing_is_given(owner: Person, server: ServerProcess) -> None:
    before = owner.run("links", "--json").json
    assert explains(owner.run("link", "--ask", "violin.pdf"), 1, "folder")
    assert explains(owner.run("link", "--ask", "nowhere/Homework"), 1, "nowhere/Homework")
    assert explains(owner.run("link", "--room", "QQQQQ"), 1, "QQQQQ")
    assert explains(owner.run("links", "pause", "zzzzzzzz"), 1, "satchel links")
    assert explains(owner.run("get", f"{server.url}/l/{'A' * 22}"), 1, "does not exist")
    assert owner.run("links", "--json").json == before


def test_a_folder_to_ask_files_into_is_made_if_there_is_none(owner: Person) -> None:
    assert given(owner, "--ask", "Homework")["thing"]["name"] == "Homework"
    again = given(owner, "--ask", "Homework/Monday")["thing"]
    assert given(owner, "--ask", "Homework/Monday")["thing"]["id"] == again["id"]


@pytest.mark.parametrize("path", ["", "/below/it"])
@pytest.mark.parametrize("end", ["", "/", "?from=chat", "#top"])
def test_an_address_is_read_however_it_was_copied(path: str, end: str) -> None:
    token = "".join(random.choices("Az09_-", k=22))
    server = f"https://satchel.example.org:8443{path}"
    assert LinkAddress.read(f"  {server}/l/{token}{end}\n") == LinkAddress(token, server)
    assert LinkAddress.read(token) == LinkAddress(token)


@pytest.mark.parametrize("written", ["", "short", "ftp://x/l/" + "A" * 22, "https:///l/" + "A" * 22, "A" * 23])
def test_what_is_no_address_of_a_link_is_refused(written: str) -> None:
    with pytest.raises(Misused):
        LinkAddress.read(written)


def test_a_day_means_all_of_it_and_never_means_no_end() -> None:
    assert (moment_of("2026-12-24") or "").startswith("2026-12-24T23:59:59")
    assert (moment_of("2026-12-24T18:00Z") or "")[-6] in "+-"
    assert moment_of("never") is None
    assert (moment_of("2w") or "") > (moment_of("13d") or "")
    for written in ("", "tomorrow", "5", "99999w 1d", "2026-02-30"):
        with pytest.raises(Misused):
            moment_of(written)


def test_names_that_lead_out_of_the_folder_stay_in_it(owner: Person, stranger: Person, tmp_path: Path) -> None:
    link = given(owner, "Band", "--name", "../../outside")
    fetched(stranger, link, "-o", "here")
    assert sorted(path.name for path in (stranger.home / "here").iterdir()) == ["_._.._outside"]
    assert not list(tmp_path.glob("outside"))
