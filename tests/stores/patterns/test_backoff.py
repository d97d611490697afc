"""Pauses between retries: they double, differ, and end."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from satchel.stores.patterns.backoff import Backoff, Retries
from tests.stores.patterns.given import Nap

RULE = Backoff(attempts=6, immediate=1, first_seconds=1.0, longest_seconds=3.0)


async def test_the_first_retries_come_at_once_and_then_pauses_double_up_to_the_longest() -> None:
    nap = Nap()
    retries = Retries(RULE, sleep=nap, draw=lambda: 0.0)
    assert [await retries.pause() for _ in range(5)] == [True] * 5
    assert nap.pauses == [1.0, 2.0, 3.0, 3.0]


async def test_after_the_last_attempt_there_is_neither_a_retry_nor_a_pause() -> None:
    nap = Nap()
    retries = Retries(replace(RULE, attempts=2), sleep=nap)
    assert await retries.pause()
    assert not await retries.pause()
    assert nap.pauses == []
    with pytest.raises(LookupError):
        await retries.pause_or_raise(LookupError())


async def test_no_retry_begins_once_the_time_is_up() -> None:
    assert not await Retries(replace(RULE, within_seconds=0)).pause()


@given(st.integers(1, 200), st.floats(0, 1, exclude_max=True), st.sampled_from([0.0, 0.5, 1.0]))
def test_jitter_takes_off_a_random_part_and_never_more_than_it_may(retry: int, drawn: float, jitter: float) -> None:
    rule = replace(RULE, jitter=jitter)
    longest = rule.pause_seconds(retry, 0.0)
    assert longest * (1 - jitter) <= rule.pause_seconds(retry, drawn) <= longest <= rule.longest_seconds


def test_two_who_draw_differently_wait_differently() -> None:
    assert [RULE.pause_seconds(3, drawn) for drawn in (0.0, 0.25, 0.75)] == [2.0, 1.5, 0.5]
    assert replace(RULE, jitter=0.5).pause_seconds(3, 0.5) == 1.5
