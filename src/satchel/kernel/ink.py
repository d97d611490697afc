"""The text form of a pen's stroke: points as differences, in letters that fit an annotation.

Each point is x, y and pressure. Each number is the difference to the point before, zigzag, as base 32 digits, the low
ones first; a digit that is not the last has 32 added. So a common stroke has about 60 characters.
"""

from collections.abc import Iterable, Iterator

Point = tuple[int, int, int]

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
_VALUES = {letter: value for value, letter in enumerate(_LETTERS)}
_MORE = 32
_MOST_DIGITS = 5


class BadStroke(ValueError):
    """The text is no stroke."""


def encode(points: Iterable[Point]) -> str:
    found: list[str] = []
    before: Point = (0, 0, 0)
    for point in points:
        for new, old in zip(point, before, strict=True):
            found.append(_digits(new - old))
        before = point
    return "".join(found)


def decode(text: str) -> list[Point]:
    """Raises `BadStroke` if this is no stroke."""
    numbers = list(_numbers(text))
    if len(numbers) % 3:
        raise BadStroke("A point has an x, a y and a pressure.")
    points: list[Point] = []
    x = y = pressure = 0
    for start in range(0, len(numbers), 3):
        x, y, pressure = x + numbers[start], y + numbers[start + 1], pressure + numbers[start + 2]
        points.append((x, y, pressure))
    return points


def _digits(number: int) -> str:
    left = number << 1 if number >= 0 else (-number << 1) - 1
    letters = ""
    while left >= _MORE:
        letters += _LETTERS[left % _MORE + _MORE]
        left //= _MORE
    return letters + _LETTERS[left]


def _numbers(text: str) -> Iterator[int]:
    value = digits = 0
    for letter in text:
        digit = _VALUES.get(letter)
        if digit is None or digits == _MOST_DIGITS:
            raise BadStroke("A stroke has letters, digits, - and _ only.")
        value += (digit % _MORE) << (5 * digits)
        digits += 1
        if digit < _MORE:
            yield value >> 1 if value % 2 == 0 else -((value + 1) >> 1)
            value = digits = 0
    if digits:
        raise BadStroke("The last number of the stroke is cut off.")
