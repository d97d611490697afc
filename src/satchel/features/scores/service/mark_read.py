"""Which marks somebody sees: those of their own layers, and of layers that are published, on pages that are there."""

from collections.abc import Sequence
from dataclasses import dataclass

from satchel.features.scores.layer_records import LayerRow
from satchel.features.scores.mark import StoredMark, read_mark
from satchel.features.scores.service.annotations import join
from satchel.features.scores.service.score_find import Viewer, WholeScore


@dataclass(frozen=True, slots=True)
class Marked:
    """A mark and its id."""

    mark_id: int
    mark: StoredMark


def visible_layers(layers: Sequence[LayerRow], viewer: Viewer) -> list[LayerRow]:
    return [layer for layer in layers if may_see(layer, viewer)]


def may_see(layer: LayerRow, viewer: Viewer) -> bool:
    return layer.is_published or (bool(viewer.user_id) and layer.author == viewer.user_id)


def visible_marks(whole: WholeScore, viewer: Viewer, page_id: int | None = None) -> list[Marked]:
    layers = {layer.layer_id for layer in visible_layers(whole.layers, viewer)}
    pages = {page.page_id for page in whole.found.row.data.pages}
    return [
        each
        for each in all_marks(whole)
        if each.mark.layer_id in layers
        and each.mark.page_id in pages
        and (page_id is None or each.mark.page_id == page_id)
    ]


def all_marks(whole: WholeScore) -> list[Marked]:
    """In the order in which they were made."""
    found = ((entry.annotation_id, join(entry, whole.chunks)) for entry in whole.found.row.data.annotations)
    return [Marked(mark_id, read_mark(text)) for mark_id, text in found if text is not None]
