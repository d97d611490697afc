"""What is made of files of every kind, of damaged ones, and of those that are meant to do harm."""

import io
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from satchel.media.decoders import Undecodable, Unsupported, make_picture
from satchel.media.decoders.file_signatures import file_kind
from satchel.media.frames import Made
from tests.media import samples
from tests.media.samples import RED, is_flag, pil, vips

# Real pictures are made here, in processes of their own.
pytestmark = pytest.mark.slow


def made(tmp_path: Path, data: bytes, name: str = "file", more: bytes = b"") -> Made:
    """The file may be longer than the source."""
    path = tmp_path / "source"
    path.write_bytes(data + more)
    with path.open("rb", buffering=0) as file:
        return make_picture(file, len(data), name)


def opened(data: bytes) -> Any:
    return pil.open(io.BytesIO(data))


KINDS = {
    "a.jpg": samples.jpeg,
    "a.png": samples.png,
    "a.webp": lambda: bytes(samples.flag().webpsave_buffer(Q=90)),
    "a.gif": lambda: bytes(samples.flag().gifsave_buffer()),
    "a.tif": lambda: bytes(samples.flag().tiffsave_buffer()),
    "big.tif": lambda: bytes(samples.flag().tiffsave_buffer(bigtiff=True)),
    "a.avif": lambda: bytes(samples.flag().heifsave_buffer(compression="av1", Q=80)),
    "a.heic": samples.heic,
    "a.pdf": samples.pdf,
    "a.mp4": samples.video,
    "a.webm": lambda: samples.video("webm", "libvpx"),
    "a.mov": lambda: samples.video("mov"),
    "a.avi": lambda: samples.video("avi", "mpeg4"),
    "a.mkv": lambda: samples.video("matroska"),
    "a.ts": lambda: samples.video("mpegts", "mpeg2video"),
}


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_of_file_has_both_sizes(tmp_path: Path, name: str) -> None:
    # What a name says does not matter, and nor does what stands behind the source in the same file.
    picture = made(tmp_path, KINDS[name](), "wrong.txt", more=b"and more that does not belong to it")
    assert picture.state == "ready"
    assert opened(picture.grid).format == "WEBP"
    assert opened(picture.preview).format == "JPEG"
    assert max(opened(picture.grid).size) == 320
    assert is_flag(picture.grid, 40)
    assert is_flag(picture.preview, 40)
    assert len(picture.dhash) == 8
    assert round(picture.width / picture.height, 1) == (1.5 if picture.duration_ms == 0 else 1.8)


def test_a_video_says_how_long_it_is(tmp_path: Path) -> None:
    picture = made(tmp_path, samples.video(frames=50))
    assert (picture.width, picture.height, picture.duration_ms) == (640, 360, 2000)


def test_a_small_image_is_not_enlarged(tmp_path: Path) -> None:
    picture = made(tmp_path, samples.png(samples.flag(90, 60)))
    assert opened(picture.grid).size == opened(picture.preview).size == (90, 60)


def test_a_photo_is_as_large_as_it_was_but_its_picture_is_not(tmp_path: Path) -> None:
    picture = made(tmp_path, samples.photo())
    assert (picture.width, picture.height) == (4000, 3000)
    assert opened(picture.preview).size == (1440, 1080)
    assert len(picture.grid) < 37_000


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_picture_stands_upright(tmp_path: Path, orientation: int) -> None:
    picture = made(tmp_path, samples.turned(orientation))
    assert (picture.width, picture.height) == (1200, 800)
    assert is_flag(picture.grid)
    assert is_flag(picture.preview)


def test_a_picture_says_nothing_of_its_place(tmp_path: Path) -> None:
    source = samples.located()
    assert b"Secretmodel" in source
    assert opened(source).getexif().get_ifd(0x8825)
    picture = made(tmp_path, source)
    for written in (picture.grid, picture.preview):
        assert b"Secretmodel" not in written
        assert b"Exif" not in written
        assert not dict(opened(written).getexif())
        loaded = vips.Image.new_from_buffer(written, "")
        assert not [name for name in loaded.get_fields() if name.startswith(("exif", "xmp", "iptc", "icc"))]


@pytest.mark.parametrize("profile", ["p3", "adobe"])
def test_colours_of_a_wide_space_become_those_of_the_web(tmp_path: Path, profile: str) -> None:
    """The numbers of the source are others than those of the picture, for the same colours."""
    wide = _adobe_rgb(tmp_path) if profile == "adobe" else profile
    tagged = samples.flag().icc_transform(wide, embedded=False, input_profile="srgb")
    data = bytes(tagged.jpegsave_buffer(Q=98, profile=wide))
    raw = samples.corners(data)[0]
    assert max(abs(a - b) for a, b in zip(raw, RED, strict=True)) > 10
    picture = made(tmp_path, data)
    assert is_flag(picture.preview, 8)
    assert is_flag(picture.grid, 12)


def test_colours_of_print_and_shades_of_grey_become_those_of_the_web(tmp_path: Path) -> None:
    cmyk = bytes(samples.flag().icc_transform("cmyk", input_profile="srgb").jpegsave_buffer(Q=95))
    assert opened(made(tmp_path, cmyk).preview).mode == "RGB"
    grey = bytes(samples.flag().colourspace("grey16").pngsave_buffer())
    assert made(tmp_path, grey).state == "ready"


def test_what_is_seen_through_stays_so_in_the_small_size(tmp_path: Path) -> None:
    picture = made(tmp_path, samples.png(samples.flag().bandjoin(0).copy(interpretation="srgb")))
    assert opened(picture.grid).convert("RGBA").getpixel((5, 5))[3] == 0
    assert opened(picture.preview).getpixel((5, 5)) == (255, 255, 255)


def test_a_jpeg_that_breaks_off_has_a_picture_if_half_of_it_is_there(tmp_path: Path) -> None:
    whole = samples.photo(1, 2000, 1500)
    assert made(tmp_path, whole[: len(whole) * 3 // 4]).state == "ready"
    with pytest.raises(Undecodable, match="rows could be decoded"):
        made(tmp_path, whole[: len(whole) // 4])


def test_a_jpeg_with_hundreds_of_faults_has_a_picture(tmp_path: Path) -> None:
    whole = vips.Image.new_from_buffer(samples.photo(1, 2000, 1500), "").jpegsave_buffer(restart_interval=8)
    damaged = bytearray(whole)
    markers = [at for at in range(4000, len(whole) - 1) if whole[at] == 0xFF and 0xD0 <= whole[at + 1] <= 0xD7]
    for at in markers[::10]:
        damaged[at - 40 : at] = b"\x55" * 40
    with pytest.raises(vips.Error):
        vips.Image.jpegload_buffer(bytes(damaged)).copy_memory()
    picture = made(tmp_path, bytes(damaged))
    assert (picture.width, picture.height) == (2000, 1500)
    assert opened(picture.preview).size == (1440, 1080)


@pytest.mark.parametrize("name", ["a.png", "a.webp", "a.gif", "a.avif", "a.heic", "a.pdf", "a.mp4"])
def test_a_file_that_breaks_off_fails_or_shows_what_is_there(tmp_path: Path, name: str) -> None:
    whole = KINDS[name]()
    try:
        picture = made(tmp_path, whole[: len(whole) // 3])
    except Exception as error:  # noqa: BLE001 -- every library has errors of its own
        assert not isinstance(error, MemoryError)
    else:
        assert picture.grid


def test_a_bomb_is_refused_by_its_header(tmp_path: Path) -> None:
    with pytest.raises(Undecodable, match="50000 x 50000 pixels"):
        made(tmp_path, samples.bomb())


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"words",
        b"<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>",
        b"<?xml version='1.0'?><svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>",
        b"\x1f\x8b\x08" + bytes(50),
        b"#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\nfile:///etc/passwd\n",
        b"ffconcat version 1.0\nfile /etc/passwd\n",
        b"%!PS-Adobe-3.0 EPSF-3.0\n",
    ],
)
def test_what_could_name_other_files_is_never_opened(tmp_path: Path, data: bytes) -> None:
    for name in ("a.svg", "a.jpg", "a.mp4", "a.nef"):
        with pytest.raises(Unsupported):
            made(tmp_path, data, name)


def test_raw_photos_are_told_from_tiff_by_their_name() -> None:
    assert file_kind(b"II*\0" + bytes(20), "a.tif") == "tiff"
    assert file_kind(b"II*\0" + bytes(20), "a.NEF") == "raw"
    assert file_kind(b"FUJIFILMCCD-RAW 0201", "a.raf") == "raw"
    assert file_kind(b"II\x1a\0\0\0HEAPCCDR", "a.crw") == "raw"
    assert file_kind(b"\xff\xd8\xff\xe0", "a.dng") == "jpeg"


def test_shades_of_grey_in_more_than_8_bits_are_shown(tmp_path: Path) -> None:
    heif: Any = import_module("pillow_heif")
    written = io.BytesIO()
    bright = heif.from_bytes(mode="I;16", size=(64, 48), data=bytes([0, 200]) * 64 * 48)
    bright.save(written, quality=90)
    seen = opened(made(tmp_path, written.getvalue(), "a.heic").grid).convert("L").getpixel((30, 20))
    assert isinstance(seen, int | float) and abs(seen - 200) < 4


def test_look_alikes_have_like_hashes(tmp_path: Path) -> None:
    first = made(tmp_path, samples.photo(3, 1200, 900))
    again = made(tmp_path, samples.photo(3, 1200, 900, quality=60))
    other = made(tmp_path, samples.photo(4, 1200, 900))

    def apart(one: Made, two: Made) -> int:
        return (int.from_bytes(one.dhash, "big") ^ int.from_bytes(two.dhash, "big")).bit_count()

    assert apart(first, again) <= 4
    assert apart(first, other) >= 10


def _adobe_rgb(folder: Path) -> str:
    """A profile with the primaries of Adobe RGB, written as a matrix profile of version 2."""
    path = folder / "adobe.icc"
    path.write_bytes(samples.matrix_profile())
    return str(path)
