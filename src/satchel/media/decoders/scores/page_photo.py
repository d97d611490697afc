"""A photo of a page: the sheet is found on its darker ground, laid flat, and turned until its lines are level.

What is not found surely is left alone: then the photo comes back as it was handed in.
"""

import math
from collections.abc import Callable
from typing import Any, BinaryIO

from satchel.media.decoders.decoded import check_pixels, mapped
from satchel.media.decoders.file_signatures import HEAD_BYTES, file_kind
from satchel.media.decoders.scores.page_image import encoded
from satchel.media.decoders.scores.page_quad import Point, flattened, quad_of
from satchel.media.decoders.scores.refusal import ScoreRefused
from satchel.media.decoders.vips_library import vips
from satchel.media.score_jobs import MadePage, PageAnswer, PageKind, ScoreAnswer, StraightenJob

_SEEN_EDGE = 640
# Lines of paper in the hand lie within a few degrees; more is meant so.
_MOST_DEGREES = 8.0
_COARSE, _FINE = 0.5, 0.05
# Less than that nobody sees.
_LEAST_DEGREES = 0.15
# How much clearer rows of ink have to stand out after a turn.
_CLEARER = 1.05
_MAX_EDGE = 3508


def work(file: BinaryIO, size_bytes: int, _: StraightenJob, send: Callable[[ScoreAnswer], None]) -> None:
    file.seek(0)
    kind = file_kind(file.read(min(HEAD_BYTES, size_bytes)), "")
    if kind not in ("png", "jpeg"):
        raise ScoreRefused("score-broken", "The picture is neither PNG nor JPEG.")
    data = bytes(mapped(file, size_bytes))
    header = vips.Image.new_from_buffer(data, "")
    check_pixels(header.width, header.height)
    turned = header.get("orientation") if header.get_typeof("orientation") else 1
    upright = header.autorot()
    straight = _straight(upright.copy_memory())
    if straight is None:
        page = MadePage(number=0, kind=kind, body=data, width=upright.width, height=upright.height)
        # A camera's turn is a note in the file that not every program heeds.
        send(PageAnswer(page=page if turned in (0, 1) else _page(upright.copy_memory())))
    else:
        send(PageAnswer(page=_page(straight)))


def _page(image: Any) -> MadePage:
    if max(image.width, image.height) > _MAX_EDGE:
        image = image.thumbnail_image(_MAX_EDGE, height=_MAX_EDGE, size="down", no_rotate=True)
    if image.hasalpha():
        image = image.flatten(background=255)
    plain = (image.colourspace("srgb") if image.bands > 1 else image).cast("uchar").copy_memory()
    kind: PageKind
    kind, body = encoded(bytes(plain.write_to_memory()), plain.width, plain.height, plain.bands)
    return MadePage(number=0, kind=kind, body=body, width=plain.width, height=plain.height)


def _straight(image: Any) -> Any | None:
    """The page laid flat and level; None if nothing was to do."""
    seen = _seen(image)
    quad = quad_of(seen)
    if quad is not None:
        scale = image.width / seen.width
        image = flattened(image, [Point(corner.x * scale, corner.y * scale) for corner in quad])
        seen = _seen(image)
    angle = skew_of(seen)
    if angle:
        image = image.rotate(angle, background=_paper(image), interpolate=vips.Interpolate.new("bicubic")).copy_memory()
    return image if quad is not None or angle else None


def _seen(image: Any) -> Any:
    """Small and grey, for looking at it as a whole."""
    small = image.thumbnail_image(_SEEN_EDGE, height=_SEEN_EDGE, size="down", no_rotate=True)
    if small.hasalpha():
        small = small.flatten(background=255)
    return small.colourspace("b-w").cast("uchar").copy_memory()


def _paper(image: Any) -> list[float]:
    """The colour of corners that a turn uncovers: that of the paper, which is brighter than the mean."""
    small = image.thumbnail_image(64, size="down", no_rotate=True)
    return [float(small[band].percent(80)) for band in range(small.bands)]


def skew_of(seen: Any) -> float:
    """By how many degrees the page has to be turned; 0 if it is level, or if that cannot be told."""
    ink = (255 - seen).cast("float")
    across, down = ink.width, ink.height
    # The corners leave the picture when it is turned, so only the middle counts.
    inner = ink.crop(across // 12, down // 12, across * 10 // 12, down * 10 // 12).copy_memory()

    def clarity(angle: float) -> float:
        turned = inner.rotate(angle).copy_memory() if angle else inner
        reach = int(max(turned.width - inner.width, turned.height - inner.height)) + 2
        middle = turned.crop(reach, reach, turned.width - 2 * reach, turned.height - 2 * reach)
        _, rows = middle.project()
        return float(rows.deviate()) / middle.width

    level = clarity(0)
    best = _best(clarity, 0, _MOST_DEGREES, _COARSE)
    best = _best(clarity, best, _COARSE, _FINE)
    if abs(best) < _LEAST_DEGREES or abs(best) > _MOST_DEGREES - _COARSE or clarity(best) < level * _CLEARER:
        return 0.0
    return best


def _best(clarity: Callable[[float], float], middle: float, reach: float, step: float) -> float:
    count = math.floor(reach / step)
    return max((middle + place * step for place in range(-count, count + 1)), key=clarity)
