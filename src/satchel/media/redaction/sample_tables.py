"""Where the samples of a track of a video are, as its tables say."""

import struct
from collections.abc import Iterator, Mapping

from satchel.media.metadata.boxes import Box
from satchel.media.redaction.original import Original, Unclear

_MOST_SAMPLES = 5_000_000


def sample_places(original: Original, tables: Mapping[bytes, Box]) -> Iterator[tuple[int, int]]:
    """The offset and the length of each chunk. The samples of a chunk stand side by side."""
    sizes, chunks, runs = tables.get(b"stsz"), _chunks(original, tables), tables.get(b"stsc")
    if not chunks:
        return
    if sizes is None or runs is None:
        raise Unclear
    same, count = struct.unpack(">II", original.at(sizes.start + 4, 8))
    if count > _MOST_SAMPLES:
        raise Unclear
    lengths = (same,) * count if same else _numbers(original, sizes.start + 12, count)
    groups = struct.iter_unpack(">III", original.at(runs.start + 8, 12 * original.number(runs.start + 4, 4)))
    per_chunk = {first: samples for first, samples, _ in groups}
    samples, at = 0, 0
    for number, offset in enumerate(chunks, 1):
        samples = per_chunk.get(number, samples)
        yield offset, sum(lengths[at : at + samples])
        at += samples
    if at < count:
        raise Unclear


def _chunks(original: Original, tables: Mapping[bytes, Box]) -> tuple[int, ...]:
    wide = tables.get(b"co64")
    box = wide or tables.get(b"stco")
    if box is None:
        return ()
    return _numbers(original, box.start + 8, original.number(box.start + 4, 4), "Q" if wide else "I")


def _numbers(original: Original, start: int, count: int, letter: str = "I") -> tuple[int, ...]:
    if count > _MOST_SAMPLES:
        raise Unclear
    return struct.unpack(f">{count}{letter}", original.at(start, count * struct.calcsize(letter)))
