import pytest

from satchel.media.metadata.takeout_json import TakeoutNames, read_takeout, shorten_takeout


@pytest.mark.parametrize(
    ("photo", "json"),
    [
        ("IMG_1.jpg", "IMG_1.jpg.json"),
        ("IMG_1.jpg", "IMG_1.jpg.supplemental-metadata.json"),
        ("IMG_20240131_120000123.jpg", "IMG_20240131_120000123.jpg.supplemental-metada.json"),
        ("PXL_20240131_120000123.PORTRAIT.jpg", "PXL_20240131_120000123.PORTRAIT.jpg.supplement.json"),
        ("Screenshot_2024-01-31-12-00-00-123_com.abc.jpg", "Screenshot_2024-01-31-12-00-00-123_com.abc.jpg.json"),
        ("IMG_1(2).jpg", "IMG_1.jpg(2).json"),
        ("IMG_1(2).jpg", "IMG_1.jpg.supplemental-metadata(2).json"),
        ("IMG_1-edited.jpg", "IMG_1.jpg.supplemental-metadata.json"),
        ("IMG_1-bearbeitet(1).jpg", "IMG_1.jpg.supplemental-metadata(1).json"),
        ("IMG_1.MP4", "IMG_1.HEIC.supplemental-metadata.json"),
        ("IMG_1.MOV", "IMG_1.JPG.json"),
        ("original_5c3a9d1e-2222-4444-9999-abcdefabcdef_P.jpg", "original_5c3a9d1e-2222-4444-9999-abcdefabcdef_.json"),
    ],
)
def test_a_photo_finds_its_json_however_its_name_was_cut(photo: str, json: str) -> None:
    others = {"IMG_2.jpg.json", "IMG_11.jpg.supplemental-metadata.json", "metadata.json"}
    assert TakeoutNames(others | {json}).find(photo) == json


@pytest.mark.parametrize(
    ("photo", "json"),
    [
        ("IMG_1.jpg", "IMG_1.jpg(1).json"),
        ("IMG_1(1).jpg", "IMG_1.jpg.json"),
        ("IMG_1.jpg", "IMG_1.jpg.something.json"),
        ("IMG_1.jpg", "IMG_1.jpeg.json"),
        ("IMG_1.jpg", "IMG_1.json"),
    ],
)
def test_another_photos_json_is_not_taken(photo: str, json: str) -> None:
    assert TakeoutNames({json}).find(photo) is None


@pytest.mark.parametrize("data", [b"", b"{}", b"[]", b"null", b"{" * 100_000, b'{"photoTakenTime": 3}', b"\xff\xfe"])
def test_another_json_is_not_takeouts(data: bytes) -> None:
    assert read_takeout(data) is None


@pytest.mark.parametrize("timestamp", ['"x"', '"999999999999999999"', '""', "-99999999999999"])
def test_a_broken_time_is_none(timestamp: str) -> None:
    facts = read_takeout(
        b'{"photoTakenTime":{"timestamp":%s},"geoData":{"latitude":0.0,"longitude":0.0}}' % timestamp.encode()
    )
    assert facts is not None and facts.taken_utc is None and facts.position is None


def test_a_shortened_json_says_the_same() -> None:
    people = ", ".join('{"name": "Somebody"}' for _ in range(1000))
    data = f"""{{"title": "x.jpg", "photoTakenTime": {{"timestamp": "1706702400", "formatted": "…"}}, "favorited": true,
        "people": [{people}], "geoData": {{"latitude": 48.85, "longitude": 2.35}}, "description": "Snow"}}""".encode()
    short = shorten_takeout(data)
    assert short is not None and len(short) < 400
    assert read_takeout(short) == read_takeout(data) is not None
    assert shorten_takeout(b"{}") is None and shorten_takeout(b"x") is None


def test_ten_thousand_photos_in_one_folder_find_theirs() -> None:
    names = [f"IMG_{number:05}.jpg" for number in range(10_000)]
    takeout = TakeoutNames(f"{name}.supplemental-meta.json" for name in names)
    assert all(takeout.find(name) == f"{name}.supplemental-meta.json" for name in names)
