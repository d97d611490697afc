"""A server that exchanges, repeats, moves, cuts or invents what it passes on: each of it is noticed by a member."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from hypothesis import given
from hypothesis import strategies as st

from satchel.cli.drop.crypto.cpace import BadShare, Door, Guest, WrongDoor, WrongTag, confirmation
from satchel.cli.drop.crypto.sealed_records import BrokenOff, Digest, Opener, Sealer
from satchel.cli.drop.crypto.session_keys import (
    Asked,
    Description,
    Have,
    Introduction,
    Keys,
    Request,
    Secret,
    Stream,
    Tampered,
    UnknownSuite,
    b64,
    seal,
)
from satchel.cli.engine.terminal.output import CommandFailed

POINTS = json.loads((Path(__file__).parents[2] / "vectors" / "cpace.json").read_text(encoding="utf-8"))["points"]
LOW_ORDER = [bytes.fromhex(point["point"]) for point in POINTS if not any(bytes.fromhex(point["result"]))]

SESSION, OTHER_SESSION = "5e" * 16, "5f" * 16
OWNER, RECEIVER, STRANGER = "0a" * 16, "7e" * 16, "66" * 16
FILE, OTHER_FILE = "f1" * 16, "f2" * 16
KNOCK, OTHER_KNOCK = "0c" * 16, "0d" * 16
NAME, CODE = "amber-otter-27", "481902"

SECRET = Secret(bytes(range(16)))
KEYS = Keys(SECRET, SESSION)
# What the server can make of itself: everything but the secret is known to it.
SERVERS_OWN = Keys(Secret(b"a server's guess"), SESSION)
PHOTO = Description(kind="file", name="a.jpg", size=40, files=1, modified=None, type="image/jpeg")
ANN: Introduction = {"name": "Ann", "device": "laptop"}


def asked(have: Have | None = None, file_id: str = FILE) -> Asked:
    return KEYS.ask(file_id, RECEIVER, OWNER, have)


# One thing in a request that the receiver did not say.
EXCHANGES: dict[str, Callable[[Request], Request]] = {
    "id": lambda request: replace(request, request_id=asked().request_id),
    "file": lambda request: replace(request, file_id=OTHER_FILE),
    "receiver": lambda request: replace(request, receiver_id=STRANGER),
    "owner": lambda request: replace(request, owner_id=STRANGER),
    "key": lambda request: replace(request, public_key=_public_key()),
    "what it has": lambda request: replace(request, sealed=asked(Have.of(64, 1, bytes(32))).sealed),
    "sealed by the server": lambda request: replace(
        request, sealed=SERVERS_OWN.ask(FILE, RECEIVER, OWNER, None).sealed
    ),
}


def test_an_introduction_cannot_be_given_to_another_member() -> None:
    sealed = KEYS.introduce(OWNER, ANN)
    with pytest.raises(Tampered):
        KEYS.open_introduction(STRANGER, sealed)


@pytest.mark.parametrize(("file_id", "owner_id"), [(OTHER_FILE, OWNER), (FILE, STRANGER), (OWNER, FILE)])
def test_an_announcement_cannot_be_moved_to_another_file_or_owner(file_id: str, owner_id: str) -> None:
    sealed = KEYS.announce(FILE, OWNER, PHOTO)
    with pytest.raises(Tampered):
        KEYS.open_announcement(file_id, owner_id, sealed)


def test_nothing_sealed_in_one_session_opens_in_another_even_of_the_same_secret() -> None:
    elsewhere = Keys(SECRET, OTHER_SESSION)
    with pytest.raises(Tampered):
        elsewhere.open_introduction(OWNER, KEYS.introduce(OWNER, ANN))
    with pytest.raises(Tampered):
        elsewhere.open_announcement(FILE, OWNER, KEYS.announce(FILE, OWNER, PHOTO))
    with pytest.raises(Tampered):
        elsewhere.open_request(asked().request)


def test_one_kind_of_text_cannot_stand_in_for_another() -> None:
    with pytest.raises(Tampered):
        KEYS.open_introduction(OWNER, KEYS.announce(FILE, OWNER, PHOTO))
    request = asked()
    answer = KEYS.acknowledge(request.request, length=40, chunk=32, first=0)
    with pytest.raises(Tampered):
        KEYS.open_request(replace(request.request, sealed=answer.sealed))
    with pytest.raises(Tampered):
        request.accept(answer.public_key, request.sealed)


def test_the_server_cannot_seal_anything_itself() -> None:
    with pytest.raises(Tampered):
        KEYS.open_introduction(OWNER, SERVERS_OWN.introduce(OWNER, ANN))
    with pytest.raises(Tampered):
        KEYS.open_announcement(FILE, OWNER, SERVERS_OWN.announce(FILE, OWNER, PHOTO))


@given(st.data())
def test_a_changed_cut_or_lengthened_text_does_not_open(data: st.DataObject) -> None:
    sealed = KEYS.announce(FILE, OWNER, PHOTO)
    with pytest.raises(Tampered):
        KEYS.open_announcement(FILE, OWNER, data.draw(_spoilt(sealed)))


@pytest.mark.parametrize("an_id", ["", "5e", "5E" * 16, "zz" * 16, "5e" * 17, " " + "5e" * 16, "5e" * 15 + "5 e"])
def test_what_is_not_an_id_is_refused(an_id: str) -> None:
    with pytest.raises(Tampered):
        KEYS.open_introduction(an_id, KEYS.introduce(OWNER, ANN))
    with pytest.raises(Tampered):
        Guest(CODE, NAME, SESSION, an_id)


@pytest.mark.parametrize("exchange", EXCHANGES.values(), ids=EXCHANGES.keys())
def test_an_owner_answers_no_request_in_which_anything_was_exchanged(exchange: Callable[[Request], Request]) -> None:
    request = exchange(asked().request)
    with pytest.raises(Tampered):
        KEYS.open_request(request)
    with pytest.raises(Tampered):
        KEYS.acknowledge(request, length=40, chunk=32, first=0)


@pytest.mark.parametrize("exchange", EXCHANGES.values(), ids=EXCHANGES.keys())
def test_even_where_two_shared_a_key_they_would_come_to_other_keys_of_a_stream(
    exchange: Callable[[Request], Request],
) -> None:
    request, owner_key = asked().request, _public_key()
    honest = KEYS.stream_keys(request, owner_key, bytes(32))
    assert not set(honest) & set(KEYS.stream_keys(exchange(request), owner_key, bytes(32)))
    assert not set(honest) & set(KEYS.stream_keys(request, _public_key(), bytes(32)))
    assert not set(honest) & set(SERVERS_OWN.stream_keys(request, owner_key, bytes(32)))


def test_a_repeated_request_is_answered_with_other_keys_of_which_the_server_has_none() -> None:
    request = asked()
    first, again = (KEYS.acknowledge(request.request, length=40, chunk=32, first=0) for _ in range(2))
    assert first.stream.key != again.stream.key
    assert request.accept(again.public_key, again.sealed) == again.stream


@pytest.mark.parametrize("point", [*LOW_ORDER, b"", bytes(31), b"k" * 33], ids=lambda point: point.hex()[:8])
def test_a_receivers_key_that_makes_zero_or_is_none_is_refused(point: bytes) -> None:
    request = replace(asked().request, public_key=point)
    about = b"drop/1 request" + bytes.fromhex(SESSION) + request.named()
    with pytest.raises(Tampered):
        KEYS.acknowledge(replace(request, sealed=seal(KEYS.auth, about, {"have": None})), length=40, chunk=32, first=0)


def test_the_servers_key_in_place_of_the_owners_is_refused() -> None:
    request = asked()
    answer = KEYS.acknowledge(request.request, length=40, chunk=32, first=0)
    with pytest.raises(Tampered):
        KEYS.open_acknowledgement(request.request, _public_key(), answer.sealed)
    with pytest.raises(Tampered):
        request.accept(_public_key(), answer.sealed)


def test_a_server_between_the_two_with_keys_of_its_own_is_refused_by_both() -> None:
    request = asked()
    towards_owner = SERVERS_OWN.ask(FILE, RECEIVER, OWNER, None)
    with pytest.raises(Tampered):
        KEYS.acknowledge(towards_owner.request, length=40, chunk=32, first=0)
    towards_receiver = SERVERS_OWN.acknowledge(towards_owner.request, length=40, chunk=32, first=0)
    with pytest.raises(Tampered):
        request.accept(towards_receiver.public_key, towards_receiver.sealed)


def test_an_earlier_acknowledgement_does_not_answer_a_later_request() -> None:
    earlier, later = asked(), asked()
    answer = KEYS.acknowledge(earlier.request, length=40, chunk=32, first=0)
    with pytest.raises(Tampered):
        later.accept(answer.public_key, answer.sealed)


def test_one_file_is_not_handed_over_in_place_of_another() -> None:
    wanted, other = asked(), asked(file_id=OTHER_FILE)
    answer = KEYS.acknowledge(other.request, length=40, chunk=32, first=0)
    with pytest.raises(Tampered):
        wanted.accept(answer.public_key, answer.sealed)


def test_the_keys_of_one_answer_do_not_go_with_the_text_of_another() -> None:
    request = asked()
    one, other = (KEYS.acknowledge(request.request, length=40, chunk=32, first=0) for _ in range(2))
    with pytest.raises(Tampered):
        request.accept(one.public_key, other.sealed)


@given(st.data())
def test_a_changed_cut_or_lengthened_answer_is_refused(data: st.DataObject) -> None:
    request = asked()
    answer = KEYS.acknowledge(request.request, length=40, chunk=32, first=0)
    with pytest.raises(Tampered):
        request.accept(answer.public_key, data.draw(_spoilt(answer.sealed)))


@pytest.mark.parametrize("commit", [b64(bytes(32)), "", "é", b64(b"x" * 31)])
def test_an_answer_that_commits_to_another_key_is_refused(commit: str) -> None:
    request, owner_key = asked(), _public_key()
    with pytest.raises(Tampered):
        request.accept(owner_key, _answer_with(request, owner_key, commit))


@pytest.mark.parametrize("point", [*LOW_ORDER, b"", bytes(31), b"k" * 33], ids=lambda point: point.hex()[:8])
def test_an_owners_key_that_makes_zero_or_is_none_is_refused(point: bytes) -> None:
    request = asked()
    _, commit, _ = KEYS.stream_keys(request.request, point, bytes(32))
    with pytest.raises(Tampered):
        request.accept(point, _answer_with(request, point, b64(commit)))


def test_records_of_an_earlier_stream_of_the_same_file_do_not_open_in_a_later_one() -> None:
    earlier, later = (KEYS.acknowledge(asked().request, length=40, chunk=32, first=0).stream for _ in range(2))
    with pytest.raises(Tampered):
        _opened(later, _sealed(earlier, bytes(40)))


def test_a_later_part_cannot_be_passed_off_as_the_whole() -> None:
    have = Have.of(32, 1, bytes(32))
    resumed = KEYS.acknowledge(asked(have).request, length=40, chunk=32, first=1).stream
    digest = Digest(bytes(32))
    digest.add(bytes(32))
    with pytest.raises(BrokenOff):
        _opened(replace(resumed, first=0), _sealed(resumed, bytes(8), digest))


def test_a_receipt_is_not_one_for_another_stream_nor_can_the_server_make_one() -> None:
    earlier, later = (KEYS.acknowledge(asked().request, length=40, chunk=32, first=0).stream for _ in range(2))
    for receipt in (earlier.receipt(bytes(32)), bytes(32), b"", later.receipt(b"x" * 32)):
        with pytest.raises(Tampered):
            later.check_receipt(receipt, bytes(32))


def test_a_server_that_answers_a_guest_itself_has_one_guess_and_learns_nothing_of_a_wrong_one() -> None:
    guest = Guest(CODE, NAME, SESSION, KNOCK)
    impostor = Door("000000", NAME, SESSION, KNOCK, SECRET, guest.share)
    with pytest.raises(WrongTag):
        impostor.verdict(guest.tag(impostor.share))


def test_a_server_that_sits_between_the_two_is_noticed_by_both() -> None:
    guest = Guest(CODE, NAME, SESSION, KNOCK)
    towards_door = Guest("000000", NAME, SESSION, KNOCK)
    door = Door(CODE, NAME, SESSION, KNOCK, SECRET, towards_door.share)
    towards_guest = Door("000000", NAME, SESSION, KNOCK, SECRET, guest.share)
    tag = guest.tag(towards_guest.share)
    for shown in (tag, towards_door.tag(door.share)):
        with pytest.raises(WrongTag):
            door.verdict(shown)
    tag_back = confirmation(towards_guest.sid, towards_guest.isk, towards_guest.share, b"door")
    with pytest.raises(WrongDoor):
        guest.open(tag_back, bytes(45))


def test_shares_and_tags_of_an_earlier_knock_are_worth_nothing() -> None:
    guest = Guest(CODE, NAME, SESSION, KNOCK)
    door = Door(CODE, NAME, SESSION, KNOCK, SECRET, guest.share)
    tag = guest.tag(door.share)
    assert guest.open(*door.verdict(tag)) == SECRET
    for knock_id in (KNOCK, OTHER_KNOCK):
        again = Door(CODE, NAME, SESSION, knock_id, SECRET, guest.share)
        with pytest.raises(WrongTag):
            again.verdict(tag)


@pytest.mark.parametrize("point", LOW_ORDER, ids=lambda point: point.hex()[:8])
def test_points_of_low_order_open_no_door(point: bytes) -> None:
    with pytest.raises(BadShare):
        Door(CODE, NAME, SESSION, KNOCK, SECRET, point)
    with pytest.raises(BadShare):
        Guest(CODE, NAME, SESSION, KNOCK).tag(point)


@given(st.data())
def test_a_changed_or_cut_box_is_refused_and_so_is_a_changed_tag(data: st.DataObject) -> None:
    guest = Guest(CODE, NAME, SESSION, KNOCK)
    door = Door(CODE, NAME, SESSION, KNOCK, SECRET, guest.share)
    tag = guest.tag(door.share)
    with pytest.raises(WrongTag):
        door.verdict(data.draw(_spoilt(tag)))
    tag_back, box = door.verdict(tag)
    with pytest.raises(WrongDoor):
        guest.open(tag_back, data.draw(_spoilt(box)))
    with pytest.raises(WrongDoor):
        guest.open(data.draw(_spoilt(tag_back)), box)


@pytest.mark.parametrize(
    ("handed_over", "refusal"),
    [
        (bytes([3]) + bytes(16), UnknownSuite),
        (bytes([3]), UnknownSuite),
        (b"", CommandFailed),
        (b"\x01", CommandFailed),
    ],
)
def test_a_box_of_an_unknown_suite_asks_to_update(handed_over: bytes, refusal: type[CommandFailed]) -> None:
    guest = Guest(CODE, NAME, SESSION, KNOCK)
    door = Door(CODE, NAME, SESSION, KNOCK, SECRET, guest.share)
    tag_back, _ = door.verdict(guest.tag(door.share))
    box = bytes(12) + AESGCM(door.box_key(door.isk)).encrypt(bytes(12), handed_over, b"drop/1 box")
    with pytest.raises(refusal):
        guest.open(tag_back, box)


def _public_key() -> bytes:
    return X25519PrivateKey.generate().public_key().public_bytes_raw()


def _answer_with(request: Asked, owner_key: bytes, commit: str) -> bytes:
    """As only another member could make it."""
    about = b"drop/1 acknowledge" + bytes.fromhex(SESSION) + request.request.named() + owner_key
    return seal(KEYS.auth, about, {"length": 40, "chunk": 32, "first": 0, "commit": commit})


def _spoilt(sealed: bytes) -> st.SearchStrategy[bytes]:
    places = st.integers(0, len(sealed) - 1)

    def flipped(at: int, bit: int) -> bytes:
        return sealed[:at] + bytes([sealed[at] ^ 1 << bit]) + sealed[at + 1 :]

    return st.one_of(
        st.builds(flipped, places, st.integers(0, 7)),
        places.map(lambda end: sealed[:end]),
        st.binary(min_size=1, max_size=40).map(lambda more: sealed + more),
    )


def _sealed(stream: Stream, content: bytes, before: Digest | None = None) -> bytes:
    sealer, data = Sealer(stream, before or Digest(bytes(32))), bytearray()
    for start in range(0, len(content), stream.chunk):
        out = bytearray(stream.chunk + 16)
        data += out[: sealer.seal_into(memoryview(content)[start : start + stream.chunk], out)]
    return bytes(data + sealer.final(stream.first * stream.chunk + len(content)))


def _opened(stream: Stream, data: bytes) -> bytes:
    left = memoryview(data)

    def read_into(room: memoryview) -> int:
        nonlocal left
        size = min(len(room), len(left))
        room[:size] = left[:size]
        left = left[size:]
        return size

    return b"".join(bytes(chunk) for chunk in Opener(stream, Digest(bytes(32))).records(read_into))
