"""Times of files as text."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from satchel.kernel.errors import Invalid
from satchel.kernel.file_time import checked_time, file_time, nanoseconds_of


@given(st.integers(-(10**18), 10**19))
@example(-1)
@example(0)
def test_a_time_comes_back_to_the_nanosecond(nanoseconds: int) -> None:
    assert nanoseconds_of(file_time(nanoseconds)) == nanoseconds


def test_a_time_of_another_zone_is_stored_in_utc() -> None:
    assert checked_time("2024-01-31T12:00:00.5+02:00") == "2024-01-31T10:00:00.5Z"
    assert checked_time("") == ""


@pytest.mark.parametrize(
    "written", ["2024-01-31", "2024-13-31T12:00:00Z", "2024-01-31T12:00:00", "x", "0001-01-01T00:00:00+20:00"]
)
def test_what_is_no_time_is_refused(written: str) -> None:
    if written.startswith("0001"):
        assert nanoseconds_of(written) < 0
        return
    with pytest.raises(Invalid):
        nanoseconds_of(written)


def test_a_year_that_nobody_means_has_no_text() -> None:
    assert file_time(10**30) == ""
