"""A public counter that an owner can put on any page: a small picture that counts nobody who sees it."""

from starlette.responses import Response

from satchel.edge.api.endpoints import Router
from satchel.features.clicks.service.context import Clicks
from satchel.features.clicks.service.counts import link_scope, read_sum
from satchel.kernel.errors import NotFound
from satchel.kernel.markup import escape

_LABEL = "opened"
_HEIGHT = 20
_PADDING = 8
# The text gets a width and is stretched to it, so that it looks right in any font.
_LETTER_WIDTH = 6.6
_HEADERS = {
    "cache-control": "public, max-age=60",
    # Other sites may show it as an image. Opened by itself, it can run nothing.
    "cross-origin-resource-policy": "cross-origin",
    "content-security-policy": "sandbox; default-src 'none'",
}


def routes(clicks: Clicks) -> Router:
    router = Router("statistics")

    @router.get("/badges/{badge_id}", produces="image/svg+xml", raises=(NotFound,))
    async def draw_badge(badge_id: str) -> Response:
        """See how often a link was opened, as a picture for any page; its owner has switched it on.

        Looking at it counts nothing. It may be a minute old.
        """
        link_id = await clicks.targets.link_of_badge(badge_id)
        if link_id is None:
            raise NotFound("This badge does not exist.")
        opened = await read_sum(clicks.tables, link_scope(link_id), may_lag=True)
        return Response(draw(opened.kind("open")), media_type="image/svg+xml", headers=_HEADERS)

    return router


def draw(number: int) -> str:
    """The counter as SVG. Screen readers read the whole number."""
    shown = shortened(number)
    left, right = _text_width(_LABEL), _text_width(shown)
    split, width = left + 2 * _PADDING, left + right + 4 * _PADDING
    title = escape(f"{_LABEL} {number:,} {'time' if number == 1 else 'times'}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{_HEIGHT}" role="img" aria-label="{title}">'
        f"<title>{title}</title>"
        f'<rect width="{width:g}" height="{_HEIGHT}" rx="4" fill="#1f5f8b"/>'
        f'<path d="M4 0H{split:g}V{_HEIGHT}H4a4 4 0 0 1-4-4V4a4 4 0 0 1 4-4z" fill="#3c4146"/>'
        '<g fill="#fff" font-family="system-ui,Verdana,sans-serif" font-size="11" aria-hidden="true">'
        f"{_text(_LABEL, _PADDING, left)}{_text(shown, split + _PADDING, right)}</g></svg>"
    )


def shortened(number: int) -> str:
    """A number in few digits, rounded down: 999, 1.2k, 45k, 3.4M."""
    for unit, size in (("B", 10**9), ("M", 10**6), ("k", 10**3)):
        if number >= size:
            tenths = number * 10 // size
            return f"{tenths // 10}{unit}" if tenths >= 100 or tenths % 10 == 0 else f"{tenths / 10:.1f}{unit}"
    return str(number)


def _text(text: str, x: float, width: float) -> str:
    return f'<text x="{x:g}" y="14" textLength="{width:g}" lengthAdjust="spacingAndGlyphs">{escape(text)}</text>'


def _text_width(text: str) -> float:
    return round(len(text) * _LETTER_WIDTH, 1)
