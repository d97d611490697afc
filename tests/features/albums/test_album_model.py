"""Ids of medias, folders made of names, quarters, and what dates may be."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from satchel.features.albums.model import (
    Folder,
    LocalTime,
    check_folder,
    check_time,
    folder_for,
    is_media_id,
    media_id_of,
    quarter_of,
    signature_of,
)
from satchel.features.albums.records import camera_name
from satchel.kernel.errors import Invalid


@given(st.binary(min_size=32, max_size=32), st.integers(0, 2**62))
def test_the_id_of_a_media_tells_its_hash_and_size(sha256: bytes, size: int) -> None:
    media_id = media_id_of(sha256.hex(), size)
    assert is_media_id(media_id)
    assert signature_of(media_id) == (sha256.hex(), size)


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("Summer at the sea", "/2025-07_Summer_at_the_sea"),
        ("  Été / à la mer!", "/2025-07_t_la_mer"),
        ("夏休み", "/2025-07"),
        ("a__b", "/2025-07_a_b"),
    ],
)
def test_a_folder_is_made_of_the_month_and_the_name(name: str, folder: str) -> None:
    assert folder_for(name, LocalTime("2025-07-14T00:00:00")) == folder


def test_a_chosen_folder_has_only_letters_digits_and_hyphens() -> None:
    assert check_folder("../trip 2025/☀") == "/trip_2025"
    assert check_folder("/") is None
    assert check_folder("") is None


def test_a_quarter_ends_where_the_next_begins() -> None:
    quarter = quarter_of(LocalTime("2025-12-31T23:59:59.999"))
    assert (quarter.name, quarter.folder) == ("Q4 2025", Folder("/2025-Q4"))
    assert (quarter.start, quarter.end) == ("2025-10-01T00:00:00", "2026-01-01T00:00:00")
    assert quarter_of(LocalTime("2026-01-01T00:00:00.000")).start == quarter.end


def test_a_date_is_local_and_whole_seconds() -> None:
    assert check_time("2025-07-14", "start") == "2025-07-14T00:00:00"
    assert check_time("2025-07-14T18:30:00.9", "start") == "2025-07-14T18:30:00"
    for wrong in ("2025-07-14T18:30:00Z", "2025-07-14T18:30:00+02:00", "14.7.2025", ""):
        with pytest.raises(Invalid):
            check_time(wrong, "start")


@pytest.mark.parametrize(
    ("make", "model", "name"),
    [
        ("Canon", "Canon EOS R5", "Canon EOS R5"),
        ("NIKON CORPORATION", "NIKON Z 6", "NIKON Z 6"),
        ("SONY", "ILCE-7M3", "SONY ILCE-7M3"),
        ("Apple", "", "Apple"),
        ("", "R5", "R5"),
        ("", "", ""),
    ],
)
def test_a_camera_is_called_by_its_brand_and_its_model(make: str, model: str, name: str) -> None:
    assert camera_name(make, model) == name
