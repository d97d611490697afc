from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest

from satchel.media.metadata.media_facts import Exposure, MediaFacts, Position
from satchel.media.metadata.media_read import Circumstances, Sidecar, read_media
from tests.media.made_files import avchd, box, full_box, heic, jpeg, movie, png, segment, tiff, webp

NOW = datetime(2026, 11, 17, tzinfo=UTC)
ORIGINAL, DIGITIZED, CHANGED = 0x9003, 0x9004, 0x0132
OFFSET, OFFSET_ORIGINAL, FRACTION_ORIGINAL = 0x9010, 0x9011, 0x9291
PARIS = {1: "N", 2: [(48, 1), (51, 1), (0, 1)], 3: "E", 4: [(2, 1), (21, 1), (0, 1)]}
NOON = "2024:01:31 12:00:00"


def read(
    data: bytes,
    name: str = "IMG_1234.JPG",
    *,
    zone: str | None = None,
    modified: datetime | None = None,
    sidecars: tuple[Sidecar, ...] = (),
    zone_at: str | None = None,
) -> MediaFacts:
    def find(_latitude: float, _longitude: float) -> str | None:
        return zone_at

    return read_media(data, Circumstances(name, NOW, modified, zone, sidecars, find))


def taken(facts: MediaFacts) -> tuple[str, str, int | None, str | None]:
    assert facts.time is not None
    return facts.time.local.isoformat(), facts.time.source, facts.time.offset_minutes, facts.time.offset_source


@pytest.mark.parametrize("order", ["<", ">"])
def test_a_cameras_photo_says_what_it_is_and_how_it_was_taken(order: str) -> None:
    image = {0x010F: "Canon", 0x0110: "EOS R5", 0x0112: (6,)}
    exif = {
        ORIGINAL: NOON,
        FRACTION_ORIGINAL: "37",
        OFFSET_ORIGINAL: "+01:00",
        0x829A: [(1, 250)],
        0x829D: [(28, 10)],
        0x8827: (400,),
        0x920A: [(50, 1)],
        0xA405: (75,),
        0xA434: "RF50mm F1.8",
    }
    facts = read(jpeg(tiff(image, exif, PARIS | {6: [(35, 1)]}, order=order)))
    assert (facts.kind, facts.format, facts.width, facts.height, facts.orientation) == ("image", "jpeg", 4000, 3000, 6)
    assert facts.shown_size == (3000, 4000)
    assert (facts.make, facts.model, facts.lens) == ("Canon", "EOS R5", "RF50mm F1.8")
    assert facts.exposure == Exposure(seconds=0.004, aperture=2.8, iso=400, focal_mm=50, focal_35mm=75)
    assert facts.position == Position(48.85, 2.35, 35) and facts.position_source == "exif"
    assert taken(facts) == ("2024-01-31T12:00:00.370000", "exif-original", 60, "own")
    assert facts.time is not None and facts.time.utc == datetime(2024, 1, 31, 11, 0, 0, 370000, tzinfo=UTC)


def test_the_offset_comes_from_the_date_then_the_place_then_another_date_then_the_owner() -> None:
    without = {ORIGINAL: NOON}
    other = without | {OFFSET: "+05:30"}
    own = other | {OFFSET_ORIGINAL: "-03:00"}
    read_there = partial(read, zone="America/New_York", zone_at="Europe/Paris")
    assert taken(read_there(jpeg(tiff({}, own, PARIS))))[2:] == (-180, "own")
    assert taken(read_there(jpeg(tiff({}, other, PARIS))))[2:] == (60, "gps-zone")
    assert taken(read_there(jpeg(tiff({}, other))))[2:] == (330, "exif-offset")
    assert taken(read_there(jpeg(tiff({}, without))))[2:] == (-300, "owner-zone")
    assert taken(read(jpeg(tiff({}, without))))[2:] == (None, None)


def test_the_satellites_time_tells_the_offset_without_a_map() -> None:
    gps = PARIS | {7: [(10, 1), (59, 1), (40, 1)], 29: "2024:01:31"}
    assert taken(read(jpeg(tiff({}, {ORIGINAL: NOON}, gps)), zone="Asia/Tokyo"))[2:] == (60, "gps-time")
    # Twenty minutes apart, the position was older than the photo.
    gps[7] = [(10, 1), (40, 1), (0, 1)]
    assert taken(read(jpeg(tiff({}, {ORIGINAL: NOON}, gps)), zone="Asia/Tokyo"))[2:] == (540, "owner-zone")


def test_no_zone_is_taken_from_the_open_sea() -> None:
    photo = jpeg(tiff({}, {ORIGINAL: NOON}, PARIS))
    assert taken(read(photo, zone="Europe/Berlin", zone_at="Etc/GMT+3"))[2:] == (60, "owner-zone")


def test_the_capture_counts_before_the_edit() -> None:
    exif = tiff({CHANGED: "2025:05:05 05:05:05"}, {DIGITIZED: "2024:02:02 02:02:02"})
    assert taken(read(jpeg(exif)))[:2] == ("2024-02-02T02:02:02", "exif-digitized")
    edited = read(jpeg(tiff({CHANGED: "2025:05:05 05:05:05"})))
    assert taken(edited)[:2] == ("2025-05-05T05:05:05", "exif-changed")
    assert edited.time is not None and edited.time.guessed


@pytest.mark.parametrize(
    "written",
    [
        "1904:01:01 00:00:00",
        "1904:01:05 10:00:00",
        "1970:01:01 00:00:00",
        "1969:12:31 23:00:00",
        "1980:01:01 00:00:00",
        "0000:00:00 00:00:00",
        "    :  :     :  :  ",
        "2099:01:01 00:00:00",
        "2024:02:30 12:00:00",
        "2024:13:01 12:00:00",
        "-2147483648",
        "",
    ],
)
def test_a_date_at_which_no_photo_was_taken_is_refused(written: str) -> None:
    facts = read(jpeg(tiff({}, {ORIGINAL: written})), "IMG-20230405-WA0007.jpg")
    assert taken(facts)[:2] == ("2023-04-05T12:00:00.007000", "name")


def test_an_old_print_keeps_the_date_that_somebody_gave_it() -> None:
    assert taken(read(jpeg(tiff({}, {ORIGINAL: "1904:07:14 10:00:00"}))))[:2] == (
        "1904-07-14T10:00:00",
        "exif-original",
    )
    assert taken(read(jpeg(tiff({}, {ORIGINAL: "1970:07:14 10:00:00"}))))[:2] == (
        "1970-07-14T10:00:00",
        "exif-original",
    )


@pytest.mark.parametrize(
    ("written", "local"),
    [
        ("2024-01-31 12:00:00", "2024-01-31T12:00:00"),
        ("2024/01/31 12:00", "2024-01-31T12:00:00"),
        ("2024: 1: 5 24:10:05", "2024-01-06T00:10:05"),
        ("2024-01-31T12:00:60.25+02:00", "2024-01-31T12:00:59.250000"),
    ],
)
def test_dates_are_read_as_cameras_write_them(written: str, local: str) -> None:
    assert taken(read(jpeg(tiff({}, {ORIGINAL: written}))))[0] == local


def test_the_hour_that_occurs_twice_is_the_first_unless_satellites_say_otherwise() -> None:
    exif = {ORIGINAL: "2024:10:27 02:30:00"}
    first = read(jpeg(tiff({}, exif)), zone="Europe/Berlin")
    assert first.time is not None and first.time.ambiguous
    assert first.time.utc == datetime(2024, 10, 27, 0, 30, tzinfo=UTC)
    gps = PARIS | {7: [(1, 1), (30, 1), (20, 1)], 29: "2024:10:27"}
    second = read(jpeg(tiff({}, exif, gps)), zone_at="Europe/Paris")
    assert second.time is not None and second.time.utc == datetime(2024, 10, 27, 1, 30, tzinfo=UTC)


def test_in_the_hour_that_does_not_exist_the_camera_shows_the_old_time() -> None:
    facts = read(jpeg(tiff({}, {ORIGINAL: "2024:03:31 02:30:00"})), zone="Europe/Berlin")
    assert facts.time is not None and facts.time.ambiguous
    assert taken(facts)[0] == "2024-03-31T02:30:00"
    assert facts.time.utc == datetime(2024, 3, 31, 1, 30, tzinfo=UTC)


def test_metadata_is_found_after_other_segments_and_fill_bytes() -> None:
    before = segment(0xE0, b"JFIF\0" + bytes(9)) + segment(0xE2, bytes(60_000)) + segment(0xE1, b"other") + b"\xff\xff"
    assert taken(read(jpeg(tiff({}, {ORIGINAL: NOON}), before=before)))[1] == "exif-original"


def test_png_webp_heic_and_avif_are_read_like_a_jpeg() -> None:
    exif = tiff({0x010F: "Maker", 0x0112: (6,)}, {ORIGINAL: NOON})
    for data, format_, size in (
        (png(exif), "png", (1170, 2532)),
        (webp(exif), "webp", (1600, 1200)),
        (webp(b"Exif\0\0" + exif), "webp", (1600, 1200)),
        (heic(exif), "heic", (4032, 3024)),
        (heic(exif, brand=b"avif"), "avif", (4032, 3024)),
        (tiff({0x0100: (640,), 0x0101: (480,), 0x010F: "Maker"}, {ORIGINAL: NOON}), "tiff", (640, 480)),
    ):
        facts = read(data, "photo.bin")
        assert (facts.kind, facts.format, (facts.width, facts.height)) == ("image", format_, size)
        assert (facts.make, taken(facts)[0]) == ("Maker", "2024-01-31T12:00:00")


def test_a_heic_is_turned_by_its_own_property_and_not_by_exif() -> None:
    exif = tiff({0x0112: (6,)}, {ORIGINAL: NOON})
    assert read(heic(exif)).orientation == 1
    assert [read(heic(exif, turn=turn)).orientation for turn in (1, 2, 3)] == [8, 3, 6]


def test_a_raw_is_recognised_and_has_the_size_of_its_largest_picture() -> None:
    raw = tiff({0x0100: (160,), 0x0101: (120,), 0x010F: "NIKON", 0x014A: 0}, {ORIGINAL: NOON})
    facts = read(raw, "DSC_0001.NEF")
    assert (facts.kind, facts.format, taken(facts)[0]) == ("raw", "nef", "2024-01-31T12:00:00")
    inside = jpeg(tiff({0x010F: "FUJIFILM"}, {ORIGINAL: NOON}))
    fuji = b"FUJIFILMCCD-RAW ".ljust(84, b"\0") + (120).to_bytes(4, "big") + bytes(32) + inside
    assert (read(fuji, "a.raf").kind, read(fuji, "a.raf").make, read(fuji).width) == ("raw", "FUJIFILM", 4000)


def test_canons_raw_has_a_structure_for_each_directory() -> None:
    parts = box(b"CMT1", tiff({0x010F: "Canon", 0x0100: (6000,), 0x0101: (4000,)}))
    parts += box(b"CMT2", tiff({ORIGINAL: NOON})) + box(b"CMT4", tiff(PARIS))
    uuid = bytes.fromhex("85c0b687820f11e08111f4ce462b6a48")
    facts = read(box(b"ftyp", b"crx ", bytes(4)) + box(b"moov", box(b"uuid", uuid, parts)), "a.cr3")
    assert (facts.kind, facts.format, facts.make, facts.width) == ("raw", "cr3", "Canon", 6000)
    assert taken(facts)[0] == "2024-01-31T12:00:00" and facts.position == Position(48.85, 2.35)


def test_the_format_is_what_the_bytes_say_and_not_the_name() -> None:
    assert read(png(), "photo.jpg").format == "png"
    assert read(jpeg(), "clip.mov").kind == "image"
    assert read(b"hello", "notes.txt").kind == "other"
    assert read(b"hello", "clip.mts").kind == "video"


def test_a_video_from_an_iphone_has_wall_time_place_and_the_id_of_its_photo() -> None:
    keys = {
        "com.apple.quicktime.location.ISO6709": "+48.8584+002.2945+035.2/",
        "com.apple.quicktime.creationdate": "2024-07-14T22:30:00+0200",
        "com.apple.quicktime.content.identifier": "ABC-123",
        "com.apple.quicktime.make": "Apple",
    }
    facts = read(movie(datetime(2024, 7, 14, 20, 31, tzinfo=UTC), keys=keys, turn=90), "IMG_1.MOV")
    assert (facts.kind, facts.format, facts.duration_ms, facts.codec) == ("video", "mov", 3000, "avc1")
    assert (facts.width, facts.height, facts.orientation, facts.shown_size) == (1920, 1080, 6, (1080, 1920))
    assert taken(facts) == ("2024-07-14T22:30:00", "quicktime", 120, "own")
    assert facts.position == Position(48.8584, 2.2945, 35.2) and facts.make == "Apple"
    assert (facts.content_id, facts.pair_key) == ("ABC-123", "content:ABC-123")


def test_the_time_of_a_video_is_utc() -> None:
    created = datetime(2024, 7, 14, 20, 30, tzinfo=UTC)
    clip = movie(created, brand=b"isom", header_last=False)
    assert taken(read(clip, "clip.mp4", zone="Europe/Berlin")) == (
        "2024-07-14T22:30:00",
        "video-utc",
        120,
        "owner-zone",
    )
    assert taken(read(clip, "clip.mp4"))[:3] == ("2024-07-14T20:30:00", "video-utc", None)
    placed = movie(created, place="+40.7128-074.0060/")
    assert taken(read(placed, "clip.mp4", zone_at="America/New_York"))[2:] == (-240, "gps-zone")
    # Android names a video by wall time, so the two together tell the offset.
    assert taken(read(clip, "VID_20240714_162955.mp4", zone="Asia/Tokyo"))[2:] == (-240, "name")


@pytest.mark.parametrize("stamped", [True, False])
def test_a_camcorders_film_has_the_date_that_stands_in_its_pictures(stamped: bool) -> None:
    summer = {0x14: "00000000", 0x18: "44201904", 0x19: "24222400", 0x70: "ff4b1f11"}
    for before in (0, 100, 170, 400):
        film = read(avchd(summer, stamped=stamped, before=before), "00001.MTS")
        assert (film.kind, taken(film)) == ("video", ("2019-04-24T22:24:00", "quicktime", 120, "own"))
    west = read(avchd({0x18: "27200812", 0x19: "31231624"}, stamped=stamped), "00002.MTS")
    assert taken(west)[2] == -210
    for broken in ({0x18: "02201302", 0x19: "30101010"}, {0x18: "02ffffff", 0x19: "ffffffff"}, {0x18: "02201301"}):
        assert read(avchd(broken, stamped=stamped), "clip.mts").time is None


@pytest.mark.parametrize("created", [0, 1, 86400])
def test_a_video_whose_clock_was_never_set_is_dated_by_its_name(created: int) -> None:
    assert taken(read(movie(created), "VID_20240131_120000.mp4"))[:2] == ("2024-01-31T12:00:00", "name")


def test_takeout_counts_before_the_name_and_after_the_photo_itself() -> None:
    data = b"""{"title": "x.jpg", "photoTakenTime": {"timestamp": "1706702400"}, "favorited": true,
        "geoData": {"latitude": 48.85, "longitude": 2.35}, "description": "Snow"}"""
    sidecars = (Sidecar("x.jpg.supplemental-metadata.json", data),)
    facts = read(jpeg(), "IMG-20200101-WA0001.jpg", sidecars=sidecars, zone="Europe/Berlin")
    assert taken(facts) == ("2024-01-31T13:00:00", "takeout", 60, "owner-zone")
    assert (facts.position, facts.position_source) == (Position(48.85, 2.35), "takeout")
    assert (facts.description, facts.is_favourite) == ("Snow", True)
    own = read(jpeg(tiff({}, {ORIGINAL: "2019:01:01 10:00:00"})), sidecars=sidecars)
    assert taken(own)[1] == "exif-original"


def test_an_xmp_sidecar_is_a_correction_and_counts_first() -> None:
    packet = """<x:xmpmeta><rdf:Description exif:DateTimeOriginal="2024-05-01T08:00:00.5+02:00" xmp:Rating="4"
      exif:GPSLatitude="48,51.0N" exif:GPSLongitude="2,21.0E"><dc:description><rdf:Alt>
      <rdf:li xml:lang="x-default">Fran&#231;ois &amp; Co</rdf:li></rdf:Alt></dc:description>
      </rdf:Description></x:xmpmeta>"""
    facts = read(jpeg(tiff({}, {ORIGINAL: NOON})), sidecars=(Sidecar("IMG_1234.xmp", packet.encode()),))
    assert taken(facts) == ("2024-05-01T08:00:00.500000", "xmp-sidecar", 120, "own")
    assert (facts.rating, facts.description) == (4, "François & Co")
    assert facts.position == Position(48.85, 2.35)


def test_xmp_inside_counts_as_elements_too() -> None:
    packet = """<rdf:RDF><photoshop:DateCreated>2024-05-01</photoshop:DateCreated>
      <GCamera:MotionPhoto>1</GCamera:MotionPhoto></rdf:RDF>"""
    for data in (jpeg(xmp=packet), png(xmp=packet)):
        facts = read(data)
        assert taken(facts)[:2] == ("2024-05-01T12:00:00", "xmp")
        assert facts.time is not None and facts.time.is_day_only and facts.has_motion


def test_an_older_prefix_of_xmp_says_the_same() -> None:
    facts = read(png(xmp="<rdf:RDF><xap:CreateDate>2009-06-16T14:57:56Z</xap:CreateDate></rdf:RDF>"))
    assert taken(facts)[:3] == ("2009-06-16T14:57:56", "xmp", 0)


def test_the_time_of_the_file_comes_last_and_is_a_guess() -> None:
    facts = read(jpeg(), modified=datetime(2024, 1, 31, 23, 30, tzinfo=UTC), zone="Europe/Berlin")
    assert taken(facts) == ("2024-02-01T00:30:00", "modified", 60, "owner-zone")
    assert facts.time is not None and facts.time.guessed


def test_nothing_known_is_no_time_and_not_today() -> None:
    assert read(jpeg()).time is None
    assert read(jpeg(), modified=datetime(1970, 1, 1, tzinfo=UTC)).time is None
    assert read(jpeg(), modified=NOW + timedelta(days=400)).time is None


def test_a_position_of_nowhere_is_none() -> None:
    nowhere = {1: "N", 2: [(0, 1), (0, 1), (0, 1)], 3: "E", 4: [(0, 1), (0, 1), (0, 1)]}
    beyond = {1: "N", 2: [(91, 1), (0, 1), (0, 1)], 3: "E", 4: [(1, 1), (0, 1), (0, 1)]}
    broken = {1: "S", 2: [(10, 0), (0, 0), (0, 0)], 3: "E", 4: [(1, 1), (0, 1), (0, 1)]}
    for gps in (nowhere, beyond, broken):
        assert read(jpeg(tiff({}, {}, gps))).position is None
    south = {1: "S", 2: [(33, 1), (52, 1), (0, 0)], 3: "W", 4: [(151, 1), (12, 1), (0, 0)], 5: b"\x01", 6: [(5, 1)]}
    assert read(jpeg(tiff({}, {}, south))).position == Position(-33.8666667, -151.2, -5)


def test_a_live_photos_picture_has_the_id_in_apples_note() -> None:
    entry = b"\0\x11\0\x02" + (8).to_bytes(4, "big") + (32).to_bytes(4, "big")
    note = b"Apple iOS\0\0\x01MM" + b"\0\x01" + entry + bytes(4) + b"ABC-123\0"
    facts = read(heic(tiff({0x010F: "Apple"}, {ORIGINAL: NOON, 0x927C: note})), "IMG_1.HEIC")
    assert facts.content_id == "ABC-123"


def test_a_file_is_read_from_disk(tmp_path: Path) -> None:
    path = tmp_path / "photo.jpg"
    path.write_bytes(jpeg(tiff({}, {ORIGINAL: NOON})))
    assert taken(read_media(path, Circumstances("photo.jpg", NOW)))[1] == "exif-original"


def test_what_cannot_be_read_is_no_photo_without_a_date(tmp_path: Path) -> None:
    with pytest.raises(OSError):
        read_media(tmp_path / "missing.jpg", Circumstances("missing.jpg", NOW))


def test_an_exif_block_may_have_no_version_of_its_box() -> None:
    assert read(box(b"ftyp", b"heic", bytes(4)) + full_box(b"meta")).kind == "image"


def iptc(*fields: tuple[int, bytes]) -> bytes:
    """Photoshop's resources with a record of these fields, behind another resource of an odd size."""
    record = b"".join(bytes([0x1C, 2, number]) + len(text).to_bytes(2, "big") + text for number, text in fields)
    resources = [(0x03ED, b"\1\2\3"), (0x0404, record)]
    packed = [
        b"8BIM" + number.to_bytes(2, "big") + b"\0\0" + len(data).to_bytes(4, "big") + data + b"\0" * (len(data) % 2)
        for number, data in resources
    ]
    return segment(0xED, b"Photoshop 3.0\0" + b"".join(packed))


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ([(55, b"20190607"), (60, b"080910+0200")], ("2019-06-07T08:09:10", "iptc", 120, "own")),
        ([(55, b"20190607"), (60, b"080910")], ("2019-06-07T08:09:10", "iptc", None, None)),
        ([(25, b"sea"), (55, b"20190607")], ("2019-06-07T12:00:00", "iptc", None, None)),
        ([(55, b"00000000")], ("2020-02-03T04:05:06", "exif-digitized", None, None)),
        ([(55, b"20190600")], ("2020-02-03T04:05:06", "exif-digitized", None, None)),
    ],
)
def test_a_scan_has_the_date_that_an_editor_wrote(
    fields: list[tuple[int, bytes]], expected: tuple[str, str, int | None, str | None]
) -> None:
    scanned = tiff({}, {DIGITIZED: "2020:02:03 04:05:06"})
    assert taken(read(jpeg(scanned, before=iptc(*fields)))) == expected
    assert taken(read(jpeg(tiff({}, {ORIGINAL: NOON}), before=iptc(*fields))))[1] == "exif-original"


def test_a_broken_iptc_record_says_nothing() -> None:
    whole = iptc((55, b"20190607"))
    for end in range(4, len(whole) - 1):
        cut = whole[:2] + (end - 2).to_bytes(2, "big") + whole[4:end]
        assert read(jpeg(before=cut)).time is None
