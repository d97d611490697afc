"""PDFs of a few bytes that unpack to gigabytes, or that take for ever to draw."""

import zlib
from collections.abc import Sequence

_MEGABYTE = 1 << 20
# More than the process may have.
_MEGABYTES = 4096
_PAGE = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 420 595]/Contents 4 0 R/Resources<<%s>>>>"


def packed(begin: bytes, piece: bytes, times: int) -> bytes:
    """One beginning, and the same piece over and over. The second and the third piece are packed alike."""
    packer = zlib.compressobj(9)
    first = packer.compress(begin + piece) + packer.flush(zlib.Z_FULL_FLUSH)
    again = packer.compress(piece) + packer.flush(zlib.Z_FULL_FLUSH)
    return first + again * (times - 1) + packer.flush()


def document(objects: Sequence[bytes]) -> bytes:
    out, places = bytearray(b"%PDF-1.5\n"), list[int]()
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)
    return bytes(out)


def stream(attributes: bytes, body: bytes) -> bytes:
    return b"<<%s/Length %d>>stream\n%s\nendstream" % (attributes, len(body), body)


def one_page(contents: bytes, resources: bytes = b"", *more: bytes) -> bytes:
    tree = [b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Count 1/Kids[3 0 R]>>"]
    return document([*tree, _PAGE % resources, contents, *more])


def content_bomb() -> bytes:
    """The drawing of the page is packed twice: ten kilobytes that are four gigabytes."""
    twice = zlib.compress(packed(b"", b" " * _MEGABYTE, _MEGABYTES), 9)
    return one_page(stream(b"/Filter[/FlateDecode/FlateDecode]", twice))


def form_bomb() -> bytes:
    """Drawings in drawings, ten in each, twelve deep."""
    forms = [
        stream(
            b"/Type/XObject/Subtype/Form/BBox[0 0 420 595]/Resources<</XObject<</F %d 0 R>>>>" % (depth + 6),
            b"/F Do " * 10,
        )
        for depth in range(11)
    ]
    last = stream(b"/Type/XObject/Subtype/Form/BBox[0 0 420 595]", b"0 0 9 9 re f")
    return one_page(stream(b"", b"/F Do"), b"/XObject<</F 5 0 R>>", *forms, last)


def object_bomb() -> bytes:
    """The catalogue and the page are in a stream of objects, with four gigabytes of nothing behind them."""
    bodies = (b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Count 1/Kids[3 0 R]>>", _PAGE % b"")
    head = b"".join(b"%d %d " % (number, number * 100 - 100) for number in (1, 2, 3))
    begin = head + b"".join(body.ljust(100) for body in bodies)
    out = bytearray(b"%PDF-1.5\n")
    attributes = b"/Type/ObjStm/N 3/First %d/Filter/FlateDecode" % len(head)
    out += b"4 0 obj\n%s\nendobj\n" % stream(attributes, packed(begin, b" " * _MEGABYTE, _MEGABYTES))
    start = len(out)
    entries = ((0, 0, 255), (2, 4, 0), (2, 4, 1), (2, 4, 2), (1, 9, 0), (1, start, 0))
    rows = b"".join(bytes([kind, *at.to_bytes(4), place]) for kind, at, place in entries)
    table = stream(b"/Type/XRef/Size 6/W[1 4 1]/Root 1 0 R", rows)
    return bytes(out + b"5 0 obj\n%s\nendobj\nstartxref\n%d\n%%%%EOF\n" % (table, start))


def image_bomb(edge: int = 40_000) -> bytes:
    """A page with an image of so many pixels a side, all black."""
    attributes = b"/Type/XObject/Subtype/Image/Width %d/Height %d/BitsPerComponent 8/ColorSpace/DeviceRGB" % (
        edge,
        edge,
    )
    image = stream(attributes + b"/Filter/FlateDecode", packed(b"", bytes(_MEGABYTE), _MEGABYTES))
    return one_page(stream(b"", b"420 0 0 595 0 0 cm /I Do"), b"/XObject<</I 5 0 R>>", image)


def huge_page() -> bytes:
    return one_page(stream(b"", b"0 0 1 1 re f")).replace(b"[0 0 420 595]", b"[0 0 1e9 1e9]")


def slow_page() -> bytes:
    """A page that is filled with a pattern of ten thousand tiles a point."""
    attributes = b"/Type/Pattern/PatternType 1/PaintType 1/TilingType 1/BBox[0 0 .01 .01]/XStep .001/YStep .001"
    pattern = stream(attributes + b"/Resources<<>>", b"0 0 .005 .005 re f")
    return one_page(stream(b"", b"/Pattern cs /P scn 0 0 420 595 re f"), b"/Pattern<</P 5 0 R>>", pattern)
