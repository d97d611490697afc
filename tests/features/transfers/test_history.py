"""Looking back: both directions, newest first, page by page, at the cost of a page."""

from typing import Any

from satchel.features.transfers.model import PersonId, TransferId
from satchel.features.transfers.records import POINTER, RECEIVED, WAITING, PointerRow
from satchel.kernel.clock import iso
from satchel.kernel.ids import new_id
from tests.application import Caller, Satchel
from tests.features.shelf.given import uploaded
from tests.features.transfers.given import by_email, history, waiting


async def exchange(satchel: Satchel, ann: Caller, bob: Caller, rounds: int) -> list[str]:
    """Ann sends to Bob, then Bob to Ann, and so on; the ids, newest first."""
    anns = await uploaded(satchel, ann, "a.txt", b"a")
    bobs = await uploaded(satchel, bob, "b.txt", b"b")
    ids: list[str] = []
    for _ in range(rounds):
        satchel.clock.advance(0.01)
        ids.append((await by_email(ann, anns.file_id))["transfer_id"])
        satchel.clock.advance(0.01)
        ids.append((await by_email(bob, bobs.file_id, to="ann@example.org"))["transfer_id"])
    return ids[::-1]


async def page(caller: Caller, **params: Any) -> tuple[list[str], str | None]:
    answer = (await caller("GET", "/transfers", params=params)).json()
    return [each["transfer_id"] for each in answer["transfers"]], answer["cursor"]


async def test_everything_comes_newest_first_and_by_direction(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    ids = await exchange(satchel, ann, bob, 3)
    assert await history(ann) == await history(bob) == ids
    assert await history(ann, direction="sent") == await history(bob, direction="received") == ids[1::2]
    assert await history(ann, direction="received") == await history(bob, direction="sent") == ids[0::2]
    listed = (await ann("GET", "/transfers")).json()["transfers"]
    assert [each["direction"] for each in listed] == ["received", "sent"] * 3
    assert [len(each["receipts"]) for each in listed] == [1, 0] * 3


async def test_pages_are_full_whatever_the_direction_and_meet_without_gaps(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    ids = await exchange(satchel, ann, bob, 5)
    for direction, expected in (("all", ids), ("sent", ids[1::2]), ("received", ids[0::2])):
        seen, cursor = await page(ann, direction=direction, limit=2)
        assert len(seen) == 2
        while cursor is not None:
            more, cursor = await page(ann, direction=direction, limit=2, cursor=cursor)
            assert len(more) == 2 or cursor is None
            seen += more
        assert seen == expected


async def test_a_cursor_opens_nobody_elses_history(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    await exchange(satchel, ann, bob, 2)
    _, cursor = await page(ann, limit=1)
    stranger = satchel.caller()
    await stranger.sign_up("eve@example.org")
    answer = await stranger("GET", "/transfers", params={"cursor": cursor})
    assert answer.status_code == 422 or answer.json()["transfers"] == []


async def test_at_most_twenty_wait_to_be_shown_and_it_is_said_that_there_are_more(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    ids = (await exchange(satchel, ann, bob, 21))[1::2]
    assert await waiting(bob) == ids[:20]
    assert (await bob("GET", "/transfers/waiting")).json()["more"]
    await bob("POST", f"/transfers/{ids[0]}/opened")
    assert await waiting(bob) == ids[1:]
    assert not (await bob("GET", "/transfers/waiting")).json()["more"]


async def test_what_broke_off_while_it_was_sent_is_passed_over(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    ids = await exchange(satchel, ann, bob, 1)
    dangling = PointerRow(
        person_id=PersonId(bob.user_id),
        transfer_id=TransferId(new_id(satchel.clock)),
        direction="received",
        timestamp=iso(satchel.clock()),
    )
    items = [POINTER.item(dangling), RECEIVED.item(dangling), WAITING.item(dangling)]
    await satchel.stores.tables.write_many(POINTER.table, put=items)
    assert await history(bob) == ids
    assert await history(bob, direction="received") == await waiting(bob) == ids[1:]
