"""Marks over HTTP: layers that are private until published, strokes that others see at once, and bad input."""

from typing import Any

import pytest

from satchel.kernel import ink
from tests.application import Caller, Satchel
from tests.features.hearing import heard_by
from tests.features.scores.given import (
    all_keys,
    changed,
    layered,
    mark,
    marked,
    marks,
    paged,
    pen,
    read,
    slug,
    stored_score,
    with_pages,
)


async def public(owner: Caller) -> dict[str, Any]:
    """A score with two pages that everybody sees."""
    return (await changed(owner, await with_pages(owner, 2), access="public")).json()


async def look(caller: Caller, score: dict[str, Any]) -> list[str]:
    answer = await caller("PUT", f"/scores/{score['score_id']}/presence", json={"page_id": 0})
    assert answer.status_code == 200, answer.text
    return sorted(each["name"] for each in answer.json()["people"])


async def test_marks_of_every_kind_come_back(satchel: Satchel, ann: Caller) -> None:
    score = await with_pages(ann, 2)
    layer = await layered(ann, score)
    anchor = {"part": 1, "bar": 12, "beat": 2500, "dx": -20, "dy": 35, "staff": 1}
    wanted: list[dict[str, Any]] = [
        pen(score),
        pen(score, 1, kind="highlighter", width=300),
        {"page_id": 0, "kind": "text", "text": "atmen 🎵\nhier", "x": 10, "y": 9990, "size": 200},
        {"page_id": 0, "kind": "stamp", "stamp": "up-bow", "x": 5000, "y": 5000, "size": 150, "anchor": anchor},
    ]
    assert await marked(ann, score, layer, add=wanted) == {"seq": 1, "added": [0, 1, 2, 3]}
    seen = await marks(ann, score)
    for mark_id, new in enumerate(wanted):
        assert new.items() <= seen[mark_id].items()
        assert (seen[mark_id]["layer_id"], seen[mark_id]["seq"]) == (0, 1)
    moved = wanted[2] | {"x": 500}
    answer = await marked(ann, score, layer, change=[moved | {"mark_id": 2}], remove=[0, 77])
    assert answer == {"seq": 2, "added": []}
    seen = await marks(ann, score)
    assert sorted(seen) == [1, 2, 3]
    assert (seen[2]["x"], seen[2]["seq"], seen[1]["seq"]) == (500, 2, 1)
    whole = (await ann("GET", f"/scores/{score['score_id']}", params={"marks": "true"})).json()
    assert {each["mark_id"]: each for each in whole["marks"]} == seen
    assert (whole["layers"][0]["marks"], whole["etag"]) == (3, score["etag"])
    assert (await stored_score(satchel, ann, score))["d"]["ac"] == 3
    one_page = await ann("GET", f"/scores/{score['score_id']}/marks", params={"page": 1})
    assert [each["mark_id"] for each in one_page.json()["marks"]] == [1]
    sizeless = wanted[2] | {"size": 0}
    (added,) = (await marked(ann, score, layer, add=[sizeless]))["added"]
    assert (await marks(ann, score))[added]["size"] > 0


async def test_a_repeated_request_marks_once(ann: Caller) -> None:
    score = await with_pages(ann, 1)
    layer = await layered(ann, score)
    answers = [(await mark(ann, score, layer, "k1", add=[pen(score)] * 2)).json() for _ in range(2)]
    assert answers == [{"seq": 1, "added": [0, 1]}] * 2
    assert len(await marks(ann, score)) == 2


async def test_a_repeated_request_makes_one_layer(ann: Caller) -> None:
    score = await with_pages(ann, 1)
    path = f"/scores/{score['score_id']}/layers"
    sent = {"json": {"name": "Mine"}, "headers": {"idempotency-key": "k1"}}
    first, again = [await ann("POST", path, **sent) for _ in range(2)]
    assert (first.status_code, again.status_code, again.json()) == (201, 201, first.json())
    other = await ann("POST", path, json={"name": "Mine"}, headers={"idempotency-key": "k2"})
    assert other.json()["layer_id"] != first.json()["layer_id"]
    assert len((await read(ann, score))["layers"]) == 2
    # One that was deleted since does not come back.
    await ann("DELETE", f"{path}/{first.json()['layer_id']}")
    assert slug(await ann("POST", path, **sent)) == "layer-unknown"
    assert len((await read(ann, score))["layers"]) == 1


async def test_a_layer_is_private_until_it_is_published(ann: Caller, bob: Caller) -> None:
    score = await public(ann)
    layer = await layered(ann, score, "Conductor")
    await marked(ann, score, layer, add=[pen(score)])
    path = f"/scores/{score['score_id']}/layers/{layer['layer_id']}"
    assert await marks(bob, score) == {}
    assert (await read(bob, score))["layers"] == []
    assert (await bob("PATCH", path, json={"name": "Mine"})).status_code == 403
    assert (await ann("PATCH", path, json={"published": True})).json()["published"]
    assert len(await marks(bob, score)) == 1
    assert (await bob("POST", f"/scores/{score['score_id']}/layers", json={"name": "B"})).status_code == 403
    await ann("PATCH", path, json={"published": False})
    assert await marks(bob, score) == {}


async def test_those_who_look_hear_of_strokes_that_they_may_see(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    score = await public(ann)
    mine, shown = await layered(ann, score, "Mine"), await layered(ann, score, "Shown", published=True)
    assert await look(ann, score) == ["ann"]
    async with heard_by(satchel.stores.ephemeral, bob.user_id) as told:
        await marked(ann, score, shown, add=[pen(score)])
        assert await look(bob, score) == ["ann", "bob"]
        await marked(ann, score, mine, add=[pen(score)])
        await marked(ann, score, shown, add=[pen(score)], remove=[0])
        event = await told.next()
        # The first came before Bob looked, and the second is in a layer that he may not see.
        assert (event["type"], event["seq"], event["removed"]) == ("score.marks", 2, [0])
        assert [each["mark_id"] for each in event["added"]] == [2]
        assert (await ann("POST", f"/scores/{score['score_id']}/turn", json={"page_id": 1})).status_code == 204
        assert (await told.next()).items() >= {"type": "score.turned", "page_id": 1, "by": ann.user_id}.items()
        score = (await changed(ann, score, title="New")).json()
        assert (await told.next()) == {"type": "score.changed", "score_id": score["score_id"], "etag": score["etag"]}
        await changed(ann, score, access="private")
        assert (await told.next())["type"] == "score.changed"
        await marked(ann, score, shown, add=[pen(score)])
        satchel.clock.advance(80)
        assert await look(ann, score) == ["ann"]


async def test_a_deleted_layer_takes_its_marks_along(satchel: Satchel, ann: Caller) -> None:
    score = await with_pages(ann, 1)
    one, two = await layered(ann, score, "One"), await layered(ann, score, "Two")
    await marked(ann, score, one, add=[pen(score)] * 3)
    await marked(ann, score, two, add=[pen(score)])
    path = f"/scores/{score['score_id']}/layers"
    assert (await ann("DELETE", f"{path}/{one['layer_id']}")).status_code == 204
    assert sorted(await marks(ann, score)) == [3]
    assert slug(await mark(ann, score, one, add=[pen(score)])) == "layer-unknown"
    # Ids of layers are never used again.
    assert (await layered(ann, score))["layer_id"] == 2
    assert slug(await mark(ann, score, two, remove=[3], change=[pen(score) | {"mark_id": 0}])) == "mark-unknown"
    await ann("DELETE", f"/scores/{score['score_id']}")
    assert [sort for _, sort in await all_keys(satchel, ann)] == ["summary", "summary"]


async def test_a_mark_of_another_layer_cannot_be_changed(ann: Caller) -> None:
    score = await with_pages(ann, 1)
    one, two = await layered(ann, score, "One"), await layered(ann, score, "Two")
    await marked(ann, score, one, add=[pen(score)])
    assert slug(await mark(ann, score, two, remove=[0])) == "mark-unknown"
    assert len(await marks(ann, score)) == 1


async def test_a_mark_on_a_page_that_was_just_removed_is_refused(ann: Caller) -> None:
    score = await with_pages(ann, 2)
    layer = await layered(ann, score)
    await marked(ann, score, layer, add=[pen(score, 1)])
    first = score["pages"][0]
    await paged(ann, score, {"page_id": 0, "item_id": first["item"]["item_id"]})
    answer = await mark(ann, score, layer, add=[pen(score), pen(score, 1)])
    assert (answer.status_code, slug(answer)) == (409, "page-gone")
    assert await marks(ann, score) == {}
    assert await marked(ann, score, layer, add=[pen(score)]) == {"seq": 2, "added": [1]}


LONG = ink.encode([(number % 10_000, number * 7 % 10_000, 128) for number in range(100_000)])
BAD: list[tuple[dict[str, Any], str]] = [
    ({"stroke": LONG}, "mark-too-long"),
    (
        {"stroke": ink.encode([(number * 997 % 10_000, number * 7919 % 10_000, 9) for number in range(342)])},
        "mark-too-long",
    ),
    ({"stroke": ""}, "text-unfit"),
    ({"stroke": "A"}, "text-unfit"),
    ({"stroke": "<script>"}, "text-unfit"),
    ({"stroke": ink.encode([(20_000, 0, 0)])}, "text-unfit"),
    ({"stroke": ink.encode([(0, 0, 256)])}, "text-unfit"),
    ({"colour": "red"}, "text-unfit"),
    ({"width": -1}, "invalid"),
    ({"kind": "text", "text": "x" * 2401}, "mark-too-long"),
    ({"kind": "text", "text": " "}, "text-unfit"),
    ({"kind": "stamp", "stamp": "../x"}, "text-unfit"),
    ({"kind": "eraser"}, "invalid"),
    ({"page_id": 99}, "page-gone"),
    ({"x": 10**9}, "invalid"),
    ({"mark_id": 3}, "invalid"),
]


async def test_a_bad_mark_changes_nothing(ann: Caller) -> None:
    score = await with_pages(ann, 1)
    layer = await layered(ann, score)
    for wrong, expected in BAD:
        answer = await mark(ann, score, layer, add=[pen(score), pen(score) | wrong])
        assert slug(answer) == expected, (wrong, answer.text)
    assert await marks(ann, score) == {}
    assert (await mark(ann, score, layer, add=[pen(score)] * 201)).status_code == 422


@pytest.mark.parametrize("letter", ["e\u0301", "👩‍👩‍👧", "𝄞", "文"])
async def test_a_long_text_comes_back_letter_by_letter(ann: Caller, letter: str) -> None:
    score = await with_pages(ann, 1)
    layer = await layered(ann, score)
    text = letter * (1900 // len(letter))
    await marked(ann, score, layer, add=[{"page_id": 0, "kind": "text", "text": text, "size": 100}])
    assert (await marks(ann, score))[0]["text"] == text


async def test_half_a_surrogate_pair_is_refused_and_a_whole_one_is_a_letter(ann: Caller) -> None:
    """As programs send them that write UTF-16 as escapes."""
    score = await with_pages(ann, 1)
    layer = await layered(ann, score)
    path = f"/scores/{score['score_id']}/layers/{layer['layer_id']}/marks"
    headers = {"content-type": "application/json"}
    body = '{"add": [{"page_id": 0, "kind": "text", "size": 100, "text": "%s"}]}'
    for half in (r"\ud834", r"\udd1e", r"\udd1e\ud834"):
        answer = await ann("POST", path, content=(body % half).encode(), headers=headers)
        assert (slug(answer), await marks(ann, score)) == ("malformed", {}), answer.text
    whole = "x" * 239 + r"\ud834\udd1e"
    assert (await ann("POST", path, content=(body % whole).encode(), headers=headers)).is_success
    assert (await marks(ann, score))[0]["text"] == "x" * 239 + "𝄞"
