"""Annotations in the score and in its chunks, before and after each operation, on SQLite and on DynamoDB."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from satchel.features.scores.annotation_text import MAX_PIECES, chunk_of, cut, most_pieces
from satchel.features.scores.model import OwnerId, ScoreId, ScoreLocked, TooManyMarks
from satchel.features.scores.records import SCORE, ScoreRow
from satchel.features.scores.service import annotations
from satchel.features.scores.service.annotations import AnnotationPlan
from satchel.features.scores.service.context import Scores
from satchel.features.scores.service.score_create import NewScore, create_score
from satchel.kernel.clock import ManualClock
from satchel.stores.ports.expressions import assign
from satchel.stores.ports.table import ConditionFailed, Item, StartsWith, Tables, TransactionCancelled
from satchel.tables import SCORES
from tests.features.albums.given import on_both_stores

OWNER = OwnerId("owner")
TABLE = SCORES


class Annotated:
    """A score whose annotations are written."""

    def __init__(self, scores: Scores, score_id: ScoreId) -> None:
        self.scores = scores
        self.score_id = score_id

    async def row(self) -> ScoreRow:
        found = await SCORE.get(self.scores.tables, owner=OWNER, score_id=self.score_id)
        assert found is not None
        return found

    async def main(self) -> Item:
        found = await self.scores.tables.get(TABLE, {"o": f"sc:{OWNER}", "s": self.score_id})
        assert found is not None
        return found

    async def chunks(self) -> dict[str, dict[str, str]]:
        page = await self.scores.tables.query(TABLE, f"sc:{OWNER}", StartsWith(f"{self.score_id}:a:"))
        return {item["s"].removeprefix(self.score_id): item["a"] for item in page.items}

    async def write(
        self,
        *new: str,
        changed: Mapping[int, str] | None = None,
        removed: Sequence[int] = (),
        scores: Scores | None = None,
    ) -> AnnotationPlan:
        planned = annotations.plan(await self.row(), new=new, changed=changed, removed=removed)
        await annotations.write_annotations(scores or self.scores, planned)
        return planned

    async def texts(self) -> dict[int, str]:
        row = await self.row()
        return await annotations.read_texts(self.scores, OWNER, self.score_id, row.data.annotations)


@pytest.fixture
async def score(scores: Scores) -> Annotated:
    new = NewScore(title="title", description="description")
    return Annotated(scores, await create_score(scores, OWNER, new, idempotency_key=None))


@on_both_stores
@pytest.mark.parametrize("most_writes", [10, 1])
async def test_annotations_are_added_replaced_and_removed(score: Annotated, most_writes: int) -> None:
    """In one transaction, or under the lock of the score where they do not fit into one."""
    scores = replace(score.scores, most_writes=most_writes)
    before = await score.main()
    cast(ManualClock, scores.clock).advance(1)
    await score.write("a" * 240, "b" * 240 + "c" * 240, scores=scores)
    after = await score.main()
    entries = [{"i": 0, "r": 0, "l": 240}, {"i": 1, "r": 1, "l": 480}]
    data = before["d"] | {"ai": 2, "ac": 2, "a": entries}
    # A stroke leaves the ETag as it is, and counts in a number of its own.
    assert after == before | {"ua": scores.now(), "d": data, "mq": 1}
    assert await score.chunks() == {
        ":a:000": {"00000": "a" * 240, "00001": "b" * 240},
        ":a:001": {"00001": "c" * 240},
    }
    # A changed text keeps its id, and goes to the lowest free slot.
    await score.write(changed={1: "short"}, scores=scores)
    assert (await score.main())["d"]["a"] == [{"i": 0, "r": 0, "l": 240}, {"i": 1, "r": 2, "l": 5}]
    assert await score.chunks() == {":a:000": {"00000": "a" * 240, "00002": "short"}}
    # Ids are never used again, slots are; a chunk that is empty goes.
    await score.write("new", removed=[0], scores=scores)
    assert (await score.main())["d"]["a"] == [{"i": 1, "r": 2, "l": 5}, {"i": 2, "r": 1, "l": 3}]
    await score.write(removed=[1, 2], scores=scores)
    left = await score.main()
    assert (left["d"]["a"], left["d"]["ac"], left["d"]["ai"]) == ([], 0, 3)
    assert await score.chunks() == {}
    assert (left["xs"], left["xt"]) == (0, 0)


async def test_the_two_hundredth_slot_is_in_the_next_chunk(score: Annotated) -> None:
    await score.write(*(f"text {number}" for number in range(201)))
    chunks = await score.chunks()
    assert {name: len(texts) for name, texts in chunks.items()} == {":a:000": 200, ":a:010": 1}
    assert chunks[":a:010"] == {"00200": "text 200"}
    assert chunk_of(19_999, 9) == "999"


async def test_ten_thousand_annotations_fit_and_one_more_does_not(score: Annotated) -> None:
    for start in range(0, 10_000, 2000):
        await score.write(*(str(number) for number in range(start, start + 2000)))
    assert len(await score.texts()) == 10_000
    with pytest.raises(TooManyMarks):
        annotations.plan(await score.row(), new=["one more"])
    # At the limit, one can go while another comes.
    await score.write("instead", removed=[0])
    assert len((await score.row()).data.annotations) == 10_000


async def test_texts_are_bounded_together_and_what_makes_them_shorter_is_taken(
    score: Annotated, monkeypatch: pytest.MonkeyPatch
) -> None:
    await score.write("a" * 60, "b" * 60)
    monkeypatch.setattr(annotations, "MAX_MARKED_CHARACTERS", 100)
    with pytest.raises(TooManyMarks):
        annotations.plan(await score.row(), new=["c"])
    with pytest.raises(TooManyMarks):
        annotations.plan(await score.row(), new=["c" * 61], removed=[0])
    await score.write("c" * 40, removed=[0])
    assert sorted((await score.texts()).values()) == ["b" * 60, "c" * 40]
    with pytest.raises(TooManyMarks):
        annotations.plan(await score.row(), new=["d"])
    with pytest.raises(TooManyMarks):
        annotations.plan(await score.row(), changed={2: "d" * 41})
    assert annotations.plan(await score.row(), changed={2: "d" * 40})


class Interrupted:
    """Tables that do something between the side writes and the commit."""

    def __init__(self, tables: Tables, clock: ManualClock, seconds: float, etag: str = "") -> None:
        self._tables = tables
        self._clock = clock
        self._seconds = seconds
        self._etag = etag

    def __getattr__(self, name: str) -> object:
        return getattr(self._tables, name)

    async def write_many(self, *args: object, **options: object) -> None:
        await self._tables.write_many(*args, **options)  # type: ignore[arg-type]
        self._clock.advance(self._seconds)


async def test_a_writer_that_is_too_slow_gives_up_and_changes_nothing(score: Annotated) -> None:
    clock = cast(ManualClock, score.scores.clock)
    await score.write("before")
    tables = cast(Tables, Interrupted(score.scores.tables, clock, 5.001))
    slow = replace(score.scores, most_writes=1, tables=tables)
    before, begun = await score.main(), score.scores.now()
    with pytest.raises(ScoreLocked):
        await score.write("late", changed={0: "changed"}, scores=slow)
    # What begins a change takes the lock for ten seconds, and nothing else.
    assert await score.main() == before | {"xs": begun, "xt": begun + 10_000}
    assert await score.texts() == {0: "before"}
    # Its lock ends by itself, and what it left in the chunks is overwritten.
    with pytest.raises((ConditionFailed, TransactionCancelled)):
        await score.write("too early")
    clock.advance(10)
    await score.write("next")
    assert await score.texts() == {0: "before", 1: "next"}


async def test_a_late_committer_fails_when_the_lock_was_taken_over(score: Annotated) -> None:
    clock = cast(ManualClock, score.scores.clock)
    planned = annotations.plan(await score.row(), new=["late"])
    clock.advance(20)
    await score.write("first")
    with pytest.raises((ConditionFailed, TransactionCancelled)):
        await annotations.write_annotations(score.scores, planned)
    with pytest.raises((ConditionFailed, TransactionCancelled)):
        await annotations.write_annotations(replace(score.scores, most_writes=1), planned)
    assert await score.texts() == {0: "first"}


async def test_nobody_writes_while_somebody_else_holds_the_lock(score: Annotated) -> None:
    now = score.scores.now()
    key = SCORE.key(owner=OWNER, score_id=score.score_id)
    await score.scores.tables.update(TABLE, key, [assign("xs", now), assign("xt", now + 10_000)])
    with pytest.raises(TransactionCancelled):
        await score.write("text")
    assert await score.texts() == {}


@given(st.text(max_size=2400))
def test_pieces_join_to_the_text(text: str) -> None:
    pieces = cut(text)
    assert "".join(pieces) == text
    assert all(0 < len(piece) <= 240 for piece in pieces)
    assert len(pieces) <= most_pieces(len(text)) or len(pieces) > MAX_PIECES


@pytest.mark.parametrize("mark", ["\u0301", "\u200d", "\U0001f3fb\u0301", "\u0300" * 30])
def test_a_cut_never_parts_a_letter_from_its_marks(mark: str) -> None:
    text = "x" * 239 + "e" + mark + "y" * 100
    first, second = cut(text)
    assert first == ("x" * 239 if mark[0] != "\U0001f3fb" else "x" * 239 + "e")
    assert first + second == text


def test_marks_that_are_longer_than_a_piece_are_cut() -> None:
    assert [len(piece) for piece in cut("e" + "\u0301" * 500)] == [240, 240, 21]
