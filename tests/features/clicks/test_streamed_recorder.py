"""Recording clicks where many servers share a store: each once and none lost, whoever else writes."""

import asyncio
from datetime import timedelta

import pytest

from satchel.features.clicks.model import ClickTooLate, KeyReused, NewClick, Recorded, stamp
from satchel.features.clicks.records import ALL, CLICK, SITE, marker_item
from satchel.features.clicks.service.streamed.click_lists import STORED_WITHIN
from satchel.features.clicks.service.streamed.recorder import StreamedRecorder
from satchel.kernel.errors import Unavailable
from satchel.stores.ports.table import Delete, Item
from satchel.tables import CLICKS, COUNTS
from tests.features.clicks.streams import NOW, Store
from tests.features.shelf.given import Killed

pytestmark = pytest.mark.services
NOW_MS = int(NOW * 1000)


def recorder(store: Store, kept_for: timedelta | None = None) -> StreamedRecorder:
    return StreamedRecorder(store.tables, store.clock, kept_for, most_writes=store.most_writes)


async def presses(store: Store, *clicks: NewClick) -> list[Recorded]:
    """As a server that has just been started."""
    return await recorder(store).record(clicks, [NOW_MS] * len(clicks))


async def stored(store: Store, user_id: str = "ann") -> list[Item]:
    return (await store.tables.query(CLICKS, user_id, limit=1000)).items


async def test_a_click_is_stored_as_the_seed_has_it(store: Store) -> None:
    await presses(store, NewClick(user_id="ann", count=3))
    assert await stored(store) == [
        {
            "userId": "ann",
            "createDateTime": stamp(NOW_MS),
            "clickCount": 3,
            "dateKey": f"DATE#{stamp(NOW_MS)[:10]}",
            "recordSort": f"CLICK#{stamp(NOW_MS)}#ann",
        }
    ]


async def test_clicks_of_one_millisecond_in_lists_and_from_several_servers_are_all_kept(store: Store) -> None:
    lists = await asyncio.gather(*(presses(store, *[NewClick(user_id="ann")] * 20) for _ in range(3)))
    answered = {recorded.created for answers in lists for recorded in answers}
    assert len(answered) == 60
    assert {item["createDateTime"] for item in await stored(store)} == answered


async def test_a_long_run_of_taken_milliseconds_is_passed_in_few_steps(store: Store) -> None:
    taken = [CLICK.key(user_id="ann", created=stamp(NOW_MS + number)) for number in range(400)]
    await store.tables.write_many(CLICKS, put=taken)
    writes = 0

    async def count() -> None:
        nonlocal writes
        writes += 1
        store.tables.before_writing = count

    store.tables.before_writing = count
    await presses(store, *[NewClick(user_id="ann")] * 10)
    assert len(await stored(store)) == 410
    # Going on by one each time would take thousands.
    assert writes < 400


async def test_what_asks_for_a_click_goes_with_it_and_also_if_it_was_stored_before(store: Store) -> None:
    asks: Item = {"PK": "ASKS", "SK": "ASKS"}
    settled = Delete(COUNTS, asks)
    for at in (NOW_MS, NOW_MS + 5000, NOW_MS - 10**10):
        await store.tables.put(COUNTS, asks)
        await recorder(store).record([NewClick(user_id="ann", key="k")], [at], [settled])
        assert await store.tables.get(COUNTS, asks) is None
    assert len(await stored(store)) == 1
    await store.tables.put(COUNTS, asks)
    store.tables.before_writing = killed
    with pytest.raises(Killed):
        await recorder(store).record([NewClick(user_id="bob", key="k")], [NOW_MS], [settled])
    with pytest.raises(KeyReused):
        await recorder(store).record([NewClick(user_id="ann", key="k", count=2)], [NOW_MS], [settled])
    assert await store.tables.get(COUNTS, asks) == asks


async def killed() -> None:
    raise Killed


async def test_a_click_that_comes_again_with_its_key_is_the_same_click(store: Store) -> None:
    ours = NewClick(user_id="ann", key="k")
    first, again = await presses(store, ours, ours)
    (later,) = await recorder(store).record([ours], [NOW_MS + 5000])
    assert {first.created, again.created, later.created} == {first.created}
    assert (first.repeated != again.repeated, later.repeated) == (True, True)
    assert len(await stored(store)) == 1


async def test_a_key_that_comes_with_another_click_is_refused_and_nothing_of_its_list_is_stored(store: Store) -> None:
    await presses(store, NewClick(user_id="ann", key="k"))
    with pytest.raises(KeyReused):
        await presses(store, NewClick(user_id="ann"), NewClick(user_id="ann", key="k", count=2))
    with pytest.raises(KeyReused):
        await presses(store, NewClick(user_id="bob", key="k"), NewClick(user_id="bob", key="k", count=2))
    assert (len(await stored(store)), await stored(store, "bob")) == (1, [])


async def test_over_a_bad_line_a_list_with_keys_is_sent_until_it_succeeds_and_counts_once(store: Store) -> None:
    clicks = [NewClick(user_id="ann", key=str(number)) for number in range(10)]
    store.tables.lost_share = 0.05
    answers: list[Recorded] = []
    while not answers:
        try:
            answers = await presses(store, *clicks)
        except Unavailable:
            continue
    store.tables.lost_share = 0.0
    assert {item["createDateTime"] for item in await stored(store)} == {each.created for each in answers}
    assert len(answers) == 10


@pytest.mark.parametrize("writes", range(5))
async def test_a_long_list_is_stored_whole_or_not_at_all_wherever_the_line_is_cut(store: Store, writes: int) -> None:
    clicks = [NewClick(user_id="ann") for _ in range(30)]

    async def cut() -> None:
        store.tables.lost_share = 1.0

    store.tables.cut_after(writes, cut)
    with pytest.raises(Unavailable):
        await presses(store, *clicks)
    store.tables.lost_share = 0.0
    store.clock.advance(STORED_WITHIN)
    finished = await recorder(store).finish_lists()
    assert len(await stored(store)) == 30 * finished
    assert await recorder(store).finish_lists() == 0
    assert (await store.tables.query(COUNTS, "LISTS")).items == []


async def test_a_list_that_is_sent_again_after_a_cut_counts_once(store: Store) -> None:
    clicks = [NewClick(user_id="ann", key=str(number)) for number in range(30)]

    async def cut() -> None:
        store.tables.lost_share = 1.0

    store.tables.cut_after(3, cut)
    with pytest.raises(Unavailable):
        await presses(store, *clicks)
    store.tables.lost_share = 0.0
    answers = await presses(store, *clicks)
    store.clock.advance(STORED_WITHIN)
    await recorder(store).finish_lists()
    assert {item["createDateTime"] for item in await stored(store)} == {each.created for each in answers}
    assert len(answers) == 30


async def test_a_retry_is_known_by_its_key_when_its_time_is_long_past(store: Store) -> None:
    ours = NewClick(user_id="ann", at=stamp(NOW_MS), key="k")
    (first,) = await presses(store, ours)
    store.clock.advance(timedelta(hours=49))
    (again,) = await presses(store, ours)
    assert (again.created, again.repeated) == (first.created, True)
    with pytest.raises(ClickTooLate):
        await presses(store, NewClick(user_id="ann", at=stamp(NOW_MS)))


async def test_clicks_that_are_kept_for_a_while_say_until_when(store: Store) -> None:
    await recorder(store, timedelta(days=7)).record([NewClick(user_id="ann")], [NOW_MS])
    (item,) = await stored(store)
    assert item["expiresAt"] == NOW + 7 * 86400


async def test_markers_of_an_erased_person_are_deleted(store: Store) -> None:
    markers = [marker_item("ann", period, SITE, None) for period in ("MONTH:2030-04", ALL)]
    await store.tables.write_many(COUNTS, put=markers)
    keys = [COUNTS.key_of(marker) for marker in markers]
    await recorder(store).delete_markers(keys)
    assert await store.tables.get_many(COUNTS, keys) == [None, None]
