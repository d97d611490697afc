"""What stands in the way of `satchel send`: lost lines, restarts, receivers who vanish, proxies that say no."""

from contextlib import ExitStack
from pathlib import Path

import pytest

from satchel.cli.drop.crypto.session_keys import CHUNK, Have
from satchel.cli.engine.http.client import Client
from satchel.cli.engine.http.credentials import CredentialsFile
from satchel.cli.engine.http.failures import Unreachable
from tests.cli.drop.front import fronting
from tests.cli.drop.receiver import Taking, receiving
from tests.cli.drop.sender import sending
from tests.cli.terminal import Person
from tests.cli.test_put_get import fill
from tests.server.process import ServerProcess, serving

pytestmark = pytest.mark.slow

MEGABYTE = 1024**2


def part_of(taking: Taking) -> Have:
    return Have.of(CHUNK, taking.digest.chunks, taking.digest.value)


def test_a_server_that_is_killed_and_started_again_only_interrupts(ann: Person, tmp_path: Path) -> None:
    content = fill(ann.home / "film", 40 * MEGABYTE).read_bytes()
    with ExitStack() as until_the_end:
        front = until_the_end.enter_context(fronting(""))
        with serving(tmp_path / "data") as server:
            front.target = server.url
            sender = until_the_end.enter_context(sending(ann, front.url, "film"))
            bob = until_the_end.enter_context(receiving(tmp_path, sender.opened))
            taking = bob.asks("film")
            chunks = taking.chunks()
            got = next(chunks) + next(chunks)
            server.kill()
            chunks.close()
        with serving(tmp_path / "data") as server:
            front.target = server.url
            bob.hears_that_the_server_is_back()
            again = bob.asks("film", part_of(taking))
            assert again.accepted(taking.digest).first == 2
            assert got + b"".join(again.chunks()) == content
            again.confirms()
            assert sender.ends()[0] == 0


def test_who_breaks_off_goes_on_later_under_the_same_name(ann: Person, server: ServerProcess, tmp_path: Path) -> None:
    content = fill(ann.home / "film", 40 * MEGABYTE).read_bytes()
    with sending(ann, server.url, "film") as sender:
        with receiving(tmp_path, sender.opened) as bob:
            taking = bob.asks("film")
            chunks = taking.chunks()
            got = [next(chunks) for _ in range(10)]
            chunks.close()
            sender.sees("paused")
            again = bob.asks("film", part_of(taking))
            again.accepted(taking.digest)
            assert b"".join([*got, *again.chunks()]) == content
            again.confirms()
        assert sender.ends()[0] == 0


def test_what_is_confirmed_while_the_line_is_lost_counts(ann: Person, server: ServerProcess, tmp_path: Path) -> None:
    content = fill(ann.home / "film", MEGABYTE).read_bytes()
    with fronting(server.url) as front, sending(ann, front.url, "film") as sender:
        past_the_front = {"link": sender.opened["link"].replace(front.url, server.url)}
        with receiving(tmp_path, past_the_front) as bob:
            taking = bob.asks("film")
            assert b"".join(taking.chunks()) == content
            front.target = "http://127.0.0.1:1"
            front.lose_all_lines()
            taking.confirms()
            front.target = server.url
            assert sender.ends()[0] == 0


def test_a_receiver_who_vanishes_does_not_keep_it_from_ending(
    ann: Person, server: ServerProcess, tmp_path: Path
) -> None:
    content = fill(ann.home / "film", 40 * MEGABYTE).read_bytes()
    with sending(ann, server.url, "film") as sender:
        with receiving(tmp_path, sender.opened, "Cid") as cid:
            chunks = cid.asks("film").chunks()
            next(chunks)
            chunks.close()
        with receiving(tmp_path, sender.opened) as bob:
            assert bob.takes("film") == content
        assert sender.ends()[0] == 0


@pytest.mark.parametrize("most_body_bytes", [MEGABYTE, 64 * 1024])
def test_a_proxy_that_takes_no_large_bodies_is_got_past(
    ann: Person, server: ServerProcess, tmp_path: Path, most_body_bytes: int
) -> None:
    content = fill(ann.home / "film", 5 * MEGABYTE + 3).read_bytes()
    with fronting(server.url, most_body_bytes) as front, sending(ann, front.url, "film") as sender:
        with receiving(tmp_path, sender.opened) as bob:
            assert bob.takes("film") == content
        assert sender.ends()[0] == 0
        assert front.refused == 1


def test_a_proxy_that_takes_no_very_large_bodies_is_resumed_behind(
    ann: Person, bob: Person, server: ServerProcess
) -> None:
    content = fill(ann.home / "film", 60 * MEGABYTE).read_bytes()
    with fronting(server.url, 20 * MEGABYTE) as front, sending(ann, front.url, "film") as sender:
        ran = bob.run("receive", "--yes", SATCHEL_CODE=sender.opened["code"], SATCHEL_SERVER=server.url)
        assert ran.code == 0, ran
        assert sender.ends()[0] == 0
    assert (bob.home / "film").read_bytes() == content
    assert front.refused == 1


def test_more_than_four_at_once_wait_for_their_turn(ann: Person, server: ServerProcess, tmp_path: Path) -> None:
    names = [f"part{number}" for number in range(6)]
    contents = {name: fill(ann.home / name, MEGABYTE).read_bytes() for name in names}
    with sending(ann, server.url, *names) as sender:
        with receiving(tmp_path, sender.opened) as bob:
            takings = {name: bob.asks(name) for name in names}
            for name, taking in takings.items():
                assert b"".join(taking.chunks()) == contents[name]
                taking.confirms()
        assert sender.ends()[0] == 0


def test_a_server_that_hangs_up_in_the_middle_of_a_greeting_is_one_to_try_again(tmp_path: Path) -> None:
    with fronting("http://127.0.0.1:1") as front, Client(front.url, CredentialsFile(tmp_path / "none")) as client:
        for _ in range(30):  # there are several moments at which one can hang up
            with pytest.raises(Unreachable):
                client.listen("/drop/sessions/none/live", ("satchel.drop.1", "token"))
