"""A download counts once every byte of a file went to somebody, however many answers that took.

What a whole answer sends is a download. What parts send is kept in a list for each person, for a while: the bytes that
went of each file and, where they became a download, a mark. Each part is added in one step with reading the list, so
of parts that end at once exactly one makes the download whole. A part that is added again, because a server died before
it was counted, has the same answer. The list is bounded; of too many parts the first are forgotten, and have to go
again.
"""

from collections.abc import Iterable
from datetime import timedelta

import msgspec

from satchel.kernel.coverage import Layers, Span, with_layered
from satchel.stores.ports.ephemeral import Ephemeral, Expire, ListPush, ListRange, ListTrim

MOST_PARTS = 128
KEPT_FOR = timedelta(hours=12)


class _Went(msgspec.Struct, frozen=True, array_like=True):
    """The bytes of a file that an answer has sent. Nothing went where earlier parts became a download by this one."""

    answer_id: str
    file_id: str
    start: int = 0
    end: int = 0


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(_Went).decode


async def downloads_made(
    ephemeral: Ephemeral, key: str, answer_id: str, file_id: str, span: Span, size_bytes: int
) -> int:
    """How many downloads of the file became whole by these bytes. `key` is the list of whoever got them."""
    if span == (0, size_bytes):
        return 1
    if span[0] >= span[1]:
        return 0
    *_, kept = await ephemeral.together(
        ListPush(key, _encode(_Went(answer_id, file_id, *span))),
        ListTrim(key, 0, MOST_PARTS - 1),
        Expire(key, KEPT_FOR),
        ListRange(key),
    )
    parts = [part for part in map(_decode, reversed(kept)) if part.file_id == file_id]
    if any(part.answer_id == answer_id and part.start == part.end for part in parts):
        return 1
    made = _made_by(answer_id, parts, size_bytes)
    if made:
        await ephemeral.together(ListPush(key, _encode(_Went(answer_id, file_id))), ListTrim(key, 0, MOST_PARTS - 1))
    return made


def _made_by(answer_id: str, parts: Iterable[_Went], size_bytes: int) -> int:
    """How many downloads became whole when the part of this answer was added first."""
    layers: Layers = []
    added: set[str] = set()
    for part in parts:
        if part.start == part.end:
            layers = []
        elif part.answer_id not in added:
            layers, whole = with_layered(layers, (part.start, part.end), size_bytes)
            if part.answer_id == answer_id:
                return whole
        added.add(part.answer_id)
    return 0
