"""Which album leads at which time: the sweep agrees with brute force, and the order is the stated one."""

from datetime import datetime, timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from satchel.features.albums.album_timeline import Timeline, ranked, shifts
from satchel.features.albums.model import Album, AlbumId, LocalTime

_EPOCH = datetime(2025, 1, 1)  # noqa: DTZ001 -- wall times have no zone
_HOURS = 40


def _at(hour: int) -> LocalTime:
    return LocalTime((_EPOCH + timedelta(hours=hour)).isoformat())


@st.composite
def _albums(draw: st.DrawFn) -> list[Album]:
    """Few dates and few names, so that many albums overlap, touch and tie."""
    spans = draw(
        st.lists(
            st.tuples(st.integers(0, _HOURS - 1), st.integers(1, 12), st.sampled_from(["a", "b", "é"])), max_size=14
        )
    )
    return [
        Album(album_id=AlbumId(f"{number:02}"), name=name, start=_at(start), end=_at(start + length))
        for number, (start, length, name) in enumerate(spans)
    ]


def _brute(albums: list[Album], moment: LocalTime) -> AlbumId | None:
    """The rule as it is told, one criterion after another."""
    left = [album for album in albums if album.start <= moment < album.end]
    if not left:
        return None
    shortest = min(album.duration for album in left)
    left = [album for album in left if album.duration == shortest]
    left = [album for album in left if album.start == min(each.start for each in left)]
    left = [album for album in left if album.end == min(each.end for each in left)]
    left = [album for album in left if album.name == max(each.name for each in left)]
    return min(album.album_id for album in left)


def _moments() -> list[LocalTime]:
    hours = [_at(hour) for hour in range(-1, _HOURS + 14)]
    return [*hours, *(LocalTime(f"{hour}.500") for hour in hours)]


@given(_albums())
def test_the_sweep_equals_brute_force(albums: list[Album]) -> None:
    timeline = Timeline(albums)
    for moment in _moments():
        assert timeline.home(moment) == _brute(albums, moment)


@given(_albums())
def test_segments_are_in_order_and_as_long_as_they_can_be(albums: list[Album]) -> None:
    segments = Timeline(albums).segments
    for one, other in pairwise(segments):
        assert one.start < one.end <= other.start
        assert one.end < other.start or one.album_id != other.album_id


@given(_albums(), _albums())
def test_shifts_are_exactly_what_changes(before: list[Album], after: list[Album]) -> None:
    old, new = Timeline(before), Timeline(after)
    found = shifts(old, new)
    for moment in _moments():
        covering = [shift for shift in found if shift.start <= moment < shift.end]
        source, target = old.home(moment), new.home(moment)
        if source == target:
            assert covering == []
        else:
            assert [(shift.source, shift.target) for shift in covering] == [(source, target)]


@given(_albums(), st.randoms())
def test_the_order_is_total(albums: list[Album], random: object) -> None:
    shuffled = [*albums]
    random.shuffle(shuffled)  # type: ignore[attr-defined]  # Hypothesis's generator of random numbers
    assert ranked(shuffled) == ranked(albums)


def test_a_long_album_leads_on_both_sides_of_a_short_one() -> None:
    year = Album(album_id=AlbumId("1"), name="Year", start=_at(0), end=_at(40))
    trip = Album(album_id=AlbumId("2"), name="Trip", start=_at(10), end=_at(20))
    assert [(each.start, each.end, each.album_id) for each in Timeline([year, trip]).segments] == [
        (_at(0), _at(10), "1"),
        (_at(10), _at(20), "2"),
        (_at(20), _at(40), "1"),
    ]
