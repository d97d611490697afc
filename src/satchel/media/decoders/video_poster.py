"""The poster of a video: a frame from near its beginning, by PyAV.

The format is named by the first bytes, never probed: formats that are lists of other addresses cannot be opened.
"""

import io
from importlib import import_module
from typing import Any, BinaryIO, cast

from satchel.media.decoders.decoded import PREVIEW_EDGE, Decoded, Undecodable, check_pixels
from satchel.media.decoders.file_signatures import FileKind
from satchel.media.decoders.vips_library import from_pixels, packed

_av: Any = import_module("av")
_av.logging.set_level(_av.logging.PANIC)

# Many videos begin with black. A second later, or after a tenth of a short one, something is seen.
_LATER_SECONDS = 1.0
_PART = 0.1
_MOST_FRAMES = 300
# FFmpeg counts degrees against the clock; Exif says how to turn with it.
_ORIENTATIONS = {90: 8, 180: 3, 270: 6}


class _Bounded(io.RawIOBase):
    """The bytes of the source, without what may follow them in the file. A large video is not mapped into memory."""

    def __init__(self, file: BinaryIO, size_bytes: int) -> None:
        self._file, self._size, self._place = file, size_bytes, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        self._place = max(0, offset + (0, self._place, self._size)[whence])
        return self._place

    def tell(self) -> int:
        return self._place

    def read(self, size: int = -1) -> bytes:
        left = max(0, self._size - self._place)
        self._file.seek(self._place)
        piece = self._file.read(left if size < 0 else min(size, left))
        self._place += len(piece)
        return piece


def decode(file: BinaryIO, size_bytes: int, kind: FileKind) -> Decoded:
    with _av.open(_Bounded(file, size_bytes), format=kind, metadata_errors="replace") as container:
        if not container.streams.video:
            raise Undecodable("there is sound, but no video")
        stream = container.streams.video[0]
        check_pixels(stream.codec_context.width, stream.codec_context.height)
        stream.thread_type = "NONE"
        seconds = (container.duration or 0) / _av.time_base
        frame = _frame(container, stream, min(_LATER_SECONDS, seconds * _PART))
        check_pixels(frame.width, frame.height)
        rotation = cast("int", frame.rotation) % 360
        scale = min(1, PREVIEW_EDGE / max(frame.width, frame.height))
        width, height = max(1, round(frame.width * scale)), max(1, round(frame.height * scale))
        small = frame.reformat(width=width, height=height, format="rgb24")
        plane = small.planes[0]
        image = from_pixels(packed(memoryview(plane), width, height, 3, plane.line_size), width, height, 3)
        original = (frame.width, frame.height)
    if rotation in (90, 270):
        original = original[::-1]
    orientation = _ORIENTATIONS.get(rotation, 1)
    return Decoded(image, *original, orientation=orientation, duration_ms=round(seconds * 1000))


def _frame(container: Any, stream: Any, at: float) -> Any:
    """The first frame at that time, or else the last one before it that could be decoded."""
    found, began = None, None
    try:
        for number, frame in enumerate(container.decode(stream)):
            found = frame
            # Some containers do not begin to count at zero.
            began = (frame.time or 0) if began is None else began
            if (frame.time or 0) - began >= at or number >= _MOST_FRAMES:
                break
    except _av.FFmpegError as error:
        if found is None:
            raise Undecodable(str(error)) from error
    if found is None:
        raise Undecodable("no frame could be decoded")
    return found
