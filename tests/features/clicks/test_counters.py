"""Counters for pages of other sites: who may count there, what is counted, and how it is taken back."""

import asyncio
import hashlib
from base64 import b64encode
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import httpx
import msgspec

from satchel.features.clicks.limits import PAGE_CLICKS_PER_NETWORK
from satchel.features.clicks.model import MAX_COUNTERS
from satchel.features.clicks.records import COUNT
from satchel.features.clicks.service.counts import counter_scope
from satchel.kernel.clock import ManualClock, iso
from satchel.tables import CLICKS, COUNTS
from tests.application import PASSWORD, Caller, Satchel, running_satchel
from tests.features.clicks.figures_check import all_of, check_figures

SITE = "https://shop.example"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


def refused(answer: httpx.Response, status: int, slug: str) -> None:
    assert answer.status_code == status, answer.text
    assert answer.json()["type"].endswith(slug), answer.text


async def made(caller: Caller, *origins: str, **more: Any) -> dict[str, Any]:
    answer = await caller("POST", "/counters", json={"origins": list(origins or (SITE,)), **more})
    assert answer.status_code == 201, answer.text
    return answer.json()


async def count(
    reader: Caller, counter: dict[str, Any], body: str = '{"kind": "press"}', *, origin: str = SITE, **headers: str
) -> httpx.Response:
    """As a browser does for a page of another site."""
    sent = {"origin": origin, "sec-fetch-site": "cross-site", "user-agent": FIREFOX, "content-type": "text/plain"}
    path = f"/counters/{counter['counter_id']}/clicks"
    return await reader("POST", path, content=body, headers={**sent, **headers})


async def figures(owner: Caller, counter: dict[str, Any]) -> dict[str, int]:
    shown = (await owner("GET", f"/counters/{counter['counter_id']}")).json()
    return {name: shown[name] for name in ("clicks", "views", "presses", "people")}


async def test_a_repeated_key_makes_one_counter_also_at_once(satchel: Satchel, bob: Caller, ann: Caller) -> None:
    first = await made(bob, name="First")
    satchel.clock.advance(timedelta(seconds=1))
    sent: dict[str, Any] = {"json": {"origins": [SITE], "name": "Once"}, "headers": {"idempotency-key": "k"}}
    answers = await asyncio.gather(
        *(bob("POST", "/counters", **sent) for _ in range(5)), ann("POST", "/counters", **sent)
    )
    assert {answer.status_code for answer in answers} == {201}
    mine, hers = {answer.json()["counter_id"] for answer in answers[:5]}, answers[5].json()["counter_id"]
    assert (len(mine), hers in mine) == (1, False)
    listed = (await bob("GET", "/counters")).json()["counters"]
    assert [each["counter_id"] for each in listed] == [*mine, first["counter_id"]]
    sent["json"] = {"origins": ["https://other.example"]}
    refused(await bob("POST", "/counters", **sent), 422, "key-reused")


async def test_anybody_counts_on_pages_of_its_sites_and_nowhere_else(satchel: Satchel, bob: Caller) -> None:
    counter = await made(bob, "HTTPS://Shop.Example/a/page?x=1", "http://localhost:3000", "bücher.example")
    assert counter["origins"] == [SITE, "http://localhost:3000", "https://xn--bcher-kva.example"]
    reader, other = satchel.caller("192.0.2.1"), satchel.caller("192.0.2.2")
    for one, body in ((reader, '{"kind": "view"}'), (reader, '{"label": "today"}'), (other, '{"kind": "view"}')):
        answer = await count(one, counter, body)
        assert answer.json() == {"counted": True}
        assert answer.headers["access-control-allow-origin"] == "*"
        assert "access-control-allow-credentials" not in answer.headers
    assert await figures(bob, counter) == {"clicks": 3, "views": 2, "presses": 1, "people": 2}
    refused(await count(reader, counter, origin="https://copy.example"), 403, "origin-not-allowed")
    refused(await count(reader, counter, origin="null"), 403, "origin-not-allowed")
    refused(await reader("POST", f"/counters/{counter['counter_id']}/clicks", content=b"{}"), 403, "origin-not-allowed")
    refused(await count(reader, {"counter_id": "x"}), 404, "counter-unknown")
    for body, status in (
        ("{", 400),
        ('{"kind": "open"}', 422),
        ('{"label": "%s"}' % ("x" * 101), 422),
        ("x" * 3000, 413),
    ):
        answer = await count(reader, counter, body)
        assert answer.status_code == status, answer.text
        # A page can read what was wrong.
        assert answer.headers["access-control-allow-origin"] == "*"
    # The figures are those of a scope of its own, and not mixed with what was shared.
    summary = (await bob("GET", f"/stats/counter:{counter['counter_id']}/summary")).json()
    assert (summary["total"]["view"], summary["total"]["press"], summary["today"]["clicks"]) == (2, 1, 3)
    assert (await bob("GET", "/stats/mine/summary")).json()["total"]["clicks"] == 0
    await check_figures(satchel.stores.tables, *[date.fromisoformat(summary["today_is"])] * 2)


async def test_a_page_of_another_site_is_nobody_here_whatever_it_sends(satchel: Satchel, bob: Caller) -> None:
    counter = await made(bob)
    # Bob's own tokens and cookies go along: it is a visitor that is counted, and no other address is open.
    token = bob.tokens["access_token"]
    assert (await count(bob, counter, cookie=f"satchel_access={token}")).json() == {"counted": True}
    day = iso(satchel.clock())[:10]
    click, _ = await all_of(satchel.stores.tables, CLICKS, f"DATE#{day}", index="DateIndex")
    assert click["userId"].startswith("visitor:")
    elsewhere = {"origin": SITE, "sec-fetch-site": "cross-site"}
    for method, path in (("DELETE", f"/counters/{counter['counter_id']}"), ("POST", "/clicks"), ("POST", "/counters")):
        refused(await bob(method, path, json={}, headers=elsewhere), 403, "cross-origin")


async def test_readers_who_ask_not_to_be_counted_and_robots_are_not(satchel: Satchel, bob: Caller) -> None:
    counter, reader = await made(bob), satchel.caller()
    for headers in ({"sec-gpc": "1"}, {"dnt": "1"}, {"user-agent": "Googlebot/2.1"}, {"sec-purpose": "prefetch"}):
        answer = await count(reader, counter, **headers)
        assert answer.json() == {"counted": False}, headers
    assert (await figures(bob, counter))["clicks"] == 0
    assert (await satchel.stores.tables.query(CLICKS, "STAT#DAILY")).items == []


async def test_readers_differ_from_counter_to_counter(satchel: Satchel, bob: Caller) -> None:
    reader, counters = satchel.caller(), [await made(bob), await made(bob)]
    for counter in counters:
        await count(reader, counter)
    found = await all_of(satchel.stores.tables, CLICKS, f"DATE#{iso(satchel.clock())[:10]}", index="DateIndex")
    assert len({item["userId"] for item in found if "clickCount" in item}) == 2


async def test_a_network_and_a_counter_have_limits(satchel: Satchel, bob: Caller) -> None:
    counter, reader = await made(bob, daily_limit=3), satchel.caller("192.0.2.7")
    for each in (reader, reader, satchel.caller("192.0.2.8")):
        assert (await count(each, counter)).status_code == 200
    for each in (reader, satchel.caller("192.0.2.9")):
        refused(await count(each, counter), 429, "too-many")
    other = await made(bob)
    for _ in range(PAGE_CLICKS_PER_NETWORK.times - 3):
        assert (await count(reader, other)).status_code == 200
    refused(await count(reader, other), 429, "too-many")
    assert (await count(satchel.caller("192.0.2.8"), other)).status_code == 200
    satchel.clock.now += 24 * 3600
    assert (await count(reader, counter)).status_code == 200


async def test_one_network_cannot_take_the_whole_day_of_a_counter(satchel: Satchel, bob: Caller) -> None:
    # A /48 has 65,536 networks of /64.
    for greedy in (["192.0.2.7"] * 18, [f"2001:db8:0:{number:x}::1" for number in range(18)]):
        counter = await made(bob, daily_limit=20)
        told = [(await count(satchel.caller(each), counter)).status_code for each in greedy]
        assert told == [200] * 15 + [429] * 3
        # What is refused takes nothing from the rest, which is for readers elsewhere.
        others = [(await count(satchel.caller(f"198.51.100.{number}"), counter)).status_code for number in range(7)]
        assert others == [200] * 5 + [429] * 2
        assert (await figures(bob, counter))["presses"] == 20


async def test_counters_are_changed_and_deleted_by_their_owner_alone(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    counter, reader = await made(bob, name="My shop"), satchel.caller()
    path = f"/counters/{counter['counter_id']}"
    noon = {"from": "2030-01-01T12:00:00Z", "to": "2030-01-01T12:00:00Z"}
    missing = await ann("GET", "/counters/01234567890123456789012345")
    for method, address, body in (
        ("GET", path, None),
        ("PATCH", path, {"name": "Mine"}),
        ("DELETE", path, None),
        ("POST", f"{path}/undo", noon),
        ("GET", f"/stats/counter:{counter['counter_id']}/days", None),
    ):
        answer = await ann(method, address, json=body)
        assert (answer.status_code, answer.json()["detail"]) == (404, missing.json()["detail"])
    assert (await ann("GET", "/counters")).json() == {"counters": []}
    changed = (await bob("PATCH", path, json={"origins": ["https://new.example"], "daily_limit": 5})).json()
    assert (changed["name"], changed["origins"], changed["daily_limit"]) == ("My shop", ["https://new.example"], 5)
    refused(await count(reader, counter), 403, "origin-not-allowed")
    assert (await count(reader, counter, origin="https://new.example")).status_code == 200
    assert [each["clicks"] for each in (await bob("GET", "/counters")).json()["counters"]] == [1]
    assert (await bob("DELETE", path)).status_code == 204
    refused(await count(reader, counter, origin="https://new.example"), 404, "counter-unknown")
    for origins in ([], ["ftp://a.example"], ["https://"], ["https://a b"], ["*"], ["https://me@a.example"]):
        assert (await bob("POST", "/counters", json={"origins": origins})).status_code == 422, origins
    for _ in range(MAX_COUNTERS):
        await made(bob)
    refused(await bob("POST", "/counters", json={"origins": [SITE]}), 409, "too-many-counters")


async def test_a_range_is_taken_back_from_every_figure(satchel: Satchel, bob: Caller) -> None:
    counter, other = await made(bob), await made(bob, name="Other")
    forger, reader = satchel.caller("192.0.2.66"), satchel.caller("192.0.2.1")
    first = date.fromisoformat(iso(satchel.clock())[:10])
    await count(reader, counter)
    satchel.clock.now += 24 * 3600
    begun = iso(satchel.clock())
    for _ in range(5):
        await count(forger, counter)
        await count(reader, counter)
        satchel.clock.now += 1
    ended = iso(satchel.clock())
    satchel.clock.now += 60
    await count(reader, counter, '{"kind": "view"}')
    await count(reader, other)
    await bob.refresh()
    path = f"/counters/{counter['counter_id']}/undo"
    assert (await bob("POST", path, json={"from": begun, "to": ended})).json() == {"taken_back": 10}
    assert (await bob("POST", path, json={"from": begun, "to": ended})).json() == {"taken_back": 0}
    assert await figures(bob, counter) == {"clicks": 2, "views": 1, "presses": 1, "people": 1}
    await check_figures(satchel.stores.tables, first, date.fromisoformat(ended[:10]))
    # Somebody who was taken back altogether counts as new when they come again.
    await count(forger, counter)
    await check_figures(satchel.stores.tables, first, date.fromisoformat(ended[:10]))
    answer = await bob("POST", path, json={"from": "2020-01-01T00:00:00Z", "to": "2030-01-01T00:00:00Z"})
    assert answer.status_code == 422


async def test_the_first_day_of_a_reader_is_taken_back_and_the_rest_stays(satchel: Satchel, bob: Caller) -> None:
    counter, reader = await made(bob), satchel.caller()
    other = satchel.caller("192.0.2.2")
    first = satchel.clock()
    await count(reader, counter)
    await count(other, counter)
    satchel.clock.now += 1
    ended = iso(satchel.clock())
    satchel.clock.now += 24 * 3600
    await count(reader, counter)
    await bob.refresh()
    range_ = {"from": iso(first), "to": ended}
    taken = await bob("POST", f"/counters/{counter['counter_id']}/undo", json=range_)
    assert taken.json() == {"taken_back": 2}
    await count(other, counter)
    days = date.fromisoformat(iso(first)[:10]), date.fromisoformat(iso(satchel.clock())[:10])
    stored = await all_of(satchel.stores.tables, CLICKS, "STAT#DAILY")
    assert [(row["totalClicks"], row["uniqueUsers"]) for row in stored] == [(0, 0), (2, 2)]
    assert await figures(bob, counter) == {"clicks": 2, "views": 0, "presses": 2, "people": 2}
    assert days[0] < days[1]


async def test_pages_made_for_the_seed_count_for_the_counter_that_is_named(
    tmp_path: Path,
) -> None:
    clock = ManualClock()
    async with running_satchel(tmp_path / "first", clock) as satchel:
        bob = satchel.caller()
        await bob.sign_up("bob@example.org")
        counter = await made(bob)
        refused(await pressed(satchel.caller()), 401, "unauthenticated")
    async with running_satchel(tmp_path / "first", clock, quit_it_today=counter["counter_id"]) as satchel:
        reader = satchel.caller("192.0.2.1")
        preflight = await reader("OPTIONS", "/quitItToday", headers={"origin": SITE})
        assert preflight.status_code == 204
        assert preflight.headers["access-control-allow-headers"] == "content-type"
        assert preflight.headers["access-control-allow-origin"] == "*"
        answer = await pressed(reader, userId="user-123")
        assert answer.json() == {
            "success": True,
            "message": "Your press was counted.",
            "data": {"userId": f"page:{counter['counter_id']}:user-123", "createDateTime": iso(clock())},
        }
        clock.now += 1
        await pressed(reader, userId="user-123")
        assert (await pressed(reader, headers={"sec-gpc": "1"})).json()["data"] is None
        refused(await pressed(reader, origin="https://copy.example"), 403, "origin-not-allowed")
        refused(await pressed(reader, origin=None), 401, "unauthenticated")
        bob = satchel.caller()
        await bob.sign_in("bob@example.org")
        assert await figures(bob, counter) == {"clicks": 2, "views": 0, "presses": 2, "people": 1}


async def pressed(
    caller: Caller, *, origin: str | None = SITE, headers: dict[str, str] | None = None, **body: str
) -> httpx.Response:
    sent = {"user-agent": FIREFOX, **(headers or {})} | (
        {"origin": origin, "sec-fetch-site": "cross-site"} if origin else {}
    )
    return await caller("POST", "/quitItToday", json={"socialMediaType": "Facebook", **body}, headers=sent)


async def test_the_script_is_small_never_changes_and_can_be_pinned(satchel: Satchel, bob: Caller) -> None:
    counter = await made(bob)
    answer = await satchel.caller().http.get("/counter/1.js")
    assert answer.headers["content-type"].startswith("text/javascript")
    assert "immutable" in answer.headers["cache-control"]
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.headers.get_list("cross-origin-resource-policy") == ["cross-origin"]
    assert len(answer.content) < 1500
    pinned = "sha384-" + b64encode(hashlib.sha384(answer.content).digest()).decode()
    assert counter["integrity"] == pinned
    assert pinned in counter["lines"]
    # Pages everywhere name this hash. Another script needs another address.
    assert pinned == "sha384-kVr8yEm3JfFqGPAJSjLXKe2Qv+3qaRw8/kvpP4kFcSTUTwoZYTtNSKlAj+WbQu5u"


async def test_the_counters_of_a_deleted_account_are_gone(satchel: Satchel, bob: Caller) -> None:
    counter, reader = await made(bob), satchel.caller("192.0.2.1")
    await count(reader, counter)
    scope = COUNT.keys["PK"].render({"scope": counter_scope(counter["counter_id"])})
    assert await all_of(satchel.stores.tables, COUNTS, scope)
    answer = await bob("POST", "/accounts/me/deletion", json={"password": PASSWORD})
    assert answer.is_success, answer.text
    await satchel.housekeep()
    refused(await count(reader, counter), 404, "counter-unknown")
    assert await all_of(satchel.stores.tables, COUNTS, scope) == []
    assert await all_of(satchel.stores.tables, COUNTS, f"COUNTERS#{bob.user_id}") == []


async def test_a_view_says_from_which_site_it_came_and_a_press_does_not(satchel: Satchel, bob: Caller) -> None:
    counter, reader = await made(bob), satchel.caller("192.0.2.1")
    for kind, before in (("view", "https://search.example/?q=cake"), ("view", f"{SITE}/other"), ("press", SITE)):
        await count(reader, counter, msgspec.json.encode({"kind": kind, "referrer": before}).decode())
    found = (await bob("GET", f"/stats/counter:{counter['counter_id']}/range")).json()
    assert found["hosts"] == [{"host": "search.example", "visits": 1}]
    assert sum(found["devices"].values()) == 2
