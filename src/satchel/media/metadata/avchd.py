"""Reads what camcorders write into the pictures of AVCHD, a transport stream: the date, and whether a place."""

from datetime import timedelta

from satchel.media.metadata.byte_window import ByteWindow
from satchel.media.metadata.date_text import wall_time
from satchel.media.metadata.movie_atoms import MovieHead

MARK = bytes.fromhex("17ee8c60f84d11d98cd60800200c9a66") + b"MDPM"
PACKET_BYTES, _SYNC = 188, 0x47
# A packet of a disc has the time of its arrival before it.
_STAMPED = 4 + PACKET_BYTES
_HEAD_BYTES = 256 * 1024
_MOST_TAGS = 64
_TAG = 5
_YEAR_AND_MONTH, _DAY_AND_TIME = 0x18, 0x19
_PLACES = range(0xB0, 0xCB)


def is_stream(head: bytes) -> bool:
    """By the first bytes of three packets."""
    return any(head[start::length][:3] == bytes([_SYNC]) * 3 for start, length in ((0, PACKET_BYTES), (4, _STAMPED)))


def read_avchd(window: ByteWindow) -> MovieHead:
    tags = tags_in(window.at(0, _HEAD_BYTES))
    return MovieHead(created=_created(tags.get(_YEAR_AND_MONTH, b""), tags.get(_DAY_AND_TIME, b"")))


def has_place(data: bytes) -> bool:
    """Whether packets, from the beginning of one on, say where they were taken."""
    return any(tag in _PLACES for tag in tags_in(data))


def tags_in(data: bytes) -> dict[int, bytes]:
    """What the first picture says that says anything."""
    found: dict[int, bytes] = {}
    for stream in _streams(data).values():
        at = stream.find(MARK)
        if at < 0:
            continue
        # As H.264 writes it: no two zeros stand before a small number.
        written = bytes(stream[at + len(MARK) : at + len(MARK) + 2 * _TAG * _MOST_TAGS]).replace(b"\0\0\3", b"\0\0")
        for number in range(min(written[0] if written else 0, _MOST_TAGS)):
            tag = written[1 + number * _TAG :][:_TAG]
            if len(tag) == _TAG:
                found.setdefault(tag[0], tag[1:])
    return found


def _streams(data: bytes) -> dict[int, bytearray]:
    """The contents of packets, put together by their streams."""
    length = PACKET_BYTES if data[:1] == bytes([_SYNC]) else _STAMPED
    streams: dict[int, bytearray] = {}
    for start in range(length - PACKET_BYTES, len(data) - PACKET_BYTES + 1, length):
        packet = data[start : start + PACKET_BYTES]
        if packet[0] != _SYNC:
            break
        begin = 5 + packet[4] if packet[3] & 0x20 else 4
        if packet[3] & 0x10:
            streams.setdefault(int.from_bytes(packet[1:3], "big") & 0x1FFF, bytearray()).extend(packet[begin:])
    return streams


def _created(first: bytes, second: bytes) -> str:
    """Digits stand in halves of bytes. The zone is in half hours, with its sign and whether summer time is in it."""
    digits = first[1:].hex() + second.hex()
    if len(first) != 4 or len(second) != 4 or not digits.isdigit():
        return ""
    numbers = [int(digits[:4]), *(int(digits[at : at + 2]) for at in range(4, len(digits), 2))]
    local = wall_time(*numbers)
    if local is None:
        return ""
    offset = timedelta(minutes=30 * (first[0] & 0x1F))
    hours, minutes = divmod(round(offset.total_seconds() / 60), 60)
    return f"{local.isoformat()}{'-' if first[0] & 0x20 else '+'}{hours:02}:{minutes:02}"
