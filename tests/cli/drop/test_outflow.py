"""How much a sender puts into one request: as much as passes, and no more than a receiver can wait for."""

from satchel.cli.drop.sender.outflow import SegmentSize

MEGABYTE = 1024**2
QUICK, MIDDLING, SLOW = 0.5, 6.0, 20.0


def grown(to_bytes: int) -> SegmentSize:
    size = SegmentSize()
    while size.bytes < to_bytes:
        size.passed(size.bytes, QUICK)
    return size


def test_what_passes_quickly_grows_up_to_a_bound() -> None:
    size = SegmentSize()
    assert size.bytes < MEGABYTE
    for _ in range(9):
        size.passed(size.bytes, QUICK)
    assert size.bytes == 64 * MEGABYTE


def test_a_short_last_one_says_nothing_about_larger_ones() -> None:
    size = SegmentSize()
    first = size.bytes
    size.passed(5, QUICK)
    assert size.bytes == first


def test_what_is_slow_shrinks_and_what_is_neither_stays() -> None:
    size = grown(4 * MEGABYTE - 4096)
    before = size.bytes
    size.passed(before, MIDDLING)
    assert size.bytes == before
    size.passed(before, SLOW)
    assert size.bytes < before
    size.passed(size.bytes, SLOW)
    assert size.bytes == SegmentSize().bytes


def test_what_was_refused_is_not_tried_again() -> None:
    size = grown(10 * MEGABYTE)
    size.refused()
    assert size.bytes == size.proven_bytes < 5 * MEGABYTE
    size.passed(size.bytes, QUICK)
    assert size.bytes == size.proven_bytes


def test_what_never_passed_and_was_cut_off_counts_as_refused() -> None:
    size = grown(10 * MEGABYTE)
    size.cut_off(size.bytes)
    size.passed(size.bytes, QUICK)
    assert size.bytes == size.proven_bytes


def test_what_has_passed_before_and_was_cut_off_grows_again() -> None:
    size = grown(10 * MEGABYTE)
    large = size.bytes
    size.passed(large, MIDDLING)
    size.cut_off(large)
    assert size.bytes < large
    size.passed(size.bytes, QUICK)
    assert size.bytes == large
