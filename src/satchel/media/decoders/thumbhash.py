"""The placeholder of a picture in about 25 bytes, in the format of ThumbHash (github.com/evanw/thumbhash).

A few terms of a cosine transform: brightness with up to 7 x 7 of them, two differences of colour, and alpha if there
is any. The browser has the inverse, in `web/src/lib/files/thumbhash.ts`.
"""

import math
from collections.abc import Sequence

MAX_EDGE = 100
_OPAQUE = 255


def thumbhash(width: int, height: int, rgba: bytes) -> bytes:
    """Of an image of at most 100 x 100 pixels, with 4 bytes each."""
    if not (0 < width <= MAX_EDGE and 0 < height <= MAX_EDGE and len(rgba) == width * height * 4):
        raise ValueError("a placeholder is made of at most 100 x 100 pixels")
    luminance, yellow_blue, red_green, alpha = _channels(rgba)
    has_alpha = min(alpha) < 1
    most = 5 if has_alpha else 7
    longer = max(width, height)
    columns, rows = max(1, _round(most * width / longer)), max(1, _round(most * height / longer))
    light = _Channel(luminance, width, height, max(3, columns), max(3, rows))
    yellow = _Channel(yellow_blue, width, height, 3, 3)
    red = _Channel(red_green, width, height, 3, 3)
    is_landscape = width > height
    first = (
        _round(63 * light.constant)
        | _round(31.5 + 31.5 * yellow.constant) << 6
        | _round(31.5 + 31.5 * red.constant) << 12
        | _round(31 * light.scale) << 18
        | has_alpha << 23
    )
    second = (
        (rows if is_landscape else columns)
        | _round(63 * yellow.scale) << 3
        | _round(63 * red.scale) << 9
        | is_landscape << 15
    )
    written = bytearray(first.to_bytes(3, "little") + second.to_bytes(2, "little"))
    terms = [*light.terms, *yellow.terms, *red.terms]
    if has_alpha:
        seen = _Channel(alpha, width, height, 5, 5)
        written.append(_round(15 * seen.constant) | _round(15 * seen.scale) << 4)
        terms += seen.terms
    nibbles = [_round(15 * term) for term in terms] + [0] * (len(terms) % 2)
    written += bytes(low | high << 4 for low, high in zip(nibbles[::2], nibbles[1::2], strict=True))
    return bytes(written)


def _channels(rgba: bytes) -> tuple[list[float], list[float], list[float], list[float]]:
    """Brightness, yellow against blue, red against green, and alpha. What is seen through has the average colour."""
    reds, greens, blues, alphas = rgba[::4], rgba[1::4], rgba[2::4], rgba[3::4]
    weight = sum(alphas) or 1
    average = [sum(map(int.__mul__, band, alphas)) / _OPAQUE / weight for band in (reds, greens, blues)]
    light: list[float] = []
    yellow: list[float] = []
    red_green: list[float] = []
    for red_byte, green_byte, blue_byte, alpha_byte in zip(reds, greens, blues, alphas, strict=True):
        alpha = alpha_byte / _OPAQUE
        red = average[0] * (1 - alpha) + alpha / _OPAQUE * red_byte
        green = average[1] * (1 - alpha) + alpha / _OPAQUE * green_byte
        blue = average[2] * (1 - alpha) + alpha / _OPAQUE * blue_byte
        light.append((red + green + blue) / 3)
        yellow.append((red + green) / 2 - blue)
        red_green.append(red - green)
    return light, yellow, red_green, [each / _OPAQUE for each in alphas]


class _Channel:
    """The constant term of one channel, the others scaled to 0..1, and by how much."""

    def __init__(self, values: Sequence[float], width: int, height: int, columns: int, rows: int) -> None:
        across = [_cosines(term, width) for term in range(columns)]
        down = [_cosines(term, height) for term in range(rows)]
        # Row by row first, so that the second sum is over rows and not over pixels.
        lines = [values[start : start + width] for start in range(0, width * height, width)]
        sums = [[_dot(line, wave) for line in lines] for wave in across]
        terms: list[float] = []
        self.constant = 0.0
        for row in range(rows):
            column = 0
            while column * rows < columns * (rows - row):
                term = _dot(sums[column], down[row]) / (width * height)
                if column or row:
                    terms.append(term)
                else:
                    self.constant = term
                column += 1
        self.scale = max((abs(term) for term in terms), default=0.0)
        self.terms = [0.5 + 0.5 / self.scale * term if self.scale else 0.5 for term in terms]


def _cosines(term: int, length: int) -> list[float]:
    return [math.cos(math.pi / length * term * (place + 0.5)) for place in range(length)]


def _dot(left: Sequence[float], right: Sequence[float]) -> float:
    return sum(map(float.__mul__, left, right))


def _round(number: float) -> int:
    """As JavaScript does, so that both write the same bytes."""
    return math.floor(number + 0.5)
