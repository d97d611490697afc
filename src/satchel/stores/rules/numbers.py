"""Numbers as DynamoDB keeps them: exact, up to 38 digits, with one form for each value."""

from decimal import Context, Decimal, Inexact, InvalidOperation

from satchel.kernel.errors import Invalid

MAX_DIGITS = 38
LARGEST_EXPONENT = 125
SMALLEST_EXPONENT = -130
LARGEST_NUMBER_BYTES = 22

# Every int between these has at most 38 digits, whatever they are.
_PLAIN_LIMIT = 10**MAX_DIGITS
# No int with more bits lies within the largest magnitude; asked first, because writing a huge int out is slow.
_LARGEST_BITS = (10 ** (LARGEST_EXPONENT + 1)).bit_length()
_ROUNDING_FORBIDDEN = Context(prec=MAX_DIGITS, traps=[Inexact, InvalidOperation])
# Wide enough to add any two numbers without loss: from 1E-167 (38 digits down from 1E-130) to 1E+126.
_WIDE = Context(prec=320, traps=[Inexact, InvalidOperation])


def canonical(value: int | Decimal) -> int | Decimal:
    """The same number as int when it is whole, else as Decimal without trailing zeros."""
    if type(value) is int and -_PLAIN_LIMIT < value < _PLAIN_LIMIT:
        return value
    if isinstance(value, int):
        if value.bit_length() > _LARGEST_BITS:
            raise _out_of_range()
        value = Decimal(value)
    if not value.is_finite():
        raise Invalid("NaN and Infinity cannot be stored. Send a finite number.")
    try:
        exact = value.normalize(_ROUNDING_FORBIDDEN)
    except Inexact:
        raise Invalid(f"A number can have at most {MAX_DIGITS} significant digits. Round it.") from None
    if not exact:
        return 0
    if not SMALLEST_EXPONENT <= exact.adjusted() <= LARGEST_EXPONENT:
        raise _out_of_range()
    return int(exact) if exact == exact.to_integral_value() else exact


def number_from(text: str) -> int | Decimal:
    """A number from its decimal writing, as on DynamoDB's wire."""
    try:
        return canonical(Decimal(text))
    except InvalidOperation:
        raise Invalid("This is not a number. Send decimal digits.") from None


def total(left: int | Decimal, right: int | Decimal) -> int | Decimal:
    if type(left) is int and type(right) is int:
        return canonical(left + right)
    return canonical(_WIDE.add(Decimal(left), Decimal(right)))


def number_bytes(value: int | Decimal) -> int:
    """What DynamoDB counts: a byte for each pair of digits around the point, one more, and one for a minus sign."""
    if not value:
        return 1
    exact = Decimal(value).normalize(_ROUNDING_FORBIDDEN)
    lowest = exact.as_tuple().exponent
    assert isinstance(lowest, int)
    return exact.adjusted() // 2 - lowest // 2 + 2 + (value < 0)


def _out_of_range() -> Invalid:
    return Invalid(
        f"A number has to lie between 1E{SMALLEST_EXPONENT} and 1E+{LARGEST_EXPONENT + 1} in magnitude, or be 0."
    )
