"""Plans how marks become what they were: which are new, changed and removed in the layers that are restored."""

import msgspec

from satchel.features.scores.layer_records import LayerRow
from satchel.features.scores.mark import StoredMark, encode_mark, read_mark
from satchel.features.scores.service import annotations
from satchel.features.scores.service.annotations import AnnotationPlan
from satchel.features.scores.service.mark_read import all_marks
from satchel.features.scores.service.score_find import WholeScore
from satchel.features.scores.service.snapshot_content import SnapshotContent

replace = msgspec.structs.replace


def restored_marks(
    whole: WholeScore, content: SnapshotContent, layers: list[LayerRow]
) -> tuple[AnnotationPlan, list[tuple[LayerRow | None, LayerRow]]]:
    """The plan, and each restored layer before and after. Marks of other layers stay as they are."""
    now_there = {layer.layer_id: layer for layer in whole.layers}
    wanted = {layer.layer_id: layer for layer in layers}
    seqs = {each: (now_there[each].seq if each in now_there else 0) + 1 for each in wanted}
    current = {each.mark_id: each.mark for each in all_marks(whole) if each.mark.layer_id in wanted}
    then: dict[int, StoredMark] = {
        each.mark_id: mark for each in content.marks if (mark := read_mark(each.text)).layer_id in wanted
    }
    changed = {
        mark_id: encode_mark(replace(mark, seq=seqs[mark.layer_id]))
        for mark_id, mark in then.items()
        if mark_id in current and not same_mark(current[mark_id], mark)
    }
    new = [
        encode_mark(replace(mark, seq=seqs[mark.layer_id])) for mark_id, mark in then.items() if mark_id not in current
    ]
    removed = set(current) - set(then)
    planned = annotations.plan(whole.found.row, new=new, changed=changed, removed=removed)
    pairs = [
        (before := now_there.get(layer_id), _restored(before, layer, seqs[layer_id]))
        for layer_id, layer in wanted.items()
    ]
    return planned, pairs


def same_mark(one: StoredMark, other: StoredMark) -> bool:
    """Whether they look alike; when they were made does not matter."""
    return replace(one, seq=0) == replace(other, seq=0)


def _restored(before: LayerRow | None, then: LayerRow, seq: int) -> LayerRow:
    """Whether a layer is published is for its author to say, and stays what it is."""
    if before is None:
        return replace(then, seq=seq)
    return replace(before, seq=seq, count=then.count, done=[])
