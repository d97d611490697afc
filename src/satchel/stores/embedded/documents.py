"""Items as MessagePack that keeps every type: large numbers, fractions and sets come back as what they were."""

from decimal import Decimal
from typing import Any, cast

import msgspec
from msgspec.msgpack import Ext

from satchel.stores.ports.table import Item
from satchel.stores.rules import number_from

# Marks of what MessagePack has no type for. They stand in the files of every installation, so they never change.
_NUMBER, _TEXT_SET, _NUMBER_SET, _BYTES_SET = 1, 2, 3, 4
# What MessagePack keeps as it is, except ints that need more than 64 bits.
_PLAIN = frozenset[type]({str, int, bool, type(None), bytes})
_SMALLEST_PLAIN, _LARGEST_PLAIN = -(2**63), 2**64 - 1

_encode = msgspec.msgpack.Encoder().encode
_decode_texts = msgspec.msgpack.Decoder(list[str]).decode
_decode_binaries = msgspec.msgpack.Decoder(list[bytes]).decode


def encode(item: Item) -> bytes:
    """A normalised item as bytes."""
    for value in item.values():
        if type(value) not in _PLAIN:
            return _encode(marked(item))
    try:
        return _encode(item)
    except OverflowError:
        return _encode(marked(item))


def marked(value: Any) -> Any:
    """The same value, with what MessagePack would change put into marked bytes; equal values give equal bytes."""
    match value:
        case dict():
            return {name: marked(inner) for name, inner in cast("Item", value).items()}
        case list():
            return [marked(inner) for inner in cast("list[Any]", value)]
        case frozenset():
            return _marked_set(sorted(cast("frozenset[Any]", value)))
        case Decimal():
            return Ext(_NUMBER, str(value).encode())
        case int() if not _SMALLEST_PLAIN <= value <= _LARGEST_PLAIN:
            return Ext(_NUMBER, str(value).encode())
        case _:
            return value


def _marked_set(members: list[Any]) -> Ext:
    if isinstance(members[0], str):
        return Ext(_TEXT_SET, _encode(members))
    if isinstance(members[0], bytes):
        return Ext(_BYTES_SET, _encode(members))
    return Ext(_NUMBER_SET, _encode([str(member) for member in members]))


def _restored(mark: int, content: memoryview) -> Any:
    if mark == _NUMBER:
        return number_from(bytes(content).decode())
    if mark == _TEXT_SET:
        return frozenset(_decode_texts(content))
    if mark == _NUMBER_SET:
        return frozenset(map(number_from, _decode_texts(content)))
    return frozenset(_decode_binaries(content))


_decoder: msgspec.msgpack.Decoder[Item] = msgspec.msgpack.Decoder(ext_hook=_restored)
decode = _decoder.decode
