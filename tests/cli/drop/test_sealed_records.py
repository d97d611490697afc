"""Whatever is done to a stream on its way, the receiver notices; however it is read, the content is the same."""

import hashlib
import random
from collections.abc import Sequence

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from hypothesis import given
from hypothesis import strategies as st

from satchel.cli.drop.crypto.sealed_records import FINAL, TAG, BrokenOff, Digest, Opener, ReadInto, Sealer, sealed_bytes
from satchel.cli.drop.crypto.session_keys import Stream, Tampered

KEY = bytes(range(32))

contents = st.binary(max_size=400)
chunk_sizes = st.integers(1, 150)


def stream(content: bytes, chunk: int, first: int = 0, *, is_known: bool = True) -> Stream:
    return Stream(KEY, KEY, chunk, first, len(content) if is_known else None)


def cut(content: bytes, chunk: int) -> list[bytes]:
    return [content[start : start + chunk] for start in range(0, len(content), chunk)]


def digest_of(chunks: Sequence[bytes]) -> Digest:
    digest = Digest(KEY)
    for chunk in chunks:
        digest.add(chunk)
    return digest


def sealed(content: bytes, chunk: int, first: int = 0) -> list[bytes]:
    """The records of a stream, the last one included."""
    chunks = cut(content, chunk)
    sealer = Sealer(stream(content, chunk, first), digest_of(chunks[:first]))
    records: list[bytes] = []
    out = bytearray(chunk + TAG + 1)
    for each in chunks[first:]:
        records.append(bytes(out[: sealer.seal_into(memoryview(each), out)]))
    return [*records, sealer.final(len(content))]


def reader(data: bytes, sizes: Sequence[int] = ()) -> ReadInto:
    """Reads so many bytes at a time, over and over."""
    at = turn = 0

    def read_into(room: memoryview) -> int:
        nonlocal at, turn
        size = min(len(room), len(data) - at, sizes[turn % len(sizes)] if sizes else len(room))
        room[:size] = data[at : at + size]
        at, turn = at + size, turn + 1
        return size

    return read_into


def opened(agreed: Stream, data: bytes, sizes: Sequence[int] = (), before: Digest | None = None) -> bytes:
    return b"".join(bytes(chunk) for chunk in Opener(agreed, before or Digest(KEY)).records(reader(data, sizes)))


@given(contents, chunk_sizes, st.lists(st.integers(1, 300), min_size=1), st.booleans())
def test_what_was_sealed_arrives_however_it_is_read(
    content: bytes, chunk: int, sizes: list[int], is_known: bool
) -> None:
    data = b"".join(sealed(content, chunk))
    assert opened(stream(content, chunk, is_known=is_known), data, sizes) == content
    assert len(data) == sealed_bytes(len(content), chunk, 0)


@given(contents, chunk_sizes, st.data())
def test_a_stream_goes_on_from_any_whole_chunk(content: bytes, chunk: int, data: st.DataObject) -> None:
    first = data.draw(st.integers(0, len(content) // chunk))
    before = digest_of(cut(content, chunk)[:first])
    records = b"".join(sealed(content, chunk, first))
    assert opened(stream(content, chunk, first), records, before=before) == content[first * chunk :]
    assert before.value == digest_of(cut(content, chunk)).value
    assert len(records) == sealed_bytes(len(content), chunk, first)


@given(contents.filter(bool), chunk_sizes, st.booleans(), st.data())
def test_whatever_is_done_to_records_is_noticed(
    content: bytes, chunk: int, is_known: bool, data: st.DataObject
) -> None:
    records = sealed(content, chunk)
    at, other = (data.draw(st.integers(0, len(records) - 1)) for _ in range(2))
    changed = records.copy()
    match data.draw(st.sampled_from(["change", "swap", "drop", "repeat", "insert", "flip the end"])):
        case "change":
            record = bytearray(records[at])
            record[data.draw(st.integers(0, len(record) - 1))] ^= 1 << data.draw(st.integers(0, 7))
            changed[at] = bytes(record)
        case "swap":
            changed[at], changed[other] = changed[other], changed[at]
        case "drop":
            del changed[at]
        case "repeat":
            changed.insert(other, records[at])
        case "insert":
            changed.insert(at, data.draw(st.binary(min_size=1, max_size=2 * chunk)))
        case _:
            changed.append(records[-1])
    if changed != records:
        with pytest.raises((Tampered, BrokenOff)):
            opened(stream(content, chunk, is_known=is_known), b"".join(changed))


@given(contents, chunk_sizes, st.data())
def test_a_stream_that_ends_early_is_broken_off_and_what_came_is_right(
    content: bytes, chunk: int, data: st.DataObject
) -> None:
    whole = b"".join(sealed(content, chunk))
    came = whole[: data.draw(st.integers(0, len(whole) - 1))]
    digest, arrived = Digest(KEY), bytearray()
    with pytest.raises(BrokenOff):
        for each in Opener(stream(content, chunk, is_known=False), digest).records(reader(came)):
            arrived += each
    assert content.startswith(bytes(arrived))
    assert digest.chunks * chunk == len(arrived)
    assert digest.value == digest_of(cut(bytes(arrived), chunk)).value


@given(contents, chunk_sizes)
def test_a_stream_of_another_key_does_not_open(content: bytes, chunk: int) -> None:
    agreed = Stream(bytes(32), KEY, chunk, 0, len(content))
    with pytest.raises((Tampered, BrokenOff)):
        opened(agreed, b"".join(sealed(content, chunk)))


def test_a_stream_of_another_length_than_was_agreed_is_not_finished() -> None:
    with pytest.raises(Tampered):
        opened(Stream(KEY, KEY, 32, 0, 99), b"".join(sealed(bytes(100), 32)))


@pytest.mark.parametrize("lie", [(41, 2, True), (40, 3, True), (40, 2, False)], ids=["length", "chunks", "digest"])
def test_a_last_record_that_tells_of_another_content_ends_nothing(lie: tuple[int, int, bool]) -> None:
    length, chunks, is_digest_right = lie
    content = bytes(40)
    digest = digest_of(cut(content, 32)).value if is_digest_right else bytes(32)
    summary = length.to_bytes(8, "big") + chunks.to_bytes(8, "big") + digest
    last = AESGCM(KEY).encrypt((2).to_bytes(11, "big") + b"\x01", summary, None)
    records = sealed(content, 32)[:-1]
    with pytest.raises(Tampered):
        opened(stream(content, 32, is_known=False), b"".join([*records, last]))


def test_the_last_chunk_is_not_handed_out_before_the_end_is_right() -> None:
    records = sealed(bytes(40), 32)
    chunks = Opener(stream(bytes(40), 32), Digest(KEY)).records(reader(b"".join([*records[:-1], bytes(FINAL)])))
    assert len(next(chunks)) == 32
    with pytest.raises(Tampered):
        next(chunks)


@given(contents, chunk_sizes, st.data())
def test_of_a_known_length_a_changed_end_is_not_taken_for_a_broken_line(
    content: bytes, chunk: int, data: st.DataObject
) -> None:
    whole = bytearray(b"".join(sealed(content, chunk)))
    whole[data.draw(st.integers(0, len(whole) - 1))] ^= 1
    with pytest.raises(Tampered):
        opened(stream(content, chunk), bytes(whole))
    with pytest.raises(BrokenOff):
        opened(stream(content, chunk), b"".join(sealed(content, chunk))[:-1])


def test_large_records_pass_through_a_room_that_is_used_again_and_again() -> None:
    content = random.Random(5).randbytes(5 * 1024 * 1024 + 77)
    data = b"".join(sealed(content, 256 * 1024))
    for sizes in ([], [1024 * 1024], [100_000, 7, 300_000]):
        assert opened(stream(content, 256 * 1024), data, sizes) == content


def test_the_digest_is_a_chain_over_the_chunks() -> None:
    digest = Digest(KEY)
    assert (digest.value, digest.chunks) == (bytes(32), 0)
    digest.add(b"one")
    one = hashlib.sha256(bytes(32) + AESGCM(KEY).encrypt(bytes(12), b"", b"one")).digest()
    assert (digest.value, digest.chunks) == (one, 1)
    resumed, moved = digest.at(digest.value, digest.chunks), digest.at(digest.value, 2)
    for each in (digest, resumed, moved):
        each.add(b"two")
    assert digest.value == resumed.value
    assert digest.value != moved.value


def test_without_its_key_nobody_knows_the_digest_of_a_content() -> None:
    values = set[bytes]()
    for key in (KEY, bytes(32)):
        digest = Digest(key)
        digest.add(b"one")
        values.add(digest.value)
    assert len(values) == 2


def test_no_record_is_sealed_where_a_receiver_would_not_expect_it() -> None:
    out = bytearray(100)
    sealer = Sealer(stream(bytes(40), 32), Digest(KEY))
    for chunk in (b"", bytes(33)):
        with pytest.raises(ValueError, match="may be short"):
            sealer.seal_into(memoryview(chunk), out)
    sealer.seal_into(memoryview(bytes(8)), out)
    with pytest.raises(ValueError, match="may be short"):
        sealer.seal_into(memoryview(bytes(32)), out)
    with pytest.raises(ValueError, match="8 bytes were sealed"):
        sealer.final(40)


def test_an_end_begins_where_its_digest_does() -> None:
    with pytest.raises(ValueError, match="begins at chunk 2"):
        Sealer(stream(bytes(100), 32, 2), Digest(KEY))
