"""The first page of a PDF, by PDFium."""

from importlib import import_module
from typing import Any, BinaryIO

from satchel.media.decoders.decoded import PREVIEW_EDGE, Decoded, Undecodable, mapped
from satchel.media.decoders.file_signatures import FileKind
from satchel.media.decoders.vips_library import from_pixels, packed

_pdfium: Any = import_module("pypdfium2")

_MOST_ENLARGED = 8


def decode(file: BinaryIO, size_bytes: int, kind: FileKind) -> Decoded:
    del kind
    document = _pdfium.PdfDocument(bytes(mapped(file, size_bytes)))
    try:
        if len(document) == 0:
            raise Undecodable("the document has no page")
        page = document[0]
        width, height = page.get_size()
        if not (width > 0 and height > 0):
            raise Undecodable("the page has no size")
        scale = min(PREVIEW_EDGE / max(width, height), _MOST_ENLARGED)
        bitmap = page.render(scale=scale, rev_byteorder=True, prefer_bgrx=False, may_draw_forms=False)
        bands = bitmap.n_channels
        pixels = packed(memoryview(bitmap.buffer).cast("B"), bitmap.width, bitmap.height, bands, bitmap.stride)
        image = from_pixels(pixels, bitmap.width, bitmap.height, bands)
        return Decoded(image, bitmap.width, bitmap.height)
    finally:
        document.close()
