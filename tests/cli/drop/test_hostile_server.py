"""A server that lies about sessions, people and files, or does not work at all: nothing wrong arrives, and it is said.

How it fares with streams, requests and the door is told in the files beside this one.
"""

import base64
import secrets
import signal
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from satchel.cli.drop.crypto.session_keys import Description, b64
from satchel.cli.drop.session.drop_session import DropSession, open_session
from satchel.cli.engine.http.client import Client
from satchel.cli.engine.http.credentials import CredentialsFile
from tests.cli.drop.hostile import Answer, Call, Lie, PassOn
from tests.cli.drop.scene import RECEIVER, SENDER, Scene, handing_over, landed
from tests.cli.terminal import Person, explains

pytestmark = pytest.mark.slow

ONE, OTHER = "a map of the reef.png", "letters, unsent.txt"
SESSION = ""
FORGED = "no member of the session announced"


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with handing_over(tmp_path_factory.mktemp("scene"), ONE, OTHER) as scene:
        yield scene


def shown(change: Callable[[Any], None]) -> Lie:
    """The session is shown otherwise than it is."""

    async def lie(call: Call, pass_on: PassOn) -> Answer:
        answer = await pass_on(call)
        session = answer.body
        change(session)
        return answer.saying(**session)

    return lie


def exchange(things: list[Any]) -> None:
    """Who or what they are, as far as that is sealed."""
    one, other = things[0]["sealed"], things[1]["sealed"]
    things[0]["sealed"], things[1]["sealed"] = other, one


@pytest.mark.parametrize("spelled", [bytes.hex, base64.b64encode, base64.urlsafe_b64encode, bytes])
def test_a_secret_that_the_server_heard_would_be_found(scene: Scene, spelled: Callable[[bytes], str | bytes]) -> None:
    for secret in (scene.keys.psk, scene.mark, scene.sender.opened["code"].encode()):
        for before in (b"", b"?", b"??"):
            said = spelled(before + secret + b"!")
            scene.server.heard.append(said.encode() if isinstance(said, str) else said)
            with pytest.raises(AssertionError):
                scene.is_kept_from_the_server()


def test_a_link_leads_to_the_server_that_was_asked_whatever_that_calls_itself(scene: Scene, tmp_path: Path) -> None:
    def call_itself(opened: Any) -> None:
        opened["link_base"] = f"https://elsewhere.example/drop/{opened['name']}"

    with (
        scene.server.lying("POST", "/sessions", shown(call_itself)),
        Client(scene.server.url, CredentialsFile(tmp_path / "credentials.json")) as client,
    ):
        session, link = open_session(client, "Mallory")
        assert link.startswith(f"{scene.server.url}/drop/{session.name}#")
        assert session.other_address == "https://elsewhere.example"


def test_announcements_that_were_exchanged_are_not_taken(scene: Scene, bob: Person) -> None:
    with scene.server.lying("GET", SESSION, shown(lambda session: exchange(session["files"]))):
        assert scene.is_noticed(scene.receive(bob), bob, FORGED)


def test_an_announcement_is_not_taken_for_another_owners(scene: Scene, bob: Person) -> None:
    def belong_to_another(session: Any) -> None:
        for file in session["files"]:
            file["owner_id"] = secrets.token_hex(16)

    with scene.server.lying("GET", SESSION, shown(belong_to_another)):
        assert scene.is_noticed(scene.receive(bob), bob, FORGED)


def test_a_file_that_is_announced_as_another_is_left_out_and_the_other_arrives(scene: Scene, bob: Person) -> None:
    def show_one_as_both(session: Any) -> None:
        session["files"][0]["sealed"] = session["files"][1]["sealed"]

    with scene.server.lying("GET", SESSION, shown(show_one_as_both)):
        ran = scene.receive(bob)
    assert ran.code == 0, ran
    assert FORGED in ran.err
    assert len(landed(bob)) == 1
    assert landed(bob).items() <= scene.files.items()


def test_one_file_is_not_handed_over_for_another(scene: Scene, bob: Person) -> None:
    file_ids = [file["file_id"] for file in scene.server.all_calls("POST", "/files")[0].body["files"]]

    async def ask_for_the_other(call: Call, pass_on: PassOn) -> Answer:
        (other,) = set(file_ids) - {call.body["file_id"]}
        return await pass_on(call.saying(file_id=other))

    with scene.server.lying("POST", "/requests", ask_for_the_other):
        assert scene.is_noticed(scene.receive(bob), bob, ONE, OTHER, "The sender declined")


def test_nobody_is_taken_for_another_member(scene: Scene, bob: Person) -> None:
    host = scene.server.all_calls("POST", "/sessions")[0].body
    introduced: list[str] = []

    async def pose_as_host(call: Call, pass_on: PassOn) -> Answer:
        introduced.append(call.body["sealed"])
        return await pass_on(call.saying(sealed=host["sealed"]))

    def show_host_as_guest(session: Any) -> None:
        for member in session["members"]:
            member["sealed"] = introduced[0]

    server = scene.server
    with server.lying("POST", "/members", pose_as_host), server.lying("GET", SESSION, shown(show_host_as_guest)):
        ran = scene.receive(bob)
    assert "Somebody unknown offers" in ran.err
    assert SENDER not in ran.err
    assert scene.sender.sees("joined", lambda told: told["name"] != RECEIVER)["name"] == "Somebody unknown"


@pytest.fixture
def trap(scene: Scene, tmp_path: Path) -> Iterator[DropSession]:
    """A session of the server's own, in which it offers something."""
    with Client(scene.server.url, CredentialsFile(tmp_path / "credentials.json")) as client:
        session, _ = open_session(client, "Mallory")
        file_id = secrets.token_hex(16)
        sealed = session.keys.announce(file_id, session.member_id, Description("file", ONE, 5, 1, None, "image/png"))
        session.call("POST", "/files", type(None), {"files": [{"file_id": file_id, "sealed": b64(sealed)}]})
        yield session


def test_the_name_of_a_session_does_not_lead_into_another_by_a_link(
    scene: Scene, bob: Person, trap: DropSession
) -> None:
    async def name(_: Call, __: PassOn) -> Answer:
        return Answer.of(session_id=trap.session_id)

    async def let_in(call: Call, pass_on: PassOn) -> Answer:
        return await pass_on(call.saying(admission=b64(trap.keys.admission)))

    with scene.server.lying("GET", "/names/.*", name):
        assert scene.is_noticed(scene.receive(bob), bob, "does not match the session")
        with scene.server.lying("POST", "/members", let_in):
            assert scene.is_noticed(scene.receive(bob), bob, FORGED)


def test_the_name_of_a_session_does_not_lead_into_another_by_a_code(
    scene: Scene, bob: Person, trap: DropSession
) -> None:
    """Not even if the server asks the right door."""
    server = scene.server
    knocks: list[str] = []

    async def name(_: Call, __: PassOn) -> Answer:
        return Answer.of(session_id=trap.session_id)

    async def knock(call: Call, _: PassOn) -> Answer:
        knocks.append(call.body["knock_id"])
        await server.whispers(scene.owner_id, type="drop.knock", **call.body)
        return Answer.of(**(await server.overhears("POST", f"/knocks/{knocks[0]}/share")).body)

    async def prove(call: Call, _: PassOn) -> Answer:
        await server.whispers(scene.owner_id, type="drop.tag", knock_id=knocks[0], **call.body)
        verdict = await server.overhears("POST", f"/knocks/{knocks[0]}/verdict")
        assert verdict.body == {"refused": "code-wrong"}
        return Answer.refusal("code-wrong", 403)

    with (
        server.lying("GET", "/names/.*", name),
        server.lying("POST", "/knocks", knock),
        server.lying("POST", "/knocks/[^/]+/tag", prove),
    ):
        assert scene.is_noticed(scene.receive(bob, by="code"), bob, "The code is wrong")


def test_a_server_that_opens_or_joins_another_session_than_it_was_asked_to_is_refused(
    scene: Scene, bob: Person
) -> None:
    async def another(call: Call, pass_on: PassOn) -> Answer:
        return (await pass_on(call)).saying(session_id=secrets.token_hex(16))

    (bob.home / ONE).write_bytes(b"?")
    with scene.server.lying("POST", "/(sessions|members)", another):
        at = {"SATCHEL_SERVER": scene.server.url}
        assert explains(bob.run("send", ONE, "--json", **at), 1, "another session than the one that was opened")
        assert scene.is_noticed(scene.receive(bob), bob, "another session than the one that was asked for")


def test_a_link_of_another_suite_asks_to_update_before_anybody_is_asked(scene: Scene, bob: Person) -> None:
    before, _, _ = scene.sender.opened["link"].partition("#")
    calls = len(scene.server.calls)
    newer = b64(bytes([3]) + secrets.token_bytes(16))
    assert explains(bob.run("receive", f"{before}#{newer}", "--yes"), 1, "update satchel")
    assert len(scene.server.calls) == calls


async def nothing(_: Call, __: PassOn) -> Answer:
    return Answer.of()


async def swallowed(call: Call, _: PassOn) -> Answer:
    """As if it had been passed on."""
    people = {"receiver_id": secrets.token_hex(16), "owner_id": secrets.token_hex(16)}
    return Answer.of(**call.body, **people, chunks=0, is_flowing=False)


async def emptied(call: Call, pass_on: PassOn) -> Answer:
    return replace(await pass_on(call), content=b"")


NOT_WORKING: dict[str, tuple[str, str, Lie, str]] = {
    "does not tell what there is": ("GET", SESSION, nothing, "The server does not tell what is in the session."),
    "passes on no request": ("POST", "/requests", swallowed, "Waiting for the sender to answer."),
    "cuts every stream": ("GET", "/requests/[^/]+/bytes", emptied, "No data arrives."),
}


@pytest.mark.parametrize("fault", NOT_WORKING)
def test_a_server_that_does_not_work_is_told_of_and_can_be_left(scene: Scene, bob: Person, fault: str) -> None:
    method, path, lie, words = NOT_WORKING[fault]
    server = scene.server
    with (
        server.lying(method, path, lie),
        server.lying("WEBSOCKET", "/requests/.*", nothing),
        bob.start("receive", *scene.invited()) as process,
    ):
        assert process.stderr is not None
        while words not in (line := process.stderr.readline()):
            assert line, process.wait(30)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=30)[1]
    assert process.returncode == 130, said
    assert "Traceback" not in said
    assert landed(bob) == {}


@pytest.mark.parametrize(("method", "path"), [("GET", "/names/.*"), ("POST", "/members")], ids=["looking", "joining"])
def test_answers_without_sense_end_in_a_sentence(scene: Scene, bob: Person, method: str, path: str) -> None:
    with scene.server.lying(method, path, nothing):
        assert explains(scene.receive(bob), 1, "is not a Satchel server")
