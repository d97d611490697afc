"""A number of downloads is kept to exactly, whoever comes at once, breaks off, goes on, or comes again."""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest

from satchel.features.links.model import LinkUsedUp
from satchel.features.links.records import GRANT, GrantRow
from satchel.features.links.service import download_grants, grant_rules
from satchel.features.links.service.context import Links
from satchel.features.links.service.link_enter import Visit
from satchel.features.links.service.link_find import usable
from satchel.kernel.errors import TooMany, Unavailable
from satchel.outbox import OUTBOX, OUTBOX_INDEX, OUTBOX_SORT
from satchel.stores.ports.expressions import add
from satchel.stores.ports.table import ConditionFailed
from tests.application import Caller, Satchel
from tests.features.links.given import CONTENT, changed, given, given_file, given_folder, slug
from tests.features.links.visiting import counted, figures, links_on, stored, visitor
from tests.features.shelf.given import uploaded

SIZE = 100


@dataclass
class Downloads:
    """Downloads of one file as the service sees them; what is sent is said, not sent."""

    links: Links
    token: str
    file_id: str

    thing: str = ""

    async def taking(self, who: str = "visitor:a") -> grant_rules.Taking:
        found = await usable(self.links, self.token, even_used_up=True)
        visit = Visit(link=found.link, thing=found.thing, visitor_id=who, pass_id="pass")
        return grant_rules.Taking(visit=visit, file_id=self.file_id, size_bytes=SIZE, thing=self.thing)

    async def send(self, sent: int, length: int | None = None, who: str = "visitor:a", start: int = 0) -> bool:
        """Whether an answer of this length could begin; so much of it has gone when it ends."""
        try:
            async with download_grants.answering(
                self.links, await self.taking(who), length or sent, lambda: sent, start=start
            ):
                await asyncio.sleep(0)
        except LinkUsedUp:
            return False
        return True

    async def die_in_the_middle(self, *parts: tuple[int, int]) -> None:
        """What is left of answers, from where to where in the file, of a server that says no more of them."""
        tables = self.links.tables
        async with AsyncExitStack() as under_way:
            for start, end in parts:
                answer = download_grants.answering(self.links, await self.taking(), end - start, lambda: 0, start=start)
                await (await under_way.enter_async_context(answer))()
            left = await self.row()
            found = (await tables.query(OUTBOX.table, OUTBOX_SORT, index=OUTBOX_INDEX)).items
            endings = await tables.get_many(OUTBOX.table, [OUTBOX.table.key_of(item) for item in found])
        await tables.put(GRANT.table, GRANT.item(left))
        await tables.write_many(OUTBOX.table, put=[item for item in endings if item is not None])

    async def row(self, who: str = "visitor:a") -> GrantRow:
        row = await GRANT.get(self.links.tables, token=self.token, visitor=who, file_id=self.file_id)
        assert row is not None
        return row


@pytest.fixture
async def links(satchel: Satchel) -> AsyncGenerator[Links]:
    async with links_on(satchel) as links:
        yield links


async def downloads_of(links: Links, satchel: Satchel, ann: Caller, **wishes: Any) -> tuple[Downloads, dict[str, Any]]:
    file = await uploaded(satchel, ann, "a", b"x" * SIZE)
    link = await given(ann, "file", file.file_id, **wishes)
    return Downloads(links, link["token"], file.file_id), link


async def signed_in(caller: Caller, name: str = "ann") -> Caller:
    """After so long that the last token has expired."""
    await caller.sign_in(f"{name}@example.org")
    return caller


@pytest.mark.parametrize("limit", [1, 7])
async def test_of_a_hundred_who_come_at_once_as_many_get_it_as_may(satchel: Satchel, ann: Caller, limit: int) -> None:
    link = await given_file(satchel, ann, downloads=limit)
    people = [visitor(satchel, link, f"203.0.113.{number}") for number in range(100)]
    answers = await asyncio.gather(*(each("GET", "/content") for each in people))
    got = [answer for answer in answers if answer.status_code == 200]
    assert [answer.content for answer in got] == [CONTENT] * limit
    assert {slug(answer) for answer in answers if answer not in got} == {(410, "link-used-up")}
    assert await counted(ann, link) == figures(opens=limit, people=limit, downloads=limit, downloads_used=limit)
    assert slug(await people[0]("GET")) == (410, "link-used-up")


@pytest.mark.slow
@pytest.mark.parametrize("limit", [1, 3])
async def test_one_visitor_who_asks_often_at_once_gets_no_more_than_others(
    satchel: Satchel, ann: Caller, limit: int
) -> None:
    link = await given_file(satchel, ann, downloads=limit)
    someone = visitor(satchel, link)
    await someone.entered()
    answers = await asyncio.gather(*(someone("GET", "/content") for _ in range(30)))
    told = [answer.status_code for answer in answers]
    assert told.count(200) == limit
    assert set(told) <= {200, 410, 429}
    assert (await stored(satchel, link)).downloads_used == limit


async def test_having_it_whole_and_asking_again_takes_another_place(satchel: Satchel, ann: Caller) -> None:
    link = await given_file(satchel, ann, downloads=2)
    someone = visitor(satchel, link)
    await someone.entered()
    assert (await someone("GET", "/content")).content == CONTENT
    assert (await someone.look())["downloads_left"] == 1
    assert (await someone("GET", "/content")).content == CONTENT
    assert slug(await someone("GET", "/content")) == (410, "link-used-up")
    assert await counted(ann, link) == figures(opens=1, people=1, downloads=2, downloads_used=2)


async def test_without_a_limit_every_finished_download_counts(satchel: Satchel, ann: Caller) -> None:
    link = await given_file(satchel, ann)
    for _ in range(3):
        assert (await visitor(satchel, link)("GET", "/content")).content == CONTENT
    assert await counted(ann, link) == figures(opens=3, people=1, downloads=3, downloads_used=3)


async def test_without_a_limit_nobody_remembers_who_had_what(links: Links, satchel: Satchel, ann: Caller) -> None:
    downloads, link = await downloads_of(links, satchel, ann)
    assert await downloads.send(SIZE - 1, SIZE)
    assert (await downloads.row()).sent_bytes == SIZE - 1
    assert await downloads.send(1, start=SIZE - 1)
    assert await downloads.send(SIZE)
    assert await downloads.send(0, SIZE)
    assert (await GRANT.list(links.tables, token=link["token"])).records == []
    assert (await stored(satchel, link)).granted == 2
    assert await counted(ann, link) == figures(people=1, downloads=2, downloads_used=2)


async def test_parts_use_one_place_and_count_once_they_are_all_there(satchel: Satchel, ann: Caller) -> None:
    link = await given_file(satchel, ann, downloads=1)
    someone = visitor(satchel, link)
    got = b""
    while len(got) < len(CONTENT):
        assert (await counted(ann, link))["downloads"] == 0
        part = await someone("GET", "/content", headers={"range": f"bytes={len(got)}-{len(got) + 6}"})
        assert part.status_code == 206, part.text
        got += part.content
    assert got == CONTENT
    assert await counted(ann, link) == figures(opens=1, people=1, downloads=1, downloads_used=1)


async def test_parts_fetched_at_once_are_one_download(satchel: Satchel, ann: Caller) -> None:
    link = await given_file(satchel, ann, downloads=1)
    someone = visitor(satchel, link)
    await someone.entered()
    ranges = [f"bytes={start}-{start + 4}" for start in range(0, len(CONTENT), 5)]
    answers = await asyncio.gather(*(someone("GET", "/content", headers={"range": each}) for each in ranges))
    assert b"".join(answer.content for answer in answers) == CONTENT
    assert await counted(ann, link) == figures(opens=1, people=1, downloads=1, downloads_used=1)


@pytest.mark.parametrize(
    ("method", "headers"),
    [
        ("HEAD", {}),
        ("HEAD", {"range": "bytes=0-"}),
        ("GET", {"if-none-match": "*"}),
        ("GET", {"range": "bytes=-1"}),
        ("GET", {"range": "bytes=0-0"}),
        ("GET", {"range": "bytes=900-"}),
    ],
)
async def test_what_is_no_download_finishes_nothing(
    satchel: Satchel, ann: Caller, method: str, headers: dict[str, str]
) -> None:
    link = await given_file(satchel, ann, downloads=1)
    someone = visitor(satchel, link)
    await someone.entered()
    for _ in range(3):
        await someone(method, "/content", headers=headers)
    assert await counted(ann, link) == figures(opens=1, people=1)
    assert (await someone("GET", "/content")).content == CONTENT
    assert await counted(ann, link) == figures(opens=1, people=1, downloads=1, downloads_used=1)


async def test_asking_for_nearly_all_again_and_again_takes_a_place_each_time(satchel: Satchel, ann: Caller) -> None:
    link = await given_file(satchel, ann, downloads=2)
    someone = visitor(satchel, link)
    nearly = {"range": f"bytes=1-{len(CONTENT)}"}
    answers = [await someone("GET", "/content", headers=nearly) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [206, 206, 410, 410]


async def test_an_empty_file_counts_like_every_other(satchel: Satchel, ann: Caller) -> None:
    file = await uploaded(satchel, ann, "empty", b"")
    link = await given(ann, "file", file.file_id, downloads=2)
    someone = visitor(satchel, link)
    answers = [await someone("GET", "/content") for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 410]
    assert await counted(ann, link) == figures(opens=2, people=1, downloads=2, downloads_used=2)


async def test_each_file_of_a_folder_takes_its_own_place(satchel: Satchel, ann: Caller) -> None:
    link = await given_folder(satchel, ann, "a.txt", "b.txt", "c.txt", downloads=2)
    someone = visitor(satchel, link)
    ids = [file["file_id"] for file in (await someone.entered())["listing"]["files"]]
    answers = [await someone("GET", f"/files/{each}/content") for each in ids]
    assert [answer.status_code for answer in answers] == [200, 200, 410]


async def test_an_archive_is_one_download(satchel: Satchel, ann: Caller) -> None:
    link = await given_folder(satchel, ann, "a.txt", "b.txt", downloads=1)
    someone = visitor(satchel, link)
    assert (await someone("HEAD", "/archive")).status_code == 200
    assert await counted(ann, link) == figures()
    assert (await someone("GET", "/archive")).status_code == 200
    assert await counted(ann, link) == figures(opens=1, people=1, downloads=1, downloads_used=1)
    assert slug(await someone("GET", "/archive")) == (410, "link-used-up")


async def test_going_on_after_a_broken_line_needs_no_other_place(links: Links, satchel: Satchel, ann: Caller) -> None:
    downloads, link = await downloads_of(links, satchel, ann, downloads=1)
    assert await downloads.send(40, length=SIZE)
    assert not await downloads.send(SIZE, who="visitor:b")
    # Of what was sent some never arrived, and is asked for again.
    assert await downloads.send(25, length=SIZE - 30, start=30)
    assert (await downloads.row()).finished == 0
    assert await downloads.send(SIZE - 50, start=50)
    assert await downloads.send(5)
    row = await downloads.row()
    assert (row.places, row.finished) == (1, 1)
    assert await counted(ann, link) == figures(people=1, downloads=1, downloads_used=1)
    assert not await downloads.send(SIZE)


async def test_whoever_was_cut_off_may_begin_anew_and_again(links: Links, satchel: Satchel, ann: Caller) -> None:
    downloads, link = await downloads_of(links, satchel, ann, downloads=1)
    for _ in range(5):
        assert await downloads.send(SIZE * 9 // 10, length=SIZE)
        satchel.clock.advance(timedelta(hours=2))
    assert await counted(await signed_in(ann), link) == figures()
    assert await downloads.send(SIZE)
    assert await counted(ann, link) == figures(people=1, downloads=1, downloads_used=1)
    assert not await downloads.send(SIZE)


async def test_what_goes_out_in_vain_has_an_end(links: Links, satchel: Satchel, ann: Caller) -> None:
    downloads, _ = await downloads_of(links, satchel, ann, downloads=1)
    tries = 0
    while tries < 100 and await downloads.send(SIZE - 1, length=SIZE):
        tries += 1
    assert grant_rules.MOST_LOST <= tries < 100


@pytest.mark.parametrize("limit", [None, 1])
async def test_the_same_bytes_many_times_are_no_whole_file(
    links: Links, satchel: Satchel, ann: Caller, limit: int | None
) -> None:
    downloads, link = await downloads_of(links, satchel, ann, downloads=limit)
    for _ in range(3):
        assert await downloads.send(60, length=SIZE)
    assert await counted(ann, link) == figures()
    assert await downloads.send(40, start=60)
    assert await counted(ann, link) == figures(people=1, downloads=1, downloads_used=1)


async def test_two_behind_one_address_of_whom_one_is_cut_off_and_goes_on_are_two(
    links: Links, satchel: Satchel, ann: Caller
) -> None:
    downloads, link = await downloads_of(links, satchel, ann)
    assert await downloads.send(60, length=SIZE)
    assert await downloads.send(SIZE)
    assert await downloads.send(40, start=60)
    assert await counted(ann, link) == figures(people=1, downloads=2, downloads_used=2)


async def test_a_renewal_that_collides_is_made_again(
    links: Links, satchel: Satchel, ann: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    downloads, _ = await downloads_of(links, satchel, ann, downloads=1)
    tables, refused = links.tables, 0

    class Meddled:
        def __getattr__(self, name: str) -> Any:
            return getattr(tables, name)

        async def put(self, table: Any, item: Any, *, when: Any = None) -> None:
            nonlocal refused
            if "underWay" in item and refused < 5:
                refused += 1
                raise ConditionFailed("Somebody else was first.")
            await tables.put(table, item, when=when)

    monkeypatch.setattr(download_grants, "RENEWED_EVERY", timedelta(milliseconds=1))
    meddled = Downloads(replace(links, tables=Meddled()), downloads.token, downloads.file_id)
    async with download_grants.answering(meddled.links, await meddled.taking(), SIZE, lambda: SIZE):
        before = next(iter((await downloads.row()).under_way.values())).until
        satchel.clock.advance(timedelta(seconds=40))
        while next(iter((await downloads.row()).under_way.values())).until == before:
            await asyncio.sleep(0.001)
    assert refused == 5


@pytest.mark.parametrize("limit", [None, 1])
async def test_a_server_that_dies_with_the_last_byte_has_counted_it_exactly_once(
    links: Links, satchel: Satchel, ann: Caller, limit: int | None
) -> None:
    downloads, link = await downloads_of(links, satchel, ann, downloads=limit)
    downloads.thing = f"folder:it/file:{downloads.file_id}"
    await downloads.die_in_the_middle((0, SIZE))
    assert await counted(ann, link) == figures()
    satchel.clock.advance(grant_rules.BELIEVED_FOR - timedelta(seconds=1))
    assert await links.outbox.settle() == 0
    satchel.clock.advance(timedelta(seconds=1))
    restarted = replace(links.outbox, alone_since=satchel.clock())
    for _ in range(2):
        await restarted.settle()
        assert await counted(ann, link) == figures(people=1, downloads=1, downloads_used=1)
    for each in downloads.thing.split("/"):
        assert (await ann("GET", f"/stats/thing:{each}/summary")).json()["total"]["download"] == 1
    assert (await satchel.stores.tables.query(OUTBOX.table, OUTBOX_SORT, index=OUTBOX_INDEX)).items == []


async def test_a_server_that_dies_before_a_download_is_counted_counts_it_exactly_once(
    links: Links, satchel: Satchel, ann: Caller
) -> None:
    downloads, link = await downloads_of(links, satchel, ann, downloads=1)

    async def dead(_: object) -> None:
        raise Unavailable("Gone.")

    dying = replace(links, outbox=replace(links.outbox, count=dead))
    assert await Downloads(dying, downloads.token, downloads.file_id).send(SIZE)
    seen = await counted(ann, link)
    assert seen["downloads"] == seen["downloads_used"] == 1
    satchel.clock.advance(grant_rules.BELIEVED_FOR)
    await links.outbox.settle()
    await links.outbox.settle()
    summary = (await ann("GET", f"/stats/link:{link['link_id']}/summary")).json()
    assert summary["total"]["download"] == 1


async def test_whoever_resumes_where_a_server_died_did_not_have_it_all(
    links: Links, satchel: Satchel, ann: Caller
) -> None:
    downloads, link = await downloads_of(links, satchel, ann, downloads=1)
    await downloads.die_in_the_middle((0, SIZE))
    satchel.clock.advance(grant_rules.BELIEVED_FOR)
    assert await downloads.send(0, length=SIZE - 50, start=50)
    await links.outbox.settle()
    assert await counted(ann, link) == figures()
    assert await downloads.send(SIZE - 50, start=50)
    assert await counted(ann, link) == figures(people=1, downloads=1, downloads_used=1)


async def test_an_owner_sees_a_download_that_broke_off_and_gives_its_place_back(
    links: Links, satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    downloads, link = await downloads_of(links, satchel, ann, downloads=1)
    way = f"/links/{link['link_id']}/places"
    assert (await ann("GET", way)).json() == {"places": [], "cursor": None}
    assert await downloads.send(60, length=SIZE)
    satchel.clock.advance(grant_rules.ABANDONED_AFTER + timedelta(minutes=1))
    ann = await signed_in(ann)
    assert not await downloads.send(SIZE, who="visitor:b")
    assert (await ann("GET", f"/links/{link['link_id']}")).json()["downloads_open"] == 1
    (place,) = (await ann("GET", way)).json()["places"]
    assert (place["state"], place["gone_bytes"], place["size_bytes"], place["places"]) == ("broken-off", 60, SIZE, 1)
    assert slug(await (await signed_in(bob, "bob"))("DELETE", f"{way}/{place['place_id']}")) == (404, "link-unknown")
    async with download_grants.answering(links, await downloads.taking(), 40, lambda: 0, start=60):
        assert (await ann("GET", way)).json()["places"][0]["state"] == "in-progress"
        assert slug(await ann("DELETE", f"{way}/{place['place_id']}")) == (409, "place-in-use")
    assert (await ann("DELETE", f"{way}/{place['place_id']}")).status_code == 204
    assert slug(await ann("DELETE", f"{way}/{place['place_id']}")) == (404, "place-unknown")
    assert await downloads.send(SIZE, who="visitor:b")
    assert not await downloads.send(40, start=60)
    shown = (await ann("GET", f"/links/{link['link_id']}")).json()
    assert (shown["downloads_used"], shown["downloads_open"]) == (1, 0)


async def test_a_place_that_nobody_uses_is_free_after_an_hour(links: Links, satchel: Satchel, ann: Caller) -> None:
    downloads, link = await downloads_of(links, satchel, ann, downloads=1)
    assert await downloads.send(SIZE // 2 - 1, length=SIZE)
    satchel.clock.advance(grant_rules.ABANDONED_AFTER - timedelta(seconds=1))
    assert not await downloads.send(SIZE, who="visitor:b")
    satchel.clock.advance(download_grants.LOOKED_FOR_EVERY)
    assert await downloads.send(SIZE, who="visitor:b")
    assert not await downloads.send(SIZE - 10)
    assert (await stored(satchel, link)).granted == 1
    assert (await downloads.row()).places == 0


async def test_a_place_of_which_half_was_used_stays_taken(links: Links, satchel: Satchel, ann: Caller) -> None:
    downloads, _ = await downloads_of(links, satchel, ann, downloads=1)
    assert await downloads.send(SIZE // 2, length=SIZE)
    satchel.clock.advance(2 * grant_rules.ABANDONED_AFTER)
    assert not await downloads.send(SIZE, who="visitor:b")
    assert await downloads.send(SIZE // 2, start=SIZE // 2)
    assert (await downloads.row()).finished == 1


async def test_what_is_taken_in_pieces_is_not_given_back_for_ever(links: Links, satchel: Satchel, ann: Caller) -> None:
    downloads, _ = await downloads_of(links, satchel, ann, downloads=1)
    assert await downloads.send(49)
    satchel.clock.advance(2 * grant_rules.ABANDONED_AFTER)
    assert await downloads.send(49, who="visitor:b")
    satchel.clock.advance(2 * grant_rules.ABANDONED_AFTER)
    assert await downloads.send(49)
    satchel.clock.advance(2 * grant_rules.ABANDONED_AFTER)
    assert not await downloads.send(49, who="visitor:c")


async def test_a_server_that_died_is_believed_for_a_while_only(links: Links, satchel: Satchel, ann: Caller) -> None:
    downloads, _ = await downloads_of(links, satchel, ann, downloads=1)
    async with AsyncExitStack() as never_left:
        answering = download_grants.answering(downloads.links, await downloads.taking(), SIZE, lambda: 0)
        await never_left.enter_async_context(answering)
        with pytest.raises(TooMany):
            await downloads.send(SIZE)
        assert not await downloads.send(SIZE, who="visitor:b")
        satchel.clock.advance(grant_rules.BELIEVED_FOR)
        assert await downloads.send(SIZE)
    assert (await downloads.row()).finished == 1


async def test_going_on_says_how_much_had_arrived_when_the_server_died(
    links: Links, satchel: Satchel, ann: Caller
) -> None:
    downloads, link = await downloads_of(links, satchel, ann, downloads=1)
    await downloads.die_in_the_middle((0, SIZE))
    satchel.clock.advance(grant_rules.BELIEVED_FOR)
    await downloads.die_in_the_middle((30, SIZE))
    assert (await downloads.row()).sent_bytes == 30
    satchel.clock.advance(grant_rules.BELIEVED_FOR)
    assert await downloads.send(SIZE - 80, start=80)
    assert await counted(ann, link) == figures(people=1, downloads=1, downloads_used=1)
    assert not await downloads.send(SIZE)


async def test_parts_of_a_server_that_died_are_gone_on_with_one_by_one(
    links: Links, satchel: Satchel, ann: Caller
) -> None:
    downloads, link = await downloads_of(links, satchel, ann, downloads=1)
    await downloads.die_in_the_middle((0, 40), (40, 80), (80, SIZE))
    satchel.clock.advance(grant_rules.BELIEVED_FOR)
    assert await downloads.send(10, start=90)
    assert await downloads.send(40, start=40)
    assert (await downloads.row()).sent_bytes == 60
    assert await counted(ann, link) == figures()
    assert await downloads.send(10, start=30)
    assert await counted(ann, link) == figures(people=1, downloads=1, downloads_used=1)


async def test_whoever_begins_anew_when_the_server_died_is_believed_to_have_nothing(
    links: Links, satchel: Satchel, ann: Caller
) -> None:
    downloads, _ = await downloads_of(links, satchel, ann, downloads=1)
    await downloads.die_in_the_middle((0, SIZE))
    satchel.clock.advance(grant_rules.BELIEVED_FOR)
    # However often: what a server sent before it died is not held against anybody.
    await downloads.die_in_the_middle((0, SIZE))
    satchel.clock.advance(grant_rules.BELIEVED_FOR)
    assert await downloads.send(SIZE - 1, length=SIZE)
    row = await downloads.row()
    assert (row.places, row.sent_bytes, row.finished) == (1, SIZE - 1, 0)


async def test_the_place_of_somebody_who_never_comes_back_to_a_server_that_died_is_free_after_an_hour(
    links: Links, satchel: Satchel, ann: Caller
) -> None:
    downloads, _ = await downloads_of(links, satchel, ann, downloads=1)
    await downloads.die_in_the_middle((0, SIZE))
    satchel.clock.advance(grant_rules.ABANDONED_AFTER - timedelta(seconds=1))
    assert not await downloads.send(SIZE, who="visitor:b")
    satchel.clock.advance(download_grants.LOOKED_FOR_EVERY)
    assert await downloads.send(SIZE, who="visitor:b")


async def test_a_server_that_is_alone_knows_that_what_was_under_way_before_it_is_not(
    links: Links, satchel: Satchel, ann: Caller
) -> None:
    downloads, _ = await downloads_of(links, satchel, ann, downloads=1)
    await downloads.die_in_the_middle((0, SIZE))
    with pytest.raises(TooMany):
        await downloads.send(SIZE - 20, start=20)
    satchel.clock.advance(timedelta(milliseconds=1))
    alone = replace(links, outbox=replace(links.outbox, alone_since=satchel.clock()))
    restarted = Downloads(alone, downloads.token, downloads.file_id)
    async with download_grants.answering(
        restarted.links, await restarted.taking(), SIZE - 20, lambda: SIZE - 20, start=20
    ):
        # It believes itself.
        with pytest.raises(TooMany):
            await restarted.send(SIZE)
    assert (await downloads.row()).finished == 1


async def test_there_is_an_end_to_how_many_parts_go_out_at_once(links: Links, satchel: Satchel, ann: Caller) -> None:
    downloads, _ = await downloads_of(links, satchel, ann)
    async with AsyncExitStack() as under_way:
        for _ in range(grant_rules.MOST_ANSWERS):
            answering = download_grants.answering(downloads.links, await downloads.taking(), 1, lambda: 1)
            await under_way.enter_async_context(answering)
        with pytest.raises(TooMany):
            await downloads.send(1)
    assert await downloads.send(1)


async def test_the_owner_may_allow_more_and_less_in_the_middle(links: Links, satchel: Satchel, ann: Caller) -> None:
    downloads, link = await downloads_of(links, satchel, ann, downloads=1)
    assert await downloads.send(SIZE)
    assert not await downloads.send(SIZE, who="visitor:b")
    await changed(ann, link, downloads=2)
    assert await downloads.send(SIZE, who="visitor:b")
    await changed(ann, link, downloads=None)
    assert await downloads.send(SIZE, who="visitor:c")
    await changed(ann, link, downloads=2)
    assert not await downloads.send(SIZE, who="visitor:d")
    assert (await stored(satchel, link)).downloads_used == 3


@pytest.mark.parametrize("seed", range(12))
async def test_whatever_people_do_no_more_is_given_than_was_allowed(
    links: Links, satchel: Satchel, ann: Caller, seed: int
) -> None:
    """Visitors at once who take parts, break off, go on and wait, among each other and with themselves."""
    chance = random.Random(seed)
    limit = chance.choice([1, 2, 5])
    downloads, link = await downloads_of(links, satchel, ann, downloads=limit)
    whole = 0
    sent_in_all = 0
    gone: dict[str, list[int]] = {}

    async def one_visitor(who: str) -> None:
        nonlocal whole, sent_in_all
        for _ in range(3):
            length = chance.choice([1, SIZE // 3, SIZE // 2, SIZE - 1, SIZE])
            start = chance.choice([0, SIZE - length])
            sent = length if chance.random() < 0.6 else chance.randrange(length)
            with suppress(TooMany):
                if await downloads.send(sent, length, who, start=start):
                    sent_in_all += sent
                    gone.setdefault(who, []).extend(range(start, start + sent))
                    whole += sent == SIZE

    for _ in range(3):
        await asyncio.gather(*(one_visitor(f"visitor:{number % 4}") for number in range(12)))
        satchel.clock.advance(grant_rules.ABANDONED_AFTER)
    row = await stored(satchel, link)
    held = (await GRANT.list(satchel.stores.tables, token=link["token"], limit=1000)).records
    assert whole <= limit
    assert row.granted == sum(each.places for each in held) <= limit
    assert row.downloads_used == sum(each.finished for each in held) <= row.granted
    assert sent_in_all == sum(each.sent_bytes for each in held)
    for each in held:
        depth = Counter(gone.get(each.visitor, []))
        assert each.finished <= min(depth[byte] for byte in range(SIZE))
    assert not any(each.under_way for each in held)
    await ann.sign_in("ann@example.org")
    assert (await counted(ann, link))["downloads"] == row.downloads_used


async def test_a_hundred_at_once_over_a_link_that_grows_stay_below_its_limit(
    links: Links, satchel: Satchel, ann: Caller
) -> None:
    downloads, link = await downloads_of(links, satchel, ann, downloads=1)
    tried = [downloads.send(SIZE, who=f"visitor:{number}") for number in range(100)]

    async def grow() -> bool:
        for limit in (3, 10):
            await changed(ann, link, downloads=limit)
        return False

    got = await asyncio.gather(*tried, grow())
    row = await stored(satchel, link)
    assert sum(got) == row.granted == row.downloads_used <= 10


async def test_places_that_others_hold_are_not_given_away(links: Links, satchel: Satchel, ann: Caller) -> None:
    downloads, link = await downloads_of(links, satchel, ann, downloads=1)
    key = {"PK": f"Link#{link['token']}", "SK": "Link#"}
    await satchel.stores.tables.update(GRANT.table, key, [add("granted", 1)])
    assert not await downloads.send(SIZE)
    assert (await stored(satchel, link)).granted == 1


async def test_one_file_of_many_is_not_to_be_had_for_nothing(satchel: Satchel, ann: Caller) -> None:
    link = await given_folder(satchel, ann, *(f"{number}.txt" for number in range(9)), downloads=1)
    first, second = visitor(satchel, link, "203.0.113.7"), visitor(satchel, link, "203.0.113.8")
    path = f"/files/{(await first.entered())['listing']['files'][0]['file_id']}/content"
    assert (await first("GET", path, params={"whole": "true"})).status_code == 200
    satchel.clock.advance(grant_rules.ABANDONED_AFTER + timedelta(minutes=1))
    assert slug(await second("GET", path, params={"whole": "true"})) == (410, "link-used-up")


@pytest.mark.slow
async def test_a_folder_taken_whole_file_by_file_is_one_download(satchel: Satchel, ann: Caller) -> None:
    names = [f"{number}.txt" for number in range(12)]
    link = await given_folder(satchel, ann, *names, downloads=2)
    someone = visitor(satchel, link)

    async def take(files: list[dict[str, Any]]) -> list[int]:
        ways = [f"/files/{file['file_id']}/content" for file in files]
        answers = await asyncio.gather(*(someone("GET", way, params={"whole": "true"}) for way in ways))
        return [answer.status_code for answer in answers]

    files = (await someone.entered())["listing"]["files"]
    assert await take(files[:-1]) == [200] * 11
    assert await counted(ann, link) == figures(opens=1, people=1)
    assert await take(files[-1:]) == [200]
    assert await counted(ann, link) == figures(opens=1, people=1, downloads=1, downloads_used=1)
    assert await take(files) == [200] * 12
    assert await counted(ann, link) == figures(opens=1, people=1, downloads=2, downloads_used=2)
    assert set(await take(files)) - {200}
    assert (await stored(satchel, link)).downloads_used == 2
