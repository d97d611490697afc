"""The speed that is told is that of what was moved now, not of what was there before a break."""

import time

from satchel.cli.drop.stream_pace import Pace


def test_what_was_there_before_a_break_does_not_count() -> None:
    ten_seconds_ago = time.monotonic() - 10
    assert Pace(0, ten_seconds_ago).speed(1_000_000) > 0
    assert Pace(1_000_000, ten_seconds_ago).speed(1_000_000) == 0


def test_what_took_a_moment_or_has_nothing_in_it_needs_no_speed() -> None:
    assert Pace().summed_up(1_000) == ""
    assert Pace(0, time.monotonic() - 10).summed_up(0) == ""
    assert "/s" in Pace(0, time.monotonic() - 10).summed_up(1_000_000)
