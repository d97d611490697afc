from datetime import UTC, datetime

import pytest

from satchel.media.metadata.name_date import read_name_date

NOON = "2024-01-31T12:00:00"


@pytest.mark.parametrize(
    ("name", "local"),
    [
        ("IMG_20240131_120000.jpg", NOON),
        ("IMG_20240131_120000123.jpg", NOON + ".123000"),
        ("IMG_20240131_120000_123.jpg", NOON + ".123000"),
        ("VID_20240131_120000.mp4", NOON),
        ("MVIMG_20240131_120000.jpg", NOON),
        ("PANO_20240131_120000.vr.jpg", NOON),
        ("20240131_120000.jpg", NOON),
        ("20240131_120000(0).jpg", NOON),
        ("Screenshot_2024-01-31-12-00-00.png", NOON),
        ("Screenshot_2024-01-31-12-00-00-123_com.app.jpg", NOON + ".123000"),
        ("Screenshot_20240131-120000_Maps.png", NOON),
        ("Screenshot 2024-01-31 at 12.00.00.png", NOON),
        ("Screen Shot 2024-01-31 at 12.00.00 PM.png", NOON),
        ("Screenshot 2024-01-31 at 9.05.07\u202fPM.png", "2024-01-31T21:05:07"),
        ("Screenshot 2024-01-31 at 12.00.00 AM.png", "2024-01-31T00:00:00"),
        ("WhatsApp Image 2024-01-31 at 12.00.00.jpeg", NOON),
        ("WhatsApp Image 2024-01-31 at 12.00.00 (1).jpeg", NOON),
        ("signal-2024-01-31-120000.jpg", NOON),
        ("signal-2024-01-31-12-00-00-123.jpg", NOON + ".123000"),
        ("photo_2024-01-31_12-00-00.jpg", NOON),
        ("2024-01-31 12.00.00.jpg", NOON),
        ("2024-01-31 12.00.00-1.jpg", NOON),
        ("00100lrPORTRAIT_00100_BURST20240131120000123_COVER.jpg", NOON + ".123000"),
        ("album/2019/20240131_120000.jpg", NOON),
    ],
)
def test_a_moment_is_found_in_the_name(name: str, local: str) -> None:
    found = read_name_date(name)
    assert found is not None and not found.is_day_only
    assert found.moment.isoformat() == local


@pytest.mark.parametrize(
    ("name", "local"),
    [
        ("IMG-20240131-WA0001.jpg", "2024-01-31T12:00:00.001000"),
        ("VID-20240131-WA0023.mp4", "2024-01-31T12:00:00.023000"),
        ("2024-01-31 Birthday.jpg", NOON),
        ("Birthday 2024_01_31.jpg", NOON),
        ("IMG_20240131.jpg", NOON),
    ],
)
def test_a_day_is_found_in_the_name(name: str, local: str) -> None:
    found = read_name_date(name)
    assert found is not None and found.is_day_only
    assert found.moment.isoformat() == local


@pytest.mark.parametrize("name", ["PXL_20240131_120000123.jpg", "PXL_20240131_120000123.MP.jpg"])
def test_a_pixels_name_is_in_utc(name: str) -> None:
    found = read_name_date(name)
    assert found is not None and found.moment == datetime(2024, 1, 31, 12, 0, 0, 123000, tzinfo=UTC)


@pytest.mark.parametrize("name", ["FB_IMG_1706702400000.jpg", "mmexport1706702400000.jpg", "1706702400000.jpg"])
def test_milliseconds_since_1970_are_found_in_the_name(name: str) -> None:
    found = read_name_date(name)
    assert found is not None and found.moment == datetime(2024, 1, 31, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    "name",
    [
        "IMG_1234.JPG",
        "DSC_0001.NEF",
        "20249931_120000.jpg",
        "12345678901234567890.jpg",
        "photo.jpg",
        "",
        ".jpg",
        "2024-02-30.jpg",
    ],
)
def test_a_number_is_not_a_date(name: str) -> None:
    assert read_name_date(name) is None
