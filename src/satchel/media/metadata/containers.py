"""Recognises the format of a file by its first bytes, whatever its name says, and reads its head."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from satchel.media.metadata.avchd import is_stream, read_avchd
from satchel.media.metadata.byte_window import ByteWindow
from satchel.media.metadata.heif_head import read_cr3, read_heif, read_jxl
from satchel.media.metadata.image_heads import ImageHead, read_gif, read_jpeg, read_png, read_webp
from satchel.media.metadata.media_facts import Kind
from satchel.media.metadata.movie_atoms import MovieHead, read_movie
from satchel.media.metadata.other_videos import read_avi, read_matroska
from satchel.media.metadata.tiff_tags import DNG, read_tiff

RAW_ENDINGS = frozenset(
    [
        "3fr",
        "arw",
        "cr2",
        "cr3",
        "crw",
        "dcr",
        "dng",
        "erf",
        "fff",
        "iiq",
        "k25",
        "kdc",
        "mef",
        "mos",
        "mrw",
        "nef",
        "nrw",
        "orf",
        "pef",
        "raf",
        "raw",
        "rw2",
        "rwl",
        "sr2",
        "srf",
        "srw",
        "x3f",
    ]
)
IMAGE_ENDINGS = frozenset(
    ["avif", "bmp", "gif", "heic", "heif", "hif", "jfif", "jpe", "jpeg", "jpg", "jxl", "png", "tif", "tiff", "webp"]
)
VIDEO_ENDINGS = frozenset(
    ["3g2", "3gp", "avi", "m2ts", "m4v", "mkv", "mov", "mp4", "mpeg", "mpg", "mts", "webm", "wmv"]
)
KNOWN_ENDINGS = RAW_ENDINGS | IMAGE_ENDINGS | VIDEO_ENDINGS

_HEIF_BRANDS = frozenset([b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1", b"avif", b"avis"])
_AVIF_BRANDS = frozenset([b"avif", b"avis"])
_MOVIE_ATOMS = frozenset([b"moov", b"mdat", b"wide", b"free", b"skip", b"pnot"])
_IMAGES: dict[str, Callable[[ByteWindow], ImageHead]] = {
    "jpeg": read_jpeg,
    "png": read_png,
    "gif": read_gif,
    "webp": read_webp,
    "heic": read_heif,
    "avif": read_heif,
    "jxl": read_jxl,
}


@dataclass(frozen=True, slots=True)
class Content:
    """What a file is, and its head: of an image or of a movie, never of both."""

    kind: Kind
    format: str
    image: ImageHead | None = None
    movie: MovieHead | None = None
    movie_local: datetime | None = None


def read_content(window: ByteWindow, name: str) -> Content:
    ending = name.rpartition(".")[2].lower()
    found = recognise(window)
    if found in _IMAGES:
        return Content("image", found, image=_IMAGES[found](window))
    if found in ("mp4", "mov"):
        return Content("video", found, movie=read_movie(window))
    if found == "avi":
        movie, local = read_avi(window)
        return Content("video", found, movie=movie, movie_local=local)
    if found == "matroska":
        return Content("video", found, movie=read_matroska(window))
    if found == "mpegts":
        return Content("video", found, movie=read_avchd(window))
    if found:
        return _raw_or_tiff(window, found, ending)
    return Content(_kind_by_name(ending), ending if _kind_by_name(ending) != "other" else "")


def recognise(window: ByteWindow) -> str:
    """The format that the first bytes prove; empty if none."""
    head = window.at(0, 16)
    for mark, name in (
        (b"\xff\xd8\xff", "jpeg"),
        (b"\x89PNG\r\n\x1a\n", "png"),
        (b"GIF8", "gif"),
        (b"\0\0\0\x0cJXL ", "jxl"),
        (b"FUJIFILMCCD-RAW", "raf"),
        (b"\0MRM", "mrw"),
        (b"\x1a\x45\xdf\xa3", "matroska"),
    ):
        if head.startswith(mark):
            return name
    if head[:4] == b"RIFF":
        return {b"WEBP": "webp", b"AVI ": "avi"}.get(head[8:12], "")
    if head[4:8] == b"ftyp":
        return _brand(window)
    if head[4:8] in _MOVIE_ATOMS:
        return "mov"
    if head[:2] in (b"II", b"MM") and len(head) >= 8:
        return "tiff"
    return "mpegts" if b"G" in head[:5] and is_stream(window.at(0, 1024)) else ""


def _brand(window: ByteWindow) -> str:
    length = min(window.number(0, 4) or 0, 256)
    data = window.at(8, length - 8)
    major, others = data[:4], {data[start : start + 4] for start in range(8, len(data) - 3, 4)}
    if major == b"crx ":
        return "cr3"
    if major in _AVIF_BRANDS or (major in (b"mif1", b"msf1") and others & _AVIF_BRANDS):
        return "avif"
    if major in _HEIF_BRANDS:
        return "heic"
    return "mov" if major == b"qt  " else "mp4"


def _raw_or_tiff(window: ByteWindow, found: str, ending: str) -> Content:
    if found == "cr3":
        return Content("raw", found, image=read_cr3(window))
    if found == "raf":
        # The camera's own JPEG stands in it, with all metadata.
        return Content("raw", found, image=read_jpeg(window, window.number(84, 4) or 0))
    if found == "mrw":
        return Content("raw", found, image=_with_tags(window, _minolta_tags(window)))
    image = _with_tags(window, 0)
    is_raw = ending in RAW_ENDINGS or DNG in image.tags.image or window.at(8, 2) == b"CR"
    if not is_raw:
        return Content("image" if image.tags.image else _kind_by_name(ending), "tiff", image=image)
    return Content("raw", ending if ending in RAW_ENDINGS else "dng", image=image)


def _with_tags(window: ByteWindow, base: int) -> ImageHead:
    tags = read_tiff(window, base)
    return ImageHead(size=max(tags.sizes, key=_area, default=None), tags=tags, xmp=tags.xmp)


def _area(size: tuple[int, int]) -> int:
    return size[0] * size[1]


def _minolta_tags(window: ByteWindow) -> int:
    """Where the TIFF structure is among the blocks before the picture."""
    offset = 8
    for _ in range(16):
        head = window.at(offset, 8)
        if head[:4] == b"\0TTW":
            return offset + 8
        offset += 8 + int.from_bytes(head[4:8], "big")
    return window.size


def _kind_by_name(ending: str) -> Kind:
    if ending in RAW_ENDINGS:
        return "raw"
    if ending in VIDEO_ENDINGS:
        return "video"
    return "image" if ending in IMAGE_ENDINGS else "other"
