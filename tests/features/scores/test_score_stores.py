"""Scores on every table store: made, filled with pages, changed, marked, kept, listed and deleted."""

import pytest

from satchel.features.scores.mark import NewMark
from satchel.features.scores.model import public_id
from satchel.features.scores.service import layer_change, mark_change, page_import, score_delete, snapshot_change
from satchel.features.scores.service.context import Scores
from satchel.features.scores.service.mark_change import MarkChange
from satchel.features.scores.service.score_change import ScorePatch, change_score
from satchel.features.scores.service.score_create import NewScore, create_score
from satchel.features.scores.service.score_find import find_score, read_whole
from satchel.features.scores.service.score_list import usage_of
from satchel.kernel import ink
from tests.features.scores.test_score_imports import ABC, ANN, OWNER, Given
from tests.stores.harnesses_table import NEWER_HARNESSES


# A score without a description stores an empty text, which DynamoDB has taken since 2020, and DynamoDB Local does not.
@pytest.mark.parametrize("make", NEWER_HARNESSES)
async def test_a_score_lives_its_whole_life_on_every_store(scores: Scores) -> None:
    score_id = await create_score(scores, OWNER, NewScore(title="air"), idempotency_key=None)
    public = public_id(score_id)
    await Given(scores, score_id).add("air.abc", ABC)
    assert await page_import.run_imports(scores) == 1
    found = await find_score(scores, ANN, public)
    (page,) = found.row.data.pages
    assert found.row.data.title == "Air"
    await change_score(scores, ANN, public, found.row.etag, ScorePatch(composer="Bach", tags=["choir"]))
    _, layer = await layer_change.create_layer(scores, ANN, public, "Mine", None, idempotency_key=None)
    stroke = ink.encode([(100, 100, 128), (200, 150, 130)])
    change = MarkChange(new=[NewMark(page_id=page.page_id, kind="pen", stroke=stroke)] * 3, changed={}, removed=[])
    done = await mark_change.change_marks(scores, ANN, public, layer.layer_id, change, idempotency_key="once")
    gone = MarkChange(new=[], changed={}, removed=done.new_ids[:1])
    await mark_change.change_marks(scores, ANN, public, layer.layer_id, gone, idempotency_key=None)
    await snapshot_change.create_snapshot(scores, ANN, public, "Concert", idempotency_key=None)
    whole = await read_whole(scores, ANN, public)
    assert (len(whole.found.row.data.annotations), len(whole.found.row.snapshots)) == (2, 1)
    assert (await usage_of(scores, OWNER)).items == 2
    await score_delete.delete_score(scores, ANN, public)
    usage = await usage_of(scores, OWNER)
    assert (usage.scores, usage.items, usage.size_bytes) == (0, 0, 0)
