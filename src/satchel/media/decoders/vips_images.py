"""Images that libvips decodes: JPEG, PNG, WebP, GIF, AVIF and TIFF."""

import io
import mmap
from contextlib import suppress
from importlib import import_module
from typing import Any, BinaryIO

from satchel.media.decoders.decoded import PREVIEW_EDGE, Decoded, Undecodable, check_pixels, mapped
from satchel.media.decoders.file_signatures import FileKind
from satchel.media.decoders.vips_library import PROFILE, as_pixels, from_pixels, vips, with_profile, without_profile

_LOADERS = {
    "jpeg": "jpegload_buffer",
    "png": "pngload_buffer",
    "webp": "webpload_buffer",
    "gif": "gifload_buffer",
    "avif": "heifload_buffer",
    "tiff": "tiffload_buffer",
}
# sRGB is called so in plain letters or, in newer profiles, in UTF-16.
_SRGB = (b"sRGB", "sRGB".encode("utf-16-be"))
# A damaged file has a picture if at least half of it can be decoded.
_WORTH_SHOWING = 0.5
# Enough for finding out how many rows were decoded.
_ROUGH_EDGE = 256


def decode(file: BinaryIO, size_bytes: int, kind: FileKind) -> Decoded:
    return decode_buffer(mapped(file, size_bytes), kind)


def decode_buffer(data: mmap.mmap | bytes, kind: FileKind, orientation: int = 0) -> Decoded:
    """An `orientation` takes the place of one that the image does not have."""
    header = _load(data, kind, fail_on="none")
    # Of an animation, the height is that of one page.
    width, height = header.width, header.height
    check_pixels(width, height)
    if orientation and header.get_typeof("orientation") == 0:
        turned = orientation
    else:
        turned = header.get("orientation") if header.get_typeof("orientation") else 1
    try:
        image = _shrunk(_load(data, kind, fail_on="truncated", **_shrink_on_load(kind, width, height)))
    except vips.Error:
        if kind != "jpeg":
            raise
        image = _damaged_jpeg(data, width, height)
    return Decoded(image, *((height, width) if turned in (5, 6, 7, 8) else (width, height)), orientation=turned)


def to_preview(image: Any) -> Any:
    """At most as large as a preview, in sRGB, not turned, and without any metadata."""
    return _shrunk(image)


def _load(data: mmap.mmap | bytes, kind: FileKind, **options: Any) -> Any:
    return getattr(vips.Image, _LOADERS[kind])(data, access="sequential", **options)


def _shrink_on_load(kind: FileKind, width: int, height: int) -> dict[str, int]:
    """Let the JPEG decoder leave out detail that the preview does not have. That halves what a photo costs."""
    if kind != "jpeg":
        return {}
    larger = max(width, height) / PREVIEW_EDGE
    return {"shrink": next(shrink for shrink in (8, 4, 2, 1) if larger >= shrink or shrink == 1)}


def _shrunk(image: Any) -> Any:
    if image.interpretation == "cmyk":
        image = image.icc_transform("srgb", embedded=True, input_profile="cmyk")
        image = without_profile(image)
    return as_pixels(_in_srgb(image.thumbnail_image(PREVIEW_EDGE, height=PREVIEW_EDGE, size="down", no_rotate=True)))


def _in_srgb(image: Any) -> Any:
    if image.get_typeof(PROFILE):
        profile = image.get(PROFILE)
        if not any(name in profile for name in _SRGB):
            # Decoded here, so that an error of the image is none of the profile.
            image = image.copy_memory()
            # A profile that does not fit its image is as good as none.
            with suppress(vips.Error):
                image = image.icc_transform("srgb", embedded=True).copy_memory()
    if image.interpretation != "srgb":
        image = image.colourspace("srgb")
    return image if image.format == "uchar" else image.cast("uchar")


def _damaged_jpeg(data: mmap.mmap | bytes, width: int, height: int) -> Any:
    """What can be seen of it. libvips gives up after a hundred faults that Pillow, if it is installed, reads over."""
    try:
        _check_worth(_load(data, "jpeg", fail_on="none", shrink=8))
        return _shrunk(_load(data, "jpeg", fail_on="none", **_shrink_on_load("jpeg", width, height)))
    except vips.Error:
        with suppress(ImportError, OSError):
            image = _read_by_pillow(data)
            _check_worth(image)
            return _shrunk(image)
        raise


def _read_by_pillow(data: mmap.mmap | bytes) -> Any:
    pillow: Any = import_module("PIL.Image")
    image = pillow.open(io.BytesIO(data), formats=["JPEG"])
    image.draft("RGB", (PREVIEW_EDGE, PREVIEW_EDGE))
    pixels = from_pixels(image.convert("RGB").tobytes(), image.width, image.height, 3)
    # A profile for inks does not fit what has been converted.
    profile = image.info.get("icc_profile") if image.mode == "RGB" else None
    return with_profile(pixels, profile) if profile else pixels


def _check_worth(image: Any) -> None:
    """Refuse a JPEG of which less than half is there. Its decoder gives one colour to the rows that are not."""
    rough = image.thumbnail_image(_ROUGH_EDGE, height=10_000_000, size="down", no_rotate=True).copy_memory()
    pixels, row = bytes(rough.write_to_memory()), rough.width * rough.bands
    rows = [pixels[start : start + row] for start in range(0, len(pixels), row)]
    while rows and rows[-1] == rows[-1][: rough.bands] * rough.width:
        rows.pop()
    if len(rows) < rough.height * _WORTH_SHOWING:
        raise Undecodable(f"only {len(rows)} of {rough.height} rows could be decoded")
