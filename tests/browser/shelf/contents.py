"""Small files that a browser can show."""

import struct
import zlib


def picture() -> bytes:
    """A PNG of 20 × 20 points."""
    lines = b"".join(b"\0" + bytes([20 * line % 256, 120, 200]) * 20 for line in range(20))

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    size = struct.pack(">IIBBBBB", 20, 20, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", size) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")


def sound() -> bytes:
    """A second of silence as WAV."""
    samples = b"\0" * 16000
    form = struct.pack("<IHHIIHH", 16, 1, 1, 8000, 16000, 2, 16)
    return (
        b"RIFF"
        + struct.pack("<I", 36 + len(samples))
        + b"WAVEfmt "
        + form
        + b"data"
        + struct.pack("<I", len(samples))
        + samples
    )


def pdf() -> bytes:
    """An empty page."""
    written, places = b"%PDF-1.4\n", list[int]()
    for number, content in enumerate(
        (
            b"<</Type/Catalog/Pages 2 0 R>>",
            b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]>>",
        ),
        start=1,
    ):
        places.append(len(written))
        written += b"%d 0 obj%bendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = b"xref\n0 4\n0000000000 65535 f \n%btrailer<</Size 4/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n"
    return written + end % (table, len(written))
