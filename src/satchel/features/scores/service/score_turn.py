"""Where those turn to who follow a leader: to a page, and to the bar that it begins with if it is engraved.

Each player may have the music laid out in another way. Then the bar says where they are, and the page does not.
"""

from satchel.features.scores.layout import IMPORTED
from satchel.features.scores.model import PageGone, PageId
from satchel.features.scores.service.context import Scores
from satchel.features.scores.service.layout_view import LaidBar, NotEngraved, lay_out
from satchel.features.scores.service.score_find import Found
from satchel.kernel.unfit import CombinationUnfit
from satchel.media.score_pages import PagesRefused


async def turned_to(scores: Scores, found: Found, page_id: int | None, bar: int | None) -> tuple[int, int | None]:
    """The page of the score, and the bar. Whoever leads from a layout of their own knows the bar only."""
    if page_id is None and bar is None:
        raise CombinationUnfit("Say which page you turn to, or which bar.", field="page_id")
    kinds: dict[int, str] = {page.page_id: page.kind for page in found.row.data.pages}
    if page_id is not None and page_id not in kinds:
        raise PageGone("This page was removed.", page_id=page_id)
    if page_id is not None and (bar is not None or kinds[page_id] != "s"):
        return page_id, bar
    bars = await _bars(scores, found)
    if page_id is None:
        return _page_with(bars, bar or 0), bar
    return page_id, min((each.bar for each in bars if each.page_id == page_id), default=None)


async def _bars(scores: Scores, found: Found) -> list[LaidBar]:
    try:
        return (await lay_out(scores, found, IMPORTED)).bars()
    except (NotEngraved, PagesRefused):
        # The file is gone, and the pages stay.
        return []


def _page_with(bars: list[LaidBar], bar: int) -> PageId:
    before = [each for each in bars if each.bar <= bar]
    if not before:
        raise PageGone("The page with this bar was removed.")
    return max(before, key=lambda each: each.bar).page_id
