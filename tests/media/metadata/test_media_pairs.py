from datetime import UTC, datetime

from satchel.media.metadata.media_facts import MediaFacts
from satchel.media.metadata.media_pairs import pair_key, pairs
from satchel.media.metadata.media_read import Circumstances, read_media
from tests.media.made_files import jpeg, movie, tiff

NOW = datetime(2026, 11, 17, tzinfo=UTC)
PHOTO = jpeg(tiff({}, {0x9003: "2024:01:31 12:00:00", 0x9011: "+00:00"}))
RAW = tiff({0x010F: "NIKON"}, {0x9003: "2024:01:31 12:00:00", 0x9011: "+00:00"})
CLIP = movie(datetime(2024, 1, 31, 12, 0, 2, tzinfo=UTC))


def read(name: str, data: bytes) -> MediaFacts:
    return read_media(data, Circumstances(name, NOW))


def names(*found: MediaFacts) -> list[list[str]]:
    return [[facts.name for facts in together] for together in pairs(found)]


def test_a_raw_beside_its_jpeg_is_one_photo_that_shows_the_jpeg() -> None:
    assert names(read("DSC_1.NEF", RAW), read("DSC_2.NEF", RAW), read("dsc_1.jpg", PHOTO)) == [
        ["dsc_1.jpg", "DSC_1.NEF"],
        ["DSC_2.NEF"],
    ]


def test_a_short_video_of_the_same_name_and_time_makes_a_photo_live() -> None:
    assert names(read("IMG_1.JPG", PHOTO), read("IMG_1.MOV", CLIP)) == [["IMG_1.JPG", "IMG_1.MOV"]]
    long = movie(datetime(2024, 1, 31, 12, 0, 2, tzinfo=UTC), seconds=60)
    assert names(read("IMG_1.JPG", PHOTO), read("IMG_1.MOV", long)) == [["IMG_1.JPG"], ["IMG_1.MOV"]]
    later = movie(datetime(2024, 2, 1, 12, 0, 2, tzinfo=UTC))
    assert names(read("IMG_1.JPG", PHOTO), read("IMG_1.MOV", later)) == [["IMG_1.JPG"], ["IMG_1.MOV"]]


def test_the_same_name_in_another_folder_is_another_photo() -> None:
    assert len(names(read("a/IMG_1.JPG", PHOTO), read("b/IMG_1.MOV", CLIP))) == 2


def test_apples_id_joins_two_files_of_any_name() -> None:
    keys = {"com.apple.quicktime.content.identifier": "ABC"}
    clip = read("edited.mov", movie(keys=keys, seconds=60))
    still = MediaFacts(name="x.heic", kind="image", format="heic", content_id="ABC", pair_key="content:ABC")
    assert names(clip, still) == [["x.heic", "edited.mov"]]


def test_a_pixels_names_go_on_after_the_moment() -> None:
    assert pair_key("PXL_20240131_120000123.RAW-01.MP.COVER.jpg", None) == pair_key(
        "PXL_20240131_120000123.RAW-02.ORIGINAL.dng", None
    )
    assert pair_key(".jpg", None) == "stem:.jpg"
