"""The messages between the server and the process that decodes files and reads their metadata."""

import struct
from typing import BinaryIO, Literal

import msgspec

from satchel.media.metadata.media_facts import MediaFacts
from satchel.media.metadata_job import MetadataJob
from satchel.media.redaction.redaction import Redaction
from satchel.media.score_jobs import ScoreAnswer, ScoreJob

State = Literal["ready", "failed", "unsupported"]

_LENGTH = struct.Struct(">I")


class Job(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What to make of a file: its picture, its metadata, what others get of it; or pages of sheet music.

    The open file comes with the message; it may be longer than the source.
    """

    name: str
    size_bytes: int
    picture: bool = False
    metadata: MetadataJob | None = None
    redaction: bool = False
    score: ScoreJob | None = None


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


class Answer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was asked for. A job about sheet music has several answers, the last of which ends it."""

    made: Made | None = None
    facts: MediaFacts | None = None
    redaction: Redaction | None = None
    score: ScoreAnswer | None = None


encode = msgspec.msgpack.Encoder().encode
decode_job = msgspec.msgpack.Decoder(Job).decode
decode_answer = msgspec.msgpack.Decoder(Answer).decode

HEAD_BYTES = _LENGTH.size
MAX_JOB_BYTES = 64 * 1024
# What the process says once it has started.
READY = b"\x01"


def length_of(head: bytes) -> int:
    (length,) = _LENGTH.unpack(head)
    return length


def write_frame(stream: BinaryIO, answer: Answer) -> None:
    body = encode(answer)
    stream.write(_LENGTH.pack(len(body)) + body)
    stream.flush()
