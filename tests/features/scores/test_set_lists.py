"""Set lists: their order, notes and pages, what is shown of scores that somebody may not read, and sharing."""

from typing import Any

import httpx
import pytest

from satchel.features.scores.model import MAX_SET_LISTS, public_id
from satchel.features.scores.service.context import Scores
from satchel.features.scores.service.score_create import NewScore, create_score
from satchel.features.scores.service.set_list_change import (
    NewEntry,
    NewSetList,
    change_set_list,
    create_set_list,
    delete_set_list,
)
from satchel.features.scores.service.set_list_find import find_set_list, list_set_lists, show_entries
from satchel.features.scores.service.set_list_share import share_set_list
from satchel.features.scores.set_list_records import SET_LIST
from tests.application import Caller, Satchel
from tests.features.hearing import heard_by
from tests.features.scores.given import created, layered, marked, slug, with_pages
from tests.features.scores.test_score_imports import ANN, OWNER
from tests.stores.harnesses_table import NEWER_HARNESSES

BOB = "bob@example.org"


async def made(caller: Caller, *entries: dict[str, Any], name: str = "Concert", key: str = "") -> dict[str, Any]:
    headers = {"idempotency-key": key} if key else {}
    answer = await caller("POST", "/set-lists", json={"name": name, "entries": entries}, headers=headers)
    assert answer.status_code == 201, answer.text
    return answer.json()


async def put(caller: Caller, old: dict[str, Any], *entries: dict[str, Any], **more: Any) -> httpx.Response:
    body = {"name": old["name"], "notes": old["notes"], "entries": entries, **more}
    return await caller("PUT", f"/set-lists/{old['list_id']}", json=body, headers={"if-match": f'"{old["etag"]}"'})


def entry(score: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"score_id": score["score_id"], **more}


async def test_a_set_list_has_an_order_notes_and_pages(ann: Caller) -> None:
    first, second = await with_pages(ann, 2, title="Ave"), await with_pages(ann, 1, title="Kyrie", composer="Bach")
    pages = [page["page_id"] for page in first["pages"]]
    repeated = [pages[1], pages[0], pages[1]]
    concert = await made(ann, entry(first), entry(second, notes="from\nthe top"), entry(first, page_ids=repeated))
    assert [each["title"] for each in concert["entries"]] == ["Ave", "Kyrie", "Ave"]
    assert [each["notes"] for each in concert["entries"]] == ["", "from the top", ""]
    assert (concert["entries"][2]["page_ids"], concert["entries"][1]["composer"]) == (repeated, "Bach")
    moved = await put(ann, concert, entry(second), entry(first), name="Evening", notes="Bring water")
    assert moved.status_code == 200 and moved.headers["etag"] == f'"{moved.json()["etag"]}"'
    now = (await ann("GET", f"/set-lists/{concert['list_id']}")).json()
    assert now == moved.json()
    assert [each["title"] for each in now["entries"]] == ["Kyrie", "Ave"]
    # Whoever has read an older state does not overwrite this one.
    assert slug(await put(ann, concert, entry(first))) == "set-list-changed"
    nameless = await ann("PUT", f"/set-lists/{concert['list_id']}", json={"name": "x"})
    assert slug(nameless) == "etag-missing"
    cards = (await ann("GET", "/set-lists")).json()["set_lists"]
    assert [(each["name"], each["entries"], each["role"]) for each in cards] == [("Evening", 2, "owner")]
    assert (await ann("DELETE", f"/set-lists/{concert['list_id']}")).status_code == 204
    assert slug(await ann("GET", f"/set-lists/{concert['list_id']}")) == "set-list-unknown"
    assert (await ann("GET", f"/scores/{first['score_id']}")).status_code == 200


async def test_a_retry_makes_one_set_list_and_bad_ones_change_nothing(ann: Caller, bob: Caller) -> None:
    score, other = await with_pages(ann, 1), await with_pages(bob, 1)
    once, again = await made(ann, entry(score), key="k"), await made(ann, entry(score), key="k")
    assert once == again
    gone = await made(ann, key="gone")
    assert (await ann("DELETE", f"/set-lists/{gone['list_id']}")).is_success
    repeated = await ann("POST", "/set-lists", json={"name": "Concert"}, headers={"idempotency-key": "gone"})
    assert slug(repeated) == "set-list-unknown"
    wrong: list[tuple[list[dict[str, Any]], dict[str, Any]]] = [
        ([entry(other)], {}),
        ([entry(score, page_ids=[99])], {}),
        ([entry(score, notes="n" * 501)], {}),
        ([entry(score, page_ids=[score["pages"][0]["page_id"]] * 201)], {}),
        ([entry(score)] * 101, {}),
        ([], {"name": " "}),
        ([], {"notes": "n" * 1025}),
    ]
    for entries, more in wrong:
        assert (await put(ann, once, *entries, **more)).status_code in (404, 422), (entries, more)
    assert (await ann("GET", f"/set-lists/{once['list_id']}")).json() == once
    for _ in range(MAX_SET_LISTS - 1):
        await made(ann)
    full = await ann("POST", "/set-lists", json={"name": "More"}, headers={"idempotency-key": "more"})
    assert slug(full) == "too-many-set-lists"
    assert await made(ann, entry(score), key="k") == once


async def test_a_document_has_a_bounded_number_of_marks(ann: Caller) -> None:
    score = await with_pages(ann, 1)
    layer, page_id = await layered(ann, score), score["pages"][0]["page_id"]
    stamp = {"page_id": page_id, "kind": "stamp", "stamp": "up-bow", "size": 200}
    for count in (200, 60):
        await marked(ann, score, layer, add=[stamp] * count)
    concert = await made(ann, entry(score, page_ids=[page_id] * 200))
    refused = await ann("GET", f"/set-lists/{concert['list_id']}/export")
    assert (refused.status_code, slug(refused)) == (413, "export-too-large")


async def test_a_score_that_cannot_be_read_any_more_keeps_its_place_and_says_nothing(ann: Caller, bob: Caller) -> None:
    secret, mine = await with_pages(ann, 1, title="Secret"), await created(bob, "Mine")
    shares = f"/scores/{secret['score_id']}/shares/{BOB}"
    assert (await ann("PUT", shares, json={})).is_success
    concert = await made(bob, entry(secret, notes="loud"), entry(mine))
    assert [each["is_there"] for each in concert["entries"]] == [True, True]
    assert (await ann("DELETE", shares)).is_success
    now = (await bob("GET", f"/set-lists/{concert['list_id']}")).json()
    gone = now["entries"][0]
    assert (gone["is_there"], gone["title"], gone["composer"], gone["pages"]) == (False, "", "", 0)
    assert (gone["score_id"], gone["notes"]) == (secret["score_id"], "loud")
    # It stays where it is put; new it could not come in.
    moved = await put(bob, now, entry(mine), entry(secret, notes="loud"))
    assert [each["is_there"] for each in moved.json()["entries"]] == [True, False]
    removed = (await put(bob, moved.json(), entry(mine))).json()
    assert slug(await put(bob, removed, entry(mine), entry(secret))) == "score-unknown"
    assert slug(await bob("GET", f"/set-lists/{concert['list_id']}/export")) == "score-no-pages"


async def test_a_shared_set_list_gives_no_scores(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    open_, secret = await created(ann, "Open", access="public"), await created(ann, "Secret")
    concert = await made(ann, entry(open_), entry(secret, notes="softly"))
    path = f"/set-lists/{concert['list_id']}"
    assert slug(await bob("GET", path)) == "set-list-unknown"
    share = (await ann("PUT", f"{path}/shares/BOB@example.org")).json()
    assert (share["email"], share["name"]) == (BOB, "bob")
    seen = (await bob("GET", path)).json()
    assert seen["role"] == "reader"
    assert [(each["title"], each["is_there"]) for each in seen["entries"]] == [("Open", True), ("", False)]
    assert (seen["entries"][1]["score_id"], seen["entries"][1]["notes"]) == ("", "softly")
    assert [each["name"] for each in (await bob("GET", "/set-lists")).json()["set_lists"]] == ["Concert"]
    assert (await put(bob, seen, entry(open_))).status_code == 403
    for method, where in (("DELETE", path), ("GET", f"{path}/shares"), ("PUT", f"{path}/shares/c@example.org")):
        assert (await bob(method, where)).status_code == 403
    async with heard_by(satchel.stores.ephemeral, bob.user_id) as events:
        assert (await put(ann, concert, entry(secret))).is_success
        assert (await events.until("set-list.changed"))["list_id"] == concert["list_id"]
    assert [each["email"] for each in (await ann("GET", f"{path}/shares")).json()["shares"]] == [BOB]
    for end in (bob("DELETE", f"{path}/membership"), ann("DELETE", f"{path}/shares/{BOB}"), ann("DELETE", path)):
        await ann("PUT", f"{path}/shares/{BOB}")
        assert (await end).status_code == 204
        assert slug(await bob("GET", path)) == "set-list-unknown"
        assert (await bob("GET", "/set-lists")).json()["set_lists"] == []
    assert slug(await ann("DELETE", f"{path}/membership")) == "set-list-unknown"


@pytest.mark.parametrize("make", NEWER_HARNESSES)
async def test_a_set_list_lives_its_whole_life_on_every_store(scores: Scores) -> None:
    score_id = public_id(await create_score(scores, OWNER, NewScore(title="Air"), idempotency_key=None))
    entries = [NewEntry(score_id=score_id, notes="", page_ids=[])]
    new = NewSetList(name="Concert", notes="", entries=entries)
    list_id = await create_set_list(scores, ANN, new, idempotency_key="k")
    assert await create_set_list(scores, ANN, new, idempotency_key="k") == list_id
    row = (await find_set_list(scores, ANN, list_id)).row
    await share_set_list(scores, ANN, list_id, BOB)
    twice = NewSetList(name="Concert", notes="", entries=entries * 2)
    changed = await change_set_list(scores, ANN, list_id, row.etag, twice)
    stored = await SET_LIST.get(scores.tables, owner=OWNER, list_id=row.list_id)
    assert stored is not None and (stored.etag, stored.people) == (changed.etag, [BOB])
    shown = await show_entries(scores, ANN, changed.entries)
    assert [each.card and each.card.title for each in shown] == ["Air", "Air"]
    await delete_set_list(scores, ANN, list_id)
    assert await list_set_lists(scores, ANN) == []
