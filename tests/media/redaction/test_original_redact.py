"""Others get an original without its place, makers' notes and serial numbers, and with every other byte of it."""

import hashlib
import io
import os
import struct
import zlib
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from satchel.kernel.patches import Patch, merged, pack, patched, unpack
from satchel.media.metadata.media_read import Circumstances, read_media
from satchel.media.redaction.original_redact import redact
from satchel.media.redaction.redaction import Redaction
from tests.media import samples
from tests.media.made_files import avchd, box, full_box, heic, jpeg, movie, png, segment, tiff, webp

PLACE = {1: "N", 2: [(48, 1), (51, 1), (77, 10)], 3: "E", 4: [(2, 1), (21, 1), (99, 10)]}
TAGS = {0x010F: "Cameraworks", 0x0110: "Model 3"}
SECRETS = {0x927C: b"NOTE secret of the maker", 0xA431: "serial-4711", 0xA430: "Ann Author"}
EXIF = tiff(TAGS, {0x9003: "2024:01:31 12:00:00", **SECRETS}, PLACE)
HIDDEN = (b"secret", b"serial-4711", b"Ann Author", struct.pack("<II", 77, 10), struct.pack("<II", 99, 10))
XMP = (
    '<x:xmpmeta><rdf:Description exif:GPSLatitude="48,51.5N" tiff:Model="Model 3" aux:SerialNumber=\'serial-4711\'>'
    "<exif:GPSLongitude>2,21.5E</exif:GPSLongitude><Iptc4xmpExt:LocationCreated><rdf:Bag><rdf:li>secret</rdf:li>"
    "</rdf:Bag></Iptc4xmpExt:LocationCreated><dc:description>At sea</dc:description></rdf:Description>"
    '<rdf:Description drone-dji:GpsLatitude="+48.85" drone-dji:FlightYawDegree="+71" cell:cgi="460-0-4236-50280">'
    "<dwc:decimalLatitude>48.85</dwc:decimalLatitude></rdf:Description></x:xmpmeta>"
)


def redacted(data: bytes, name: str = "IMG_1.JPG") -> tuple[bytes, Redaction]:
    """What others get. It has the hash that is told, and the length of the original."""
    found = redact(io.BytesIO(data), len(data), name)
    assert found.is_clear
    sent = patched(data, 0, found.patches)
    assert len(sent) == len(data)
    assert hashlib.sha256(sent).hexdigest() == found.sha256
    return sent, found


def facts(data: bytes, name: str = "IMG_1.JPG"):
    return read_media(data, Circumstances(name, datetime(2025, 1, 1, tzinfo=UTC)))


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.jpg", jpeg(EXIF)),
        ("big-endian.jpg", jpeg(tiff(TAGS, {0x9003: "2024:01:31 12:00:00", **SECRETS}, PLACE, order=">"))),
        ("a.png", png(EXIF)),
        ("a.webp", webp(EXIF)),
        ("a.heic", heic(EXIF)),
        ("a.avif", heic(EXIF, brand=b"avif")),
        ("a.tif", EXIF),
    ],
)
def test_exif_keeps_all_but_the_place_the_notes_and_the_serial_numbers(name: str, data: bytes) -> None:
    before = facts(data, name)
    assert before.position is not None
    sent, _ = redacted(data, name)
    after = facts(sent, name)
    assert after.position is None
    assert (after.make, after.model, after.time) == (before.make, before.model, before.time)
    assert (after.width, after.height, after.orientation) == (before.width, before.height, before.orientation)
    assert not [hidden for hidden in HIDDEN if hidden in sent]
    assert data.count(b"Cameraworks") == sent.count(b"Cameraworks")


def test_a_real_jpeg_has_the_same_pixels_and_says_nothing_of_its_place() -> None:
    data = samples.located()
    sent, _ = redacted(data)
    ours, theirs = Image.open(io.BytesIO(data)), Image.open(io.BytesIO(sent))
    assert theirs.tobytes() == ours.tobytes()
    assert (dict(ours.getexif().get_ifd(0x8825)) != {}, dict(theirs.getexif().get_ifd(0x8825))) == (True, {})
    assert theirs.getexif()[0x0110] == "Secretmodel 3000"


def test_a_photo_that_says_nothing_is_sent_as_it_is() -> None:
    for data, name in ((samples.jpeg(), "a.jpg"), (samples.png(), "a.png"), (b"hello", "a.txt"), (b"", "a.txt")):
        sent, found = redacted(data, name)
        assert (sent, found.patches) == (data, [])


@pytest.mark.parametrize(("name", "data"), [("a.jpg", jpeg(xmp=XMP)), ("a.png", png(xmp=XMP))])
def test_xmp_stays_a_packet_without_the_place(name: str, data: bytes) -> None:
    sent, _ = redacted(data, name)
    for hidden in (b"48,51", b"2,21", b"serial-4711", b"secret", b"48.85", b"4236"):
        assert hidden not in sent
    for kept in (
        b'tiff:Model="Model 3"',
        b"At sea",
        b'FlightYawDegree="+71"',
        b"</exif:GPSLongitude>",
        b"</x:xmpmeta>",
    ):
        assert kept in sent


def test_a_png_has_checksums_that_hold() -> None:
    data = png(EXIF, xmp=XMP)
    profile = b"Raw profile type exif\0\0" + zlib.compress(b"secret")
    end = data.index(b"IEND") - 4
    data = data[:end] + struct.pack(">I", len(profile)) + b"zTXt" + profile + bytes(4) + data[end:]
    sent, _ = redacted(data, "a.png")
    at, checked = 8, 0
    while at < len(sent) - 12:
        length, kind = struct.unpack(">I4s", sent[at : at + 8])
        body, crc = sent[at + 8 : at + 8 + length], sent[at + 8 + length : at + 12 + length]
        if kind in (b"eXIf", b"iTXt", b"saTc"):
            assert int.from_bytes(crc, "big") == zlib.crc32(kind + body)
            checked += 1
        at += 12 + length
    assert checked == 3


def test_segments_of_makers_go_and_those_of_colour_stay() -> None:
    profile = segment(0xE2, b"ICC_PROFILE\0\1\1colours")
    iptc = b"\x1c\x02\x5a\0\6secret\x1c\x02\x69\0\5Title"
    photoshop = b"Photoshop 3.0\x008BIM\x04\x04\0\0" + struct.pack(">I", len(iptc)) + iptc + b"\0" * (len(iptc) % 2)
    before = profile + segment(0xE6, b"GoPro\0secret of the maker") + segment(0xED, photoshop)
    more = segment(0xE1, b"http://ns.adobe.com/xmp/extension/\0" + bytes(40) + b"secret")
    sent, _ = redacted(jpeg(EXIF, before=before + more))
    assert b"secret" not in sent
    assert profile in sent
    assert b"Title" in sent


def test_what_stands_behind_a_picture_has_no_place_either() -> None:
    motion = movie(keys={"com.apple.quicktime.location.ISO6709": "+48.8566+002.3522/"}, place="+48.8566+002.3522/")
    data = samples.jpeg() + jpeg(EXIF) + motion
    sent, _ = redacted(data)
    assert not [hidden for hidden in (*HIDDEN, b"+48.8566") if hidden in sent]
    assert sent.startswith(samples.jpeg())


def telemetry(samples_at: int, measured: bytes) -> bytes:
    """A track of what a camera measured each second."""
    tables = box(
        b"stbl",
        full_box(b"stsz", struct.pack(">II", 0, 2), struct.pack(">II", len(measured) - 4, 4)),
        full_box(b"stsc", struct.pack(">IIII", 1, 1, 2, 1)),
        full_box(b"stco", struct.pack(">II", 1, samples_at)),
    )
    handler = full_box(b"hdlr", b"mhlr", b"meta", bytes(13))
    return box(b"trak", box(b"mdia", handler, box(b"minf", tables)))


def test_a_video_plays_without_its_place_and_what_the_camera_measured() -> None:
    keys = {"com.apple.quicktime.location.ISO6709": "+48.8566+002.3522/", "com.apple.quicktime.make": "Apple"}
    data = movie(datetime(2024, 1, 31, tzinfo=UTC), keys=keys, place="+48.8566+002.3522/", header_last=True)
    measured = b"GPS5 secret telemetry"
    at = data.index(b"mdat") + 100
    data = data[:at] + measured + data[at + len(measured) :]
    moov = data.index(b"moov") - 4
    track = telemetry(at, measured)
    data = data[:moov] + struct.pack(">I", len(data) - moov + len(track)) + data[moov + 4 :] + track
    before = facts(data, "a.mov")
    assert before.position is not None
    sent, _ = redacted(data, "a.mov")
    after = facts(sent, "a.mov")
    assert after.position is None
    assert (after.make, after.duration_ms, after.time) == (before.make, before.duration_ms, before.time)
    assert b"+48.8566" not in sent
    assert b"secret" not in sent
    assert samples_play(samples.video())


def samples_play(data: bytes) -> bool:
    """A real film has nothing to hide, and stays as it is."""
    sent, _ = redacted(data, "film.mp4")
    return sent == data or facts(sent, "film.mp4").duration_ms == facts(data, "film.mp4").duration_ms


@pytest.mark.parametrize("stamped", [True, False])
@pytest.mark.parametrize("before", [0, 170, 179, 184 * 9])
def test_a_film_of_a_camcorder_that_knows_its_place_goes_to_nobody(before: int, stamped: bool) -> None:
    plain = avchd({0x18: "44201904", 0x19: "24222400"}, before=before, stamped=stamped)
    assert redacted(plain, "00001.MTS")[0] == plain
    located = avchd({0x18: "44201904", 0x19: "24222400", 0xB2: "00300001"}, before=before, stamped=stamped)
    for data in (located, plain + located):
        assert not redact(io.BytesIO(data), len(data), "00001.MTS").is_clear


def test_a_raw_keeps_the_notes_without_which_it_cannot_be_developed() -> None:
    sent, _ = redacted(EXIF, "DSC_1.NEF")
    assert b"NOTE secret of the maker" in sent
    assert b"serial-4711" not in sent
    assert facts(sent, "DSC_1.NEF").position is None


def test_a_broken_block_goes_as_a_whole_and_an_unclear_file_to_nobody() -> None:
    broken = EXIF[:8] + b"\xff\xff" + EXIF[10:]
    sent, _ = redacted(jpeg(broken))
    assert b"secret" not in sent
    for name, data in (
        ("a.jpg", b"\xff\xd8\xff\xe1\0\0"),
        ("a.heic", b"no picture"),
        ("a.tif", b"II*\0\xff\xff\xff\x7f"),
    ):
        assert not redact(io.BytesIO(data), len(data), name).is_clear


@given(
    cut=st.integers(0, 4000), kind=st.sampled_from(["jpg", "png", "webp", "heic", "mov"]), noise=st.binary(max_size=6)
)
def test_whatever_is_cut_or_changed_it_raises_nothing_and_keeps_its_length(cut: int, kind: str, noise: bytes) -> None:
    whole = {"jpg": jpeg(EXIF, xmp=XMP), "png": png(EXIF, xmp=XMP), "webp": webp(EXIF), "heic": heic(EXIF)}
    data = whole.get(kind) or movie(place="+48.8566+002.3522/", header_last=False)
    at = cut % len(data)
    for each in (data[:at], data[:at] + noise + data[at + len(noise) :]):
        found = redact(io.BytesIO(each), len(each), f"a.{kind}")
        if found.is_clear:
            assert hashlib.sha256(patched(each, 0, found.patches)).hexdigest() == found.sha256
            assert facts(patched(each, 0, found.patches), f"a.{kind}").position is None


@given(st.lists(st.tuples(st.integers(0, 200), st.integers(0, 40), st.sampled_from([b"\0", b" "]))), st.integers(1, 50))
def test_patches_are_the_same_in_one_piece_and_in_many(drawn: list[tuple[int, int, bytes]], step: int) -> None:
    data = os.urandom(300)
    patches = merged(Patch(*each) for each in drawn)
    assert unpack(pack(patches)) == patches
    pieces = [patched(data[at : at + step], at, patches) for at in range(0, len(data), step)]
    whole = patched(data, 0, patches)
    assert b"".join(pieces) == whole
    touched = {place for start, length, _ in drawn for place in range(start, start + length)}
    assert all(whole[at] == data[at] if at not in touched else whole[at] in b"\0 " for at in range(len(data)))
