"""Key values as bytes that compare as DynamoDB orders them, so that an index of bytes answers range queries.

Text is its UTF-8, bytes are themselves. A number is a sign, an exponent and its digits; those of a negative number are
inverted and closed by the largest byte, so that more of them means less.
"""

from decimal import Decimal

from satchel.stores.ports.table import KeyKind, KeyValue
from satchel.stores.rules import canonical

_NEGATIVE, _ZERO, _POSITIVE = b"\x00", b"\x01", b"\x02"
_EXPONENT_OFFSET = 256
_INVERTED = bytes(range(255, -1, -1))
_END_OF_NEGATIVE = b"\xff"


def ordered(value: KeyValue) -> bytes:
    if isinstance(value, str):
        return value.encode()
    return value if isinstance(value, bytes) else _ordered_number(value)


def restored(kind: KeyKind, encoded: bytes) -> KeyValue:
    """The value that `ordered` was given."""
    match kind:
        case KeyKind.TEXT:
            return encoded.decode()
        case KeyKind.BYTES:
            return encoded
        case KeyKind.NUMBER:
            return _restored_number(encoded)


def after_prefix(prefix: bytes) -> bytes | None:
    """The least bytes greater than all that start with the prefix; None if there are none."""
    shortened = prefix.rstrip(b"\xff")
    return shortened[:-1] + bytes([shortened[-1] + 1]) if shortened else None


def _ordered_number(value: int | Decimal) -> bytes:
    if not value:
        return _ZERO
    number = Decimal(value)
    digits = "".join(map(str, number.as_tuple().digits)).rstrip("0")
    magnitude = (number.adjusted() + _EXPONENT_OFFSET).to_bytes(2, "big") + digits.encode()
    if value > 0:
        return _POSITIVE + magnitude
    return _NEGATIVE + magnitude.translate(_INVERTED) + _END_OF_NEGATIVE


def _restored_number(encoded: bytes) -> int | Decimal:
    if encoded == _ZERO:
        return 0
    negative = encoded[:1] == _NEGATIVE
    magnitude = encoded[1:-1].translate(_INVERTED) if negative else encoded[1:]
    digits = tuple(int(digit) for digit in magnitude[2:].decode())
    exponent = int.from_bytes(magnitude[:2], "big") - _EXPONENT_OFFSET - len(digits) + 1
    return canonical(Decimal((int(negative), digits, exponent)))
