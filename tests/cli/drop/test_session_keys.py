"""What members seal, members open, and nobody else; both ends of a stream come to the same keys."""

import hashlib
import hmac

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from hypothesis import given
from hypothesis import strategies as st

from satchel.cli.drop.crypto.session_keys import (
    CHUNK,
    MAX_CHUNK,
    Asked,
    Description,
    Have,
    Introduction,
    Keys,
    Secret,
    Tampered,
    UnknownSuite,
    b64,
    from_b64,
    seal,
    unseal,
)
from satchel.cli.engine.terminal.output import Misused

SECRET = Secret(bytes(range(16)))
SESSION, OWNER, RECEIVER, FILE = "5e" * 16, "0a" * 16, "7e" * 16, "f1" * 16
PHOTO = Description(kind="file", name="a.jpg", size=5, files=1, modified="2026-01-02T03:04:05Z", type="image/jpeg")
KEYS = Keys(SECRET, SESSION)


def asked(have: Have | None = None) -> Asked:
    return KEYS.ask(FILE, RECEIVER, OWNER, have)


def test_keys_follow_from_the_secret_as_rfc_5869_has_it() -> None:
    extracted = hmac.digest(bytes.fromhex(SESSION), SECRET.value, "sha256")
    for key, label in ((KEYS.admission, "admission"), (KEYS.meta, "meta"), (KEYS.auth, "auth"), (KEYS.psk, "psk")):
        assert key == hmac.digest(extracted, f"drop/1 {label}".encode() + b"\x01", "sha256")
    assert KEYS.admission_digest == hashlib.sha256(KEYS.admission).digest()


def test_a_secret_goes_through_a_link_and_stays_out_of_logs() -> None:
    secret = Secret.new()
    assert Secret.of_fragment(secret.fragment) == secret
    assert secret.value.hex() not in repr(secret)
    assert str(secret.value) not in repr(secret)
    assert Secret.new() != secret


@pytest.mark.parametrize("fragment", ["", "A", "Ag", SECRET.fragment[:-1], SECRET.fragment + "AA", "AQ==", "AQ é"])
def test_a_link_that_is_not_whole_is_refused(fragment: str) -> None:
    with pytest.raises(Misused):
        Secret.of_fragment(fragment)


def test_each_file_of_each_session_has_a_digest_of_its_own() -> None:
    sessions = (KEYS, Keys(SECRET, "0" * 32), Keys(Secret.new(), SESSION))
    keys = [each.digest_key(file_id) for each in sessions for file_id in ("1" * 32, "2" * 32)]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("suite", [0, 1, 3, 255])
def test_a_secret_of_an_unknown_suite_is_refused_whatever_its_length(suite: int) -> None:
    for length in (0, 16, 32):
        with pytest.raises(UnknownSuite):
            Secret.of_fragment(b64(bytes([suite]) + bytes(length)))


@given(st.binary())
def test_base64_has_one_spelling(data: bytes) -> None:
    text = b64(data)
    assert from_b64(text) == data
    assert from_b64(text + "=") is None
    assert from_b64(text + "\n") is None


@given(st.text())
def test_what_is_sealed_opens_and_tells_its_length_only_roughly(text: str) -> None:
    key = bytes(32)
    sealed = seal(key, b"about", {"text": text})
    assert unseal(key, b"about", sealed, dict[str, str]) == {"text": text}
    assert (len(sealed) - 12 - 16) % 256 == 0
    assert seal(key, b"about", {"text": text}) != sealed


@given(st.data())
def test_a_sealed_text_in_which_anything_was_changed_or_cut_does_not_open(data: st.DataObject) -> None:
    sealed = bytearray(seal(bytes(32), b"about", {"text": "Ann"}))
    at = data.draw(st.integers(0, len(sealed) - 1))
    cut = bytes(sealed[:at])
    sealed[at] ^= 1 << data.draw(st.integers(0, 7))
    for changed in (bytes(sealed), cut):
        with pytest.raises(Tampered):
            unseal(bytes(32), b"about", changed, dict[str, str])


@pytest.mark.parametrize("text", [b"", b"[]", b'{"kind": "pipe"}', b'{"kind":"file","name":"a","size":-1,"files":1}'])
def test_a_member_who_seals_nonsense_is_refused(text: bytes) -> None:
    sealed = bytes(12) + AESGCM(KEYS.meta).encrypt(bytes(12), text, b"about")
    with pytest.raises(Tampered):
        unseal(KEYS.meta, b"about", sealed, Description)


def test_a_field_that_a_newer_program_adds_is_passed_over() -> None:
    sealed = seal(KEYS.meta, b"about", {"name": "Ann", "device": "phone", "colour": "green"})
    assert unseal(KEYS.meta, b"about", sealed, Introduction)["name"] == "Ann"


def test_members_read_each_others_introductions_and_announcements() -> None:
    other = Keys(SECRET, SESSION)
    said: Introduction = {"name": "Ann", "device": "laptop"}
    assert other.open_introduction(OWNER, KEYS.introduce(OWNER, said)) == said
    assert other.open_announcement(FILE, OWNER, KEYS.announce(FILE, OWNER, PHOTO)) == PHOTO


def test_both_ends_agree_on_a_stream() -> None:
    request = asked()
    assert KEYS.open_request(request.request) is None
    answer = KEYS.acknowledge(request.request, length=5, chunk=CHUNK, first=0)
    stream = request.accept(answer.public_key, answer.sealed)
    assert stream == answer.stream
    assert (stream.length, stream.chunk, stream.first) == (5, CHUNK, 0)
    assert len({stream.key, stream.receipt_key}) == 2


def test_every_request_and_every_answer_has_keys_of_its_own() -> None:
    request = asked()
    answers = [KEYS.acknowledge(request.request, length=5, chunk=CHUNK, first=0) for _ in range(2)]
    answers.append(KEYS.acknowledge(asked().request, length=5, chunk=CHUNK, first=0))
    assert len({answer.stream.key for answer in answers}) == 3


def test_the_owner_learns_what_the_receiver_has() -> None:
    have = Have.of(64, 3, hashlib.sha256(b"three").digest())
    request = asked(have)
    assert KEYS.open_request(request.request) == have
    answer = KEYS.acknowledge(request.request, length=None, chunk=64, first=3)
    assert request.accept(answer.public_key, answer.sealed).first == 3


@pytest.mark.parametrize(
    ("have", "length", "chunk", "first"),
    [
        (None, 1000, 64, 3),
        (Have.of(64, 3, bytes(32)), 1000, 64, 2),
        (Have.of(64, 3, bytes(32)), 1000, 64, 4),
        (Have.of(64, 3, bytes(32)), 1000, 32, 3),
        (Have.of(64, 3, bytes(32)), 191, 64, 3),
        (None, 5, MAX_CHUNK + 1, 0),
        (None, 5, 0, 0),
        (None, -1, 64, 0),
    ],
    ids=["has nothing", "before", "behind", "other chunks", "shorter than had", "too large", "no chunk", "negative"],
)
def test_an_answer_that_no_honest_owner_gives_is_refused(
    have: Have | None, length: int | None, chunk: int, first: int
) -> None:
    request = asked(have)
    answer = KEYS.acknowledge(request.request, length=length, chunk=chunk, first=first)
    with pytest.raises(Tampered):
        request.accept(answer.public_key, answer.sealed)


def test_a_receipt_holds_for_one_content_and_one_stream() -> None:
    one, other = (KEYS.acknowledge(asked().request, length=5, chunk=CHUNK, first=0).stream for _ in range(2))
    receipt = one.receipt(bytes(32))
    one.check_receipt(receipt, bytes(32))
    for stream, digest, shown in ((other, bytes(32), receipt), (one, b"x" * 32, receipt), (one, bytes(32), b"")):
        with pytest.raises(Tampered):
            stream.check_receipt(shown, digest)


def test_keys_are_not_shown_where_a_stream_is() -> None:
    stream = KEYS.acknowledge(asked().request, length=5, chunk=CHUNK, first=0).stream
    assert repr(stream) == f"Stream(chunk={CHUNK}, first=0, length=5, sum=None)"
