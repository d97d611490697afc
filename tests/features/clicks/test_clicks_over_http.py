"""Clicks over HTTP: sending them, safely again, and the six questions that the seed has keys for, page by page."""

import asyncio
from datetime import timedelta
from typing import Any

import httpx
import pytest

from satchel.features.clicks.limits import CLICK_CALLS_PER_PERSON, ClickLimits
from satchel.kernel.clock import iso
from satchel.tables import CLICKS
from tests.application import Caller, Satchel
from tests.features.shelf.given import uploaded


async def sent(caller: Caller, *clicks: dict[str, Any], **options: Any) -> list[dict[str, Any]]:
    answer = await caller("POST", "/clicks", json=list(clicks), **options)
    assert answer.status_code == 201, answer.text
    return answer.json()["clicks"]


async def all_pages(caller: Caller, path: str, **params: Any) -> list[dict[str, Any]]:
    """Every click of a list, two at a time."""
    found: list[dict[str, Any]] = []
    cursor: dict[str, str] = {}
    while True:
        answer = await caller("GET", path, params={**params, "limit": 2, **cursor})
        assert answer.status_code == 200, answer.text
        found += answer.json()["clicks"]
        if answer.json()["cursor"] is None:
            return found
        cursor = {"cursor": answer.json()["cursor"]}


def refused(answer: httpx.Response, status: int, slug: str) -> None:
    assert answer.status_code == status, answer.text
    assert answer.json()["type"].endswith(slug), answer.text


async def guest_of(satchel: Satchel, address: str = "127.0.0.1") -> Caller:
    guest = satchel.caller(address)
    guest.tokens = {"access_token": (await guest("POST", "/guests", json={"name": "Gus"})).json()["token"]}
    return guest


async def test_a_member_sends_one_click_or_a_list_of_them(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    now = iso(satchel.clock())
    answer = await bob("POST", "/clicks", json={})
    assert answer.status_code == 201
    assert answer.json() == {"clicks": [{"userId": bob.user_id, "createDateTime": now, "repeated": False}]}
    assert len(await sent(bob, {}, {"kind": "view"}, {"clickCount": 40})) == 3
    stat = (await ann("GET", f"/clicks/stats/days/{now[:10]}")).json()
    assert stat == {
        "userId": "STAT#DAILY",
        "createDateTime": now[:10],
        "totalClicks": 43,
        "uniqueUsers": 1,
        "dateKey": f"DATE#{now[:10]}",
        "recordSort": "STAT#DAILY",
    }


async def test_the_six_questions_are_answered_page_by_page(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    times = [iso(satchel.clock() - seconds) for seconds in range(5)]
    await sent(bob, *({"createDateTime": time} for time in times))
    await sent(ann, {"userId": "user-123", "createDateTime": times[0], "label": "Facebook"})
    day, month = times[0][:10], times[0][:7]

    assert [click["createDateTime"] for click in await all_pages(bob, "/clicks")] == times
    between = await all_pages(ann, "/clicks", userId=bob.user_id, **{"from": times[3], "to": times[1]})
    assert [click["createDateTime"] for click in between] == times[1:4]
    of_day = await all_pages(ann, f"/clicks/days/{day}")
    assert len(of_day) == 6
    assert of_day[0] == {
        "userId": "user-123",
        "createDateTime": times[0],
        "clickCount": 1,
        "dateKey": f"DATE#{day}",
        "recordSort": f"CLICK#{times[0]}#user-123",
        "label": "Facebook",
    }
    day_stat, month_stat, total = [
        (await ann("GET", f"/clicks/stats/{which}")).json() for which in (f"days/{day}", f"months/{month}", "total")
    ]
    assert (day_stat["totalClicks"], day_stat["uniqueUsers"]) == (6, 2)
    assert (month_stat["dateKey"], month_stat["totalClicks"], month_stat["uniqueUsers"]) == (f"MONTH#{month}", 6, 2)
    assert total == {
        "userId": "STAT#TOTAL",
        "createDateTime": "METADATA",
        "totalClicks": 6,
        "dateKey": "STAT#TOTAL",
        "recordSort": "METADATA",
    }


async def test_where_nothing_happened_there_is_nothing_to_see(ann: Caller) -> None:
    assert (await ann("GET", "/clicks")).json() == {"clicks": [], "cursor": None}
    assert (await ann("GET", "/clicks/days/2025-10-02")).json()["clicks"] == []
    assert (await ann("GET", "/clicks/stats/days/2025-10-02")).json()["totalClicks"] == 0
    assert (await ann("GET", "/clicks/stats/months/2025-10")).json()["uniqueUsers"] == 0
    assert (await ann("GET", "/clicks/stats/total")).json()["totalClicks"] == 0
    for path in ("days/2025-02-30", "days/today", "months/2025-13", "months/2025"):
        assert (await ann("GET", f"/clicks/stats/{path}")).status_code == 404


async def test_bounds_may_be_written_in_any_precision(satchel: Satchel, bob: Caller) -> None:
    await sent(bob, {})
    second = iso(satchel.clock())[:19]
    for first, last, number in (
        (f"{second}Z", f"{second}Z", 1),
        (f"{second}.001Z", None, 0),
        (None, f"{second}.0Z", 1),
    ):
        params = {name: time for name, time in (("from", first), ("to", last)) if time}
        assert len((await bob("GET", "/clicks", params=params)).json()["clicks"]) == number
    refused(await bob("GET", "/clicks", params={"from": second}), 422, "time-unfit")
    refused(await bob("GET", "/clicks", params={"userId": "STAT#DAILY"}), 403, "forbidden")


@pytest.mark.parametrize(
    "bounds",
    [
        {"from": "0001-01-01T00:00:00+14:00"},
        {"to": "9999-12-31T23:59:59-14:00"},
        {"from": "0001-01-01T00:00:00+14:00", "to": "9999-12-31T23:59:59-14:00"},
    ],
)
async def test_bounds_may_lie_at_the_ends_of_time(bob: Caller, bounds: dict[str, str]) -> None:
    await sent(bob, {})
    assert len(await all_pages(bob, "/clicks", **bounds)) == 1


async def test_a_bound_that_is_no_time_is_named(bob: Caller) -> None:
    answer = await bob("GET", "/clicks", params={"to": "yesterday"})
    refused(answer, 422, "time-unfit")
    assert answer.json()["field"] == "to"


async def test_only_administrators_concern_themselves_with_clicks_of_others(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    refused(await bob("POST", "/clicks", json={"userId": ann.user_id}), 403, "forbidden")
    refused(await bob("GET", "/clicks", params={"userId": ann.user_id}), 403, "forbidden")
    refused(await bob("DELETE", f"/clicks/people/{ann.user_id}"), 403, "forbidden")
    assert (await sent(bob, {"userId": bob.user_id}))[0]["userId"] == bob.user_id
    guest = await guest_of(satchel)
    (click,) = await sent(guest, {})
    assert click["userId"].startswith("guest:")
    assert [each["userId"] for each in await all_pages(guest, "/clicks")] == [click["userId"]]
    refused(await ann("POST", "/clicks", json={"userId": "STAT#TOTAL"}), 422, "reserved-id")


async def test_a_request_that_is_sent_again_counts_once(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    body = [{}, {"clickCount": 2}, {"key": "mine"}]
    headers = {"Idempotency-Key": "a-1"}
    first = await sent(bob, *body, headers=headers)
    satchel.clock.advance(timedelta(minutes=5))
    again = await asyncio.gather(*(sent(bob, *body, headers=headers) for _ in range(3)))
    assert all(answer == [{**click, "repeated": True} for click in first] for answer in again)
    refused(await bob("POST", "/clicks", json=[{"clickCount": 9}], headers=headers), 409, "idempotency-key-reused")
    assert (await ann("GET", "/clicks/stats/total")).json()["totalClicks"] == 4


@pytest.mark.parametrize(
    ("click", "slug"),
    [
        ({"clickCount": 0}, "invalid"),
        ({"clickCount": -5}, "invalid"),
        ({"clickCount": 10**30}, "invalid"),
        ({"clickCount": 1.5}, "invalid"),
        ({"kind": "stare"}, "invalid"),
        ({"createDateTime": "2025-10-02T10:30:00"}, "time-unfit"),
        ({"createDateTime": "2025-10-02T10:30:00.000Z"}, "click-too-late"),
        ({"createDateTime": "2999-10-02T10:30:00.000Z"}, "click-too-early"),
        ({"target": "nobody's"}, "target-unknown"),
        ({"label": "x" * 101}, "invalid"),
        ({"key": ""}, "invalid"),
        ({"thing": "file:x"}, "invalid"),
        ({"owner": "x"}, "invalid"),
    ],
)
async def test_what_cannot_be_a_click_is_refused_with_all_that_came_with_it(
    ann: Caller, bob: Caller, click: dict[str, Any], slug: str
) -> None:
    refused(await bob("POST", "/clicks", json=[{}, click]), 422, slug)
    assert (await ann("GET", "/clicks/stats/total")).json()["totalClicks"] == 0


async def test_a_list_has_a_thousand_clicks_and_a_body_a_megabyte(ann: Caller, bob: Caller) -> None:
    refused(await bob("POST", "/clicks", json=[{}] * 1001), 422, "combination-unfit")
    large = b"[" + b"{}," * 3_500_000 + b"{}]"
    headers = {"content-type": "application/json"}
    refused(await bob("POST", "/clicks", content=large, headers=headers), 413, "too-large")
    assert await sent(bob) == []
    many: list[dict[str, Any]] = [{}] * 1000
    assert len({click["createDateTime"] for click in await sent(bob, *many)}) == 1000
    assert (await ann("GET", "/clicks/stats/total")).json()["totalClicks"] == 1000


async def test_a_click_on_a_link_of_ones_own_counts_for_it(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    file = await uploaded(satchel, bob, "a.txt", b"one")
    link = (await bob("POST", "/links", json={"thing": {"kind": "file", "id": file.file_id}})).json()
    await sent(bob, {"target": link["link_id"]})
    refused(await ann("POST", "/clicks", json={"target": link["link_id"]}), 422, "target-unknown")
    (click,) = await all_pages(bob, "/clicks")
    assert (click["target"], click["thing"]) == (link["link_id"], f"file:{file.file_id}")
    assert "kind" not in click
    summary = (await bob("GET", f"/stats/link:{link['link_id']}/summary")).json()
    assert (summary["total"]["clicks"], summary["total"]["press"]) == (1, 1)
    for kind in ("open", "view", "download", "upload"):
        own = {"target": link["link_id"], "kind": kind, "clickCount": 5000}
        for body in (own, [{}, own]):
            refused(await bob("POST", "/clicks", json=body), 422, "seen-by-server")
    figures = (await bob("GET", f"/links/{link['link_id']}")).json()
    assert (figures["opens"], figures["downloads"]) == (0, 0)
    assert len(await all_pages(bob, "/clicks")) == 1


async def test_an_empty_name_or_key_is_nobodys(ann: Caller, bob: Caller) -> None:
    for caller in (bob, ann):
        refused(await caller("POST", "/clicks", json={"userId": ""}), 422, "invalid")
    for key in ("", "k" * 197):
        refused(await bob("POST", "/clicks", json={}, headers={"Idempotency-Key": key}), 422, "text-unfit")
    thousand: list[dict[str, Any]] = [{}] * 1000
    await sent(bob, *thousand, headers={"Idempotency-Key": "k" * 196})
    assert (await ann("GET", "/clicks/stats/total")).json()["totalClicks"] == 1000


@pytest.mark.parametrize("label", ["全角　空白", "👨‍👩‍👧", "می‌خواهم"])
async def test_a_label_may_be_in_any_script(bob: Caller, label: str) -> None:
    await sent(bob, {"label": label})
    assert (await all_pages(bob, "/clicks"))[0]["label"] == label


@pytest.mark.parametrize("label", ["a\nb", "a\u202eb", "a\u2028b", "\x7f"])
async def test_a_label_that_would_move_what_stands_beside_it_is_refused(bob: Caller, label: str) -> None:
    refused(await bob("POST", "/clicks", json={"label": label}), 422, "text-unfit")


async def test_whoever_sends_too_often_is_told_which_limit_that_is(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    calls = ClickLimits(satchel.stores.ephemeral)
    for _ in range(CLICK_CALLS_PER_PERSON.times):
        await calls.count(bob.user_id)
    answer = await bob("POST", "/clicks", json={})
    refused(answer, 429, "too-many")
    assert (answer.json()["limit"], answer.headers["retry-after"]) == ("clicks", "60")
    refused(await bob("POST", "/quitItToday", json={"socialMediaType": "Facebook"}), 429, "too-many")
    for _ in range(CLICK_CALLS_PER_PERSON.times):
        await calls.count(ann.user_id)
    # An administrator's program may send those of everybody.
    await sent(ann, {"userId": bob.user_id})
    satchel.clock.advance(timedelta(minutes=1))
    await sent(bob, {})


async def test_the_old_address_still_takes_presses(bob: Caller) -> None:
    answer = (await bob("POST", "/quitItToday", json={"socialMediaType": "Facebook"})).json()
    (click,) = await all_pages(bob, "/clicks")
    assert click["label"] == "Facebook"
    assert answer["success"] is True
    assert answer["data"] == {"userId": bob.user_id, "createDateTime": click["createDateTime"]}
    for _ in range(2):
        await bob("POST", "/quitItToday", json={"socialMediaType": "X"}, headers={"idempotency-key": "key"})
    assert [click["label"] for click in await all_pages(bob, "/clicks")].count("X") == 1


async def test_a_day_is_counted_again_and_a_person_erased(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    await sent(bob, {}, {})
    day = iso(satchel.clock())[:10]
    rebuilt = (await ann("POST", "/clicks/rebuild", json={"day": day})).json()
    assert rebuilt == {"before": {"clicks": 2, "people": 1}, "after": {"clicks": 2, "people": 1}}
    assert (await ann("POST", "/clicks/rebuild", json={"month": day[:7]})).json() == rebuilt
    for body in ({}, {"day": day, "month": day[:7]}):
        refused(await ann("POST", "/clicks/rebuild", json=body), 422, "combination-unfit")
    assert (await bob("DELETE", f"/clicks/people/{bob.user_id}")).json() == {"erased": 2}
    assert await all_pages(bob, "/clicks") == []
    assert (await ann("GET", "/clicks/stats/total")).json()["totalClicks"] == 2


async def test_a_guest_erases_their_own_clicks_and_nobody_elses(satchel: Satchel, bob: Caller) -> None:
    gus = await guest_of(satchel)
    (click,) = await sent(gus, {})
    await sent(bob, {})
    refused(await gus("DELETE", f"/clicks/people/{bob.user_id}"), 403, "forbidden")
    assert (await gus("DELETE", f"/clicks/people/{click['userId']}")).json() == {"erased": 1}
    assert await all_pages(gus, "/clicks") == []
    assert len(await all_pages(bob, "/clicks")) == 1


async def test_what_another_program_has_written_wrongly_hides_no_click(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    (click,) = await sent(bob, {})
    day = click["createDateTime"][:10]
    broken = {
        "userId": bob.user_id,
        "createDateTime": f"{day}T00:00",
        "clickCount": "many",
        "dateKey": f"DATE#{day}",
        "recordSort": "CLICK#?",
    }
    await satchel.stores.tables.put(CLICKS, broken)
    for caller, path in ((bob, "/clicks"), (ann, f"/clicks/days/{day}")):
        assert [each["createDateTime"] for each in await all_pages(caller, path)] == [click["createDateTime"]]


async def test_guests_neither_inflate_the_figures_nor_fill_the_disk(satchel: Satchel, ann: Caller) -> None:
    gus = await guest_of(satchel, "203.0.113.7")
    refused_bodies: list[Any] = [{"clickCount": 1_000_000}, [{"clickCount": 2}], [{}] * 51]
    for body in refused_bodies:
        assert (await gus("POST", "/clicks", json=body)).status_code in (400, 422)
    for _ in range(10):
        assert (await gus("POST", "/clicks", json=[{}] * 50)).status_code == 201
    # A new guest of the same network starts with what is left of its day.
    again = await guest_of(satchel, "203.0.113.7")
    refused = await again("POST", "/clicks", json={})
    assert (refused.status_code, refused.json()["limit"]) == (429, "guest-clicks")
    assert (await again("POST", "/quitItToday", json={"socialMediaType": "x"})).status_code == 429
    assert (await (await guest_of(satchel, "203.0.113.8"))("POST", "/clicks", json={})).status_code == 201
    # They count for the guest alone: nothing that a member has was used.
    assert len(await all_pages(gus, "/clicks")) == 500
    assert (await ann("POST", "/clicks", json={"clickCount": 1000})).status_code == 201
    assert (await ann("GET", "/clicks/stats/total")).json()["totalClicks"] == 1000
    day = iso(satchel.clock())[:10]
    before_and_after = (await ann("POST", "/clicks/rebuild", json={"day": day})).json()
    assert before_and_after["before"] == before_and_after["after"] == {"clicks": 1000, "people": 1}
