import io
import struct
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from satchel.media.metadata.byte_window import ByteWindow
from satchel.media.metadata.containers import read_content
from satchel.media.metadata.media_read import Circumstances, Sidecar, read_media
from satchel.media.metadata.name_date import read_name_date
from satchel.media.metadata.takeout_json import TakeoutNames
from tests.media.made_files import avchd, box, full_box, heic, jpeg, movie, png, tiff, webp

NOW = datetime(2026, 11, 17, tzinfo=UTC)
EXIF = tiff(
    {0x010F: "Apple", 0x0112: (6,), 0x0132: "2024:01:31 12:00:00"},
    {
        0x9003: "2024:01:31 12:00:00",
        0x9291: "123",
        0x9011: "+01:00",
        0x829A: [(1, 250)],
        0x927C: b"Apple iOS\0" + bytes(40),
    },
    {1: "N", 2: [(48, 1), (51, 1), (0, 1)], 3: "E", 4: [(2, 1), (21, 1), (0, 1)], 7: [(1, 1)] * 3, 29: "2024:01:31"},
)
KEYS = {"com.apple.quicktime.creationdate": "2024-07-14T22:30:00+0200"}
AVI = (
    b"RIFF\xff\0\0\0AVI LIST\xff\0\0\0hdrlavih"
    + struct.pack("<I", 40)
    + bytes(40)
    + b"IDIT\x1a\0\0\0MON MAR 10 15:04:43 2003"
)
MATROSKA = bytes.fromhex("1a45dfa380185380679f1549a9669a4461880000000000000000448988") + bytes(8)
FILES = [
    jpeg(EXIF),
    png(EXIF),
    webp(EXIF),
    heic(EXIF),
    movie(3_800_000_000, keys=KEYS, place="+48+002/"),
    EXIF,
    AVI,
    MATROSKA,
    avchd({0x18: "44201904", 0x19: "24222400", 0xB2: "00300001"}),
]


def read(data: bytes, name: str = "IMG_20240131_120000.jpg", *sidecars: Sidecar) -> None:
    read_media(data, Circumstances(name, NOW, None, "Europe/Berlin", sidecars))


@settings(max_examples=400, deadline=None)
@given(
    st.sampled_from(FILES),
    st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), max_size=8),
    st.floats(0.1, 1),
)
def test_damaged_files_say_less_and_raise_nothing(
    original: bytes, damages: list[tuple[float, int]], part: float
) -> None:
    data = bytearray(original)
    for place, value in damages:
        data[int(place * len(data))] = value
    read(bytes(data[: int(len(data) * part)]))


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(
        [
            b"",
            b"\xff\xd8\xff",
            b"II*\0",
            b"MM\0*",
            b"\0\0\0\x10ftypheic",
            b"\0\0\0\x10ftypqt  ",
            b"RIFFxxxxWEBP",
            b"\x1a\x45\xdf\xa3",
        ]
    ),
    st.binary(max_size=400),
)
def test_any_bytes_are_read(head: bytes, data: bytes) -> None:
    read(head + data)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60), st.binary(max_size=200), st.text(max_size=80))
def test_any_name_and_any_sidecar_are_read(name: str, sidecar: bytes, packet: str) -> None:
    read_name_date(name)
    TakeoutNames({name + ".json", packet}).find(name)
    read(
        jpeg(),
        name,
        Sidecar("a.json", sidecar),
        Sidecar("a.xmp", b'<a exif:DateTimeOriginal="' + packet.encode(errors="replace")),
    )


def _loop() -> bytes:
    """Directories that lead to each other for ever."""
    return (
        b"II*\0\x08\0\0\0" + struct.pack("<H", 0) + struct.pack("<I", 14) + struct.pack("<H", 0) + struct.pack("<I", 8)
    )


@pytest.mark.parametrize(
    "data",
    [
        _loop(),
        b"II*\0\x08\0\0\0" + struct.pack("<H", 65535) + struct.pack("<HHII", 0x9003, 2, 0xFFFFFFFF, 8) * 65535,
        b"\xff\xd8" + b"\xff" * 2_000_000,
        b"\xff\xd8" + b"\xff\xe1\0\x02" * 1_000_000,
        box(b"ftyp", b"heic", bytes(4)) + full_box(b"meta", box(b"free") * 200_000),
        box(b"ftyp", b"heic", bytes(4))
        + full_box(b"meta", full_box(b"iloc", b"\x44\x40\xff\xff" + b"\xff" * 1_000_000)),
        box(b"ftyp", b"qt  ", bytes(4)) + box(b"moov", box(b"trak", box(b"mdia", box(b"free") * 1000)) * 100),
        b"\x89PNG\r\n\x1a\n" + (bytes(4) + b"iTXt" + bytes(4)) * 300_000,
        b"RIFFxxxxWEBP" + b"EXIF\0\0\0\0" * 300_000,
        b"RIFFxxxxAVI " + b"LIST\0\0\0\0hdrl" * 300_000,
        b"\x1a\x45\xdf\xa3\x80" + b"\xae\x80" * 500_000,
    ],
)
def test_a_file_made_to_keep_its_reader_busy_is_left_early(data: bytes) -> None:
    window = Counted(io.BytesIO(data))
    read_content(window, "a.jpg")
    assert window.asked < 25_000
    read(data)


def test_a_packet_made_to_keep_its_reader_busy_is_read() -> None:
    for packet in (
        "<exif:DateTimeOriginal " * 40_000,
        "<dc:description><rdf:Alt>" + "<rdf:li>" * 100_000,
        "exif:DateTimeOriginal=" * 40_000,
    ):
        read(jpeg(), "a.jpg", Sidecar("a.xmp", packet.encode()))


def test_little_of_a_large_file_is_read() -> None:
    clip = box(b"ftyp", b"isom", bytes(4)) + box(b"mdat", bytes(30_000_000)) + movie(3_800_000_000)[20:]
    window = Counted(io.BytesIO(clip))
    assert read_content(window, "a.mp4").movie is not None
    assert window.read_bytes < 10_000


class Counted(ByteWindow):
    asked = 0
    read_bytes = 0

    def at(self, offset: int, length: int) -> bytes:
        data = super().at(offset, length)
        self.asked += 1
        self.read_bytes += len(data)
        return data
