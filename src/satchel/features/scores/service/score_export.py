"""The pages of a score as one PDF, with the marks that somebody sees on them."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

from satchel.features.scores.item_records import item_key
from satchel.features.scores.layout import IMPORTED, LayoutChoice
from satchel.features.scores.mark import KINDS_OF_MARKS, StoredMark
from satchel.features.scores.model import PageId, StoredKind
from satchel.features.scores.records import PageEntry, Part
from satchel.features.scores.service.context import Scores
from satchel.features.scores.service.layout_view import LaidScore, lay_out
from satchel.features.scores.service.mark_read import Marked, visible_marks
from satchel.features.scores.service.page_set import read_items
from satchel.features.scores.service.page_source import source_pages
from satchel.features.scores.service.score_find import Found, Viewer, WholeScore, read_whole
from satchel.kernel.errors import Invalid, NotFound
from satchel.kernel.unfit import CombinationUnfit
from satchel.media.score_jobs import PageKind
from satchel.media.score_pages import ExportPage, Ink, ScorePages

_KINDS: dict[str, PageKind] = {"p": "png", "j": "jpeg", "s": "svg"}


class PartUnknown(NotFound):
    """The score has no such part. Read it again."""

    slug = "score-part-unknown"
    title = "Part not found"


class NoPages(Invalid):
    """There is nothing to export. Add pages to the score first."""

    slug = "score-no-pages"
    title = "This score has no pages"


@dataclass(frozen=True, slots=True)
class Exported:
    """What the document is called, and its pieces, which somebody has to close."""

    name: str
    pieces: AsyncGenerator[bytes]


@dataclass(frozen=True, slots=True)
class Sheet:
    """A page to be exported, and where its image is."""

    page_id: PageId
    key: str
    kind: StoredKind
    rotation: int
    # The PDF that it was made of, and its number in it.
    source_key: str = ""
    source_page: int = 0


async def export_score(
    scores: Scores,
    viewer: Viewer,
    public: str,
    *,
    part_id: int | None,
    with_marks: bool,
    choice: LayoutChoice = IMPORTED,
) -> Exported:
    """As its pages are, or laid out as somebody wants: then a part is a choice of pages no more."""
    whole = await read_whole(scores, viewer, public)
    found = whole.found
    seen = visible_marks(whole, viewer) if with_marks else []
    part = None if part_id is None else _part_of(found, part_id)
    if choice == IMPORTED:
        pages = await sheets_of(scores, found, _pages(found, part))
        seen = seen if part is None else _for_part(seen, whole, part)
    elif part is not None:
        raise CombinationUnfit("Choose the pages of a part, or a layout, but not both.", field="part")
    else:
        laid = await lay_out(scores, found, choice, viewer)
        pages = laid_sheets(laid)
        seen = await laid.marks(seen)
    if not pages:
        raise NoPages("This score has no pages yet. Add some, then export it.")
    name = found.row.data.title if part is None else f"{found.row.data.title} – {part.name}"
    return Exported(name, stream_pages(scores, name, found.extra.composer, plan_pages(found, pages, seen)))


def plan_pages(found: Found, pages: Sequence[Sheet], seen: Sequence[Marked]) -> list[ExportPage]:
    """In this order. A movement has a bookmark."""
    marks: dict[int, list[Ink]] = {}
    for each in seen:
        marks.setdefault(each.mark.page_id, []).append(_ink(each.mark))
    movements = {movement.page_id: movement.name for movement in found.extra.movements}
    return [
        ExportPage(
            key=page.key,
            kind=_KINDS[page.kind],
            rotation=page.rotation,
            marks=marks.get(page.page_id, []),
            bookmark=movements.get(page.page_id, ""),
            source_key=page.source_key,
            source_page=page.source_page,
        )
        for page in pages
    ]


def laid_sheets(laid: LaidScore) -> list[Sheet]:
    """Pages in the layout that somebody has chosen."""
    return [Sheet(page.page_id, page.key, page.kind, page.rotation) for page in laid.pages()]


async def sheets_of(scores: Scores, found: Found, pages: Sequence[PageEntry]) -> list[Sheet]:
    """Pages as they are. Those that were made of a PDF keep its lines."""
    items = await read_items(scores, found)
    place = (found.owner, found.score_id)
    made_of = source_pages(items, list(pages))
    sheets: list[Sheet] = []
    for page in pages:
        sheet = Sheet(page.page_id, item_key(*place, page.item_id, page.kind), page.kind, page.rotation)
        if (source := made_of.get(page.item_id)) is not None and source.source.kind == "d":
            key = item_key(*place, source.source.item_id, source.source.kind)
            sheet = replace(sheet, source_key=key, source_page=source.number)
        sheets.append(sheet)
    return sheets


async def stream_pages(scores: Scores, title: str, composer: str, pages: Sequence[ExportPage]) -> AsyncGenerator[bytes]:
    """By a process of its own, which ends with the document."""
    maker = ScorePages(scores.objects, children=1)
    try:
        async with aclosing(maker.export(title, composer, pages)) as pieces:
            async for piece in pieces:
                yield piece
    finally:
        await maker.close()


def _part_of(found: Found, part_id: int) -> Part:
    part = next((each for each in found.extra.parts if each.part_id == part_id), None)
    if part is None:
        raise PartUnknown("This score has no such part. Read it again.")
    return part


def _pages(found: Found, part: Part | None) -> Sequence[PageEntry]:
    """Those of a part in its own order."""
    pages = found.row.data.pages
    if part is None or not part.page_ids:
        return pages
    by_id = {page.page_id: page for page in pages}
    return [by_id[each] for each in part.page_ids if each in by_id]


def _for_part(seen: Sequence[Marked], whole: WholeScore, part: Part) -> list[Marked]:
    """Without what is meant for players of other parts."""
    others = {layer.layer_id for layer in whole.layers if layer.part_id not in (None, part.part_id)}
    return [each for each in seen if each.mark.layer_id not in others]


def _ink(mark: StoredMark) -> Ink:
    return Ink(
        kind=KINDS_OF_MARKS[mark.kind],
        colour=mark.colour,
        width=mark.width,
        stroke=mark.stroke,
        x=mark.x,
        y=mark.top,
        text=mark.text,
        stamp=mark.stamp,
        size=mark.size,
    )
