"""The zip format as a stream: entries are not compressed, size and CRC follow them, Zip64 where 32 bits are too few.

PKWARE's APPNOTE 6.3 is the format. Only the list of entries at the end is kept in memory, some hundred bytes for each.
"""

import struct
import zlib
from dataclasses import dataclass
from datetime import UTC, datetime

_LIMIT_32 = 0xFFFFFFFF
_LIMIT_16 = 0xFFFF
_ZIP64_EXTRA = 0x0001
# UTF-8 names, and size and CRC in a descriptor behind the bytes.
_FLAGS = 0x0800 | 0x0008
_VERSION, _VERSION_ZIP64 = 20, 45
_MADE_ON_UNIX = 3 << 8
_FILE_MODE, _PROGRAM_MODE, _FOLDER_MODE = 0o100644 << 16, 0o100755 << 16, (0o040755 << 16) | 0x10
# Info-ZIP's extended timestamp: seconds since 1970, in which no zone is lost.
_TIME_EXTRA = 0x5455
_HAS_MODIFIED = 1
_FIRST, _LAST = datetime(1980, 1, 1, tzinfo=UTC), datetime(2107, 12, 31, 23, 59, 58, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class _Written:
    """An entry that was sent, as the central directory lists it."""

    name: bytes
    moment: int
    stamp: bytes
    mode: int
    crc: int
    size_bytes: int
    offset: int


class ZipWriter:
    """Makes the bytes around the entries. The caller sends them, with the bytes of the entries in between."""

    def __init__(self) -> None:
        self._offset = 0
        self._entries: list[_Written] = []
        self._open: tuple[bytes, int, bytes, int, int] | None = None
        self._crc = self._size = 0
        self._is_large = False

    def begin(self, name: str, modified: float, *, size_bytes: int = 0, executable: bool = False) -> bytes:
        """The header of an entry. A name that ends with `/` is a folder."""
        encoded = name.encode()
        moment, stamp = _dos_time(modified), _stamp(modified)
        mode = _FOLDER_MODE if name.endswith("/") else _PROGRAM_MODE if executable else _FILE_MODE
        self._open = (encoded, moment, stamp, mode, self._offset)
        self._crc = self._size = 0
        self._is_large = size_bytes >= _LIMIT_32
        size = _LIMIT_32 if self._is_large else 0
        extra = stamp + (struct.pack("<HHQQ", _ZIP64_EXTRA, 16, 0, 0) if self._is_large else b"")
        version = _VERSION_ZIP64 if self._is_large else _VERSION
        header = struct.pack(
            "<4sHHHIIIIHH", b"PK\3\4", version, _FLAGS, 0, moment, 0, size, size, len(encoded), len(extra)
        )
        return self._sent(header + encoded + extra)

    def count(self, piece: bytes) -> bytes:
        """Count a piece of the entry's own bytes, which is sent as it is."""
        self._crc = zlib.crc32(piece, self._crc)
        self._size += len(piece)
        return self._sent(piece)

    def end(self) -> bytes:
        """The descriptor behind the bytes of an entry."""
        if self._open is None or (self._size >= _LIMIT_32) > self._is_large:
            raise RuntimeError("an entry has to be begun, with its size if that is large")
        name, moment, stamp, mode, offset = self._open
        self._open = None
        self._entries.append(_Written(name, moment, stamp, mode, self._crc, self._size, offset))
        sizes = "QQ" if self._is_large else "II"
        return self._sent(struct.pack(f"<4sI{sizes}", b"PK\7\x08", self._crc, self._size, self._size))

    def finish(self) -> list[bytes]:
        """The central directory and the end record, in pieces."""
        start = self._offset
        pieces = [self._sent(_listed(entry)) for entry in self._entries]
        size, count = self._offset - start, len(self._entries)
        if count >= _LIMIT_16 or size >= _LIMIT_32 or start >= _LIMIT_32:
            pieces.append(
                struct.pack(
                    "<4sQHHIIQQQQ",
                    *(b"PK\6\6", 44, _VERSION_ZIP64 | _MADE_ON_UNIX, _VERSION_ZIP64, 0, 0, count, count, size, start),
                )
            )
            pieces.append(struct.pack("<4sIQI", b"PK\6\7", 0, start + size, 1))
        shown = min(count, _LIMIT_16)
        pieces.append(
            struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, shown, shown, min(size, _LIMIT_32), min(start, _LIMIT_32), 0)
        )
        return pieces

    def _sent(self, piece: bytes) -> bytes:
        self._offset += len(piece)
        return piece


def _listed(entry: _Written) -> bytes:
    large = [value for value in (entry.size_bytes, entry.size_bytes, entry.offset) if value >= _LIMIT_32]
    zip64 = struct.pack(f"<HH{len(large)}Q", _ZIP64_EXTRA, 8 * len(large), *large) if large else b""
    extra = entry.stamp + zip64
    version = _VERSION_ZIP64 if large else _VERSION
    size, offset = min(entry.size_bytes, _LIMIT_32), min(entry.offset, _LIMIT_32)
    numbers = (version | _MADE_ON_UNIX, version, _FLAGS, 0, entry.moment, entry.crc, size, size)
    lengths = (len(entry.name), len(extra), 0, 0, 0)
    return struct.pack("<4sHHHHIIIIHHHHHII", b"PK\1\2", *numbers, *lengths, entry.mode, offset) + entry.name + extra


def _stamp(moment: float) -> bytes:
    """Nothing for times that 32 bits cannot say."""
    seconds = int(moment // 1)
    is_sayable = -(2**31) <= seconds < 2**31
    return struct.pack("<HHBi", _TIME_EXTRA, 5, _HAS_MODIFIED, seconds) if is_sayable else b""


def _dos_time(moment: float) -> int:
    """A time as zip stores it: two seconds exact, or the nearest. In UTC, since the reader's zone is unknown."""
    at = min(max(datetime.fromtimestamp(moment, UTC), _FIRST), _LAST)
    date = (at.year - 1980) << 9 | at.month << 5 | at.day
    return date << 16 | at.hour << 11 | at.minute << 5 | at.second // 2
