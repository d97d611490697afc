"""Images as PDF has them. JPEGs and plain PNGs pass through without being decoded."""

import struct
from typing import Any

from satchel.media.decoders.decoded import Undecodable, check_pixels
from satchel.media.decoders.pdf_export.pdf_writer import PdfWriter
from satchel.media.decoders.vips_library import vips

_PNG_START = 8
_SPACES = {1: "DeviceGray", 3: "DeviceRGB"}


def add_image(writer: PdfWriter, data: bytes) -> tuple[int, int, int]:
    """The number of the image's object, its width and height."""
    header = vips.Image.new_from_buffer(data, "")
    check_pixels(header.width, header.height)
    turned = header.get("orientation") if header.get_typeof("orientation") else 1
    if data.startswith(b"\xff\xd8") and turned in (0, 1) and header.bands in _SPACES:
        return _add(writer, header, header.bands, 8, data, "/Filter/DCTDecode")
    if data.startswith(b"\x89PNG") and (plain := _plain_png(data)) is not None:
        bits, bands, packed = plain
        rows = f"/Predictor 15/Colors {bands}/BitsPerComponent {bits}/Columns {header.width}"
        return _add(writer, header, bands, bits, packed, f"/Filter/FlateDecode/DecodeParms<<{rows}>>")
    image = header.autorot()
    if image.hasalpha():
        image = image.flatten(background=255)
    image = image.colourspace("srgb" if image.bands >= 3 else "b-w").cast("uchar").copy_memory()
    return _add(writer, image, image.bands, 8, bytes(image.write_to_memory()), "")


def _add(writer: PdfWriter, image: Any, bands: int, bits: int, data: bytes, how: str) -> tuple[int, int, int]:
    fields = (
        f"/Type/XObject/Subtype/Image/Width {image.width}/Height {image.height}"
        f"/ColorSpace/{_SPACES[bands]}/BitsPerComponent {bits}{how}"
    )
    return writer.add_stream(fields, data, packed=bool(how)), image.width, image.height


def _plain_png(data: bytes) -> tuple[int, int, bytes] | None:
    """Bits, bands and packed rows of a PNG that PDF reads as well: grey or RGB, neither transparent nor interlaced."""
    packed: list[bytes] = []
    place, bits, bands = _PNG_START, 0, 0
    while place + 12 <= len(data):
        (length,) = struct.unpack_from(">I", data, place)
        name, body = data[place + 4 : place + 8], data[place + 8 : place + 8 + length]
        if name == b"IHDR":
            _, _, bits, colour, _, _, interlaced = struct.unpack(">IIBBBBB", body)
            if colour not in (0, 2) or interlaced or bits == 16:
                return None
            bands = 1 if colour == 0 else 3
        elif name == b"tRNS":
            return None
        elif name == b"IDAT":
            packed.append(body)
        elif name == b"IEND":
            return (bits, bands, b"".join(packed)) if packed and bands else None
        place += 12 + length
    raise Undecodable("the PNG breaks off")
