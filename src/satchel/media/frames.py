"""The messages between the server and the process that decodes."""

import struct
from typing import BinaryIO, Literal

import msgspec

State = Literal["ready", "failed", "unsupported"]

_LENGTH = struct.Struct(">I")


class Job(msgspec.Struct, frozen=True, array_like=True):
    """What to decode. The open file comes with the message; it may be longer than the source."""

    name: str
    size_bytes: int


class Made(msgspec.Struct, frozen=True, kw_only=True):
    """What was made of a source, or why nothing was. `width` and `height` are those of the upright original."""

    state: State
    reason: str = ""
    width: int = 0
    height: int = 0
    thumbhash: bytes = b""
    # 64 bits that are alike for pictures that look alike.
    dhash: bytes = b""
    duration_ms: int = 0
    grid: bytes = b""
    preview: bytes = b""


encode = msgspec.msgpack.Encoder().encode
decode_job = msgspec.msgpack.Decoder(Job).decode
decode_made = msgspec.msgpack.Decoder(Made).decode

HEAD_BYTES = _LENGTH.size


def length_of(head: bytes) -> int:
    (length,) = _LENGTH.unpack(head)
    return length


def write_frame(stream: BinaryIO, made: Made) -> None:
    body = encode(made)
    stream.write(_LENGTH.pack(len(body)) + body)
    stream.flush()
