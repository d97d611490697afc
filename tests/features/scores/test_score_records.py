"""Each operation on scores, with what stands in the table before and after it, on SQLite and on DynamoDB.

The keys, names, counters and steps are those that the table had before it came to Satchel.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, cast

import pytest

from satchel.features.scores.model import Email, ItemId, OwnerId, ScoreId, new_stored_id, public_id
from satchel.features.scores.service import item_add, item_delete, item_lock, page_set, score_change, score_create
from satchel.features.scores.service.context import Scores
from satchel.features.scores.service.item_add import ItemUpload
from satchel.features.scores.service.page_set import WantedPage
from satchel.features.scores.service.score_change import ScorePatch
from satchel.features.scores.service.score_create import NewScore
from satchel.features.scores.service.score_delete import delete_score
from satchel.features.scores.service.score_find import Viewer
from satchel.kernel.clock import ManualClock
from satchel.stores.patterns.optimistic_update import StaleRead
from satchel.stores.ports.table import Item, TransactionCancelled
from satchel.tables import SCORES
from tests.features.albums.given import on_both_stores

OWNER = OwnerId("owner")
ANN = Viewer(OWNER, Email("ann@example.org"))
PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 92
pytestmark = on_both_stores


@dataclass
class Table:
    """What stands in the table, and the clock that moves before each operation."""

    scores: Scores
    score_id: ScoreId

    @property
    def public(self) -> str:
        return public_id(self.score_id)

    async def at(self, partition: str, sort: str) -> Item | None:
        return await self.scores.tables.get(SCORES, {"o": f"{partition}:{OWNER}", "s": sort})

    async def all(self) -> dict[str, Any]:
        """By what they are called in the seed."""
        found = {
            "ScoreSummary": await self.at("sc", "summary"),
            "ScoreMain": await self.at("sc", self.score_id or "-"),
            "ItemSummary": await self.at("si", "summary"),
            "ItemMain": await self.at("si", self.score_id or "-"),
        }
        return {name: item for name, item in found.items() if item is not None}

    def tick(self) -> int:
        """The next moment."""
        cast(ManualClock, self.scores.clock).advance(1)
        return self.scores.now()

    async def upload(self, name: str = "1.png") -> str:
        item_id = ItemId(new_stored_id())
        key = f"upload/{item_id.replace('/', '_')}"

        async def body() -> AsyncIterator[bytes]:
            yield PNG

        await self.scores.objects.put(key, body())
        upload = ItemUpload(item_id=item_id, name=name, key=key, size_bytes=len(PNG), sha256="")
        await item_add.keep_item(self.scores, OWNER, self.score_id, upload)
        return public_id(item_id)

    async def pages(self, *pages: tuple[int | None, str, str]) -> None:
        wanted = [WantedPage(page_id=page, item_id=item, name=name, rotation=None) for page, item, name in pages]
        await page_set.set_pages(self.scores, ANN, self.public, None, wanted)


@pytest.fixture
async def table(scores: Scores) -> Table:
    found = Table(scores, ScoreId(""))
    new = NewScore(title="title", description="description")
    found.score_id = await score_create.create_score(scores, OWNER, new, idempotency_key=None)
    return found


def without(item: Item, *names: str) -> Item:
    return {name: value for name, value in item.items() if name not in names}


async def test_initialise_an_owner(scores: Scores) -> None:
    table = Table(scores, ScoreId(""))
    now = scores.now()
    for _ in range(2):
        await score_create.open_library(scores, OWNER)
        assert await table.all() == {
            "ScoreSummary": {"o": "sc:owner", "s": "summary", "c": 0, "ca": now, "ua": now},
            "ItemSummary": {"o": "si:owner", "s": "summary", "t": 0, "c": 0, "ca": now, "ua": now},
        }
        table.tick()


async def test_create_a_score(table: Table) -> None:
    found, now = await table.all(), table.scores.now()
    etag = found["ScoreMain"]["e"]
    assert len(table.score_id) == len(etag) == 22
    assert found["ScoreSummary"]["c"] == 1
    assert found["ScoreMain"] == {
        "o": "sc:owner",
        "s": table.score_id,
        "ca": now,
        "ua": now,
        "as": "pr",
        "e": etag,
        "xs": 0,
        "xt": 0,
        "v": 1,
        "nc": 0,
        "n": [],
        "d": {"t": "title", "d": "description", "pc": 0, "pi": 0, "p": [], "ai": 0, "ac": 0, "a": []},
    }
    assert found["ItemMain"] == {
        "o": "si:owner",
        "s": table.score_id,
        "ca": now,
        "ua": now,
        "xs": 0,
        "xt": 0,
        "v": 1,
        "t": 0,
        "c": 0,
        "i": [],
    }


async def test_upload_and_delete_items(table: Table) -> None:
    before = await table.all()
    now = table.tick()
    item = await table.upload("a page.png")
    after = await table.all()
    assert {name: after[name] for name in ("ScoreSummary", "ScoreMain")} == {
        name: before[name] for name in ("ScoreSummary", "ScoreMain")
    }
    (entry,) = after["ItemMain"]["i"]
    assert (public_id(entry["i"]), entry["k"], entry["t"], entry["n"]) == (item, "p", 100, "a page.png")
    assert after["ItemMain"] == before["ItemMain"] | {"t": 100, "c": 1, "ua": now, "i": [entry]}
    assert after["ItemSummary"] == before["ItemSummary"] | {"t": 100, "c": 1, "ua": now}
    now = table.tick()
    await item_delete.delete_item(table.scores, ANN, table.public, item)
    assert (await table.all())["ItemMain"] == before["ItemMain"] | {"ua": now}
    assert (await table.all())["ItemSummary"] == before["ItemSummary"] | {"ua": now}
    assert (await table.scores.objects.list("score/")).objects == []


async def test_set_pages(table: Table) -> None:
    items = [await table.upload(f"{number}.png") for number in range(2)]
    first = await table.all()
    stored = [entry["i"] for entry in first["ItemMain"]["i"]]
    now = table.tick()
    await table.pages((None, items[0], "one"), (None, items[1], "two"))
    added = await table.all()
    pages = [{"i": 0, "t": stored[0], "k": "p", "p": "one"}, {"i": 1, "t": stored[1], "k": "p", "p": "two"}]
    data = first["ScoreMain"]["d"] | {"pc": 2, "pi": 2, "p": pages}
    main = first["ScoreMain"] | {"e": added["ScoreMain"]["e"], "ua": now, "d": data}
    assert added == first | {"ScoreMain": main}
    assert added["ScoreMain"]["e"] != first["ScoreMain"]["e"]
    # Replace the one by the other item, keep its id, and remove the other page: ids are never used again.
    now = table.tick()
    await table.pages((0, items[1], "new"))
    replaced = await table.all()
    data = data | {"pc": 1, "p": [{"i": 0, "t": stored[1], "k": "p", "p": "new"}]}
    assert without(replaced["ScoreMain"], "e") == without(main, "e") | {"ua": now, "d": data}
    await table.pages((None, items[0], "three"), (0, items[1], "new"))
    assert [page["i"] for page in (await table.all())["ScoreMain"]["d"]["p"]] == [2, 0]


async def test_set_title_description_and_access(table: Table) -> None:
    before = await table.all()
    now = table.tick()
    patch = ScorePatch(title="new title", description="new words", access="public")
    await score_change.change_score(table.scores, ANN, table.public, before["ScoreMain"]["e"], patch)
    after = await table.all()
    data = before["ScoreMain"]["d"] | {"t": "new title", "d": "new words"}
    main = without(before["ScoreMain"], "e") | {"as": "pu", "ua": now, "d": data}
    assert without(after["ScoreMain"], "e") == main
    assert without(after, "ScoreMain") == without(before, "ScoreMain")


async def test_delete_a_score(table: Table) -> None:
    item = await table.upload()
    await table.pages((None, item, "one"))
    now = table.tick()
    await delete_score(table.scores, ANN, table.public)
    left = await table.all()
    assert {name: (row["c"], row["ua"]) for name, row in left.items()} == {
        "ScoreSummary": (0, now),
        "ItemSummary": (0, now),
    }
    assert left["ItemSummary"]["t"] == 0


async def test_a_lock_is_taken_over_when_it_has_run_out_and_the_late_holder_fails(table: Table) -> None:
    scores = table.scores
    late = await item_lock.begin(scores, OWNER, table.score_id)
    now = scores.now()
    assert {"xs": now, "xt": now + 10_000}.items() <= (await table.all())["ItemMain"].items()
    with pytest.raises(StaleRead):
        await item_lock.begin(scores, OWNER, table.score_id)
    cast(ManualClock, scores.clock).advance(10)
    with pytest.raises(TransactionCancelled):
        await scores.tables.transact([item_lock.commit(scores, late, late)])
    taken = await item_lock.begin(scores, OWNER, table.score_id)
    with pytest.raises(TransactionCancelled):
        await scores.tables.transact([item_lock.commit(scores, late, late)])
    await item_lock.release(scores, late)
    await scores.tables.transact([item_lock.commit(scores, taken, taken)])
    assert {"xs": 0, "xt": 0}.items() <= (await table.all())["ItemMain"].items()
