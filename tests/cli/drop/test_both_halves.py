"""The command line and the browser understand each other: each says what the other reads, in both directions."""

import secrets
from collections.abc import Generator
from io import BytesIO
from typing import Any

import pytest

from satchel.cli.drop.crypto.codes import new_code, read_invitation
from satchel.cli.drop.crypto.cpace import Door, Guest, WrongDoor, WrongTag
from satchel.cli.drop.crypto.sealed_records import Digest, Opener, Sealer
from satchel.cli.drop.crypto.session_keys import (
    CHUNK,
    Description,
    Have,
    Introduction,
    Keys,
    Request,
    Secret,
    Stream,
    Tampered,
    b64,
    from_b64,
)
from tests.cli.drop.browser_half import BrowserHalf, Refused, browser_half

NAME = "amber-otter-27"
LENGTHS = [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 5]
INTRODUCTIONS = [Introduction(name="Ann", device="a laptop"), Introduction(name="写真 🎻\u202e", device="é" * 300)]
DESCRIPTIONS = [
    Description(kind="file", name="a.txt", size=2**50, files=1, modified="2026-01-02T03:04:05Z", type="text/plain"),
    Description(kind="folder", name="../Ünïcode 写真\n", size=0, files=0, modified=None, type=""),
    Description(kind="text", name="", size=None, files=1, modified=None, type="text/plain"),
]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Generator[BrowserHalf]:
    with browser_half(tmp_path_factory.mktemp("browser")) as half:
        yield half


def an_id() -> str:
    return secrets.token_hex(16)


def data(text: str) -> bytes:
    found = from_b64(text)
    assert found is not None
    return found


class Session:
    """A session of which both halves are members."""

    def __init__(self, browser: BrowserHalf) -> None:
        self.id = an_id()
        self.secret = Secret.new()
        self.keys = Keys(self.secret, self.id)
        self.admission = browser.ask("become", fragment=self.secret.fragment, sessionId=self.id)["admission"]


@pytest.fixture
def session(browser: BrowserHalf) -> Session:
    return Session(browser)


@pytest.fixture(params=["digits", "words"])
def code(request: pytest.FixtureRequest) -> str:
    return new_code(request.param == "words")


class TestTheSpokenCode:
    def test_lets_the_browser_in_at_the_door_of_the_command_line(self, browser: BrowserHalf, code: str) -> None:
        session_id, knock_id, secret = an_id(), an_id(), Secret.new()
        share = browser.ask("knock", code=code, name=NAME, sessionId=session_id, knockId=knock_id)["share"]
        door = Door(code, NAME, session_id, knock_id, secret, data(share))
        tag, box = door.verdict(data(browser.ask("tag", share=b64(door.share))["tag"]))
        assert browser.ask("open", tag=b64(tag), box=b64(box))["fragment"] == secret.fragment

    def test_lets_the_command_line_in_at_the_door_of_the_browser(self, browser: BrowserHalf, code: str) -> None:
        session_id, knock_id, secret = an_id(), an_id(), Secret.new()
        guest = Guest(code, NAME, session_id, knock_id)
        knock = {"code": code, "name": NAME, "sessionId": session_id, "knockId": knock_id}
        share = browser.ask("answer", **knock, fragment=secret.fragment, share=b64(guest.share))["share"]
        verdict = browser.ask("verdict", tag=b64(guest.tag(data(share))))
        assert guest.open(data(verdict["tag"]), data(verdict["box"])) == secret

    def test_that_is_wrong_is_noticed_by_either_door(self, browser: BrowserHalf) -> None:
        knock = {"name": NAME, "sessionId": an_id(), "knockId": an_id()}
        ids = (knock["sessionId"], knock["knockId"])
        share = browser.ask("knock", **knock, code="481902")["share"]
        door = Door("481903", NAME, *ids, Secret.new(), data(share))
        with pytest.raises(WrongTag):
            door.verdict(data(browser.ask("tag", share=b64(door.share))["tag"]))
        guest = Guest("481902", NAME, *ids)
        fragment = Secret.new().fragment
        share = browser.ask("answer", **knock, code="481903", fragment=fragment, share=b64(guest.share))["share"]
        with pytest.raises(Refused, match="wrong-tag"):
            browser.ask("verdict", tag=b64(guest.tag(data(share))))

    def test_that_the_door_does_not_know_is_noticed_by_either_guest(self, browser: BrowserHalf) -> None:
        knock = {"code": "481902", "name": NAME, "sessionId": an_id(), "knockId": an_id()}
        browser.ask("knock", **knock)
        other = Guest("481902", NAME, an_id(), an_id())
        browser.ask("tag", share=b64(other.share))
        with pytest.raises(Refused, match="wrong-door"):
            browser.ask("open", tag=b64(bytes(64)), box=b64(bytes(45)))
        other.tag(other.share)
        with pytest.raises(WrongDoor):
            other.open(bytes(64), bytes(45))

    def test_is_not_worth_a_low_order_point(self, browser: BrowserHalf) -> None:
        browser.ask("knock", code="481902", name=NAME, sessionId=an_id(), knockId=an_id())
        with pytest.raises(Refused, match="bad-share"):
            browser.ask("tag", share=b64(bytes(32)))


class TestTheLink:
    def test_of_either_is_read_by_the_other(self, browser: BrowserHalf) -> None:
        server = "https://satchel.example/some"
        drawn = f"{server}/drop/{NAME}#{browser.ask('draw')}"
        read = read_invitation(drawn)
        assert (read.name, read.server) == (NAME, server)
        assert read.secret and drawn.endswith(f"#{read.secret.fragment}")
        fragment = Secret.new().fragment
        told = browser.ask("invitation", link=f"{server}/drop/{NAME}#{fragment}")
        assert told == {"name": NAME, "server": server, "fragment": fragment}

    def test_of_a_newer_program_is_refused_as_such(self, browser: BrowserHalf) -> None:
        with pytest.raises(Refused, match="unknown-suite"):
            browser.ask("invitation", link=f"https://satchel.example/drop/{NAME}#{b64(bytes([3]) + bytes(16))}")

    def test_admits_both_alike(self, session: Session) -> None:
        assert data(session.admission) == session.keys.admission


class TestWhatMembersSay:
    @pytest.mark.parametrize("introduction", INTRODUCTIONS)
    def test_of_themselves(self, browser: BrowserHalf, session: Session, introduction: Introduction) -> None:
        member = an_id()
        sealed = browser.ask("introduce", memberId=member, introduction=introduction)
        assert session.keys.open_introduction(member, data(sealed)) == introduction
        sealed = b64(session.keys.introduce(member, introduction))
        assert browser.ask("openIntroduction", memberId=member, sealed=sealed) == introduction

    @pytest.mark.parametrize("description", DESCRIPTIONS, ids=lambda each: each.kind)
    def test_of_their_files(self, browser: BrowserHalf, session: Session, description: Description) -> None:
        file, owner = an_id(), an_id()
        sealed = browser.ask("announce", fileId=file, ownerId=owner, description=description)
        assert session.keys.open_announcement(file, owner, data(sealed)) == description
        sealed = b64(session.keys.announce(file, owner, description))
        told = browser.ask("openAnnouncement", fileId=file, ownerId=owner, sealed=sealed)
        assert Description(**told) == description


class Handover:
    """A content on its way from one half to the other, of which the receiver has the first so many chunks."""

    def __init__(self, browser: BrowserHalf, session: Session, length: int, first: int) -> None:
        self.browser, self.session = browser, session
        self.content = secrets.token_bytes(length)
        self.first = first
        self.ids = {"fileId": an_id(), "receiverId": an_id(), "ownerId": an_id()}

    @property
    def told(self) -> dict[str, Any]:
        return {"content": self.content.hex(), "have": self.first * CHUNK}

    def digest(self, length: int | None = None) -> Digest:
        digest = Digest(self.session.keys.digest_key(self.ids["fileId"]))
        for at in range(0, len(self.content) if length is None else length, CHUNK):
            digest.add(self.content[at : at + CHUNK])
        return digest

    def had(self) -> Digest:
        return self.digest(self.first * CHUNK)

    def have(self) -> Have | None:
        return Have.of(CHUNK, self.first, self.had().value) if self.first else None

    def asked_by_the_browser(self) -> Stream:
        """The stream as the command line agrees on it, which owns the content."""
        asked = self.browser.ask("ask", **self.ids, **self.told, chunk=CHUNK)
        request = Request(
            request_id=asked["requestId"],
            file_id=self.ids["fileId"],
            receiver_id=self.ids["receiverId"],
            owner_id=self.ids["ownerId"],
            public_key=data(asked["publicKey"]),
            sealed=data(asked["sealed"]),
        )
        assert self.session.keys.open_request(request) == self.have()
        answer = self.session.keys.acknowledge(request, length=len(self.content), chunk=CHUNK, first=self.first)
        agreed = self.browser.ask("accept", publicKey=b64(answer.public_key), sealed=b64(answer.sealed))
        assert agreed == {"length": len(self.content), "chunk": CHUNK, "first": self.first}
        return answer.stream

    def asked_by_the_command_line(self) -> Stream:
        asked = self.session.keys.ask(*self.ids.values(), have=self.have())
        request = {"requestId": asked.request_id, "publicKey": b64(asked.public_key), "sealed": b64(asked.sealed)}
        agreement = {"length": len(self.content), "chunk": CHUNK, "first": self.first}
        answer = self.browser.ask("acknowledge", **self.ids, **request, agreement=agreement)
        have = self.have()
        assert answer["have"] == (have and {"chunk": have.chunk, "chunks": have.chunks, "digest": have.digest})
        return asked.accept(data(answer["publicKey"]), data(answer["sealed"]))

    def sealed(self, stream: Stream) -> bytes:
        sealer, line = Sealer(stream, self.had()), bytearray()
        for at in range(self.first * CHUNK, len(self.content), CHUNK):
            record = bytearray(CHUNK + 16)
            line += record[: sealer.seal_into(memoryview(self.content)[at : at + CHUNK], record)]
        return bytes(line + sealer.final(len(self.content)))


@pytest.fixture(params=[(length, 0) for length in LENGTHS] + [(3 * CHUNK + 5, 2), (2 * CHUNK, 2)], ids=str)
def handover(request: pytest.FixtureRequest, browser: BrowserHalf, session: Session) -> Handover:
    return Handover(browser, session, *request.param)


class TestAContent:
    def test_goes_from_the_command_line_to_the_browser(self, browser: BrowserHalf, handover: Handover) -> None:
        stream = handover.asked_by_the_browser()
        got = browser.ask("unseal", **handover.told, line=handover.sealed(stream).hex())
        assert got["content"] == handover.content[handover.first * CHUNK :].hex()
        stream.check_receipt(data(got["receipt"]), handover.digest().value)

    def test_goes_from_the_browser_to_the_command_line(self, browser: BrowserHalf, handover: Handover) -> None:
        stream = handover.asked_by_the_command_line()
        line = bytes.fromhex(browser.ask("seal", **handover.told))
        digest = handover.had()
        chunks = [bytes(chunk) for chunk in Opener(stream, digest).records(BytesIO(line).readinto)]
        assert b"".join(chunks) == handover.content[handover.first * CHUNK :]
        receipt = b64(stream.receipt(digest.value))
        assert browser.ask("isReceipt", receipt=receipt, content=handover.content.hex()) is True

    def test_that_was_changed_on_its_way_is_refused_by_both(self, browser: BrowserHalf, session: Session) -> None:
        there, back = Handover(browser, session, 2 * CHUNK, 0), Handover(browser, session, 2 * CHUNK, 0)
        line = bytearray(there.sealed(there.asked_by_the_browser()))
        line[CHUNK + 20] ^= 1
        with pytest.raises(Refused, match="tampered"):
            browser.ask("unseal", **there.told, line=line.hex())
        stream = back.asked_by_the_command_line()
        line = bytearray.fromhex(browser.ask("seal", **back.told))
        line[CHUNK + 20] ^= 1
        with pytest.raises(Tampered):
            list(Opener(stream, back.digest(0)).records(BytesIO(line).readinto))
        assert browser.ask("isReceipt", receipt=b64(bytes(32)), content=back.content.hex()) is False

    def test_that_was_cut_is_taken_for_broken_off(self, browser: BrowserHalf, session: Session) -> None:
        cut = Handover(browser, session, 2 * CHUNK, 0)
        line = cut.sealed(cut.asked_by_the_browser())[:-70]
        with pytest.raises(Refused, match="broken-off"):
            browser.ask("unseal", **cut.told, line=line.hex())
