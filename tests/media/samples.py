"""Files to make pictures of, made here with the libraries that read them."""

import io
import struct
import zlib
from functools import cache
from importlib import import_module
from typing import Any

# None of these has types.
vips: Any = import_module("pyvips")
pil: Any = import_module("PIL.Image")

RED, GREEN, BLUE, YELLOW = (200, 30, 30), (30, 160, 30), (30, 30, 200), (220, 210, 40)


def flag(width: int = 1200, height: int = 800) -> Any:
    """Four fields of one colour each: red and green above blue and yellow. Any turn and mirroring shows."""
    fields = [
        vips.Image.black(width // 2, height // 2, bands=3).linear(1, list(colour)).cast("uchar")
        for colour in (RED, GREEN, BLUE, YELLOW)
    ]
    return vips.Image.arrayjoin(fields, across=2).copy(interpretation="srgb")


@cache
def photo(number: int = 0, width: int = 4000, height: int = 3000, quality: int = 92) -> bytes:
    """A JPEG of 4 to 5 MB that compresses like a photo."""
    waves = (vips.Image.perlin(width, height, cell_size=300, seed=number) + 1) * 100
    grain = vips.Image.gaussnoise(width // 8, height // 8, sigma=40, mean=120, seed=number).resize(8)
    image = waves.bandjoin([grain, waves * 0.5 + 70]).cast("uchar").copy(interpretation="srgb")
    return bytes(image.jpegsave_buffer(Q=quality))


def jpeg(image: Any | None = None, **options: Any) -> bytes:
    return bytes((image or flag()).jpegsave_buffer(Q=95, **options))


def png(image: Any | None = None) -> bytes:
    return bytes((image or flag()).pngsave_buffer())


def turned(orientation: int) -> bytes:
    """A JPEG whose pixels lie so that it is the flag once it is turned as its orientation says."""
    image = flag()
    # The inverse of each: mirrored ones are their own, and the two quarter turns are each other's.
    inverse: dict[int, tuple[str, ...]] = {
        1: (),
        2: ("fliphor",),
        3: ("rot180",),
        4: ("flipver",),
        5: ("rot90", "fliphor"),
        6: ("rot270",),
        7: ("rot270", "fliphor"),
        8: ("rot90",),
    }
    for change in inverse[orientation]:
        image = getattr(image, change)()
    image = image.copy()
    image.set_type(vips.GValue.gint_type, "orientation", orientation)
    return jpeg(image)


def located() -> bytes:
    """A JPEG that says where it was taken, by whom, and with what."""
    exif = pil.Exif()
    exif[0x010F], exif[0x0110], exif[0x013B] = "Cameraworks", "Secretmodel 3000", "Ann Author"
    position = exif.get_ifd(0x8825)
    position[1], position[2], position[3], position[4] = "N", (48.0, 12.0, 30.0), "E", (11.0, 34.0, 10.0)
    written = io.BytesIO()
    pil.open(io.BytesIO(jpeg())).save(written, "JPEG", exif=exif, quality=95, comment=b"Secretmodel comment")
    return written.getvalue()


@cache
def taken(at: str, colour: int = 0) -> bytes:
    """A JPEG of the flag that says when it was taken, such as `2024:01:31 12:00:00`; another colour is other bytes."""
    exif = pil.Exif()
    exif.get_ifd(0x8769)[0x9003], exif.get_ifd(0x8769)[0x9011] = at, "+01:00"
    written = io.BytesIO()
    image = pil.open(io.BytesIO(jpeg()))
    image.putpixel((0, 0), (colour, 0, 0))
    image.save(written, "JPEG", exif=exif, quality=95)
    return written.getvalue()


def bomb(width: int = 50_000, height: int = 50_000) -> bytes:
    """A PNG of a few hundred kilobytes that would fill the memory."""
    rows = zlib.compressobj(9)
    body = b"".join(rows.compress(bytes(10_000_000)) for _ in range(20)) + rows.flush()
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"IDAT", body) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


@cache
def heic() -> bytes:
    heif: Any = import_module("pillow_heif")
    written = io.BytesIO()
    heif.from_pillow(pil.open(io.BytesIO(png()))).save(written, quality=90)
    return written.getvalue()


@cache
def pdf() -> bytes:
    written = io.BytesIO()
    pil.open(io.BytesIO(png())).save(written, "PDF", resolution=144)
    return written.getvalue()


@cache
def video(container: str = "mp4", codec: str = "libx264", frames: int = 30) -> bytes:
    """Black for the first three frames, then the flag; 25 frames a second."""
    av: Any = import_module("av")
    shown, written = pil.open(io.BytesIO(png(flag(640, 360)))), io.BytesIO()
    with av.open(written, "w", format=container) as output:
        stream = output.add_stream(codec, rate=25)
        stream.width, stream.height, stream.pix_fmt = 640, 360, "yuv420p"
        for number in range(frames):
            image = shown if number >= 3 else pil.new("RGB", (640, 360))
            output.mux(stream.encode(av.VideoFrame.from_image(image)))
        output.mux(stream.encode())
    return written.getvalue()


def corners(data: bytes) -> list[tuple[int, int, int]]:
    """The colours near the corners: above left and right, below left and right."""
    image = pil.open(io.BytesIO(data)).convert("RGB")
    right, low = image.width * 9 // 10, image.height * 9 // 10
    left, high = image.width // 10, image.height // 10
    return [image.getpixel(place) for place in ((left, high), (right, high), (left, low), (right, low))]


def is_flag(data: bytes, tolerance: int = 24) -> bool:
    found = zip(corners(data), (RED, GREEN, BLUE, YELLOW), strict=True)
    return all(abs(a - b) <= tolerance for one, other in found for a, b in zip(one, other, strict=True))


def matrix_profile() -> bytes:
    """An ICC profile with the primaries and the curve of Adobe RGB (1998), which browsers and cameras know."""

    def fixed(number: float) -> bytes:
        return struct.pack(">i", round(number * 65536))

    def place(*numbers: float) -> bytes:
        return b"XYZ \0\0\0\0" + b"".join(map(fixed, numbers))

    name = b"Wide colours"
    curve = b"curv\0\0\0\0" + struct.pack(">IH", 1, round(2.19921875 * 256)) + b"\0\0"
    tags = {
        b"desc": b"desc\0\0\0\0" + struct.pack(">I", len(name) + 1) + name + bytes(80),
        b"cprt": b"text\0\0\0\0none\0\0\0\0",
        b"wtpt": place(0.9642, 1.0, 0.8249),
        b"rXYZ": place(0.60974, 0.31111, 0.01947),
        b"gXYZ": place(0.20528, 0.62567, 0.06087),
        b"bXYZ": place(0.14919, 0.06322, 0.74457),
        b"rTRC": curve,
        b"gTRC": curve,
        b"bTRC": curve,
    }
    offset = 128 + 4 + 12 * len(tags)
    table, body = struct.pack(">I", len(tags)), b""
    for tag, content in tags.items():
        padded = content + bytes(-len(content) % 4)
        table += tag + struct.pack(">II", offset + len(body), len(content))
        body += padded
    header = struct.pack(">I4sI4s4s4s", offset + len(body), b"none", 0x02100000, b"mntr", b"RGB ", b"XYZ ")
    header += bytes(12) + b"acsp" + bytes(28) + fixed(0.9642) + fixed(1.0) + fixed(0.8249)
    return header + bytes(128 - len(header)) + table + body
