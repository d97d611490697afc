"""Statistics over HTTP: who may ask for which, and what an answer looks like."""

from urllib.parse import quote

import pytest

from tests.application import Caller, Satchel
from tests.features.clicks.given_link import Shared, asked, shared_by
from tests.features.links.given import given
from tests.features.shelf.given import uploaded
from tests.features.transfers.given import a_guest, slug

NOTHING = {"clicks": 0, "people": 0, "press": 0, "open": 0, "view": 0, "download": 0, "upload": 0}
HOUR, DAY = 3600, 86400
QUESTIONS = ("summary", "days", "months", "export")


@pytest.fixture
async def shared(satchel: Satchel, bob: Caller) -> Shared:
    made = await shared_by(satchel, bob)
    await made.click("visitor:a", ago=30 * HOUR)
    await made.click("visitor:a", ago=2 * HOUR)
    await made.click("visitor:b", ago=HOUR)
    await made.click("visitor:b", "download", ago=HOUR - 1, count=2)
    return made


async def test_an_owner_sees_the_figures_of_all_of_a_link_and_of_a_thing(shared: Shared) -> None:
    for scope in shared.scopes:
        summary = await asked(shared.owner, f"{scope}/summary")
        assert summary["total"] == {**NOTHING, "clicks": 5, "people": 2, "open": 3, "download": 2}
        assert summary["today"] == {**NOTHING, "clicks": 4, "people": 2, "open": 2, "download": 2}
        assert summary["yesterday"] == {**NOTHING, "clicks": 1, "people": 1, "open": 1}
        assert summary["month"] == {**summary["total"], "month": "2030-03"}
        assert summary["previous_month"] == {**NOTHING, "month": "2030-02"}
        assert summary["today_is"] == "2030-03-17"
        assert summary["last_at"] is not None


async def test_nobody_but_the_owner_sees_a_link_or_learns_that_it_is_there(
    satchel: Satchel, ann: Caller, shared: Shared
) -> None:
    other = satchel.caller()
    await other.sign_up("eve@example.org")
    link = f"link:{shared.link['link_id']}"
    for question in QUESTIONS:
        for caller in (ann, other):
            answers = [await caller("GET", f"/stats/{scope}/{question}") for scope in (link, "link:x", "link:", "x")]
            assert [answer.status_code for answer in answers] == [404] * 4
            assert len({answer.json()["detail"] for answer in answers}) == 1
        for caller in (satchel.caller(), await a_guest(satchel, "Gus")):
            for scope in (*shared.scopes, "site", "link:x"):
                assert (await caller("GET", f"/stats/{scope}/{question}")).status_code == 401


async def test_there_is_no_thing_for_whoever_does_not_share_it(satchel: Satchel, ann: Caller, shared: Shared) -> None:
    strange = (f"thing:{shared.thing}", "thing:file:x", "thing:file:", "thing:transfer:x", "thing:x", "thing:x:y#z")
    for question in QUESTIONS:
        answers = [await ann("GET", f"/stats/{quote(scope)}/{question}") for scope in strange]
        assert [answer.status_code for answer in answers] == [404] * len(strange)
        assert len({answer.json()["detail"] for answer in answers}) == 1
    assert await asked(ann, "top") == {"links": [], "things": []}


async def test_before_anything_is_counted_figures_are_zero(satchel: Satchel, ann: Caller) -> None:
    file = await uploaded(satchel, ann, "a.txt", b"a")
    for scope in (f"thing:file:{file.file_id}", "mine"):
        summary = await asked(ann, f"{scope}/summary")
        assert summary["total"] == summary["today"] == summary["yesterday"] == NOTHING
        assert summary["last_at"] is None
        assert all(day["clicks"] == 0 for day in (await asked(ann, f"{scope}/days"))["days"])


async def test_what_is_deleted_keeps_its_figures_and_what_was_never_counted_has_them_while_there_is_a_link(
    satchel: Satchel, shared: Shared
) -> None:
    file = await uploaded(satchel, shared.owner, "a.txt", b"a")
    await given(shared.owner, "file", file.file_id)
    for thing in (shared.thing, f"file:{file.file_id}"):
        before = (await asked(shared.owner, f"thing:{thing}/summary"))["total"]
        deleted = await shared.owner("DELETE", f"/shelf/files/{thing.removeprefix('file:')}")
        assert deleted.is_success, deleted.text
        assert (await asked(shared.owner, f"thing:{thing}/summary"))["total"] == before


async def test_the_whole_site_is_for_administrators(satchel: Satchel, ann: Caller, bob: Caller, shared: Shared) -> None:
    assert (await asked(ann, "site/summary"))["total"]["clicks"] == 5
    for question in QUESTIONS:
        assert (await bob("GET", f"/stats/site/{question}")).status_code == 403
        assert (await ann("GET", f"/stats/site/{question}")).status_code == 200


async def test_days_come_as_the_zone_has_them(shared: Shared) -> None:
    # The clock of this Satchel stands at 17:46:40 UTC on 2030-03-17.
    asked_for = {"from": "2030-03-15", "to": "2030-03-18"}
    utc = await asked(shared.owner, "mine/days", **asked_for)
    assert [(day["day"], day["clicks"]) for day in utc["days"]] == [
        ("2030-03-15", 0),
        ("2030-03-16", 1),
        ("2030-03-17", 4),
        ("2030-03-18", 0),
    ]
    auckland = await asked(shared.owner, "mine/days", zone="Pacific/Auckland", **asked_for)
    assert [(day["clicks"], day["people"]) for day in auckland["days"]] == [(0, 0), (0, 0), (1, 1), (4, 2)]
    assert (utc["people_pending"], utc["people_known_since"]) == (False, None)
    summary = await asked(shared.owner, "mine/summary", zone="Pacific/Auckland")
    assert (summary["today_is"], summary["today"]["clicks"]) == ("2030-03-18", 4)


async def test_without_a_range_it_is_the_last_31_days_and_12_months(shared: Shared) -> None:
    days = (await asked(shared.owner, "mine/days"))["days"]
    assert (len(days), days[0]["day"], days[-1]["day"]) == (31, "2030-02-15", "2030-03-17")
    months = (await asked(shared.owner, "mine/months"))["months"]
    assert (len(months), months[0]["month"], months[-1]["month"]) == (12, "2029-04", "2030-03")
    some = (await asked(shared.owner, "mine/months", **{"from": "2030-02", "to": "2030-03"}))["months"]
    assert [(month["month"], month["clicks"], month["people"]) for month in some] == [
        ("2030-02", 0, 0),
        ("2030-03", 5, 2),
    ]


async def test_what_was_opened_most_comes_with_its_name(shared: Shared) -> None:
    top = await asked(shared.owner, "top")
    (link,) = top["links"]
    assert (link["scope"], link["name"], link["open"], link["people"]) == (shared.scopes[0], "file.txt", 3, 2)
    (thing,) = top["things"]
    assert (thing["scope"], thing["name"], thing["download"]) == (shared.scopes[1], "file.txt", 2)
    (today,) = (await asked(shared.owner, "top", **{"from": "2030-03-17", "to": "2030-03-17"}))["links"]
    assert (today["open"], today["people"]) == (2, 2)


async def test_links_show_the_same_figures_in_their_list(shared: Shared) -> None:
    (listed,) = (await shared.owner("GET", "/links")).json()["links"]
    # Downloads are the link's own count, which these clicks did not pass through.
    assert (listed["opens"], listed["people"], listed["downloads"]) == (3, 2, 0)
    assert listed["last_at"] == (await asked(shared.owner, "mine/summary"))["last_at"]


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ({"zone": "Mars/Olympus"}, "choice-unfit"),
        ({"zone": "../UTC"}, "choice-unfit"),
        ({"zone": ""}, "choice-unfit"),
        ({"from": "2030-03-17", "to": "2030-03-16"}, "time-unfit"),
        ({"from": "2029-01-01", "to": "2030-03-17"}, "time-unfit"),
        ({"from": "0001-01-01", "to": "0001-01-02"}, "time-unfit"),
        ({"to": "0001-01-02"}, "time-unfit"),
        ({"from": "9999-12-31", "to": "9999-12-31"}, "time-unfit"),
        ({"from": "yesterday"}, "invalid"),
        ({"from": "2030-02-30"}, "invalid"),
        ({"days": "7"}, "invalid"),
    ],
)
async def test_what_is_no_range_or_zone_is_refused(bob: Caller, query: dict[str, str], why: str) -> None:
    for path in ("mine/days", "mine/export", "top"):
        answer = await bob("GET", f"/stats/{path}", params=query)
        assert answer.status_code == 422, (path, answer.text)
        assert slug(answer) == why


@pytest.mark.parametrize(
    "query",
    [{"from": "2030-13", "to": "2031-01"}, {"from": "2030-02", "to": "2030-01"}, {"from": "0000-01", "to": "9999-12"}],
)
async def test_what_is_no_range_of_months_is_refused(bob: Caller, query: dict[str, str]) -> None:
    assert (await bob("GET", "/stats/mine/months", params=query)).status_code == 422


@pytest.mark.parametrize("scope", ["", "mine%2F", "MINE", "thing:", "thing:" + "x" * 3000, "link:" + "x" * 3000, "%00"])
async def test_what_is_no_scope_is_not_found(bob: Caller, scope: str) -> None:
    assert (await bob("GET", f"/stats/{scope}/days")).status_code == 404
