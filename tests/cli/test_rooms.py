"""Being in a room with others from a terminal: coming in, talking, passing files round, and leaving."""

import random
import stat
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.application import PASSWORD
from tests.cli.terminal import Person, explains
from tests.cli.test_account import ask, let_the_access_token_expire
from tests.cli.test_put_get import MEGABYTE, contents, fill, objects, wait_until_under_way
from tests.cli.watcher import watching
from tests.server.process import ServerProcess

pytestmark = pytest.mark.slow


def sign_up(person: Person, server: ServerProcess, name: str) -> None:
    email = f"{name}{random.randrange(10**12)}@example.org"
    signup = ("signup", "--server", server.url, "--email", email, "--name", name)
    assert person.run(*signup, SATCHEL_PASSWORD=PASSWORD).code == 0


@pytest.fixture
def guest(tmp_path: Path) -> Person:
    (tmp_path / "guest").mkdir()
    return Person(tmp_path / "guest")


@pytest.fixture
def owner(ann: Person, server: ServerProcess) -> Person:
    sign_up(ann, server, "Ann")
    return ann


@pytest.fixture
def member(bob: Person, server: ServerProcess) -> Person:
    sign_up(bob, server, "Bob")
    return bob


def opened(owner: Person, *options: str) -> Any:
    ran = owner.run("room", "open", "--json", *options)
    assert ran.code == 0, ran
    return ran.json


def join(person: Person, code: str, *options: str) -> None:
    assert person.run("room", "join", code, *options).code == 0


def test_a_room_is_opened_with_a_code_and_a_link_that_others_come_in_by(owner: Person, member: Person) -> None:
    ran = owner.run("room", "open", "--name", "Practice", "--hours", "2")
    assert ran.code == 0, ran
    headline, _, code, link, *_ = ran.out.splitlines()
    assert headline.startswith(f"Practice ({code}), open until ")
    assert f"/join/{code}#" in link
    ran = member.run("room", "join", code.lower())
    assert ran.out.startswith(f"Practice ({code}), open until ")
    assert "Ann (owner, away)" in ran.out
    assert "Bob (you)" in ran.out


def test_in_a_terminal_the_code_is_large_and_there_is_a_qr_code(owner: Person) -> None:
    out = owner.run_in_terminal("room", "open", NO_COLOR="1").out
    assert "┌───┬───┬───┬───┬───┐" in out
    assert "▀" in out
    assert max(map(len, out.splitlines())) <= 80


def test_one_brings_a_folder_and_another_who_watches_has_it_verified(owner: Person, member: Person) -> None:
    code = opened(owner)["code"]
    fill(owner.home / "band/scores/violin.pdf", 5000)
    fill(owner.home / "band/large.bin", 3 * MEGABYTE)
    with watching(member, code, "--save", "saved") as watcher:
        watcher.sees("room")
        ran = owner.run("put", "band", "--room", code, "--note", "for Sunday", "--wait", "--json")
        assert ran.code == 0, ran
        offer = watcher.sees("offer")["transfer"]
        assert offer["note"] == "for Sunday"
        received = watcher.sees("received")
        assert received["transfer_id"] == offer["transfer_id"]
    assert contents(member.home / "saved/band") == contents(owner.home / "band")
    last = objects(ran.out)[-1]
    assert (last["result"], last["receipt"]["name"], last["receipt"]["state"]) == ("receipt", "Bob", "verified")
    shown = owner.run("transfers", "show", received["transfer_id"])
    assert "Bob  verified" in shown.out


def test_the_owner_locks_extends_and_removes_and_nobody_else_does(owner: Person, member: Person) -> None:
    code = opened(owner, "--name", "Practice")["code"]
    assert owner.run("room", "lock").out == "Practice is locked. Nobody else can join it.\n"
    assert explains(member.run("room", "join", code), 1, "locked")
    assert owner.run("room", "unlock", "--json").json["locked"] is False
    join(member, code)
    assert explains(member.run("room", "lock"), 1, "owner")
    assert explains(member.run("room", "remove", "Ann", "--yes"), 1, "owner")
    ends_at = datetime.fromisoformat(owner.run("room", "extend", "--hours", "100", "--json").json["expires_at"])
    assert timedelta(hours=99) < ends_at - datetime.now(UTC) < timedelta(hours=101)
    assert explains(owner.run("room", "extend", "--hours", "169"), 2, "168")
    assert explains(owner.run("room", "remove", "Bob"), 2, "--yes")
    assert explains(owner.run("room", "remove", "Eve", "--yes"), 1, "Eve", "Bob")
    assert owner.run("room", "remove", "bob", "--yes").out == "bob was removed.\n"
    assert explains(member.run("room", "ls"), 1, "not in a room")
    assert member.run("room", "join", code).code == 1


def test_a_guest_is_seen_to_be_one_and_removed_with_the_code(
    owner: Person, guest: Person, server: ServerProcess
) -> None:
    code = opened(owner)["code"]
    join(guest, code, "--name", "Ann B", "--server", server.url)
    fill(guest.home / "notes.txt", 100)
    assert guest.run("put", "notes.txt", "--room", code).code == 0
    person, file = (line for line in owner.run("room", "ls").out.splitlines() if "Ann B (guest" in line)
    assert ("notes.txt" in person, "notes.txt" in file) == (False, True)
    ran = owner.run("room", "remove", "Ann B", "--yes")
    assert ran.out.splitlines()[0] == "Ann B was removed."
    assert "satchel room code" in ran.out
    fresh = owner.run("room", "code", "--json").json
    assert fresh["code"] != code
    assert explains(guest.run("room", "join", code, "--name", "Eve", "--server", server.url), 1, "new code")
    join(guest, fresh["link"], "--name", "Eve", "--server", server.url)
    removed = owner.run("room", "remove", "Eve", "--new-code", "--yes", "--json").json
    assert removed["code"] not in (code, fresh["code"])
    assert owner.run("room", "ls", "--json").json["room"]["code"] == removed["code"]


def test_who_comes_late_gets_what_was_brought_before_once(owner: Person, member: Person) -> None:
    code = opened(owner)["code"]
    fill(owner.home / "notes.txt", 100)
    assert owner.run("put", "notes.txt", "--room", code).code == 0
    transfer_id = owner.run("transfers", "--json").json["transfers"][0]["transfer_id"]
    for _ in range(2):
        with watching(member, code, "--save", "saved") as watcher:
            assert watcher.sees("saved")["saved_as"] == "saved/notes.txt"
    assert list(contents(member.home / "saved")) == ["notes.txt"]
    assert "Bob  verified" in owner.run("transfers", "show", transfer_id).out


def test_a_guest_comes_in_by_name_and_brings_files_and_is_known_by_a_private_pass(
    owner: Person, guest: Person, server: ServerProcess
) -> None:
    code = opened(owner)["code"]
    at = ("--server", server.url)
    assert explains(guest.run("room", "join", code, *at), 2, "satchel login", "--name")
    join(guest, code, "--name", "Gil", *at)
    assert stat.S_IMODE(guest.credentials.stat().st_mode) == 0o600
    assert guest.kept["guests"][server.url]["name"] == "Gil"
    fill(guest.home / "notes.txt", 100)
    ran = guest.run("put", "notes.txt", "--room", code)
    assert ran.code == 0, ran
    (file,) = owner.run("room", "ls", "--json").json["files"]
    assert (file["name"], file["by_name"]) == ("notes.txt", "Gil")
    assert explains(guest.run("room", "open"), 1, "satchel login")
    people = owner.run("room", "ls", "--json").json["room"]["people"]
    assert [person["name"] for person in people if person["kind"] == "guest"] == ["Gil"]


def test_what_is_for_one_is_seen_by_nobody_else(
    owner: Person, member: Person, guest: Person, server: ServerProcess
) -> None:
    code = opened(owner)["code"]
    join(member, code)
    join(guest, code, "--name", "Gil", "--server", server.url)
    fill(owner.home / "secret.txt", 100)
    assert explains(owner.run("put", "secret.txt", "--room", code, "--for", "Eve"), 1, "Eve", "Bob", "Gil")
    with watching(member, "--save", "saved") as watcher:
        watcher.sees("room")
        assert owner.run("put", "secret.txt", "--room", code, "--for", "bob", "--wait", "--quiet").code == 0
        assert watcher.sees("offer")["transfer"]["receiver"]["name"] == "Bob"
        watcher.sees("received")
    assert contents(member.home / "saved") == {"secret.txt": (owner.home / "secret.txt").read_bytes()}
    assert guest.run("room", "ls", "--json").json["files"] == []
    assert guest.run("transfers", "--json").json["transfers"] == []


def test_who_declines_is_seen_to_by_whoever_waits(owner: Person, member: Person) -> None:
    code = opened(owner)["code"]
    join(member, code)
    fill(owner.home / "notes.txt", 100)
    with watching(member) as watcher:
        watcher.sees("room")
        waiting = owner.start("put", "notes.txt", "--room", code, "--for", "Bob", "--wait")
        transfer_id = watcher.sees("offer")["transfer"]["transfer_id"]
        ran = member.run("transfers", "decline", transfer_id)
        assert ran.out == "You declined notes.txt, 100 B from Ann.\n"
        out, err = waiting.communicate(timeout=60)
        assert waiting.returncode == 1
        assert "Bob: declined at " in out
        assert "Bob declined it." in err


def test_whoever_waits_for_somebody_who_is_away_can_say_for_how_long(owner: Person, member: Person) -> None:
    code = opened(owner)["code"]
    join(member, code)
    fill(owner.home / "notes.txt", 100)
    ran = owner.run("put", "notes.txt", "--room", code, "--for", "Bob", "--wait-for", "1")
    assert ran.code == 1
    assert "Error: Not verified yet by Bob. They can still get it.\n" in ran.err
    assert explains(owner.run("put", "notes.txt", "--wait-for", "1"), 2, "--to")


def test_what_is_handed_out_is_answered_for_its_giver_alone(
    owner: Person, member: Person, guest: Person, server: ServerProcess
) -> None:
    code = opened(owner)["code"]
    join(member, code)
    join(guest, code, "--name", "Gus", "--server", server.url)
    fill(owner.home / "sheet.pdf", 100)
    fill(member.home / "answer.pdf", 50)
    handed = objects(owner.run("put", "sheet.pdf", "--room", code, "--hand-out", "--json").out)[-1]["transfer"]
    assert handed["wants_answers"] is True
    ran = member.run("put", "answer.pdf", "--room", code, "--answers", handed["transfer_id"], "--json")
    answer = objects(ran.out)[-1]["transfer"]
    assert answer["answers"] == handed["transfer_id"]
    assert answer["receiver"]["name"] == "Ann"
    assert [each["name"] for each in guest.run("room", "ls", "--json").json["files"]] == ["sheet.pdf"]
    assert "Received" in owner.run("ls").out
    not_asked = objects(owner.run("put", "sheet.pdf", "--room", code, "--json").out)[-1]["transfer"]["transfer_id"]
    assert explains(member.run("put", "answer.pdf", "--room", code, "--answers", not_asked), 1, "answers")
    assert explains(owner.run("put", "sheet.pdf", "--hand-out"), 2, "--room")


def test_what_is_taken_back_is_told_and_not_to_be_had(owner: Person, member: Person) -> None:
    code = opened(owner)["code"]
    join(member, code)
    fill(owner.home / "notes.txt", 100)
    with watching(member) as watcher:
        watcher.sees("room")
        assert owner.run("put", "notes.txt", "--room", code, "--for", "Bob").code == 0
        transfer_id = watcher.sees("offer")["transfer"]["transfer_id"]
        assert owner.run("transfers", "withdraw", transfer_id).out == "You withdrew notes.txt, 100 B.\n"
        assert watcher.sees("withdrawn")["transfer_id"] == transfer_id
    ran = member.run("get", "--transfer", transfer_id)
    assert ran.code == 1
    assert not (member.home / "notes.txt").exists()


def test_who_watches_sees_people_chat_files_and_the_end(owner: Person, member: Person) -> None:
    code = opened(owner)["code"]
    assert owner.run("room", "say", "said", "before").code == 0
    with watching(owner) as watcher:
        assert watcher.sees("chat")["message"]["text"] == "said before"
        join(member, code)
        assert watcher.sees("came")["person"]["name"] == "Bob"
        assert member.run("room", "say", "hello\x1b[2J").code == 0
        assert watcher.sees("chat")["message"]["name"] == "Bob"
        fill(member.home / "notes.txt", 10)
        assert member.run("put", "notes.txt", "--room", code).code == 0
        assert watcher.sees("file")["file"]["name"] == "notes.txt"
        assert member.run("room", "leave").out.startswith("You left ")
        assert watcher.sees("left")["person"]["name"] == "Bob"
        assert owner.run("room", "close").out == f"{code} is closed. What was in it is deleted.\n"
        assert watcher.sees("closed")["reason"] == "closed"
        assert watcher.process.wait(30) == 0


def test_who_watches_is_warned_once_before_the_end_and_again_when_that_was_moved(
    owner: Person, server: ServerProcess
) -> None:
    room = opened(owner, "--hours", "1")
    with watching(owner) as watcher:
        assert 0 < watcher.sees("time-left")["seconds"] <= 3600
        sooner = (datetime.now(UTC) + timedelta(minutes=3)).isoformat()
        changed = ask(owner, server, "PATCH", f"/rooms/{room['room_id']}", {"expires_at": sooner})
        assert changed.status_code == 200
        assert "expires_at" in watcher.sees("settings")
        assert 0 < watcher.sees("time-left")["seconds"] <= 180
        assert [each["type"] for each in watcher.seen].count("time-left") == 2


def test_what_others_say_does_not_steer_the_terminal(owner: Person, member: Person) -> None:
    code = opened(owner)["code"]
    join(member, code)
    assert member.run("room", "say", "\x1b]0;title\x07\x1b[2Jhello").code == 0
    out = owner.run_in_terminal("room", "watch", answers=[("hello", "\x03")], NO_COLOR="1").out
    assert "Bob: �]0;title��[2Jhello" in out
    assert "\x1b" not in out


def test_ctrl_c_stops_watching_quietly_and_one_is_still_in_the_room(owner: Person) -> None:
    opened(owner)
    with watching(owner) as watcher:
        watcher.sees("room")
        code, complaints = watcher.interrupt()
    assert (code, complaints.strip()) == (0, "")
    assert owner.run("room", "ls").code == 0


def test_who_knocks_waits_until_they_are_let_in(
    owner: Person, guest: Person, member: Person, server: ServerProcess
) -> None:
    code = opened(owner, "--knock")["code"]
    with watching(owner) as watcher:
        watcher.sees("room")
        knocking = guest.start("room", "join", code, "--name", "Gil", "--server", server.url, "--json")
        assert watcher.sees("knock")["knock"]["name"] == "Gil"
        assert explains(owner.run("room", "admit", "Eve"), 1, "Eve")
        assert owner.run("room", "admit", "gil").out == "Gil was admitted.\n"
        out, err = knocking.communicate(timeout=60)
        assert knocking.returncode == 0, err
        assert f'"code": "{code}"' in out
        assert watcher.sees("came")["person"]["name"] == "Gil"


def test_a_server_that_is_killed_and_comes_back_is_watched_again(
    ann: Person, bob: Person, fresh_server: ServerProcess
) -> None:
    sign_up(ann, fresh_server, "Ann")
    code = opened(ann)["code"]
    join(bob, code, "--name", "Gil", "--server", fresh_server.url)
    with watching(bob, "--save", "saved") as watcher:
        watcher.sees("room")
        fresh_server.kill()
        assert "lost" in watcher.sees("connection")["state"]
        with subprocess.Popen(fresh_server.process.args, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT) as again:
            try:
                assert "again" in watcher.sees("connection")["state"]
                fill(ann.home / "notes.txt", 10)
                assert ann.run("put", "notes.txt", "--room", code).code == 0
                assert watcher.sees("saved")["saved_as"] == "saved/notes.txt"
                assert ann.run("room", "say", "still here").code == 0
                assert watcher.sees("chat")["message"]["text"] == "still here"
            finally:
                again.kill()


def test_a_token_that_ran_out_is_renewed_for_the_connection_as_well(owner: Person, server: ServerProcess) -> None:
    opened(owner)
    let_the_access_token_expire(owner, server)
    with watching(owner) as watcher:
        watcher.sees("room")
        assert owner.run("room", "say", "hello").code == 0
        watcher.sees("chat")


def test_who_is_signed_out_meanwhile_is_told_so(owner: Person, server: ServerProcess) -> None:
    opened(owner)
    with watching(owner) as watcher:
        watcher.sees("room")
        assert ask(owner, server, "DELETE", "/sessions/current").status_code == 204
        assert watcher.process.wait(30) == 1
        assert watcher.process.stderr is not None
        assert "satchel login" in watcher.process.stderr.read()


def test_more_files_than_a_list_shows_are_all_saved(owner: Person, member: Person) -> None:
    code = opened(owner)["code"]
    join(member, code)
    for number in range(30):
        fill(owner.home / f"many/{number:02}.txt", 10 + number)
    assert owner.run("put", "many", "--room", code, "--for", "Bob").code == 0
    with watching(member, "--save", "saved") as watcher:
        watcher.sees("received")
    assert contents(member.home / "saved/many") == contents(owner.home / "many")


def test_a_killed_put_into_a_room_goes_on_where_it_was(owner: Person) -> None:
    code = opened(owner)["code"]
    fill(owner.home / "large.bin", 150 * MEGABYTE)
    command = owner.start("put", "large.bin", "--room", code)
    wait_until_under_way(owner)
    command.kill()
    command.communicate()
    assert owner.run("put", "large.bin", "--room", code).code == 0
    (file,) = owner.run("room", "ls", "--json").json["files"]
    assert (file["name"], file["size_bytes"]) == ("large.bin", 150 * MEGABYTE)


def test_what_cannot_be_done_is_explained(owner: Person) -> None:
    assert explains(owner.run("room", "ls"), 1, "satchel room join", "satchel room open")
    assert explains(owner.run("room", "join", "AAAAA"), 1)
    assert explains(owner.run("room", "close", "AAAAA"), 1, "AAAAA")
    assert explains(owner.run("room", "open", "--hours", "many"), 2, "--hours")
