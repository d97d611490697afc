"""Pages of PDFs and of engraved music: made one by one, gone on with after a crash, and refused with a reason."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from satchel.features.scores.item_records import IMPORT, IMPORT_JOB, ImportRow
from satchel.features.scores.model import Email, ItemId, OwnerId, ScoreId, new_stored_id, public_id
from satchel.features.scores.records import PageEntry
from satchel.features.scores.service import item_add, page_import
from satchel.features.scores.service.context import Scores
from satchel.features.scores.service.item_add import ItemUpload
from satchel.features.scores.service.item_delete import delete_item
from satchel.features.scores.service.score_change import ScorePatch, change_score
from satchel.features.scores.service.score_create import NewScore, create_score
from satchel.features.scores.service.score_find import Viewer, find_score
from satchel.features.scores.service.score_list import usage_of
from satchel.kernel.clock import ManualClock
from tests.media.made_scores import musicxml
from tests.media.made_scores import pdf as made_pdf
from tests.media.samples import pdf

# Real pictures are made here, in processes of their own.
pytestmark = pytest.mark.slow

OWNER = OwnerId("owner")
ANN = Viewer(OWNER, Email("ann@example.org"))
ABC = b"X:1\nT:Air\nM:4/4\nL:1/4\nK:D\nD E F G|A B c d|d c B A|G F E D|\n"


class Given:
    """A score into which files come."""

    def __init__(self, scores: Scores, score_id: ScoreId) -> None:
        self.scores = scores
        self.score_id = score_id

    async def add(self, name: str, content: bytes) -> ItemId:
        item_id = ItemId(new_stored_id())
        key = f"upload/{public_id(item_id)}"

        async def body() -> AsyncIterator[bytes]:
            yield content

        await self.scores.objects.put(key, body())
        upload = ItemUpload(item_id=item_id, name=name, key=key, size_bytes=len(content), sha256="")
        item = await item_add.keep_item(self.scores, OWNER, self.score_id, upload)
        await page_import.begin_import(self.scores, OWNER, self.score_id, item)
        return item_id

    async def row(self, item_id: ItemId) -> ImportRow:
        found = await IMPORT.get(self.scores.tables, owner=OWNER, score_id=self.score_id, item_id=item_id)
        assert found is not None
        return found

    async def pages(self) -> list[PageEntry]:
        return (await find_score(self.scores, ANN, public_id(self.score_id))).row.data.pages

    async def jobs(self) -> int:
        return len((await self.scores.tables.query(IMPORT_JOB.table, "sj:all")).items)


@pytest.fixture
async def score(scores: Scores) -> Given:
    return Given(scores, await create_score(scores, OWNER, NewScore(title="title"), idempotency_key=None))


async def test_pages_are_made_of_a_pdf_and_of_engraved_music(score: Given) -> None:
    document, tune = await score.add("a.pdf", pdf()), await score.add("air.abc", ABC)
    assert (await score.row(document)).state == "waiting"
    assert await page_import.run_imports(score.scores) == 2
    rows = [await score.row(each) for each in (document, tune)]
    assert [(row.state, row.done, row.total) for row in rows] == [("ready", 1, 1), ("ready", 1, 1)]
    pages = {page.kind for page in await score.pages()}
    assert len(await score.pages()) == 2 and "s" in pages
    assert (await score.jobs(), await page_import.run_imports(score.scores)) == (0, 0)


async def test_an_import_goes_on_where_another_server_died(score: Given) -> None:
    document = await score.add("a.pdf", pdf())
    (page,) = (await score.scores.tables.query(IMPORT_JOB.table, "sj:all")).items
    held = {**page, "xt": score.scores.now() + 1000}
    await score.scores.tables.put(IMPORT_JOB.table, held)
    assert await page_import.run_imports(score.scores) == 0
    clock = score.scores.clock
    assert isinstance(clock, ManualClock)
    clock.advance(1)
    assert await page_import.run_imports(score.scores) == 1
    # The server died after the page, and before it wrote that down: the page is entered once.
    row = await score.row(document)
    again = {**IMPORT.item(row), "st": "running"}
    again.pop("dn")
    await score.scores.tables.put(IMPORT.table, again)
    await score.scores.tables.put(IMPORT_JOB.table, {**page, "xt": 0})
    assert await page_import.run_imports(score.scores) == 1
    assert len(await score.pages()) == 1


async def test_a_file_names_its_score_unless_somebody_has(score: Given) -> None:
    scores = score.scores
    for title, expected in (("bwv 1068", ("Air", "Ann Bach")), ("My Air", ("My Air", "Ann Bach"))):
        score_id = await create_score(scores, OWNER, NewScore(title=title), idempotency_key=None)
        await Given(scores, score_id).add("bwv_1068.musicxml", musicxml())
        assert await page_import.run_imports(scores) == 1
        found = await find_score(scores, ANN, public_id(score_id))
        assert (found.row.data.title, found.extra.composer) == expected
    # A second file tells nothing about a score that has pages.
    again = Given(scores, score_id)
    await change_score(scores, ANN, public_id(score_id), None, ScorePatch(title="other", composer=""))
    await again.add("other.musicxml", musicxml())
    assert await page_import.run_imports(scores) == 1
    found = await find_score(scores, ANN, public_id(score_id))
    assert (found.row.data.title, found.extra.composer) == ("other", "")


async def test_no_pages_are_made_of_a_file_that_was_deleted(score: Given) -> None:
    tune = await score.add("air.abc", ABC)
    await delete_item(score.scores, ANN, public_id(score.score_id), public_id(tune))
    assert await IMPORT.get(score.scores.tables, owner=OWNER, score_id=score.score_id, item_id=tune) is None
    assert await page_import.run_imports(score.scores) == 1
    assert (await score.pages(), await score.jobs()) == ([], 0)


async def test_what_cannot_be_rendered_says_why(score: Given) -> None:
    broken = await score.add("broken.pdf", b"%PDF-1.7\nnothing" + b"x" * 100)
    half = await score.add("half.musicxml", b'<?xml version="1.0"?><score-partwise><part-list><score-part id="P1">')
    assert await page_import.run_imports(score.scores) == 2
    for item_id in (broken, half):
        row = await score.row(item_id)
        assert (row.state, row.done, row.problem) == ("failed", 0, "score-broken")
        assert row.reason
    assert (await score.pages(), await score.jobs()) == ([], 0)


async def test_an_import_that_fills_the_quota_stops_and_says_so(score: Given) -> None:
    document = await score.add("long.pdf", made_pdf(3))
    usage = await usage_of(score.scores, OWNER)
    # Room for the file, and for no page of it.
    full = replace(score.scores, most_bytes=usage.size_bytes)
    assert await page_import.run_imports(full) == 1
    row = await score.row(document)
    assert (row.state, row.problem, row.done, row.total) == ("failed", "scores-full", 0, 3)
    assert (await usage_of(score.scores, OWNER)).size_bytes == usage.size_bytes
    assert (await score.pages(), await score.jobs()) == ([], 0)
