"""A server that wants the spoken code: it has the few guesses that a stranger has, whatever it does with what it hears.

The server's own counting and throttling is left out of all of this: events go straight to the door's program, and the
guest's calls are answered without asking the application.
"""

import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

import pytest

from satchel.cli.drop.crypto.cpace import Door, Guest, WrongTag
from satchel.cli.drop.crypto.session_keys import SUITE, Secret, b64, from_b64
from satchel.cli.drop.session.doorkeeper import GUESSES
from tests.cli.drop.hostile import Answer, Call, PassOn
from tests.cli.drop.scene import Scene, handing_over, landed
from tests.cli.terminal import Person

pytestmark = pytest.mark.slow

NAME = "the keys of the lighthouse.txt"
WRONG_CODE = "000000"
KNOCK, TAG = "/knocks", "/knocks/[^/]+/tag"


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """For guests who are lied to."""
    with handing_over(tmp_path_factory.mktemp("scene"), NAME) as scene:
        yield scene


@pytest.fixture
def besieged(tmp_path: Path) -> Iterator[Scene]:
    """A door of one's own to guess at."""
    with handing_over(tmp_path, NAME) as scene:
        yield scene


@dataclass
class Impostor:
    """A door of the server's own, for guests who cannot see who opens."""

    scene: Scene
    answer: Answer = field(default_factory=lambda: Answer.of(tag=b64(secrets.token_bytes(64)), sealed=b64(bytes(45))))
    doors: dict[str, Door] = field(default_factory=dict[str, Door])
    guesses: int = 0

    async def opens(self, call: Call, _: PassOn) -> Answer:
        knock_id, share = call.body["knock_id"], from_b64(call.body["share"]) or b""
        name = self.scene.sender.opened["link"].partition("/drop/")[2].partition("#")[0]
        door = self.doors[knock_id] = Door(WRONG_CODE, name, self.scene.session_id, knock_id, Secret.new(), share)
        return Answer.of(share=b64(door.share))

    async def judges(self, call: Call, _: PassOn) -> Answer:
        knock_id = call.path.split("/")[2]
        with pytest.raises(WrongTag):
            self.doors[knock_id].verdict(from_b64(call.body["tag"]) or b"")
        self.guesses += 1
        return self.answer


@dataclass
class Burglar:
    """The server at the real door, with guesses of its own."""

    scene: Scene

    def knocks(self, *, suite: int = SUITE, share: bytes | None = None) -> str:
        knock_id = secrets.token_hex(16)
        name = self.scene.sender.opened["link"].partition("/drop/")[2].partition("#")[0]
        guest = Guest(WRONG_CODE, name, self.scene.session_id, knock_id)
        shown = b64(guest.share if share is None else share)
        self.scene.server.tells(self.scene.owner_id, type="drop.knock", knock_id=knock_id, suite=suite, share=shown)
        return knock_id

    def says(self, knock_id: str) -> None:
        tag = b64(secrets.token_bytes(64))
        self.scene.server.tells(self.scene.owner_id, type="drop.tag", knock_id=knock_id, tag=tag)

    def is_refused(self, knock_id: str) -> str:
        return self.scene.server.hears("POST", f"/knocks/{knock_id}/verdict").body["refused"]

    def guesses(self) -> str:
        knock_id = self.knocks()
        self.scene.server.hears("POST", f"/knocks/{knock_id}/share")
        self.says(knock_id)
        return self.is_refused(knock_id)

    @property
    def shares(self) -> list[str]:
        """The knocks that were answered by something that a guess can be tried on."""
        return [call.path.split("/")[2] for call in self.scene.server.all_calls("POST", "/knocks/[^/]+/share")]

    @property
    def shares_by_code(self) -> list[int]:
        """How many there were in the life of each code."""
        calls = self.scene.server.all_calls("POST", "/knocks/[^/]+/(share|verdict)")
        deaths, lives = 0, list[int]()
        for call in calls:
            if call.path.endswith("/share"):
                lives.append(deaths)
            elif call.body.get("refused") == "code-dead":
                deaths += 1
        return [len(list(life)) for _, life in groupby(lives)]


@dataclass
class Deserted:
    """A door at which somebody knocked several times and then said nothing."""

    burglar: Burglar
    knocks: list[str]


@pytest.fixture(scope="module", autouse=True)
def deserted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deserted]:
    """Before all else, so that the half minute after which this is a guess passes meanwhile."""
    with handing_over(tmp_path_factory.mktemp("deserted"), NAME) as scene:
        burglar = Burglar(scene)
        yield Deserted(burglar, [burglar.knocks() for _ in range(4)])


def test_who_was_told_the_code_comes_in_and_the_server_does_not_learn_it(scene: Scene, bob: Person) -> None:
    assert scene.receive(bob, by="code").code == 0
    assert landed(bob) == scene.files
    assert scene.is_kept_from_the_server()


def test_a_door_of_the_servers_own_has_one_guess_and_is_told_apart(scene: Scene, bob: Person) -> None:
    impostor = Impostor(scene)
    with scene.server.lying("POST", KNOCK, impostor.opens), scene.server.lying("POST", TAG, impostor.judges):
        ran = scene.receive(bob, by="code")
    assert scene.is_noticed(ran, bob, "The code is not the one that the other side shows")
    assert impostor.guesses == 1


def test_a_guest_who_was_heard_out_does_not_knock_again_for_a_server_that_claims_to_be_busy(
    scene: Scene, bob: Person
) -> None:
    impostor = Impostor(scene, Answer.refusal("door-busy", 409, retry_after="1"))
    with scene.server.lying("POST", KNOCK, impostor.opens), scene.server.lying("POST", TAG, impostor.judges):
        ran = scene.receive(bob, by="code")
    assert scene.is_noticed(ran, bob)
    assert impostor.guesses == 1


def test_a_guest_does_not_wait_for_years_because_the_server_says_so(scene: Scene, bob: Person) -> None:
    async def busy(_: Call, __: PassOn) -> Answer:
        return Answer.refusal("door-busy", 409, retry_after="99999999999999999999")

    with scene.server.lying("POST", KNOCK, busy):
        assert scene.is_noticed(scene.receive(bob, by="code"), bob, "Somebody else is joining")


def test_a_guest_says_nothing_to_a_door_whose_share_makes_every_key_zero(scene: Scene, bob: Person) -> None:
    async def nothing(_: Call, __: PassOn) -> Answer:
        return Answer.of(share=b64(bytes(32)))

    said = len(scene.server.all_calls("POST", TAG))
    with scene.server.lying("POST", KNOCK, nothing):
        ran = scene.receive(bob, by="code")
    assert scene.is_noticed(ran, bob, "no honest program")
    assert len(scene.server.all_calls("POST", TAG)) == said


def test_a_box_that_was_changed_on_its_way_is_not_opened(scene: Scene, bob: Person) -> None:
    async def changed(call: Call, pass_on: PassOn) -> Answer:
        answer = await pass_on(call)
        box = bytearray(from_b64(answer.body["sealed"]) or b"")
        box[20] ^= 1
        return answer.saying(sealed=b64(bytes(box)))

    with scene.server.lying("POST", TAG, changed):
        ran = scene.receive(bob, by="code")
    assert scene.is_noticed(ran, bob, "changed on its way")


def test_a_server_between_guest_and_door_with_shares_of_its_own_is_a_wrong_guess_to_both(
    besieged: Scene, bob: Person
) -> None:
    burglar, impostor, knocks = Burglar(besieged), Impostor(besieged), list[str]()

    async def opens(call: Call, pass_on: PassOn) -> Answer:
        name = besieged.sender.opened["link"].partition("/drop/")[2].partition("#")[0]
        own = Guest(WRONG_CODE, name, besieged.session_id, call.body["knock_id"])
        await pass_on(call.saying(share=b64(own.share)))
        knocks.append(call.body["knock_id"])
        return await impostor.opens(call, pass_on)

    async def relays(call: Call, pass_on: PassOn) -> Answer:
        return await pass_on(call)

    with besieged.server.lying("POST", KNOCK, opens), besieged.server.lying("POST", TAG, relays):
        ran = besieged.receive(bob, by="code")
    assert besieged.is_noticed(ran, bob, "The code is wrong")
    assert burglar.is_refused(knocks[0]) == "code-wrong"
    assert burglar.shares_by_code == [1]


def test_many_knocks_at_once_and_counters_set_back_give_a_server_no_more_than_three_guesses_at_a_code(
    besieged: Scene,
) -> None:
    burglar = Burglar(besieged)
    for _ in range(3 * GUESSES + 1):
        knocks = [burglar.knocks() for _ in range(5)]
        for knock_id in knocks:
            burglar.says(knock_id)
        burglar.is_refused(knocks[0])
    assert burglar.shares_by_code == [GUESSES] * 3


def test_a_door_that_was_guessed_at_for_three_codes_stays_shut(besieged: Scene, bob: Person) -> None:
    burglar = Burglar(besieged)
    shown = [besieged.sender.opened["code"]]
    for _ in range(3):
        assert [burglar.guesses() for _ in range(GUESSES)] == ["code-wrong", "code-wrong", "code-dead"]
        shown.append(besieged.sender.sees("code-dead")["code"])
    assert len(set(shown)) == 4
    assert shown[3] is None
    knock_id = burglar.knocks()
    assert burglar.is_refused(knock_id) == "code-dead"
    assert knock_id not in burglar.shares
    assert besieged.receive(bob).code == 0


def test_what_no_honest_guest_sends_is_a_guess_and_what_a_newer_one_sends_is_none(besieged: Scene) -> None:
    burglar = Burglar(besieged)
    for _ in range(5):
        assert burglar.is_refused(burglar.knocks(suite=SUITE + 1)) == "versions-differ"
    shares = (bytes(32), (1).to_bytes(32, "little"), b"")
    refusals = [burglar.is_refused(burglar.knocks(share=share)) for share in shares]
    assert refusals == ["code-wrong", "code-wrong", "code-dead"]
    assert besieged.sender.sees("code-dead")["code"] != besieged.sender.opened["code"]
    assert burglar.shares == []


def test_who_vanishes_when_the_guess_was_wrong_has_guessed_all_the_same(deserted: Deserted) -> None:
    burglar = deserted.burglar
    assert burglar.is_refused(deserted.knocks[0]) == "code-wrong"
    assert burglar.shares == deserted.knocks[:1]
    for knock_id in deserted.knocks:
        burglar.says(knock_id)
    assert [burglar.guesses(), burglar.guesses()] == ["code-wrong", "code-dead"]
    assert burglar.shares_by_code == [GUESSES]
