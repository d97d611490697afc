"""Engraved scores laid out anew: marks stay at their part, bar and beat, whatever the reader chooses."""

import re
from dataclasses import replace
from typing import Any

import pytest

from satchel.features.scores.limits import LAYOUTS_PER_NETWORK, LAYOUTS_PER_PERSON, PLAYBACKS_PER_NETWORK
from satchel.features.scores.service.context import Scores
from satchel.features.scores.service.page_import import run_imports
from satchel.kernel import ink
from satchel.media.score_pages import ScorePages
from satchel.stores.patterns.throttle import NetworkThrottle
from tests.application import Caller, Satchel
from tests.features.hearing import heard_by
from tests.features.scores.given import changed, layered, mark, marked, marks, paged, read, sent, slug, with_pages
from tests.media.made_scores import musicxml, pdfium

# Music is engraved here, in a process of its own.
pytestmark = pytest.mark.slow


@pytest.fixture
async def score(satchel: Satchel, ann: Caller, scores: Scores) -> dict[str, Any]:
    """A score of two parts and sixty bars, as it was imported."""
    return await imported(satchel, ann, scores, musicxml(bars=60))


async def imported(satchel: Satchel, ann: Caller, scores: Scores, music: bytes) -> dict[str, Any]:
    score_id = await sent(ann, music, "air.musicxml")
    pages = ScorePages(satchel.stores.objects, children=1)
    here = replace(scores, tables=satchel.stores.tables, objects=satchel.stores.objects, pages=pages)
    assert await run_imports(here) == 1
    await pages.close()
    return await read(ann, score_id)


async def laid(caller: Caller, score: dict[str, Any], **choice: Any) -> dict[str, Any]:
    answer = await caller("GET", f"/scores/{score['score_id']}/layout", params=choice)
    assert answer.status_code == 200, answer.text
    return answer.json()


def bar_of(layout: dict[str, Any], number: int) -> dict[str, Any]:
    return next(each for each in layout["bars"] if each["bar"] == number)


def stamp_at(bar: dict[str, Any], beat: int) -> dict[str, Any]:
    """On a beat, at the upper line of the upper staff."""
    x = bar["beat_xs"][bar["beats"].index(beat)]
    return {"page_id": bar["page_id"], "kind": "stamp", "stamp": "up-bow", "x": x, "y": bar["y"], "size": 200}


async def test_marks_follow_the_music_into_every_layout(ann: Caller, score: dict[str, Any]) -> None:
    layer = await layered(ann, score)
    plain = await laid(ann, score)
    assert (plain["instruments"], len(plain["bars"])) == (["Flute", "Viola"], 60)
    assert [page["page_id"] for page in plain["pages"]] == [page["page_id"] for page in score["pages"]]
    bar = bar_of(plain, 40)
    viola = stamp_at(bar, 2000) | {"y": bar["y"] + bar["height"]}
    line = [(bar["x"] + 50, bar["y"] - 100, 128), (bar["x"] + bar["width"] + 200, bar["y"] - 90, 128)]
    stroke = {"page_id": bar["page_id"], "kind": "pen", "stroke": ink.encode(line)}
    await marked(ann, score, layer, add=[stamp_at(bar, 2000), viola, stroke])
    stored = await marks(ann, score)
    assert stored[0]["anchor"] == {"part": 0, "staff": 0, "bar": 40, "beat": 2000, "dx": 0, "dy": 0}
    assert (stored[1]["anchor"]["part"], stored[1]["anchor"]["bar"], stored[2]["anchor"]["bar"]) == (1, 40, 40)
    for choice in ({"transpose": 3}, {"size": "large"}, {"transpose": -2, "instrument": 1, "size": "small"}):
        layout = await laid(ann, score, **choice)
        place = bar_of(layout, 40)
        seen = {each["mark_id"]: each for each in layout["marks"]}
        x = place["beat_xs"][place["beats"].index(2000)]
        assert (seen[0]["page_id"], seen[0]["x"], seen[0]["y"]) == (place["page_id"], x, place["y"])
        # Who plays the flute is not bothered with what the viola has to do.
        assert (1 in seen) == ("instrument" not in choice)
        assert ink.decode(seen[2]["stroke"])[0][0] >= place["x"]
    # Nothing of the score has changed.
    assert (await read(ann, score))["etag"] == score["etag"] and await marks(ann, score) == stored


async def test_a_mark_on_a_layout_marks_the_music(ann: Caller, score: dict[str, Any]) -> None:
    layer = await layered(ann, score)
    choice = {"transpose": 5, "instrument": 2, "size": "large"}
    layout = await laid(ann, score, **choice)
    assert len(layout["pages"]) > 1
    new = stamp_at(bar_of(layout, 33), 1000)
    await marked(ann, score, layer, add=[new], layout=choice)
    (stored,) = (await marks(ann, score)).values()
    plain = await laid(ann, score)
    bar = bar_of(plain, 33)
    assert (stored["page_id"], stored["x"]) == (bar["page_id"], bar["beat_xs"][1])
    assert {"part": 1, "bar": 33, "beat": 1000}.items() <= stored["anchor"].items()
    (again,) = (await laid(ann, score, **choice))["marks"]
    assert abs(again["x"] - new["x"]) <= 2 and abs(again["y"] - new["y"]) <= 2 and abs(again["size"] - 200) <= 3
    # Its page is of that layout only.
    assert slug(await mark(ann, score, layer, add=[new])) == "page-gone"


async def test_whoever_follows_is_told_the_bar_and_whoever_leads_may_name_it(
    satchel: Satchel, ann: Caller, bob: Caller, score: dict[str, Any]
) -> None:
    plain, own = await laid(ann, score), await laid(ann, score, transpose=3, size="large")
    path = f"/scores/{score['score_id']}"
    second = score["pages"][1]["page_id"]
    first_there = min(each["bar"] for each in plain["bars"] if each["page_id"] == second)
    await ann("PUT", f"{path}/shares/bob@example.org", json={"role": "reader"})
    assert (await bob("PUT", f"{path}/presence", json={})).is_success
    async with heard_by(satchel.stores.ephemeral, bob.user_id) as told:
        for turn, expected in (
            ({"page_id": second}, (second, first_there)),
            ({"bar": first_there + 1}, (second, first_there + 1)),
            ({"page_id": second, "bar": 7}, (second, 7)),
        ):
            answer = await ann("POST", f"{path}/turn", json=turn)
            assert answer.status_code == 204, answer.text
            event = await told.next()
            assert (event["type"], event["page_id"], event["bar"]) == ("score.turned", *expected)
    # A page of one's own layout is none of the score.
    assert slug(await ann("POST", f"{path}/turn", json={"page_id": own["pages"][1]["page_id"]})) == "page-gone"
    assert slug(await ann("POST", f"{path}/turn", json={})) == "combination-unfit"


async def test_pages_of_a_layout_are_shown_to_those_who_see_the_score(
    satchel: Satchel, ann: Caller, bob: Caller, score: dict[str, Any]
) -> None:
    layout = await laid(ann, score, transpose=2)
    address = f"/scores/{score['score_id']}/items/{layout['pages'][0]['item']['item_id']}/content"
    shown = await ann("GET", address)
    assert (shown.status_code, shown.headers["content-type"]) == (200, "image/svg+xml")
    path, stranger = f"/scores/{score['score_id']}/layout", satchel.caller("192.0.2.1")
    for caller in (bob, stranger):
        assert (await caller("GET", address)).status_code == 404
        assert (await caller("GET", path)).status_code == 404
    assert (await ann("GET", re.sub(r"\.t2\.", ".t3.", address))).status_code == 404
    await changed(ann, score, access="public")
    assert (await stranger("GET", address)).status_code == 200
    assert (await stranger("GET", path)).status_code == 200
    assert len((await laid(stranger, score, transpose=1))["pages"]) == len(layout["pages"])
    # What has to be made for strangers is bounded by their network, and no other one suffers for it.
    await NetworkThrottle(satchel.stores.ephemeral, LAYOUTS_PER_NETWORK).add("192.0.2.1", LAYOUTS_PER_NETWORK.times - 1)
    assert (await stranger("GET", path, params={"transpose": 4})).status_code == 429
    assert (await stranger("GET", path, params={"transpose": 1})).status_code == 200
    await NetworkThrottle(satchel.stores.ephemeral, PLAYBACKS_PER_NETWORK).add("192.0.2.1", PLAYBACKS_PER_NETWORK.times)
    assert (await stranger("GET", f"/scores/{score['score_id']}/playback")).status_code == 429
    for caller in (bob, satchel.caller("192.0.2.2")):
        assert (await caller("GET", f"/scores/{score['score_id']}/playback")).status_code == 200
    assert slug(await ann("GET", path, params={"instrument": 3})) == "choice-unfit"
    assert (await ann("GET", path, params={"transpose": 13})).status_code == 422
    document = await ann("GET", f"/scores/{score['score_id']}/export", params={"transpose": 2, "instrument": 1})
    assert document.content.startswith(b"%PDF")
    other = await with_pages(ann, 1)
    assert slug(await ann("GET", f"/scores/{other['score_id']}/layout")) == "score-not-engraved"


async def test_a_few_layouts_are_kept_and_go_with_their_source(
    satchel: Satchel, ann: Caller, score: dict[str, Any]
) -> None:
    for by in range(1, 11):
        await laid(ann, score, transpose=by)
    objects = satchel.stores.objects
    keys = [info.key for info in (await objects.list("score/")).objects if "/layout/" in info.key]
    assert len({key.split("/")[-2] for key in keys}) == 9
    assert sum("/layout/t10." in key for key in keys) == len(score["pages"]) + 1
    source = score["imports"][0]["item_id"]
    assert (await ann("DELETE", f"/scores/{score['score_id']}/items/{source}")).is_success
    assert not [info.key for info in (await objects.list("score/")).objects if "/layout/" in info.key]
    path = f"/scores/{score['score_id']}/layout"
    assert slug(await ann("GET", path)) == "score-not-engraved"
    # The pages stay, and can be marked.
    layer = await layered(ann, score)
    await marked(ann, score, layer, add=[{"page_id": score["pages"][0]["page_id"], "kind": "text", "text": "p"}])


async def test_music_of_removed_pages_is_for_editors_only(
    satchel: Satchel, ann: Caller, bob: Caller, score: dict[str, Any]
) -> None:
    layout = await laid(ann, score, transpose=2)
    path = f"/scores/{score['score_id']}"
    address = f"{path}/items/{layout['pages'][0]['item']['item_id']}/content"
    await changed(ann, score, access="public")
    kept = score["pages"][1:]
    pages = [{"page_id": page["page_id"], "item_id": page["item"]["item_id"]} for page in kept]
    assert (await paged(ann, score, *pages)).is_success
    for caller in (bob, satchel.caller("192.0.2.1")):
        assert slug(await caller("GET", f"{path}/playback")) == "score-not-engraved"
        assert slug(await caller("GET", address)) == "score-not-engraved"
        # As it was added, it shows the pages that are left.
        assert len((await laid(caller, score))["pages"]) == len(kept)
    for what in ("layout", "export"):
        assert slug(await bob("GET", f"{path}/{what}", params={"transpose": 2})) == "score-not-engraved"
    for what in ("playback", "layout?transpose=2"):
        assert (await ann("GET", f"{path}/{what}")).status_code == 200
    assert (await ann("GET", address)).status_code == 200


async def test_each_of_two_parts_with_one_name_can_be_shown(satchel: Satchel, ann: Caller, scores: Scores) -> None:
    score = await imported(satchel, ann, scores, musicxml(("Clarinet", "Clarinet")))
    shown = [(await laid(ann, score, instrument=number))["pages"][0]["item"]["item_id"] for number in (1, 2)]
    assert shown[0] != shown[1], shown
    refused = await ann("GET", f"/scores/{score['score_id']}/layout", params={"instrument": 3})
    assert refused.status_code == 422


async def test_only_layouts_that_are_made_count(satchel: Satchel, ann: Caller, score: dict[str, Any]) -> None:
    layer, made = await layered(ann, score), LAYOUTS_PER_PERSON.on(satchel.stores.ephemeral)
    first = await laid(ann, score, transpose=1)
    for _ in range(2):
        await laid(ann, score, transpose=1)
    # None but the first one was counted.
    assert await made.add(ann.user_id, LAYOUTS_PER_PERSON.times - 2) == LAYOUTS_PER_PERSON.times - 1
    new = stamp_at(bar_of(first, 3), 1000)
    await marked(ann, score, layer, add=[new], layout={"transpose": 2})
    # What a mark has engraved counts, too.
    assert (await mark(ann, score, layer, add=[new], layout={"transpose": 3})).status_code == 429
    assert (await ann("GET", f"/scores/{score['score_id']}/layout?transpose=3")).status_code == 429
    assert len((await laid(ann, score, transpose=1))["marks"]) == 1


async def test_an_entry_of_a_set_list_is_transposed(ann: Caller, score: dict[str, Any]) -> None:
    plain = await with_pages(ann, 1)
    page_id = score["pages"][0]["page_id"]
    moved = {"score_id": score["score_id"], "transpose": -2}
    for wrong, expected in (
        ({"score_id": plain["score_id"], "transpose": 2}, "score-not-engraved"),
        (moved | {"page_ids": [page_id]}, "combination-unfit"),
        (moved | {"transpose": 13}, "invalid"),
    ):
        assert slug(await ann("POST", "/set-lists", json={"name": "Friday", "entries": [wrong]})) == expected
    entries = [moved, {"score_id": score["score_id"]}]
    made = (await ann("POST", "/set-lists", json={"name": "Friday", "entries": entries})).json()
    assert [(each["transpose"], each["is_engraved"]) for each in made["entries"]] == [(-2, True), (0, True)]
    layer = await layered(ann, score)
    await marked(ann, score, layer, add=[stamp_at(bar_of(await laid(ann, score), 1), 0)])
    lower = await laid(ann, score, transpose=-2)
    document = await ann("GET", f"/set-lists/{made['list_id']}/export")
    assert document.status_code == 200, document.text
    count = len(lower["pages"]) + len(score["pages"])
    assert len(pdfium.PdfDocument(document.content)) == count
    # It stays when the order changes, and goes when somebody says so.
    headers = {"if-match": "*"}
    order = {"name": "Friday", "entries": [entries[1], moved]}
    changed_list = (await ann("PUT", f"/set-lists/{made['list_id']}", json=order, headers=headers)).json()
    assert [each["transpose"] for each in changed_list["entries"]] == [0, -2]
    order = {"name": "Friday", "entries": [entries[1]]}
    changed_list = (await ann("PUT", f"/set-lists/{made['list_id']}", json=order, headers=headers)).json()
    assert [each["transpose"] for each in changed_list["entries"]] == [0]
