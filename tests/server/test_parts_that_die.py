"""A server, the worker, Redis or the tables die or stop: people carry on, and what they were told is so."""

import subprocess
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.application import PASSWORD
from tests.cli.drop.sender import sending
from tests.cli.terminal import Person as Terminal
from tests.cli.test_put_get import MEGABYTE, fill
from tests.server.busy_people import Busy, HandingOver, Listening, Person, Talking, Visiting
from tests.server.cluster import Cluster, cluster, stopped

pytestmark = pytest.mark.services

# Longer than a connection takes to be tried again, shorter than anybody's patience.
AWAY_SECONDS = 4
FILM_BYTES = 40 * MEGABYTE + 3
PATIENCE_SECONDS = 120


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster(tmp_path_factory.mktemp("parts"), "--sign-up", "open") as parts:
        yield parts
        assert parts.traces == ""


@pytest.fixture(scope="module")
def ann(parts: Cluster) -> Iterator[Person]:
    ann = Person(parts.front.url, "ann")
    with closing(ann.client):
        yield ann


@pytest.fixture(scope="module")
def ben(ann: Person, parts: Cluster) -> Iterator[Person]:
    ben = Person(parts.front.url, "ben")
    with closing(ben.client):
        yield ben


@pytest.fixture
def at_terminals(tmp_path: Path, parts: Cluster, ann: Person) -> Sequence[Terminal]:
    """Ann, who is signed in, and somebody without an account."""
    homes = [tmp_path / "ann", tmp_path / "cleo"]
    for home in homes:
        home.mkdir()
    signed_in, stranger = map(Terminal, homes)
    done = signed_in.run("login", "--server", parts.front.url, "--email", ann.email, SATCHEL_PASSWORD=PASSWORD)
    assert done.code == 0, done
    return signed_in, stranger


def server_dies(parts: Cluster) -> None:
    parts.servers["one"].kill()
    time.sleep(AWAY_SECONDS)
    parts.start("one")


def other_server_stops(parts: Cluster) -> None:
    with stopped(parts.servers["two"]):
        time.sleep(AWAY_SECONDS)


def worker_dies(parts: Cluster) -> None:
    parts.worker.kill()
    time.sleep(AWAY_SECONDS)
    parts.worker.start()


def worker_stops(parts: Cluster) -> None:
    with stopped(parts.worker):
        time.sleep(AWAY_SECONDS)


def redis_dies(parts: Cluster) -> None:
    parts.redis.kill()
    time.sleep(AWAY_SECONDS)
    parts.redis.start()


def redis_stops(parts: Cluster) -> None:
    with stopped(parts.redis):
        time.sleep(AWAY_SECONDS)


def tables_die(parts: Cluster) -> None:
    assert parts.dynamodb is not None
    parts.kill_tables()
    time.sleep(AWAY_SECONDS)
    parts.dynamodb.start()


def tables_stop(parts: Cluster) -> None:
    assert parts.dynamodb is not None
    with stopped(parts.dynamodb):
        time.sleep(AWAY_SECONDS)


DEATHS = [server_dies, worker_dies, redis_dies, tables_die]
STOPS = [other_server_stops, worker_stops, redis_stops, tables_stop]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parts die in every run; where all journeys run on several servers, they also stop."""
    if "harm" in metafunc.fixturenames:
        harms = [*DEATHS, *STOPS] if metafunc.config.getoption("stores") == "distributed" else DEATHS
        metafunc.parametrize("harm", harms, ids=lambda harm: harm.__name__)


def test_people_carry_on_and_what_they_were_told_is_so(
    parts: Cluster, ann: Person, ben: Person, at_terminals: Sequence[Terminal], harm: Callable[[Cluster], None]
) -> None:
    room = ann.ask("POST", "/rooms", json={"name": harm.__name__}).json()
    ben.ask("POST", "/rooms/join", json={"code": room["code"]})
    thing = {"kind": "file", "id": ann.upload("part.txt", b"do re mi", destination="shelf")}
    link = ann.ask("POST", "/links", json={"thing": thing}).json()
    talking = [Talking(each, room["room_id"]) for each in (ann, ben)]
    listening = [Listening(each, room["room_id"]) for each in (ann, ben)]
    handing, visiting = HandingOver(ann, room["room_id"], ben.person_id), Visiting(parts.front.url, link["token"])
    acting: list[Busy] = [*talking, handing, visiting]
    with a_film_put_and_another_dropped(parts.front.url, at_terminals, ann):
        for each in (*acting, *listening):
            each.start()
        for each in acting:
            each.has_acted()
        harm(parts)
        for each in acting:
            each.has_acted()
            each.end()
        visiting.client.close()
    check_what_was_heard(talking, listening)
    check_what_was_handed_over(handing, ben)
    check_who_was_counted(visiting, ann, link["link_id"])


@contextmanager
def a_film_put_and_another_dropped(url: str, at_terminals: Sequence[Terminal], ann: Person) -> Generator[None]:
    """Both are under way when the block begins, and whole after it."""
    signed_in, stranger = at_terminals
    kept, dropped = (fill(signed_in.home / name, FILM_BYTES) for name in ("kept.bin", "dropped.bin"))
    putting = signed_in.start("put", kept.name)
    with sending(signed_in, url, dropped.name) as sender:
        into = ("--yes", "--into", "here")
        receiving = stranger.start("receive", sender.opened["link"], *into)
        until(lambda: any(each.stat().st_size for each in (stranger.home / "here").glob("*")))
        until(lambda: putting.poll() is not None or ann.ask("GET", "/uploads").json()["uploads"])
        yield
        assert well_ended(receiving), "the drop was not received"
        assert sender.ends()[0] == 0
    assert well_ended(putting), "the file was not put"
    assert (stranger.home / "here" / dropped.name).read_bytes() == dropped.read_bytes()
    signed_in.run("get", kept.name, "--into", "back")
    assert (signed_in.home / "back" / kept.name).read_bytes() == kept.read_bytes()
    signed_in.run("rm", kept.name)


def check_what_was_heard(talking: Sequence[Talking], listening: Sequence[Listening]) -> None:
    """Everybody hears all that was acknowledged, and the room keeps it once."""
    said = [text for each in talking for text in each.said]
    for each in listening:
        each.has_heard(said)
        each.end()
    ann, room_id = talking[0].person, talking[0].room_id
    messages = ann.ask("GET", f"/rooms/{room_id}/chat", params={"limit": 500}).json()["messages"]
    assert sorted(message["text"] for message in messages) == sorted(said)


def check_what_was_handed_over(handing: HandingOver, receiver: Person) -> None:
    for transfer_id, content in handing.handed.items():
        assert receiver.ask("GET", f"/transfers/{transfer_id}/files/0/content").content == content
    history = receiver.ask("GET", "/transfers", params={"direction": "received", "limit": 200}).json()["transfers"]
    of_these = [each["transfer_id"] for each in history if each["files"]]
    assert handing.handed.keys() <= set(of_these)
    assert len(of_these) == len(set(of_these))


def check_who_was_counted(visiting: Visiting, owner: Person, link_id: str) -> None:
    """Once the worker has caught up, each visitor whom the server has let in; perhaps some who never heard of it."""

    def opens() -> int:
        return owner.ask("GET", f"/links/{link_id}").json()["opens"]

    until(lambda: opens() >= visiting.entered)
    assert opens() <= visiting.entered + visiting.unknown


def well_ended(command: "subprocess.Popen[str]") -> bool:
    with command:
        command.communicate(timeout=PATIENCE_SECONDS)
        return command.returncode == 0


def until(is_so: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.05)
