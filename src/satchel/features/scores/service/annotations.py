"""Writes annotations: their entries in the score, and their texts in the chunks.

A few go in one transaction. Many do not fit into one: then the score is locked, new texts are written beside the old
ones, and one write of the score makes them count. Texts that nothing names any more go last. A changed text always
takes a free slot, so until that one write the old one is whole.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from satchel.features.scores.annotation_text import MAX_SLOTS, chunk_of, cut, most_pieces, text_key
from satchel.features.scores.model import MAX_MARKED_CHARACTERS, MAX_MARKS, OwnerId, ScoreId, ScoreLocked, TooManyMarks
from satchel.features.scores.records import CHUNK, SCORE, AnnotationEntry, ChunkRow, ScoreRow
from satchel.features.scores.service.context import Scores
from satchel.features.scores.service.item_lock import LOCKED_FOR, SIDE_WRITES_FOR
from satchel.stores.patterns.optimistic_update import StaleRead
from satchel.stores.ports.expressions import Action, Condition, add, append, assign, attr
from satchel.stores.ports.table import MAX_TRANSACTION_BYTES, Update, Write

Chunks = dict[str, dict[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotationPlan:
    """All entries as they are to be, the pieces of new texts by slot, and the entries whose texts go."""

    before: ScoreRow
    entries: list[AnnotationEntry]
    next_annotation: int
    pieces: Mapping[int, list[str]]
    dropped: Sequence[AnnotationEntry]

    @property
    def new_entries(self) -> list[AnnotationEntry]:
        return [entry for entry in self.entries if entry.slot in self.pieces]


def plan(
    row: ScoreRow, *, new: Sequence[str] = (), changed: Mapping[int, str] | None = None, removed: Collection[int] = ()
) -> AnnotationPlan:
    """New texts get new ids. A changed one keeps its id, and its place in the list."""
    data, replaced = row.data, changed or {}
    left = len(data.annotations) - sum(entry.annotation_id in removed for entry in data.annotations)
    if left + len(new) > MAX_MARKS:
        raise TooManyMarks(f"A score has up to {MAX_MARKS} marks. Remove some first.")
    _check_length(data.annotations, [*new, *replaced.values()], {*removed, *replaced})
    slots = _free_slots(data.annotations)
    pieces: dict[int, list[str]] = {}
    entries: list[AnnotationEntry] = []
    dropped: list[AnnotationEntry] = []
    for entry in data.annotations:
        text = replaced.get(entry.annotation_id)
        if entry.annotation_id in removed or text is not None:
            dropped.append(entry)
        if text is not None:
            entries.append(_enter(entry.annotation_id, text, next(slots), pieces))
        elif entry.annotation_id not in removed:
            entries.append(entry)
    for number, text in enumerate(new):
        entries.append(_enter(data.next_annotation + number, text, next(slots), pieces))
    return AnnotationPlan(
        before=row,
        entries=entries,
        next_annotation=data.next_annotation + len(new),
        pieces=pieces,
        dropped=dropped,
    )


def _check_length(entries: Sequence[AnnotationEntry], added: Sequence[str], dropped: Collection[int]) -> None:
    """What makes a score shorter is taken in any case."""
    growth = sum(map(len, added)) - sum(each.length for each in entries if each.annotation_id in dropped)
    if growth > 0 and growth + sum(each.length for each in entries) > MAX_MARKED_CHARACTERS:
        raise TooManyMarks("The marks of this score are too long together. Remove some first.")


async def write_annotations(
    scores: Scores, planned: AnnotationPlan, *, beside: Sequence[Write] = (), actions: Sequence[Action] = ()
) -> None:
    """Raises what an optimistic update repeats, if the score has changed since it was planned."""
    row = planned.before
    chunks = await _read_chunks(scores, row.owner, row.score_id, planned)
    filled = _with(chunks, planned.pieces)
    cleaned = _without(filled, planned.dropped)
    now = scores.now()
    writes: list[Write] = [
        _main(planned, [*actions, assign("ua", now)], as_read(row) & (attr("xt") <= now)),
        *beside,
        *_chunk_writes(row, chunks, cleaned),
    ]
    size = sum(len(text.encode()) for texts in cleaned.values() for text in texts.values())
    if len(writes) <= scores.most_writes and size < MAX_TRANSACTION_BYTES // 2:
        await scores.tables.transact(writes)
        return
    locked_at = await _begin(scores, row)
    await _write_chunks(scores, row, chunks, filled)
    now = scores.now()
    if now - locked_at > SIDE_WRITES_FOR:
        # Somebody else may be about to begin.
        raise ScoreLocked("This took too long, and was given up. Try again.")
    ours = as_read(row) & (attr("xs") == locked_at) & (attr("xt") > now)
    await scores.tables.transact([_main(planned, [*actions, assign("ua", now)], ours), *beside])
    await _write_chunks(scores, row, filled, cleaned)


async def read_texts(
    scores: Scores, owner: OwnerId, score_id: ScoreId, entries: Sequence[AnnotationEntry]
) -> dict[int, str]:
    """The texts of some annotations, by id."""
    names = sorted({name for entry in entries for name in _names(entry)})
    chunks = await _get_chunks(scores, owner, score_id, names)
    return {entry.annotation_id: text for entry in entries if (text := join(entry, chunks)) is not None}


def join(entry: AnnotationEntry, chunks: Mapping[str, Mapping[str, str]]) -> str | None:
    """The whole text of an annotation. None if it is not whole, which no reader of one instant sees."""
    key = text_key(entry.slot)
    text = "".join(chunks.get(name, {}).get(key, "") for name in _names(entry))
    return text if len(text) == entry.length else None


def _free_slots(entries: Sequence[AnnotationEntry]) -> Iterator[int]:
    """The lowest first, so that chunks stay full. There are twice as many slots as marks."""
    used = {entry.slot for entry in entries}
    return (slot for slot in range(MAX_SLOTS) if slot not in used)


def _enter(annotation_id: int, text: str, slot: int, pieces: dict[int, list[str]]) -> AnnotationEntry:
    pieces[slot] = cut(text)
    return AnnotationEntry(annotation_id=annotation_id, slot=slot, length=len(text))


def _names(entry: AnnotationEntry) -> list[str]:
    return [chunk_of(entry.slot, piece) for piece in range(most_pieces(entry.length))]


async def _read_chunks(scores: Scores, owner: OwnerId, score_id: ScoreId, planned: AnnotationPlan) -> Chunks:
    """Every chunk that changes, also those that are not there yet."""
    filled = {chunk_of(slot, piece) for slot, pieces in planned.pieces.items() for piece in range(len(pieces))}
    emptied = {name for entry in planned.dropped for name in _names(entry)}
    return await _get_chunks(scores, owner, score_id, sorted(filled | emptied))


async def _get_chunks(scores: Scores, owner: OwnerId, score_id: ScoreId, names: Sequence[str]) -> Chunks:
    keys = [CHUNK.key(owner=owner, score_id=score_id, chunk=name) for name in names]
    items = await scores.tables.get_many(CHUNK.table, keys) if keys else []
    return {name: {} if item is None else dict(item["a"]) for name, item in zip(names, items, strict=True)}


def _with(chunks: Chunks, pieces: Mapping[int, list[str]]) -> Chunks:
    filled = {name: dict(texts) for name, texts in chunks.items()}
    for slot, parts in pieces.items():
        for piece, text in enumerate(parts):
            filled[chunk_of(slot, piece)][text_key(slot)] = text
    return filled


def _without(chunks: Chunks, dropped: Sequence[AnnotationEntry]) -> Chunks:
    cleaned = {name: dict(texts) for name, texts in chunks.items()}
    for entry in dropped:
        for name in _names(entry):
            cleaned[name].pop(text_key(entry.slot), None)
    return cleaned


def _chunk_writes(row: ScoreRow, before: Chunks, after: Chunks) -> list[Write]:
    place = (row.owner, row.score_id)
    return [
        CHUNK.put(ChunkRow(owner=place[0], score_id=place[1], chunk=name, texts=texts))
        if texts
        else CHUNK.delete(owner=place[0], score_id=place[1], chunk=name)
        for name, texts in after.items()
        if texts != before[name]
    ]


async def _write_chunks(scores: Scores, row: ScoreRow, before: Chunks, after: Chunks) -> None:
    changed = {name: texts for name, texts in after.items() if texts != before[name]}
    rows = [
        ChunkRow(owner=row.owner, score_id=row.score_id, chunk=name, texts=texts)
        for name, texts in changed.items()
        if texts
    ]
    empty = [name for name, texts in changed.items() if not texts]
    await scores.tables.write_many(
        CHUNK.table,
        put=[CHUNK.item(each) for each in rows],
        delete=[CHUNK.key(owner=row.owner, score_id=row.score_id, chunk=name) for name in empty],
    )


def as_read(row: ScoreRow) -> Condition:
    """Neither the structure nor an annotation has changed since the score was read."""
    version = attr("mq") == row.marks_version if row.marks_version else attr("mq").absent()
    return (attr("e") == row.etag) & version


def _main(planned: AnnotationPlan, actions: Sequence[Action], when: Condition) -> Update:
    row, entries = planned.before, planned.entries
    if planned.dropped:
        listed: Action = assign(("d", "a"), msgspec.to_builtins(entries))
    else:
        listed = append(("d", "a"), msgspec.to_builtins(planned.new_entries))
    counted = [
        assign(("d", "ac"), len(entries)),
        assign(("d", "ai"), planned.next_annotation),
        add("mq", 1),
        assign("xs", 0),
        assign("xt", 0),
    ]
    return SCORE.update([listed, *counted, *actions], when=when, owner=row.owner, score_id=row.score_id)


async def _begin(scores: Scores, row: ScoreRow) -> int:
    """Lock the score; the moment of it."""
    now = scores.now()
    if row.locked_until > now:
        raise StaleRead
    begin = SCORE.update(
        [assign("xs", now), assign("xt", now + LOCKED_FOR)],
        when=as_read(row) & (attr("xt") <= now),
        owner=row.owner,
        score_id=row.score_id,
    )
    await scores.tables.update(begin.table, begin.key, begin.actions, when=begin.when)
    return now
