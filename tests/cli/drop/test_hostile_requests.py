"""A server that tampers with who asks for what and with what keys: either side notices before a byte is believed."""

import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from satchel.cli.drop.crypto.sealed_records import TAG
from satchel.cli.drop.crypto.session_keys import CHUNK, Keys, Request, Secret, b64
from tests.cli.drop.hostile import Answer, Call, Lie, PassOn
from tests.cli.drop.scene import Scene, handing_over, landed
from tests.cli.terminal import Person

pytestmark = pytest.mark.slow

NAME = "the will of the keeper.odt"
ASK, ACKNOWLEDGE, DONE = "/requests", "/requests/[^/]+/acknowledge", "/requests/[^/]+/done"
GET, PUT = "/requests/[^/]+/bytes", "/requests/[^/]+/bytes/.*"
RECORD = CHUNK + TAG
T = TypeVar("T")
KEYS = {
    "a key of its own": X25519PrivateKey.generate().public_key().public_bytes_raw(),
    "zero": bytes(32),
    "a point of low order": (1).to_bytes(32, "little"),
}


@dataclass
class Overheard:
    """All of one request that went well."""

    asked: Any
    acknowledged: Call
    done: Call
    stream: bytes


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with handing_over(tmp_path_factory.mktemp("scene"), NAME) as scene:
        yield scene


@pytest.fixture(scope="module")
def earlier(scene: Scene, tmp_path_factory: pytest.TempPathFactory) -> Overheard:
    person = Person(tmp_path_factory.mktemp("earlier"))
    assert scene.receive(person).code == 0
    assert landed(person) == scene.files
    scene.sender.sees("received")
    server = scene.server
    requests = [told["request"] for to, told in server.told if to == scene.owner_id and told["type"] == "drop.request"]
    asked = [request for request in requests if request["acknowledged"] is None][-1]
    stream = server.all_calls("PUT", PUT)[-1].content
    return Overheard(asked, server.all_calls("POST", ACKNOWLEDGE)[-1], server.all_calls("POST", DONE)[-1], stream)


def said(change: Callable[[Call], Call]) -> Lie:
    """The application hears something else than the client says."""

    async def lie(call: Call, pass_on: PassOn) -> Answer:
        return await pass_on(change(call))

    return lie


async def swallowed(_: Call, __: PassOn) -> Answer:
    return Answer(204)


def is_declined(scene: Scene, person: Person, change: Callable[[Call], Call]) -> bool:
    """Whether the owner saw that no member asked for this."""
    with scene.server.lying("POST", ASK, said(change)):
        ran = scene.receive(person)
    assert scene.sender.sees("note", lambda told: "a request that no member of the session made" in told["text"])
    return scene.is_noticed(ran, person, NAME, "The sender declined")


def is_refused(scene: Scene, person: Person, change: Callable[[Call], Call]) -> bool:
    """Whether the receiver saw that this is not the owner's answer, and read nothing of the stream."""
    before = len(scene.server.all_calls("GET", GET))
    with scene.server.lying("POST", ACKNOWLEDGE, said(change)), scene.server.lying("PUT", PUT, swallowed):
        ran = scene.receive(person)
    assert len(scene.server.all_calls("GET", GET)) == before
    return scene.is_noticed(ran, person, NAME, "not sealed by a member")


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_another_key_in_place_of_the_receivers_is_noticed_by_the_owner(scene: Scene, bob: Person, key: bytes) -> None:
    assert is_declined(scene, bob, lambda call: call.saying(public_key=b64(key)))


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_another_key_in_place_of_the_owners_is_noticed_by_the_receiver(scene: Scene, bob: Person, key: bytes) -> None:
    assert is_refused(scene, bob, lambda call: call.saying(public_key=b64(key)))


def test_a_server_in_the_middle_with_a_secret_of_its_own_is_noticed_by_both(scene: Scene, bob: Person) -> None:
    own = Keys(Secret.new(), scene.session_id)
    asked: list[Request] = []

    def pose_as_receiver(call: Call) -> Call:
        body, receiver_id = call.body, scene.server.member_of(call)
        names = (body["request_id"], body["file_id"], receiver_id, scene.owner_id)
        asked.append(replace(own.ask(*names[1:], None).request, request_id=names[0]))
        return call.saying(public_key=b64(asked[0].public_key), sealed=b64(asked[0].sealed))

    assert is_declined(scene, bob, pose_as_receiver)

    def pose_as_owner(call: Call) -> Call:
        request = own.ask(asked[0].file_id, asked[0].receiver_id, scene.owner_id, None).request
        answer = own.acknowledge(request, length=5, chunk=CHUNK, first=0)
        return call.saying(public_key=b64(answer.public_key), sealed=b64(answer.sealed))

    assert is_refused(scene, bob, pose_as_owner)


def test_an_earlier_acknowledgement_answers_no_later_request(scene: Scene, bob: Person, earlier: Overheard) -> None:
    assert is_refused(scene, bob, lambda call: call.saying(**earlier.acknowledged.body))


def test_an_earlier_request_is_no_later_one(scene: Scene, bob: Person, earlier: Overheard) -> None:
    old = {name: earlier.asked[name] for name in ("public_key", "sealed")}
    assert is_declined(scene, bob, lambda call: call.saying(**old))


@dataclass
class Replay:
    """An earlier request, told to the owner again by a server that takes the stream itself."""

    scene: Scene
    earlier: Overheard
    acknowledged: Call = field(init=False)
    stream: bytes = field(init=False)

    def __post_init__(self) -> None:
        server = self.scene.server
        served = f"/requests/{self.earlier.asked['request_id']}"
        answers, streams = server.all_calls("POST", f"{served}/.*ge"), server.all_calls("PUT", f"{served}/.*")
        with server.lying("POST", ACKNOWLEDGE, swallowed), server.lying("PUT", PUT, swallowed):
            server.tells(self.scene.owner_id, type="drop.request", request=self.earlier.asked)
            self.acknowledged = server.hears("POST", f"{served}/.*ge", len(answers) + 1)
            self.stream = server.hears("PUT", f"{served}/.*", len(streams) + 1).content


def test_an_earlier_request_replayed_to_its_owner_gives_no_two_texts_under_one_key_and_no_proof(
    scene: Scene, earlier: Overheard
) -> None:
    replay = Replay(scene, earlier)
    assert replay.acknowledged.body["public_key"] != earlier.acknowledged.body["public_key"]
    assert len(replay.stream) == len(earlier.stream)
    assert all(replay.stream[at:][:TAG] != earlier.stream[at:][:TAG] for at in range(0, len(replay.stream), RECORD))
    done = earlier.done.body
    scene.server.tells(scene.owner_id, type="drop.done", request_id=earlier.asked["request_id"], **done)
    told = scene.sender.sees("unproven")
    assert told["request_id"] == earlier.asked["request_id"]


def test_what_the_server_alone_says_was_taken_is_not_shown_as_received(scene: Scene, earlier: Overheard) -> None:
    async def without_receipts(call: Call, pass_on: PassOn) -> Answer:
        return (await pass_on(call)).saying(receipts=[])

    seen = len(scene.sender.seen)
    Replay(scene, earlier)
    with scene.server.lying("GET", "", without_receipts):
        scene.server.tells(scene.owner_id, type="resync")
        scene.sender.sees("paused")
    Replay(scene, earlier)
    scene.server.tells(scene.owner_id, type="resync")
    scene.sender.sees("unproven")
    told = scene.sender.seen[seen:]
    assert "received" not in [each["type"] for each in told]
    assert not any("took" in each.get("why", "") for each in told)


@pytest.mark.parametrize("receipt", [bytes(32), secrets.token_bytes(32)], ids=["zeros", "chance"])
def test_a_receipt_that_is_not_the_receivers_does_not_count(scene: Scene, bob: Person, receipt: bytes) -> None:
    seen = len(scene.sender.seen)
    with scene.server.lying("POST", DONE, said(lambda call: call.saying(receipt=b64(receipt)))):
        assert scene.receive(bob).code == 0
        scene.sender.sees("unproven")
    assert "received" not in [told["type"] for told in scene.sender.seen[seen:]]


def test_after_a_forged_receipt_the_receivers_own_is_still_heard(scene: Scene, bob: Person) -> None:
    async def forge(call: Call, pass_on: PassOn) -> Answer:
        request_id = call.path.split("/")[2]
        forged = {"request_id": request_id, "receipt": b64(bytes(32))}
        await scene.server.whispers(scene.owner_id, type="drop.done", **forged)
        return await pass_on(call)

    with scene.server.lying("POST", DONE, forge):
        assert scene.receive(bob).code == 0
        request_id = scene.sender.sees("unproven")["request_id"]
        scene.sender.sees("received", lambda told: told["request_id"] == request_id)


def later(change: Callable[[T, T], T]) -> Callable[[T], T]:
    """The first passes as it is; those behind it are changed in view of it."""
    seen: list[T] = []

    def changed(thing: T) -> T:
        seen.append(thing)
        return thing if len(seen) == 1 else change(seen[0], thing)

    return changed


def breaking(change: Callable[[bytes, bytes], bytes] = lambda _, now: now) -> Lie:
    """The first stream is cut; those behind it are changed in view of all that it was."""
    streams: list[bytes] = []

    async def lie(call: Call, pass_on: PassOn) -> Answer:
        answer = await pass_on(call)
        streams.append(answer.content)
        is_first = len(streams) == 1
        return replace(answer, content=streams[0][: 2 * RECORD] if is_first else change(streams[0], answer.content))

    return lie


def test_who_goes_on_after_a_break_is_not_given_the_answer_from_before(scene: Scene, bob: Person) -> None:
    again: Callable[[Call], Call] = later(lambda first, now: now.saying(**first.body))
    with scene.server.lying("GET", GET, breaking()), scene.server.lying("POST", ACKNOWLEDGE, said(again)):
        ran = scene.receive(bob)
    assert scene.is_noticed(ran, bob, NAME, "not sealed by a member")


def test_what_is_said_to_be_here_already_cannot_be_exchanged(scene: Scene, bob: Person) -> None:
    again: Callable[[Call], Call] = later(
        lambda first, now: now.saying(public_key=first.body["public_key"], sealed=first.body["sealed"])
    )
    with scene.server.lying("GET", GET, breaking()), scene.server.lying("POST", ASK, said(again)):
        ran = scene.receive(bob)
    assert scene.is_noticed(ran, bob, NAME, "The sender declined")


@pytest.mark.parametrize("first", [0, 1, 2])
def test_who_goes_on_after_a_break_is_not_sent_elsewhere_in_the_content(scene: Scene, bob: Person, first: int) -> None:
    with scene.server.lying("GET", GET, breaking(lambda before, _: before[first * RECORD :])):
        ran = scene.receive(bob)
    assert scene.is_noticed(ran, bob, NAME, "arrived is not what")
