"""That clicks are taken back where a stream is folded, whether a worker has folded them yet or not."""

import pytest

from satchel.features.clicks.records import ClickRow
from satchel.features.clicks.service.streamed.stream_fold import Fold
from satchel.features.clicks.service.streamed.take_back import take_back
from satchel.stores.ports.table import Range
from satchel.tables import CLICKS
from tests.features.clicks.streams import Figures, Log, Store, counted, expected, fold_all, store_clicks

pytestmark = pytest.mark.services


async def test_clicks_are_taken_back_from_every_figure_and_only_once(store: Store) -> None:
    clicks = store.clicks(60, people=6)
    log, fold = Log(store.tables, store.clock), Fold(store.tables, store.clock, most_writes=store.most_writes)
    await store_clicks(store, clicks)
    await fold_all(store.consumer(), fold)
    # All of two people, and half of what the others did.
    of_two = [click for click in clicks if click.user_id in ("person0", "person1")]
    taken = of_two + [click for click in clicks if click not in of_two][::2]
    for expected_number in (len(taken), 0):
        assert await take_back(log, taken, 0.0, most_writes=store.most_writes) == expected_number
        left = [click for click in clicks if click not in taken]
        assert await remaining(store, clicks) == expected(left)
    # The stream tells of the deletions. They change nothing.
    await fold_all(store.consumer(), fold)
    assert await remaining(store, clicks) == expected(left)
    # Those who were taken back altogether are new when they come again.
    await store_clicks(store, of_two[:1])
    await fold_all(store.consumer(), fold)
    assert await remaining(store, clicks) == expected([*left, *of_two[:1]])


async def test_sums_are_right_also_if_a_worker_folds_the_clicks_later(store: Store) -> None:
    clicks = store.clicks(20)
    log, fold = Log(store.tables, store.clock), Fold(store.tables, store.clock, most_writes=store.most_writes)
    await store_clicks(store, clicks)
    assert await take_back(log, clicks, 0.0, most_writes=store.most_writes) == len(clicks)
    await fold_all(store.consumer(), fold)
    found = await counted(store, clicks)
    assert not any(row.get("totalClicks") for row in found.values())
    assert (await store.tables.query(CLICKS, clicks[0].user_id, Range(low="0"))).items == []


async def remaining(store: Store, clicks: list[ClickRow]) -> Figures:
    return {place: row for place, row in (await counted(store, clicks)).items() if row}
