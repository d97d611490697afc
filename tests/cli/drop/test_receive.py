"""`satchel receive`: everything arrives whole and safe, by code or link, whoever is killed in the middle."""

import signal
import subprocess
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import pytest

from tests.cli.drop.front import fronting
from tests.cli.drop.sender import Sender, sending
from tests.cli.drop.test_target_folder import names
from tests.cli.terminal import Person, Ran, explains
from tests.cli.test_put_get import MEGABYTE, contents, fill, objects
from tests.server.process import ServerProcess
from tests.services import python_environment

pytestmark = pytest.mark.slow

# Takes long enough for somebody to be killed in the middle of it.
LARGE = 200 * MEGABYTE + 12345
# By then a journal has been written at least once.
SOME = 40 * MEGABYTE


def receive(person: Person, sender: Sender, *arguments: str) -> Ran:
    return person.run("receive", sender.opened["link"], "--yes", "--into", "here", *arguments)


def receives(person: Person, sender: Sender, *arguments: str) -> Ran:
    ran = receive(person, sender, *arguments)
    assert ran.code == 0, ran
    return ran


@contextmanager
def receiving(person: Person, sender: Sender, by: str = "link") -> Generator["subprocess.Popen[str]"]:
    """Somebody who runs `satchel receive --json` in a terminal of their own."""
    server = sender.opened["link"].partition("/drop/")[0]
    words = {"SATCHEL_SERVER": server, "SATCHEL_CODE": sender.opened[by]}
    with person.start("receive", "--yes", "--into", "here", "--json", **words) as process:
        try:
            yield process
        finally:
            process.kill()


def ended(process: "subprocess.Popen[str]") -> list[Any]:
    """What a receiver told in JSON until it ended well."""
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return objects(out)


def wait_until(happened: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < until
        time.sleep(0.005)


def has_some_of(path: Path) -> Callable[[], bool]:
    part = path.with_name(f"{path.name}.satchel-part")

    def is_here() -> bool:
        files = [part] if part.is_file() else [each for each in part.rglob("*") if each.is_file()]
        return sum(file.stat().st_size for file in files if file.exists()) > SOME

    return is_here


def kill_in_the_middle(person: Person, sender: Sender, name: str) -> None:
    with receiving(person, sender) as receiver:
        wait_until(has_some_of(person.home / "here" / name))
        assert receiver.poll() is None


@contextmanager
def killed_and_back(server: ServerProcess) -> Generator[None]:
    server.kill()
    silence = subprocess.DEVNULL
    with subprocess.Popen(
        server.process.args, env=python_environment(), cwd="/", stdout=silence, stderr=silence
    ) as back:
        try:
            yield
        finally:
            back.kill()


def begun_at(sender: Sender) -> int:
    """From where the sender sends the next stream."""
    return sender.sees("begun", lambda told: told["from_bytes"] > 0)["from_bytes"]


def test_a_code_from_the_environment_is_enough_to_receive_and_the_server_is_remembered(
    ann: Person, bob: Person, server: ServerProcess
) -> None:
    content = fill(ann.home / "film.mp4", 3 * MEGABYTE + 5)
    with sending(ann, server.url, "film.mp4", "--name", "Ann") as sender:
        ran = bob.run("receive", "--yes", SATCHEL_SERVER=server.url, SATCHEL_CODE=sender.opened["code"])
        assert ran.code == 0, ran
        assert sender.ends()[1]["receivers"] == 1
    assert ran.out == ""
    assert "Ann offers:\n  1  film.mp4 (3.1 MB)\n" in ran.err
    assert "film.mp4 (3.1 MB), verified." in ran.err
    assert (bob.home / "film.mp4").read_bytes() == content.read_bytes()
    assert abs((bob.home / "film.mp4").stat().st_mtime - content.stat().st_mtime) < 1
    assert bob.kept["server"] == server.url


def test_files_folders_texts_and_what_is_empty_arrive_together(ann: Person, bob: Person, server: ServerProcess) -> None:
    fill(ann.home / "band/violin.pdf", 5000)
    fill(ann.home / "band/old/viola.pdf", 300_000)
    (ann.home / "band/old/.hidden").write_text("dots stay inside")
    (ann.home / "band/void").mkdir()
    (ann.home / "nothing").mkdir()
    (ann.home / "empty").touch()
    fill(ann.home / "notes.txt", 10)
    things = ("band", "nothing", "empty", "notes.txt", "--text", "hello, 世界")
    with sending(ann, server.url, *things) as sender:
        ran = receives(bob, sender)
        assert sender.ends()[0] == 0
    assert ran.out == "hello, 世界"
    assert "5 of 5 received" in ran.err
    here = bob.home / "here"
    assert contents(here) == {path: each for path, each in contents(ann.home).items() if not path.startswith(".config")}
    assert names(here / "band/void") == names(here / "nothing") == []


def test_nothing_is_overwritten_and_names_cannot_steer_the_terminal(
    ann: Person, bob: Person, server: ServerProcess
) -> None:
    fill(ann.home / "notes.txt", 10)
    fill(ann.home / "\x1b[31mred\u202etxt", 20)
    fill(bob.home / "here/notes.txt", 30)
    with sending(ann, server.url, "notes.txt", "\x1b[31mred\u202etxt") as sender:
        ran = receives(bob, sender)
    assert "\x1b" not in ran.err
    assert "\u202e" not in ran.err
    assert names(bob.home / "here") == ["\x1b[31mred\u202etxt", "notes (1).txt", "notes.txt"]
    assert (bob.home / "here/notes.txt").stat().st_size == 30


def test_a_pipe_flows_to_standard_output(ann: Person, bob: Person, server: ServerProcess) -> None:
    with sending(ann, server.url, "-", "--as", "numbers") as sender:
        process = bob.start("receive", sender.opened["link"], "--yes", "--output", "-")
        numbers = "".join(f"{number}\n" for number in range(100_000))
        sender.is_piped(numbers.encode())
        sender.has_no_more_to_come()
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
        assert out == numbers
        assert sender.ends()[0] == 0


def test_the_size_of_a_pipe_is_told_once_it_is_known(ann: Person, bob: Person, server: ServerProcess) -> None:
    with sending(ann, server.url, "-", "--as", "numbers") as sender:
        process = bob.start("receive", sender.opened["link"], "--yes", "--json")
        sender.is_piped(bytes(70_000))
        sender.has_no_more_to_come()
        told = objects(process.communicate(timeout=60)[0])
    assert [each["size"] for each in told if each["type"] in ("saved", "done")] == [70_000, 70_000]


def test_several_files_are_taken_at_once_and_one_that_fails_stops_no_other(
    ann: Person, bob: Person, server: ServerProcess
) -> None:
    films = [f"film{number}" for number in range(8)]
    for name in (*films, "gone"):
        fill(ann.home / name, 4 * MEGABYTE)
    with sending(ann, server.url, *films, "gone", "--text", "hello", "--keep") as sender:
        (ann.home / "gone").unlink()
        told = objects(receive(bob, sender, "--json").out)
        sender.is_interrupted()
    open_requests = most_open = 0
    for each in sender.seen:
        open_requests += {"requested": 1, "received": -1}.get(each["type"], 0)
        most_open = max(most_open, open_requests)
    assert 2 <= most_open - 1 <= 4  # one of them was never received
    assert [each["name"] for each in told if each["type"] == "failed"] == ["gone"]
    assert next(each["type"] for each in told if each["type"] in ("text", "saved")) == "text"
    assert (told[-1]["type"], told[-1]["files"], told[-1]["missed"]) == ("done", 9, 1)
    assert names(bob.home / "here") == films


def test_two_receive_the_same_at_once(ann: Person, bob: Person, server: ServerProcess, tmp_path: Path) -> None:
    (tmp_path / "eve").mkdir()
    people = [bob, Person(tmp_path / "eve")]
    fill(ann.home / "film.mp4", 50 * MEGABYTE)
    with sending(ann, server.url, "film.mp4", "--receivers", "2") as sender:
        with receiving(people[0], sender, "code") as one, receiving(people[1], sender, "code") as other:
            ended(one)
            ended(other)
        assert sender.ends()[1]["receivers"] == 2
    for person in people:
        assert (person.home / "here/film.mp4").read_bytes() == (ann.home / "film.mp4").read_bytes()


def test_machines_are_told_everything_in_an_object_per_line(ann: Person, bob: Person, server: ServerProcess) -> None:
    fill(ann.home / "notes.txt", 10)
    with sending(ann, server.url, "notes.txt", "--text", "hello", "--name", "Ann") as sender:
        told = objects(receives(bob, sender, "--json").out)
    offer, *_, done = told
    assert offer["type"] == "offer"
    file = offer["files"][0]
    assert (file["name"], file["kind"], file["size"], file["from"]) == ("notes.txt", "file", 10, "Ann")
    facts = {each["type"]: each for each in told}
    assert (facts["saved"]["path"], facts["saved"]["size"]) == ("here/notes.txt", 10)
    assert facts["text"]["text"] == "hello"
    assert (done["type"], done["files"], done["missed"]) == ("done", 2, 0)


def test_a_receiver_that_was_killed_goes_on_where_it_was(ann: Person, bob: Person, server: ServerProcess) -> None:
    film = fill(ann.home / "film.mp4", LARGE)
    with sending(ann, server.url, "film.mp4") as sender:
        kill_in_the_middle(bob, sender, "film.mp4")
        receives(bob, sender)
        assert begun_at(sender) > 16 * MEGABYTE
        assert sender.ends()[0] == 0
    assert (bob.home / "here/film.mp4").read_bytes() == film.read_bytes()
    assert names(bob.home / "here") == ["film.mp4"]


def test_a_folder_is_gone_on_with_as_well_and_in_another_session(
    ann: Person, bob: Person, server: ServerProcess
) -> None:
    for number in range(300):
        fill(ann.home / f"films/{number % 7}/{number}", MEGABYTE + number)
    with sending(ann, server.url, "films") as sender:
        kill_in_the_middle(bob, sender, "films")
    with sending(ann, server.url, "films") as sender:
        receives(bob, sender)
        assert begun_at(sender) > 16 * MEGABYTE
        assert sender.ends()[0] == 0
    assert contents(bob.home / "here/films") == contents(ann.home / "films")
    assert names(bob.home / "here") == ["films"]


def test_what_a_killed_sender_sends_again_in_another_session_is_gone_on_with(
    ann: Person, bob: Person, server: ServerProcess
) -> None:
    film = fill(ann.home / "film.mp4", LARGE)
    with sending(ann, server.url, "film.mp4") as sender, receiving(bob, sender) as receiver:
        wait_until(has_some_of(bob.home / "here/film.mp4"))
        sender.process.kill()
        assert receiver.stdout is not None
        while "Waiting for the sender to come back" not in receiver.stdout.readline():
            assert receiver.poll() is None
        receiver.send_signal(signal.SIGINT)
        assert "resume" in receiver.communicate(timeout=30)[1]
        assert receiver.returncode == 130
    with sending(ann, server.url, "film.mp4") as sender:
        receives(bob, sender)
        assert begun_at(sender) > 16 * MEGABYTE
    assert (bob.home / "here/film.mp4").read_bytes() == film.read_bytes()


def test_a_server_that_is_killed_and_comes_back_delays_and_spoils_nothing(
    ann: Person, bob: Person, fresh_server: ServerProcess
) -> None:
    film = fill(ann.home / "film.mp4", LARGE)
    with sending(ann, fresh_server.url, "film.mp4") as sender, receiving(bob, sender) as receiver:
        wait_until(has_some_of(bob.home / "here/film.mp4"))
        with killed_and_back(fresh_server):
            ended(receiver)
            assert begun_at(sender) > 16 * MEGABYTE
            assert sender.ends()[0] == 0
    assert (bob.home / "here/film.mp4").read_bytes() == film.read_bytes()


@pytest.mark.parametrize("kind", ["refuse", "hold"])
def test_a_proxy_that_passes_no_streams_is_got_past(
    ann: Person, bob: Person, server: ServerProcess, kind: Literal["refuse", "hold"]
) -> None:
    film = fill(ann.home / "film.mp4", 5 * MEGABYTE + 3)
    with fronting(server.url) as front, sending(ann, server.url, "film.mp4") as sender:
        front.streams = kind
        link = sender.opened["link"].replace(server.url, front.url)
        ran = bob.run("receive", link, "--yes")
        assert ran.code == 0, ran
        assert front.refused
    assert (bob.home / "film.mp4").read_bytes() == film.read_bytes()


def test_a_file_that_changed_since_it_was_offered_is_taken_as_it_is_now(
    ann: Person, bob: Person, server: ServerProcess
) -> None:
    film = fill(ann.home / "film.mp4", 3 * MEGABYTE)
    with sending(ann, server.url, "film.mp4") as sender:
        fill(film, 2 * MEGABYTE)
        ran = receives(bob, sender)
    assert "has changed" in ran.err
    assert (bob.home / "here/film.mp4").read_bytes() == film.read_bytes()


def test_whoever_is_asked_can_take_some_of_it_or_nothing(ann: Person, bob: Person, server: ServerProcess) -> None:
    for name in ("a", "b", "c"):
        fill(ann.home / name, 10)
    with sending(ann, server.url, "a", "b", "c", "--name", "Ann", "--keep") as sender:
        words = {"SATCHEL_SERVER": server.url}
        typed = [("Code or link: ", f"{sender.opened['code']}\n"), ("numbers such as 1,3] ", "1, 3\n")]
        ran = bob.run_in_terminal("receive", answers=typed, **words)
        assert ran.code == 0, ran
        assert "Together 30 B." in ran.out
        assert [name for name in names(bob.home) if name in "abc"] == ["a", "c"]
        typed = [("numbers such as 1,3] ", "what?\n"), ("numbers such as 1,3] what?", "n\n")]
        ran = bob.run_in_terminal("receive", sender.opened["link"], answers=typed, **words)
        assert ran.code == 0, ran
        assert "Nothing was taken." in ran.out


def test_what_cannot_be_received_is_said_in_a_sentence(ann: Person, bob: Person, server: ServerProcess) -> None:
    at = {"SATCHEL_SERVER": server.url}
    fill(ann.home / "a", 10)
    fill(ann.home / "b", 10)
    fill(bob.home / "file", 10)
    with sending(ann, server.url, "a", "b") as sender:
        link, code = sender.opened["link"], sender.opened["code"]
        wrong = code[:-6] + f"{(int(code[-6:]) + 1) % 10**6:06}"
        assert explains(bob.run("receive", link, **at), 2, "--yes")
        assert explains(bob.run("receive", link, "--json", **at), 2, "--yes")
        assert explains(bob.run("receive", "--yes", **at), 2, "SATCHEL_CODE")
        assert explains(bob.run("receive", link, "--yes", "--output", "file", **at), 2, "--into")
        assert explains(bob.run("receive", link, "--yes", "--into", "file", **at), 1, "cannot be used")
        assert explains(bob.run("receive", "amber-otter-99-123456", "--yes", **at), 1, "no session", "amber-otter-99")
        assert explains(bob.run("receive", wrong, "--yes", **at), 1, "The code is wrong", "After three")
        assert explains(bob.run("receive", link[:-3] + "AAA", "--yes", **at), 1, "link does not match", "all of it")
        assert "single file" in bob.run("receive", link, "--yes", "--output", "-", **at).err
    assert names(bob.home) == [".config", "file"]
