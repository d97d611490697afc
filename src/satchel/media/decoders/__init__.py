"""Decode a file into its picture. The first bytes decide what it is; the name only tells raw photos from TIFF.

Every library is loaded for the first file that needs it. One that is not installed makes its files `Unsupported`.
"""

from collections.abc import Callable
from importlib import import_module
from typing import BinaryIO

from satchel.media.decoders.decoded import Decoded, Undecodable, Unsupported
from satchel.media.decoders.file_signatures import HEAD_BYTES, FileKind, file_kind
from satchel.media.frames import Made

__all__ = ["Undecodable", "Unsupported", "make_picture"]

_DECODERS: dict[FileKind, str] = {
    "jpeg": "vips_images",
    "png": "vips_images",
    "webp": "vips_images",
    "gif": "vips_images",
    "avif": "vips_images",
    "tiff": "vips_images",
    "heic": "heic",
    "raw": "raw_preview",
    "pdf": "pdf_page",
    "mov": "video_poster",
    "matroska": "video_poster",
    "ogg": "video_poster",
    "avi": "video_poster",
    "mpegts": "video_poster",
    "mpeg": "video_poster",
}


def make_picture(file: BinaryIO, size_bytes: int, name: str) -> Made:
    """Both sizes of the picture, and what lists say of it."""
    # Whoever had the file before us may have read from it.
    file.seek(0)
    head = file.read(min(HEAD_BYTES, size_bytes))
    kind = file_kind(head, name)
    if kind is None:
        raise Unsupported("no kind of file that has a picture")
    decoded = _decoder(kind)(file, size_bytes, kind)
    outputs = import_module("satchel.media.decoders.outputs")
    return outputs.render(decoded)


def _decoder(kind: FileKind) -> Callable[[BinaryIO, int, FileKind], Decoded]:
    try:
        return import_module(f"satchel.media.decoders.{_DECODERS[kind]}").decode
    except ModuleNotFoundError as error:
        raise Unsupported(f"{error.name} is not installed") from error
