"""Finds a sheet of paper in a photo by its four corners, and lays it flat."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from satchel.media.decoders.vips_library import vips

# A sheet is most of the photo; the ground is darker, and there is enough of it to be seen.
_LEAST_AREA, _MOST_AREA = 0.35, 0.97
_LEAST_CONTRAST = 40
_REACH = 9
_INSET = 0.008
# How much of the four corners' area is bright, notes aside.
_LEAST_FILLED = 0.93
# Of opposite sides, the shorter one is at least so long: more is no photo of a page from above.
_LEAST_RATIO = 0.55
_MOST_FROM_RIGHT_ANGLE = 25


class Point(NamedTuple):
    """A place in an image."""

    x: float
    y: float


Quad = Sequence[Point]


def quad_of(seen: Any) -> Quad | None:
    """The corners of the sheet, clockwise from the upper left; None if none is sure. `seen` is small and grey."""
    # Notes and staves vanish in the paper around them.
    closed = seen.rank(_REACH, _REACH, _REACH**2 - 1).rank(_REACH, _REACH, 0).gaussblur(1).cast("uchar").copy_memory()
    threshold = _threshold(closed)
    if threshold is None:
        return None
    bright = (closed > threshold).copy_memory()
    sheet, area = _largest(bright)
    total = seen.width * seen.height
    if not _LEAST_AREA * total < area < _MOST_AREA * total:
        return None
    quad = _corners(sheet)
    return _inset(quad) if _is_sheet(quad, area) else None


def _threshold(grey: Any) -> float | None:
    """Between ground and paper (Otsu); None if they are hardly different."""
    counts = list(memoryview(grey.hist_find().write_to_memory()).cast("B").cast("I"))
    counts += [0] * (256 - len(counts))
    total, weighted = sum(counts), sum(value * count for value, count in enumerate(counts))
    best, found, below, below_sum, distance = -1.0, 0, 0, 0, 0.0
    for value, count in enumerate(counts):
        below += count
        below_sum += value * count
        above = total - below
        if not below or not above:
            continue
        apart = (weighted - below_sum) / above - below_sum / below
        between = below * above * apart * apart
        if between > best:
            best, found, distance = between, value, apart
    return found if distance >= _LEAST_CONTRAST else None


def _largest(bright: Any) -> tuple[Any, int]:
    """The largest bright region, as a mask, and how many pixels it has."""
    regions = bright.labelregions()
    sums = bright.hist_find_indexed(regions.cast("ushort"), combine="sum")
    sizes = [sums(place, 0)[0] / 255 for place in range(sums.width)]
    label = max(range(len(sizes)), key=sizes.__getitem__)
    return (regions == label).copy_memory(), round(sizes[label])


def _corners(sheet: Any) -> Quad:
    """The outermost pixels towards each corner of the image."""
    pixels, width = bytes(sheet.write_to_memory()), sheet.width
    ends: list[Point] = []
    for row in range(sheet.height):
        line = pixels[row * width : (row + 1) * width]
        if (left := line.find(b"\xff")) >= 0:
            ends += [Point(left, row), Point(line.rfind(b"\xff"), row)]
    return [
        min(ends, key=lambda point: point.x + point.y),
        max(ends, key=lambda point: point.x - point.y),
        max(ends, key=lambda point: point.x + point.y),
        min(ends, key=lambda point: point.x - point.y),
    ]


def _inset(quad: Quad) -> Quad:
    """A little smaller, since the edge of a sheet is half ground."""
    x, y = sum(corner.x for corner in quad) / 4, sum(corner.y for corner in quad) / 4
    return [Point(corner.x + (x - corner.x) * _INSET, corner.y + (y - corner.y) * _INSET) for corner in quad]


def _is_sheet(quad: Quad, area: int) -> bool:
    sides = [math.dist(quad[place], quad[(place + 1) % 4]) for place in range(4)]
    inside = abs(sum(a.x * b.y - b.x * a.y for a, b in zip(quad, [*quad[1:], quad[0]], strict=True))) / 2
    if min(sides) < 1 or area < _LEAST_FILLED * inside or inside < _LEAST_FILLED * area:
        return False
    ratios = (min(sides[place], sides[place + 2]) / max(sides[place], sides[place + 2]) for place in (0, 1))
    return min(ratios) >= _LEAST_RATIO and all(
        abs(_angle(quad, place) - 90) < _MOST_FROM_RIGHT_ANGLE for place in range(4)
    )


def _angle(quad: Quad, place: int) -> float:
    before, corner, after = quad[place - 1], quad[place], quad[(place + 1) % 4]
    first = math.atan2(before.y - corner.y, before.x - corner.x)
    second = math.atan2(after.y - corner.y, after.x - corner.x)
    apart = abs(math.degrees(first - second)) % 360
    return min(apart, 360 - apart)


def flattened(image: Any, quad: Quad) -> Any:
    """The sheet as if looked at from above, as large as it is in the photo."""
    width = round((math.dist(quad[0], quad[1]) + math.dist(quad[3], quad[2])) / 2)
    height = round((math.dist(quad[0], quad[3]) + math.dist(quad[1], quad[2])) / 2)
    a, b, c, d, e, f, g, h = _homography(width, height, quad)
    place = vips.Image.xyz(width, height)
    x, y = place[0], place[1]
    depth = x * g + y * h + 1
    index = ((x * a + y * b + c) / depth).bandjoin((x * d + y * e + f) / depth)
    return image.mapim(index, interpolate=vips.Interpolate.new("bicubic"), extend="copy").cast("uchar").copy_memory()


def _homography(width: int, height: int, quad: Quad) -> list[float]:
    """The eight numbers by which a place on the sheet becomes one in the photo."""
    rows: list[list[float]] = []
    for (u, v), (x, y) in zip(((0, 0), (width, 0), (width, height), (0, height)), quad, strict=True):
        rows.append([u, v, 1, 0, 0, 0, -u * x, -v * x, x])
        rows.append([0, 0, 0, u, v, 1, -u * y, -v * y, y])
    return _solved(rows)


def _solved(rows: list[list[float]]) -> list[float]:
    """Gauss. Each row is an equation, with its right side last."""
    count = len(rows)
    for column in range(count):
        pivot = max(range(column, count), key=lambda row: abs(rows[row][column]))
        rows[column], rows[pivot] = rows[pivot], rows[column]
        for row in range(count):
            if row != column:
                factor = rows[row][column] / rows[column][column]
                rows[row] = [value - factor * other for value, other in zip(rows[row], rows[column], strict=True)]
    return [rows[place][count] / rows[place][place] for place in range(count)]
