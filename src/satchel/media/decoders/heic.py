"""HEIC, which libvips does not decode, by pillow-heif."""

from importlib import import_module
from typing import Any, BinaryIO

from satchel.media.decoders.decoded import Decoded, Unsupported, check_pixels, mapped
from satchel.media.decoders.file_signatures import FileKind
from satchel.media.decoders.vips_images import to_preview
from satchel.media.decoders.vips_library import from_pixels, packed, with_profile

_heif: Any = import_module("pillow_heif")
# Its own threads would not end a job earlier than another process does its own.
_heif.options.DECODE_THREADS = 1
_heif.options.THUMBNAILS = False
_heif.options.DEPTH_IMAGES = False


def decode(file: BinaryIO, size_bytes: int, kind: FileKind) -> Decoded:
    """libheif turns the image upright itself, by what the container says."""
    del kind
    opened = _heif.open_heif(bytes(mapped(file, size_bytes)), convert_hdr_to_8bit=True)
    check_pixels(*opened.size)
    mode = opened.mode
    if mode not in ("L", "LA", "RGB", "RGBA", "I;16"):
        raise Unsupported(f"HEIC of the mode {mode}")
    # Decoding happens here. Only now it is known whether the container has the sides the other way round.
    data = memoryview(opened.data)
    width, height = opened.size
    if mode == "I;16":
        # Shades of grey in more than 8 bits. The second byte of each is the upper one.
        image = from_pixels(packed(data, width, height, 2, opened.stride)[1::2], width, height, 1)
    else:
        image = from_pixels(packed(data, width, height, len(mode), opened.stride), width, height, len(mode))
    if profile := opened.info.get("icc_profile"):
        image = with_profile(image, bytes(profile))
    return Decoded(to_preview(image), width, height)
