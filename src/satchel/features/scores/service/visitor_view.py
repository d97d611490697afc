"""What somebody sees who has only a link: all of a score or one part, without what belongs to its members."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import msgspec

from satchel.features.scores.layer_records import LayerRow
from satchel.features.scores.model import LinkTarget, PageId
from satchel.features.scores.service.mark_read import Marked
from satchel.features.scores.service.score_find import Found

renewed = msgspec.structs.replace


@dataclass(frozen=True, slots=True)
class VisitorView:
    """A score with the layers and marks that are shown of it."""

    found: Found
    layers: list[LayerRow]
    marks: list[Marked]
    target: LinkTarget


def for_visitor(found: Found, layers: Sequence[LayerRow], marks: Sequence[Marked], target: LinkTarget) -> VisitorView:
    """With a part: only its pages in its order, and the layers for it or for everybody."""
    part_id = target.part_id
    row, extra = found.row, found.extra
    parts = [part for part in extra.parts if part_id is None or part.part_id == part_id]
    by_id = {page.page_id: page for page in row.data.pages}
    wanted: list[PageId] = [*parts[0].page_ids] if part_id is not None and parts else []
    pages = [by_id[each] for each in wanted if each in by_id] if wanted else row.data.pages
    there = {page.page_id for page in pages}
    shown = [layer for layer in layers if part_id is None or layer.part_id in (None, part_id)]
    extra = renewed(
        extra,
        parts=parts,
        movements=[each for each in extra.movements if each.page_id in there],
        jumps=[each for each in extra.jumps if {each.page_id, each.to_page_id} <= there],
    )
    row = renewed(row, snapshots=[], data=renewed(row.data, pages=pages, page_count=len(pages)))
    ids = {layer.layer_id for layer in shown}
    seen = [each for each in marks if each.mark.layer_id in ids and each.mark.page_id in there]
    return VisitorView(replace(found, row=row, extra=extra, people={}, role="reader"), shown, seen, target)
