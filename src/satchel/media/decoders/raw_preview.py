"""Raw photos by the JPEG that the camera has put into them. Developing one would take a hundred times as long."""

from dataclasses import replace
from importlib import import_module
from io import BytesIO
from typing import Any, BinaryIO

from satchel.media.decoders.decoded import Decoded, Undecodable, check_pixels, mapped
from satchel.media.decoders.file_signatures import FileKind
from satchel.media.decoders.vips_images import decode_buffer, to_preview
from satchel.media.decoders.vips_library import from_pixels

_rawpy: Any = import_module("rawpy")

# LibRaw's ways to turn a photo, as Exif calls them.
_ORIENTATIONS = {3: 3, 5: 8, 6: 6}


def decode(file: BinaryIO, size_bytes: int, kind: FileKind) -> Decoded:
    del kind
    with _rawpy.imread(BytesIO(mapped(file, size_bytes))) as raw:
        sizes = raw.sizes
        check_pixels(sizes.width, sizes.height)
        try:
            found = raw.extract_thumb()
        except (_rawpy.LibRawNoThumbnailError, _rawpy.LibRawUnsupportedThumbnailError) as error:
            raise Undecodable("the raw photo has no picture in it") from error
        orientation = _ORIENTATIONS.get(sizes.flip, 1)
    if found.format == _rawpy.ThumbFormat.JPEG:
        decoded = decode_buffer(bytes(found.data), "jpeg", orientation)
    else:
        height, width, bands = found.data.shape
        decoded = Decoded(to_preview(from_pixels(found.data.tobytes(), width, height, bands)), width, height)
    is_turned = (decoded.width < decoded.height) != (sizes.width < sizes.height)
    width, height = (sizes.height, sizes.width) if is_turned else (sizes.width, sizes.height)
    return replace(decoded, width=width, height=height)
