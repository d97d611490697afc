"""Snapshots: what they keep and pin, restoring, comparing, and what is new since somebody looked."""

from typing import Any

from satchel.features.scores.model import read_id
from tests.application import Caller, Satchel
from tests.features.scores.given import (
    PNG,
    changed,
    layered,
    marked,
    marks,
    paged,
    pen,
    read,
    sent,
    slug,
    stored_score,
    with_pages,
)

BOB = "bob@example.org"


async def snapped(caller: Caller, score: dict[str, Any], name: str = "Concert") -> str:
    answer = await caller("POST", f"/scores/{score['score_id']}/snapshots", json={"name": name})
    assert answer.status_code == 201, answer.text
    return answer.json()["snapshot_id"]


async def compared(caller: Caller, score: dict[str, Any], **query: str) -> dict[str, Any]:
    answer = await caller("GET", f"/scores/{score['score_id']}/compare", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_a_snapshot_keeps_the_score_and_pins_its_items(satchel: Satchel, ann: Caller) -> None:
    score = await with_pages(ann, 2)
    layer = await layered(ann, score)
    await marked(ann, score, layer, add=[pen(score)])
    before = await stored_score(satchel, ann, score)
    snapshot = await snapped(ann, score)
    after = await stored_score(satchel, ann, score)
    entry = {"i": read_id(snapshot), "n": "Concert", "ca": after["ua"]}
    assert after == before | {"nc": 1, "n": [entry], "e": after["e"], "ua": after["ua"]}
    await marked(ann, score, layer, add=[pen(score)], remove=[0])
    assert (await changed(ann, await read(ann, score), title="New")).is_success
    assert (await paged(ann, score)).is_success
    path = f"/scores/{score['score_id']}"
    then = (await ann("GET", f"{path}/snapshots/{snapshot}")).json()
    assert (then["title"], then["role"], then["etag"]) == ("Abendlied", "reader", "")
    assert then["pages"] == score["pages"]
    assert [each["mark_id"] for each in then["marks"]] == [0]
    item = f"{path}/items/{score['pages'][0]['item']['item_id']}"
    assert slug(await ann("DELETE", item)) == "item-in-use"
    assert (await ann("GET", f"{item}/content")).status_code == 200
    satchel.clock.advance(10**9)
    await satchel.housekeep()
    assert (await ann.sign_in("ann@example.org")).is_success
    assert (await ann("GET", f"{path}/snapshots/{snapshot}")).status_code == 200
    before = await stored_score(satchel, ann, score)
    assert (await ann("DELETE", f"{path}/snapshots/{snapshot}")).status_code == 204
    after = await stored_score(satchel, ann, score)
    assert after == before | {"nc": 0, "n": [], "e": after["e"], "ua": after["ua"]}
    assert slug(await ann("GET", f"{path}/snapshots/{snapshot}")) == "snapshot-unknown"
    assert (await ann("DELETE", item)).status_code == 204
    assert not [info for info in (await satchel.stores.objects.list("score/")).objects if "snapshot" in info.key]


async def test_a_repeated_request_keeps_one_snapshot(satchel: Satchel, ann: Caller) -> None:
    score = await with_pages(ann, 1)
    path = f"/scores/{score['score_id']}/snapshots"
    sent = {"json": {"name": "Concert"}, "headers": {"idempotency-key": "k1"}}
    first = await ann("POST", path, **sent)
    # Meanwhile, the score goes on.
    await changed(ann, await read(ann, score), title="New")
    again = await ann("POST", path, **sent)
    assert (first.status_code, again.status_code, again.json()) == (201, 201, first.json())
    assert (await stored_score(satchel, ann, score))["nc"] == 1
    kept = f"{path}/{first.json()['snapshot_id']}"
    assert (await ann("GET", kept)).json()["title"] == "Abendlied"
    assert (await ann("DELETE", kept)).status_code == 204
    assert slug(await ann("POST", path, **sent)) == "snapshot-unknown"
    assert (await stored_score(satchel, ann, score))["nc"] == 0


async def test_a_restored_score_is_what_it_was_and_the_present_is_kept(ann: Caller) -> None:
    score = await with_pages(ann, 2)
    layer = await layered(ann, score)
    await marked(ann, score, layer, add=[pen(score), pen(score), pen(score, 1)])
    snapshot = await snapped(ann, score)
    await marked(ann, score, layer, change=[pen(score, width=99) | {"mark_id": 0}], remove=[1], add=[pen(score)])
    now = (await changed(ann, await read(ann, score), title="New", composer="Bach")).json()
    now = (await paged(ann, score, {"page_id": 1, "item_id": now["pages"][1]["item"]["item_id"]})).json()
    path = f"/scores/{score['score_id']}/snapshots/{snapshot}/restore"
    assert slug(await ann("POST", path)) == "etag-missing"
    assert slug(await ann("POST", path, headers={"if-match": f'"{score["etag"]}"'})) == "score-changed"
    answer = await ann("POST", path, headers={"if-match": f'"{now["etag"]}"'})
    assert answer.status_code == 200, answer.text
    restored = answer.json()
    assert (restored["title"], restored["composer"], restored["pages"]) == ("Abendlied", "", score["pages"])
    assert [each["name"] for each in restored["snapshots"]] == ["Concert", "Before “Concert”"]
    # The removed mark has come back with an id of its own.
    assert {mark_id: each["width"] for mark_id, each in (await marks(ann, score)).items()} == {0: 20, 2: 20, 4: 20}
    assert await compared(ann, score, **{"from": snapshot}) == {"title": None, "pages": [], "marks": []}
    # And back again.
    undo = f"/scores/{score['score_id']}/snapshots/{restored['snapshots'][1]['snapshot_id']}/restore"
    assert (await ann("POST", undo, headers={"if-match": "*"})).json()["title"] == "New"
    assert sorted(each["width"] for each in (await marks(ann, score)).values()) == [20]


async def test_what_is_private_stays_private_and_as_it_is(ann: Caller, bob: Caller) -> None:
    score = await with_pages(ann, 1)
    path = f"/scores/{score['score_id']}"
    await ann("PUT", f"{path}/shares/{BOB}", json={"role": "editor"})
    private, public = await layered(ann, score), await layered(ann, score, published=True)
    for layer in (private, public):
        await marked(ann, score, layer, add=[pen(score)])
    snapshot = await snapped(bob, score)
    then = (await bob("GET", f"{path}/snapshots/{snapshot}")).json()
    assert ([each["layer_id"] for each in then["layers"]], [each["mark_id"] for each in then["marks"]]) == ([1], [1])
    assert len((await ann("GET", f"{path}/snapshots/{snapshot}")).json()["marks"]) == 2
    for layer in (private, public):
        await marked(ann, score, layer, add=[pen(score)])
    assert (await bob("POST", f"{path}/snapshots/{snapshot}/restore", headers={"if-match": "*"})).is_success
    assert sorted(await marks(ann, score)) == [0, 1, 2]
    await ann("PUT", f"{path}/shares/{BOB}", json={"role": "marker"})
    assert (await bob("POST", f"{path}/snapshots", json={"name": "x"})).status_code == 403


async def test_two_states_are_compared(ann: Caller, bob: Caller) -> None:
    score = await with_pages(ann, 3)
    path = f"/scores/{score['score_id']}"
    await ann("PUT", f"{path}/shares/{BOB}", json={"role": "marker"})
    mine, theirs = await layered(ann, score), await layered(bob, score, published=True)
    await marked(ann, score, mine, add=[pen(score), pen(score)])
    first = await snapped(ann, score)
    await marked(ann, score, mine, change=[pen(score, colour="#00ff00") | {"mark_id": 0}], remove=[1])
    await marked(bob, score, theirs, add=[pen(score, 1)])
    items = [page["item"]["item_id"] for page in score["pages"]]
    new = await sent(ann, PNG, "new.png", score=score["score_id"], page="none")
    await paged(ann, score, {"page_id": 1, "item_id": items[1]}, {"page_id": 0, "item_id": new}, {"item_id": new})
    second = await snapped(ann, score, "Later")
    for query in ({"from": first, "to": second}, {"from": first}):
        found = await compared(ann, score, **query)
        seen = [(each["change"], each["author_name"], each["page_id"]) for each in found["marks"]]
        assert seen == [("added", "bob", 1), ("removed", "ann", 0), ("changed", "ann", 0)]
        pages = {each["page_id"]: each["change"] for each in found["pages"]}
        assert pages == {1: "moved", 0: "replaced", 3: "added", 2: "removed"}
    assert slug(await ann("GET", f"{path}/compare", params={"from": "nothing"})) == "snapshot-unknown"


async def news_of(caller: Caller) -> list[bool]:
    """Whether lists say that a score has something new."""
    return [each["has_news"] for each in (await caller("GET", "/scores")).json()["scores"]]


async def test_what_is_new_since_somebody_looked(ann: Caller, bob: Caller) -> None:
    score = await with_pages(ann, 1)
    path = f"/scores/{score['score_id']}"
    await ann("PUT", f"{path}/shares/{BOB}", json={"role": "marker"})
    shown, hidden = await layered(ann, score, published=True), await layered(ann, score)
    await marked(ann, score, shown, add=[pen(score)])
    assert (await news_of(ann), await news_of(bob)) == ([False], [True])
    first = (await bob("GET", f"{path}/news")).json()
    assert (first["since"], [each["mark_id"] for each in first["marks"]], first["structure"]) == (None, [0], False)
    assert (await bob("PUT", f"{path}/news")).status_code == 204
    assert (await bob("GET", f"{path}/news")).json()["marks"] == []
    await marked(ann, score, hidden, add=[pen(score)])
    assert await news_of(bob) == [False]
    await marked(ann, score, shown, add=[pen(score)], change=[pen(score, width=5) | {"mark_id": 0}])
    await marked(bob, score, await layered(bob, score), add=[pen(score)])
    await changed(ann, score, title="New")
    news = (await bob("GET", f"{path}/news")).json()
    assert (sorted(each["mark_id"] for each in news["marks"]), news["structure"]) == ([0, 2], True)
    assert (await news_of(ann), await news_of(bob)) == ([False], [True])
    # What nobody else sees any more is no news.
    for layer, patch in ((shown, {"published": False}), (hidden, {"name": "Still mine"})):
        await ann("PATCH", f"{path}/layers/{layer['layer_id']}", json=patch)
        assert await news_of(bob) == [False]
    await ann("PATCH", f"{path}/layers/{shown['layer_id']}", json={"published": True})
    assert await news_of(bob) == [True]
    await ann("DELETE", f"{path}/layers/{shown['layer_id']}")
    assert await news_of(bob) == [False]


async def test_a_score_has_at_most_a_hundred_snapshots(ann: Caller) -> None:
    score = await with_pages(ann, 1)
    for number in range(100):
        await snapped(ann, score, str(number))
    answer = await ann("POST", f"/scores/{score['score_id']}/snapshots", json={"name": "one more"})
    assert slug(answer) == "too-many-snapshots"
    assert (await ann("POST", f"/scores/{score['score_id']}/snapshots", json={"name": "x" * 65})).status_code == 422
