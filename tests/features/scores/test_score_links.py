"""Links to scores: living, frozen to a snapshot, or to one part; a visitor sees pages and published marks, no more."""

import asyncio
from dataclasses import replace
from typing import Any

from satchel.features.scores.limits import LAYOUTS_PER_NETWORK
from satchel.features.scores.model import LinkTarget, ScoreId, link_target_of, new_stored_id, read_link_target
from satchel.features.scores.service.context import Scores
from satchel.features.scores.service.engrave_once import engrave_once
from satchel.features.scores.service.page_import import run_imports
from satchel.media.score_pages import ScorePages
from satchel.stores.patterns.throttle import NetworkThrottle
from satchel.stores.ports.objects import SmallObject
from tests.application import Caller, Satchel
from tests.features.links.given import give, given
from tests.features.links.given import read as read_link
from tests.features.scores.given import changed, created, layered, marked, paged, pen, read, sent, slug, with_pages
from tests.media.samples import jpeg

ABC = b"X:1\nT:Air\nM:4/4\nL:1/4\nK:D\nD E F G|A B c d|d c B A|G F E D|\n"


async def opened(visitor: Caller, link: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The address of a link, and the pass of a visitor who has entered."""
    path = f"/open/{link['token']}"
    entered = await visitor("POST", f"{path}/enter", json={})
    assert entered.status_code == 200, entered.text
    return path, {"pass": entered.json()["pass"]}


async def outline(visitor: Caller, path: str, params: dict[str, Any]) -> dict[str, Any]:
    answer = await visitor("GET", f"{path}/outline", params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_a_visitor_sees_pages_and_published_marks_of_a_living_link(satchel: Satchel, ann: Caller) -> None:
    score = await with_pages(ann, 2, title="Air")
    private, public = await layered(ann, score), await layered(ann, score, "All", published=True)
    await marked(ann, score, private, add=[pen(score)])
    await marked(ann, score, public, add=[pen(score, 1)])
    link = await given(ann, "score", score["link_thing"])
    assert (link["thing"]["kind"], link["thing"]["name"]) == ("score", "Air")
    visitor = satchel.caller("192.0.2.1")
    landing = (await visitor("GET", f"/open/{link['token']}")).json()
    assert (landing["kind"], landing["name"], landing["files"]) == ("score", "Air", 2)

    path, params = await opened(visitor, link)
    seen = await outline(visitor, path, params)
    assert ([page["page_id"] for page in seen["pages"]], len(seen["marks"])) == ([0, 1], 1)
    assert (seen["role"], seen["etag"], seen["owner_id"], seen["snapshots"], seen["imports"]) == (
        "reader",
        "",
        "",
        [],
        [],
    )
    assert [(layer["name"], layer["author_id"], layer["author_name"]) for layer in seen["layers"]] == [
        ("All", "", "ann")
    ]
    item = seen["pages"][0]["item"]["item_id"]
    page = await visitor("GET", f"{path}/files/{item}/preview", params=params)
    assert (page.status_code, page.headers["content-type"]) == (200, "image/jpeg")
    assert "sandbox" in page.headers["content-security-policy"]
    # Views count, once for each page and visit.
    await visitor("GET", f"{path}/files/{item}/preview", params=params)
    assert (await read_link(ann, link))["opens"] == 1
    # Nothing of the score itself is open to them.
    assert (await visitor("GET", f"/scores/{score['score_id']}")).status_code == 404

    # It lives: what is changed is seen.
    await changed(ann, await read(ann, score), title="Air on the G String")
    assert (await outline(visitor, path, params))["title"] == "Air on the G String"
    await ann("DELETE", f"/scores/{score['score_id']}")
    assert (await visitor("GET", f"{path}/outline", params=params)).status_code in (404, 410)


async def test_a_frozen_link_never_changes(satchel: Satchel, ann: Caller) -> None:
    score = await with_pages(ann, 2, title="Air")
    layer = await layered(ann, score, published=True)
    await marked(ann, score, layer, add=[pen(score)])
    kept = (await ann("POST", f"/scores/{score['score_id']}/snapshots", json={"name": "Concert"})).json()
    link = await given(ann, "score", kept["link_thing"])
    assert link["thing"]["name"] == "Air (Concert)"
    listed = (await ann("GET", "/links")).json()["links"]
    assert [each["thing"]["name"] for each in listed] == ["Air (Concert)"]
    first = score["pages"][0]
    await paged(ann, score, {"page_id": first["page_id"], "item_id": first["item"]["item_id"]})
    await marked(ann, score, layer, add=[pen(score)])
    visitor = satchel.caller("192.0.2.1")
    path, params = await opened(visitor, link)
    seen = await outline(visitor, path, params)
    assert (len(seen["pages"]), len(seen["marks"])) == (2, 1)
    for page in seen["pages"]:
        shown = await visitor("GET", f"{path}/files/{page['item']['item_id']}/preview", params=params)
        assert shown.status_code == 200
    await ann("DELETE", f"/scores/{score['score_id']}/snapshots/{kept['snapshot_id']}")
    assert (await visitor("GET", f"/open/{link['token']}")).status_code in (404, 410)


async def test_a_player_gets_the_own_part_only(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    score = await with_pages(ann, 3, title="Air")
    parts = [{"name": "Flute", "page_ids": [2, 0]}, {"name": "Viola", "page_ids": [1]}]
    score = (await changed(ann, score, parts=parts, movements=[{"name": "II", "page_id": 1}])).json()
    flute, viola = score["parts"]
    for name, part in (("For flutes", flute), ("For violas", viola)):
        layer = await layered(ann, score, name, published=True, part_id=part["part_id"])
        await marked(ann, score, layer, add=[pen(score)])
    link = await given(ann, "score", flute["link_thing"])
    assert link["thing"]["name"] == "Air – Flute"
    visitor = satchel.caller("192.0.2.1")
    path, params = await opened(visitor, link)
    seen = await outline(visitor, path, params)
    assert [page["page_id"] for page in seen["pages"]] == [2, 0]
    assert ([part["name"] for part in seen["parts"]], seen["movements"]) == (["Flute"], [])
    assert ([layer["name"] for layer in seen["layers"]], len(seen["marks"])) == (["For flutes"], 1)
    other = score["pages"][1]["item"]["item_id"]
    assert (await visitor("GET", f"{path}/files/{other}/preview", params=params)).status_code == 404
    # Only the owner can give links, and only to what is there.
    assert (await give(bob, "score", score["link_thing"])).status_code == 404
    assert (await give(ann, "score", f"{score['link_thing']}.p99")).status_code == 404
    assert (await give(ann, "score", "nothing")).status_code == 404
    assert (await give(ann, "score", score["link_thing"], downloads=3)).status_code == 422
    await changed(ann, await read(ann, score), parts=[])
    assert (await visitor("GET", f"{path}/outline", params=params)).status_code in (404, 410)


async def test_engraved_pages_are_shown_and_files_have_no_outline(
    satchel: Satchel, ann: Caller, scores: Scores
) -> None:
    score = await created(ann)
    await sent(ann, ABC, "air.abc", score=score["score_id"])
    pages = ScorePages(satchel.stores.objects, children=1)
    here = replace(scores, tables=satchel.stores.tables, objects=satchel.stores.objects, pages=pages)
    assert await run_imports(here) == 1
    await pages.close()
    link = await given(ann, "score", score["link_thing"])
    visitor = satchel.caller("192.0.2.1")
    path, params = await opened(visitor, link)
    (page,) = (await outline(visitor, path, params))["pages"]
    shown = await visitor("GET", f"{path}/files/{page['item']['item_id']}/preview", params=params)
    assert (shown.status_code, shown.headers["content-type"]) == (200, "image/svg+xml")
    assert "sandbox" in shown.headers["content-security-policy"]
    played = (await visitor("GET", f"{path}/playback", params=params)).json()
    assert (len(played["notes"]), {bar["page_id"] for bar in played["bars"]}) == (16, {page["page_id"]})
    assert (await ann("GET", f"/scores/{score['score_id']}/playback")).json() == played
    await visitors_lay_music_out(satchel, ann, score, path, params)
    folder = (await ann("POST", "/shelf/folders", json={"name": "Folder"})).json()
    given_folder = await given(ann, "folder", folder["id"])
    path, params = await opened(visitor, given_folder)
    assert (await visitor("GET", f"{path}/outline", params=params)).status_code == 404
    assert (await visitor("GET", f"{path}/playback", params=params)).status_code == 404


async def visitors_lay_music_out(
    satchel: Satchel, ann: Caller, score: dict[str, Any], path: str, params: dict[str, Any]
) -> None:
    """They read only, in bounds for their network, and only music that the link shows."""
    score = await read(ann, score)
    private, public = await layered(ann, score), await layered(ann, score, "All", published=True)
    for layer in (private, public):
        await marked(ann, score, layer, add=[pen(score)])
    visitor = satchel.caller("192.0.2.1")
    answer = await visitor("GET", f"{path}/layout", params=params | {"transpose": 3})
    assert answer.status_code == 200, answer.text
    layout = answer.json()
    assert (layout["transpose"], len(layout["bars"]), len(layout["marks"])) == (3, 4, 1)
    assert [(layer["name"], layer["author_id"]) for layer in layout["layers"]] == [("All", "")]
    (page,) = layout["pages"]
    shown = await visitor("GET", f"{path}/files/{page['item']['item_id']}/preview", params=params)
    assert (shown.status_code, shown.headers["content-type"]) == (200, "image/svg+xml")
    assert "sandbox" in shown.headers["content-security-policy"]
    other = page["item"]["item_id"].replace(".t3.", ".t4.")
    assert (await visitor("GET", f"{path}/files/{other}/preview", params=params)).status_code == 404
    assert (await visitor("GET", f"{path}/layout", params=params | {"transpose": 13})).status_code == 422
    limit, limited = LAYOUTS_PER_NETWORK, satchel.caller("192.0.2.7")
    await NetworkThrottle(satchel.stores.ephemeral, limit).add("192.0.2.7", limit.times)
    assert (await limited("GET", f"{path}/layout", params=params | {"transpose": 5})).status_code == 429
    # A part that shows other pages shows none of this.
    await sent(ann, jpeg(), "p2.jpg", score=score["score_id"])
    score = await read(ann, score)
    parts = [{"name": "Flute", "page_ids": [score["pages"][1]["page_id"]]}]
    (part,) = (await changed(ann, score, parts=parts)).json()["parts"]
    of_part, theirs = await opened(visitor, await given(ann, "score", part["link_thing"]))
    assert slug(await visitor("GET", f"{of_part}/layout", params=theirs | {"transpose": 3})) == "link-no-outline"
    hidden = await visitor("GET", f"{of_part}/files/{page['item']['item_id']}/preview", params=theirs)
    assert hidden.status_code == 404


async def test_a_broken_file_is_not_engraved_again_for_each_visitor(
    satchel: Satchel, ann: Caller, scores: Scores
) -> None:
    score = await created(ann)
    await sent(ann, ABC, "air.abc", score=score["score_id"])
    pages = ScorePages(satchel.stores.objects, children=1)
    here = replace(scores, tables=satchel.stores.tables, objects=satchel.stores.objects, pages=pages)
    assert await run_imports(here) == 1
    await pages.close()
    visitor = satchel.caller("192.0.2.1")
    link = await given(ann, "score", score["link_thing"])
    path, params = await opened(visitor, link)
    (source,) = [
        each.key for each in (await satchel.stores.objects.list("score/")).objects if each.key.endswith("source.abc")
    ]
    await satchel.stores.objects.put_many([SmallObject(source, b"X:1\nno key")])
    assert slug(await visitor("GET", f"{path}/playback", params=params)) == "score-broken"
    # Had it been tried again, it would have been found whole.
    await satchel.stores.objects.put_many([SmallObject(source, ABC)])
    assert slug(await visitor("GET", f"{path}/playback", params=params)) == "score-broken"
    satchel.clock.advance(3600)
    path, params = await opened(visitor, link)
    together = [visitor("GET", f"{path}/playback", params=params) for _ in range(3)]
    assert [answer.status_code for answer in await asyncio.gather(*together)] == [200, 200, 200]


async def test_who_asks_meanwhile_waits_for_the_same(scores: Scores) -> None:
    times: list[str] = []
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def engrave() -> bytes:
        times.append("once")
        begun.set()
        await go_on.wait()
        return b"notes"

    asked = [asyncio.ensure_future(engrave_once(scores, "score/a", engrave)) for _ in range(3)]
    await begun.wait()
    asked[0].cancel()
    go_on.set()
    assert await asyncio.gather(*asked[1:]) == [b"notes", b"notes"]
    assert (times, scores.engraving) == (["once"], {})


def test_what_links_name_is_read_as_it_was_written() -> None:
    for _ in range(50):
        score, other = ScoreId(new_stored_id()), new_stored_id()
        for target in (LinkTarget(score), LinkTarget(score, part_id=7), LinkTarget(score, snapshot_id=other)):  # pyright: ignore[reportArgumentType]
            written = link_target_of(target)
            assert len(written) <= 64
            assert read_link_target(written) == target
    assert read_link_target("x" * 22 + ".p007") is None
