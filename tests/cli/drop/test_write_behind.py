"""Writing behind: in order, all of it, and nothing goes wrong unnoticed."""

import threading

import pytest

from satchel.cli.drop.crypto.sealed_records import Digest
from satchel.cli.drop.receiver.write_behind import HELD_CHUNKS, WriteBehind
from satchel.cli.drop.stream_wait import Wait
from satchel.cli.engine.terminal.output import CommandFailed


class Slow:
    """Writes only when let; fails at the chunk that it is told to."""

    def __init__(self, fails_at: int | None = None) -> None:
        self.digest = Digest(bytes(32))
        self.written: list[bytes] = []
        self.reached: list[int] = []
        self.may_write = threading.Event()
        self._fails_at = fails_at

    def write(self, chunk: memoryview) -> None:
        assert self.may_write.wait(20)
        if len(self.written) == self._fails_at:
            raise CommandFailed("The disk is full.")
        self.written.append(bytes(chunk))
        self.reached.append(self.digest.chunks)


def put_all(target: Slow, chunks: list[bytes]) -> None:
    digest = Digest(bytes(32))
    with WriteBehind(target, Wait()) as behind:
        for chunk in chunks:
            digest.add(chunk)
            behind.put(memoryview(chunk), digest.copy())
            if digest.chunks == HELD_CHUNKS:
                assert not target.written
                target.may_write.set()


def test_everything_is_written_in_order_with_the_digest_it_has_reached() -> None:
    target, chunks = Slow(), [bytes([number]) * 3 for number in range(50)]
    put_all(target, chunks)
    assert target.written == chunks
    assert target.reached == [*range(1, 51)]
    whole = Digest(bytes(32))
    for chunk in chunks:
        whole.add(chunk)
    assert (target.digest.value, target.digest.chunks) == (whole.value, 50)


@pytest.mark.parametrize("chunks", [HELD_CHUNKS, 50], ids=["at the end", "on the way"])
def test_what_cannot_be_written_is_raised_and_nothing_after_it_is_written(chunks: int) -> None:
    target = Slow(fails_at=2)
    with pytest.raises(CommandFailed, match="disk is full"):
        put_all(target, [bytes(3)] * chunks)
    assert len(target.written) == 2


def test_whoever_is_cut_off_finds_written_what_was_put() -> None:
    target, digest = Slow(), Digest(bytes(32))
    target.may_write.set()
    with pytest.raises(ConnectionError), WriteBehind(target, Wait()) as behind:
        digest.add(b"one")
        behind.put(memoryview(b"one"), digest.copy())
        raise ConnectionError
    assert target.written == [b"one"]


def test_ctrl_c_does_not_wait_for_what_cannot_be_written() -> None:
    target, digest = Slow(), Digest(bytes(32))
    with pytest.raises(KeyboardInterrupt), WriteBehind(target, Wait()) as behind:
        digest.add(b"one")
        behind.put(memoryview(b"one"), digest.copy())
        raise KeyboardInterrupt
    assert target.written == []
    target.may_write.set()
