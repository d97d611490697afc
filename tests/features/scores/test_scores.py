"""Scores over HTTP: create, list, change, set pages, upload, delete; quotas; two editors with one ETag."""

from typing import Any

import pytest

from satchel.stores.ports.expressions import assign
from satchel.tables import SCORES
from tests.application import Caller, Satchel, running_satchel
from tests.features.scores.given import (
    PNG,
    all_keys,
    changed,
    created,
    layered,
    marked,
    paged,
    pen,
    read,
    sent,
    slug,
    stored_score,
    upload,
    with_pages,
)
from tests.media.samples import jpeg


def shown(score: dict[str, Any]) -> list[tuple[int, str]]:
    return [(page["page_id"], page["name"]) for page in score["pages"]]


async def test_a_new_score_is_private_and_listed(ann: Caller, bob: Caller) -> None:
    score = await created(ann, "Abendlied", composer="Rheinberger", tags=["choir", "choir", "a"], description="op. 69")
    assert (score["access"], score["role"], score["tags"], score["pages"]) == ("private", "owner", ["choir", "a"], [])
    listed = (await ann("GET", "/scores", params={"q": "rhein ABEND"})).json()
    assert [each["title"] for each in listed["scores"]] == ["Abendlied"]
    assert listed["usage"]["scores"] == 1
    assert (await ann("GET", "/scores", params={"q": "bach"})).json()["scores"] == []
    assert (await ann("GET", "/scores", params={"tag": "CHOIR"})).json()["scores"]
    for method, path in (("GET", ""), ("DELETE", "")):
        assert slug(await bob(method, f"/scores/{score['score_id']}{path}")) == "score-unknown"
    assert (await bob("GET", "/scores")).json()["scores"] == []


async def test_a_repeated_request_makes_one_score(ann: Caller) -> None:
    sends = {"json": {"title": "Once"}, "headers": {"idempotency-key": "k1"}}
    first, second = [(await ann("POST", "/scores", **sends)).json() for _ in range(2)]
    assert first["score_id"] == second["score_id"]
    assert (await ann("GET", "/scores")).json()["usage"]["scores"] == 1


async def test_a_change_names_the_state_that_it_changes(ann: Caller) -> None:
    score = await created(ann)
    path = f"/scores/{score['score_id']}"
    assert slug(await ann("PATCH", path, json={"title": "X"})) == "etag-missing"
    first = await changed(ann, score, title="Morgenlied", composer="Rheinberger")
    assert first.json()["etag"] != score["etag"] and first.headers["etag"] == f'"{first.json()["etag"]}"'
    late = await changed(ann, score, title="Late")
    assert (late.status_code, slug(late)) == (412, "score-changed")
    assert (await ann("PATCH", path, json={"title": "Any"}, headers={"if-match": "*"})).json()["title"] == "Any"
    assert slug(await ann("PATCH", path, json={"title": "X"}, headers={"if-match": "nonsense"})) == "score-changed"
    assert (await ann("GET", "/scores")).json()["scores"][0]["title"] == "Any"


BAD: list[dict[str, Any]] = [
    {"title": ""},
    {"title": "x" * 129},
    {"description": "x" * 1025},
    {"tags": ["x" * 33]},
    {"tags": [str(number) for number in range(21)]},
    {"composer": "x" * 129},
    {"movements": [{"name": "I", "page_id": 99}]},
    {"parts": [{"name": "", "page_ids": []}]},
    {"parts": [{"name": "Viola", "part_id": 7}]},
    {"jumps": [{"page_id": 0, "x": 10_001, "y": 0, "to_page_id": 1}]},
    {"unknown": 1},
]


@pytest.mark.parametrize("patch", BAD)
async def test_a_bad_change_changes_nothing(ann: Caller, patch: dict[str, Any]) -> None:
    score = await with_pages(ann)
    assert (await changed(ann, score, **patch)).status_code == 422
    assert await read(ann, score) == score


async def test_pages_are_set_in_one_step(ann: Caller) -> None:
    score = await with_pages(ann, 3)
    assert shown(score) == [(0, "page 0.jpg"), (1, "page 1.jpg"), (2, "page 2.jpg")]
    items = [page["item"]["item_id"] for page in score["pages"]]
    new = await sent(ann, PNG, "new.png", score=score["score_id"], page="none")
    answer = await paged(
        ann,
        score,
        {"page_id": 2, "item_id": items[2], "name": "last", "rotation": 90},
        {"item_id": new},
        {"page_id": 0, "item_id": items[1]},
        etag=score["etag"],
    )
    assert answer.status_code == 200, answer.text
    after = answer.json()
    assert shown(after) == [(2, "last"), (3, "new.png"), (0, "page 0.jpg")]
    assert [page["item"]["item_id"] for page in after["pages"]] == [items[2], new, items[1]]
    assert after["pages"][0]["rotation"] == 90
    # A second editor with the same ETag, and pages that are not there: nothing changes.
    for etag, pages, expected in (
        (score["etag"], [], "score-changed"),
        (after["etag"], [{"page_id": 1, "item_id": new}], "combination-unfit"),
        (after["etag"], [{"page_id": 2, "item_id": new}, {"page_id": 2, "item_id": new}], "combination-unfit"),
        (after["etag"], [{"item_id": "no id"}], "item-unknown"),
        (after["etag"], [{"item_id": new}] * 201, "too-many-pages"),
    ):
        assert slug(await paged(ann, score, *pages, etag=etag)) == expected
    assert await read(ann, score) == after
    # Ids are never used twice.
    assert shown((await paged(ann, score, {"item_id": new})).json()) == [(4, "new.png")]


async def test_what_leads_to_a_page_goes_with_it(ann: Caller) -> None:
    score = await with_pages(ann, 2)
    patched = await changed(
        ann,
        score,
        movements=[{"name": "I", "page_id": 0}, {"name": "II", "page_id": 1}],
        parts=[{"name": "Violin", "page_ids": [0, 1]}, {"name": "Viola", "page_ids": [1]}, {"name": "All"}],
        jumps=[{"page_id": 1, "x": 9000, "y": 9500, "to_page_id": 0, "to_y": 100, "label": "D.S."}],
    )
    assert patched.status_code == 200, patched.text
    assert [part["part_id"] for part in patched.json()["parts"]] == [0, 1, 2]
    first = patched.json()["pages"][0]
    after = (await paged(ann, score, {"page_id": 0, "item_id": first["item"]["item_id"]})).json()
    assert [each["name"] for each in after["movements"]] == ["I"]
    assert [(part["name"], part["page_ids"]) for part in after["parts"]] == [("Violin", [0]), ("All", [])]
    assert after["jumps"] == []


async def test_an_item_is_deleted_when_nothing_shows_it_and_its_bytes_go(satchel: Satchel, ann: Caller) -> None:
    score = await with_pages(ann, 1)
    path = f"/scores/{score['score_id']}/items/{score['pages'][0]['item']['item_id']}"
    content = await ann("GET", f"{path}/content")
    assert (content.content, content.headers["content-type"]) == (jpeg() + b"\0", "image/jpeg")
    assert "immutable" in content.headers["cache-control"]
    assert slug(await ann("DELETE", path)) == "item-in-use"
    assert (await paged(ann, score)).status_code == 200
    assert (await ann("DELETE", path)).status_code == 204
    assert slug(await ann("GET", f"{path}/content")) == "item-unknown"
    assert (await satchel.stores.objects.list("score/")).objects == []
    usage = (await ann("GET", "/scores")).json()["usage"]
    assert (usage["items"], usage["size_bytes"]) == (0, 0)


async def test_a_deleted_score_leaves_nothing(satchel: Satchel, ann: Caller) -> None:
    score = await with_pages(ann, 2)
    path = f"/scores/{score['score_id']}"
    await marked(ann, score, await layered(ann, score), add=[pen(score)] * 3)
    assert (await ann("POST", f"{path}/snapshots", json={"name": "Concert"})).status_code == 201
    assert any(sort.endswith(":a:000") for _, sort in await all_keys(satchel, ann))
    assert (await ann("DELETE", path)).status_code == 204
    assert [sort for _, sort in await all_keys(satchel, ann)] == ["summary", "summary"]
    assert (await satchel.stores.objects.list("score/")).objects == []
    usage = (await ann("GET", "/scores")).json()["usage"]
    assert (usage["scores"], usage["items"], usage["size_bytes"]) == (0, 0, 0)


async def test_a_public_score_is_read_by_anybody_and_changed_by_nobody_else(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    score = await with_pages(ann, 1)
    item = f"/scores/{score['score_id']}/items/{score['pages'][0]['item']['item_id']}/content"
    stranger = satchel.caller()
    assert (await stranger("GET", item)).status_code == 404
    score = (await changed(ann, score, access="public")).json()
    assert (await read(stranger, score))["role"] == "reader"
    assert (await stranger("GET", item)).status_code == 200
    assert (await changed(bob, score, title="Mine")).status_code == 403
    assert (await changed(ann, score, access="private")).status_code == 200
    assert (await stranger("GET", item)).status_code == 404


async def test_an_upload_without_a_score_makes_one(ann: Caller) -> None:
    score_id = await sent(ann, jpeg(), "Bach_-_Air.jpg")
    score = await read(ann, score_id)
    assert (score["title"], len(score["pages"])) == ("Bach - Air", 1)


async def test_what_is_no_page_is_refused(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    score = await created(ann)
    answer = await upload(ann, b"GIF89a" + b"\0" * 20, "x.png", score=score["score_id"])
    assert (answer.status_code, slug(answer)) == (422, "score-file-kind")
    assert slug(await upload(ann, jpeg(), score=score["score_id"], page="first")) == "choice-unfit"
    assert slug(await upload(bob, jpeg(), score=score["score_id"])) == "score-unknown"
    assert (await read(ann, score))["pages"] == []
    assert (await satchel.stores.objects.list("score/")).objects == []


async def test_quotas_end_exactly_at_their_limit(tmp_path: Any) -> None:
    page = jpeg()
    async with running_satchel(tmp_path, sign_up="open", score_limit=2, score_quota=2 * len(page)) as satchel:
        ann = satchel.caller()
        await ann.sign_up("ann@example.org")
        first = await created(ann)
        await created(ann)
        assert slug(await ann("POST", "/scores", json={"title": "Third"})) == "too-many-scores"
        assert (await ann("DELETE", f"/scores/{first['score_id']}")).is_success
        score = await created(ann)
        for name in ("a.jpg", "b.jpg"):
            await sent(ann, page, name, score=score["score_id"])
        assert slug(await upload(ann, PNG, score=score["score_id"])) == "scores-full"
        assert (await ann("GET", "/scores")).json()["usage"]["size_bytes"] == 2 * len(page)


async def test_a_change_waits_for_nobody_who_holds_the_lock(satchel: Satchel, ann: Caller) -> None:
    score = await created(ann)
    key = {name: (await stored_score(satchel, ann, score))[name] for name in ("o", "s")}
    now = int(satchel.clock() * 1000)
    await satchel.stores.tables.update(SCORES, key, [assign("xs", now), assign("xt", now + 10_000)])
    assert slug(await changed(ann, score, title="Now")) == "score-locked"
    satchel.clock.advance(10)
    assert (await changed(ann, score, title="Now")).json()["title"] == "Now"
    row = await stored_score(satchel, ann, score)
    assert (row["xs"], row["xt"]) == (0, 0)


async def test_bytes_that_a_crash_has_left_are_swept(satchel: Satchel, ann: Caller) -> None:
    score = await with_pages(ann, 1)
    objects = satchel.stores.objects
    kept = [info.key for info in (await objects.list("score/")).objects]
    orphan = kept[0].replace(score["pages"][0]["item"]["item_id"], "00000000-0000-4000-8000-000000000000")
    await objects.copy(kept[0], orphan)
    await satchel.housekeep()
    assert len((await objects.list("score/")).objects) == len(kept) + 1
    satchel.clock.advance(10**9)
    await satchel.housekeep()
    assert [info.key for info in (await objects.list("score/")).objects] == kept
