"""A server that tampers with the bytes between two commands: it is noticed, and nothing wrong gets its final name.

Every file here is named for what is done to its stream. All of them are taken by one command, since it is the starting
of commands that takes time.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import pytest

from satchel.cli.drop.crypto.sealed_records import FINAL, TAG
from satchel.cli.drop.crypto.session_keys import CHUNK, from_b64
from tests.cli.drop.hostile import Answer, Call, PassOn
from tests.cli.drop.scene import Scene, handing_over, landed
from tests.cli.terminal import Person, Ran

pytestmark = pytest.mark.slow

BYTES = "/requests/[^/]+/bytes"
SOCKET = "/requests/[^/]+/socket"
RECORD = CHUNK + TAG
Records = list[bytes]


def cut(data: bytes) -> Records:
    """A stream as its records, of which the last is the one that ends it."""
    content = data[:-FINAL]
    return [*(content[at : at + RECORD] for at in range(0, len(content), RECORD)), data[-FINAL:]]


def one_bit_of(record: bytes, at: int) -> bytes:
    return record[:at] + bytes([record[at] ^ 1]) + record[at + 1 :] if at >= 0 else one_bit_of(record, len(record) + at)


TAMPERED: dict[str, Callable[[Records, Records], Records]] = {
    "two records change places": lambda now, _: [now[1], now[0], *now[2:]],
    "the first record is dropped": lambda now, _: now[1:],
    "a record in the middle is dropped": lambda now, _: [now[0], *now[2:]],
    "a record is repeated": lambda now, _: [now[0], now[0], *now[1:]],
    "a record comes in place of another": lambda now, _: [now[0], now[0], *now[2:]],
    "a bit of a record is changed": lambda now, _: [now[0], one_bit_of(now[1], 1000), *now[2:]],
    "a bit of a tag is changed": lambda now, _: [now[0], one_bit_of(now[1], -1), *now[2:]],
    "a bit of the short record is changed": lambda now, _: [*now[:3], one_bit_of(now[3], 0), now[4]],
    "a bit of the last record is changed": lambda now, _: [*now[:4], one_bit_of(now[4], 0)],
    "the last record comes first": lambda now, _: [now[4], *now[:4]],
    "the last record comes twice": lambda now, _: [*now, now[4]],
    "something follows the last record": lambda now, _: [*now, bytes(RECORD)],
    "a stream of another request comes": lambda _, earlier: earlier,
    "a record of another request comes": lambda now, earlier: [now[0], earlier[1], *now[2:]],
    "a stream goes on as that of another request": lambda now, earlier: [*now[:2], *earlier[2:]],
    "a stream ends as that of another request": lambda now, earlier: [*now[:4], earlier[4]],
}
CUT: dict[str, Callable[[Records], bytes]] = {
    "it is cut before anything": lambda _: b"",
    "it is cut between two records": lambda now: b"".join(now[:2]),
    "it is cut inside a record": lambda now: b"".join(now[:2])[:-1],
    "it is cut before the last record": lambda now: b"".join(now[:4]),
    "it is cut before the last byte": lambda now: b"".join(now)[:-1],
    "it is cut with the last record behind": lambda now: now[0] + now[4],
}


class Stirring:
    """A server that does to each stream what its file is named for; `earlier` are the streams of an honest time."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self.earlier: dict[str, Records] = {}
        self._begun: set[str] = set()

    async def remember(self, call: Call, pass_on: PassOn) -> Answer:
        answer = await pass_on(call)
        self.earlier[self._name(call)] = cut(answer.content)
        return answer

    async def stir(self, call: Call, pass_on: PassOn) -> Answer:
        answer, name = await pass_on(call), self._name(call)
        records = cut(answer.content)
        if name in TAMPERED:
            return replace(answer, content=b"".join(TAMPERED[name](records, self.earlier[name])))
        if name in self._begun:
            return answer
        self._begun.add(name)
        return replace(answer, content=CUT[name](records))

    def _name(self, call: Call) -> str:
        """Which file it is, as the server itself cannot know."""
        server, request_id = self._scene.server, call.path.split("/")[2]
        asked = next(each.body for each in server.all_calls("POST", "/requests") if request_id in each.content.decode())
        announced = (file for each in server.all_calls("POST", "/files") for file in each.body["files"])
        file = next(file for file in announced if file["file_id"] == asked["file_id"])
        sealed = from_b64(file["sealed"]) or b""
        return self._scene.keys.open_announcement(file["file_id"], self._scene.owner_id, sealed).name


@dataclass(frozen=True)
class Outcome:
    """What became of all the files."""

    ran: Ran
    sent: dict[str, bytes]
    landed: dict[str, bytes]
    # The files of which the sender was told that they had been changed on their way.
    complaints: set[str]


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outcome]:
    honest, lied_to = (Person(tmp_path_factory.mktemp(name)) for name in ("honest", "lied-to"))
    with handing_over(tmp_path_factory.mktemp("scene"), *TAMPERED, *CUT) as scene:
        stirring = Stirring(scene)
        with scene.server.lying("GET", BYTES, stirring.remember):
            assert scene.receive(honest).code == 0
        assert landed(honest) == scene.files
        with scene.server.lying("GET", BYTES, stirring.stir), scene.server.lying("WEBSOCKET", SOCKET, stirring.stir):
            ran = scene.receive(lied_to)
        assert ran.code == 1, ran
        complaints = {scene.sender.sees("tampered")["file"] for _ in TAMPERED}
        yield Outcome(ran, scene.files, landed(lied_to), complaints)


@pytest.mark.parametrize("name", TAMPERED)
def test_a_stream_that_was_tampered_with_is_refused(outcome: Outcome, name: str) -> None:
    assert name not in outcome.landed
    (said,) = (line for line in outcome.ran.err.splitlines() if line.startswith(f"Not received: {name}: "))
    assert "What arrived is not what" in said


@pytest.mark.parametrize("name", CUT)
def test_a_stream_that_was_cut_is_not_taken_for_whole_but_gone_on_with(outcome: Outcome, name: str) -> None:
    assert outcome.landed[name] == outcome.sent[name]


def test_the_sender_hears_of_every_stream_that_was_tampered_with(outcome: Outcome) -> None:
    assert outcome.complaints == TAMPERED.keys()


def test_nothing_else_arrives(outcome: Outcome) -> None:
    assert outcome.landed.keys() == CUT.keys()
