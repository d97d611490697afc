"""One search over everything: what each kind of thing is found by, and that nobody finds what is not theirs to see."""

from typing import Any

import pytest

from tests.application import Caller, Satchel
from tests.features.links.given import given, slug
from tests.features.shelf.given import made, uploaded


async def search(caller: Caller, q: str, **query: Any) -> list[tuple[str, str]]:
    answer = await caller("GET", "/search", params={"q": q, **query})
    assert answer.status_code == 200, answer.text
    assert answer.json()["partial"] is False
    return [(hit["kind"], hit["name"]) for hit in answer.json()["hits"]]


async def test_everything_of_ones_own_is_found_by_a_word(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    folder_id = await made(ann, "Harbour trip")
    file = await uploaded(satchel, ann, "harbour.jpg", b"picture", folder_id=folder_id)
    await uploaded(satchel, ann, "other.txt", b"x")
    link = await given(ann, "file", file.file_id, note="for the harbour office")
    revoked = await given(ann, "file", file.file_id, name="Harbour, once")
    await ann("DELETE", f"/links/{revoked['link_id']}")
    score = (await ann("POST", "/scores", json={"title": "Harbour Waltz", "composer": "Coates"})).json()["score_id"]
    concert = (await ann("POST", "/set-lists", json={"name": "Harbour concert", "entries": []})).json()
    room = (await ann("POST", "/rooms", json={"name": "Harbour crew"})).json()
    album = {"name": "Harbour", "start": "2025-07-01", "end": "2025-07-02"}
    assert (await ann("POST", "/albums", json=album)).status_code == 201
    found = (await ann("GET", "/search", params={"q": "HARB"})).json()["hits"]
    assert {(hit["kind"], hit["name"], hit["detail"]) for hit in found} == {
        ("folder", "Harbour trip", ""),
        ("file", "harbour.jpg", "Harbour trip"),
        ("room", "Harbour crew", room["code"]),
        ("link", "harbour.jpg", "for the harbour office"),
        ("album", "Harbour", "2025-07-01"),
        ("score", "Harbour Waltz", "Coates"),
        ("set-list", "Harbour concert", ""),
    }
    ids = {(hit["kind"], hit["id"], hit["folder_id"]) for hit in found}
    assert ids >= {
        ("file", file.file_id, folder_id),
        ("folder", folder_id, "root"),
        ("link", link["link_id"], None),
        ("score", score, None),
        ("set-list", concert["list_id"], None),
        ("room", room["room_id"], None),
    }
    assert await search(ann, "waltz coates") == [("score", "Harbour Waltz")]
    assert await search(bob, "harbour") == []
    assert len(await search(ann, "harbour", limit=1)) < len(found)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("Ｆｕｌｌ width.txt", "full"),
        ("Café.txt", "cafe"),
        ("夏休みの写真.txt", "写真"),
        ("サクラの楽譜.txt", "さくら"),
        ("ひらがな ﾊﾝｶｸ.txt", "ヒラガナ はんかく"),
        ("STRASSE.txt", "straße"),
        ("ｶﾞﾀｰ.txt", "ガター"),
    ],
)
async def test_case_accents_and_width_do_not_matter(satchel: Satchel, ann: Caller, name: str, wanted: str) -> None:
    await uploaded(satchel, ann, name, b"x")
    assert [kind for kind, _ in await search(ann, wanted)] == ["file"]


async def test_shared_things_are_found_and_only_administrators_find_people(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    score = (await ann("POST", "/scores", json={"title": "Shared song"})).json()["score_id"]
    assert await search(bob, "shared") == []
    shared = await ann("PUT", f"/scores/{score}/shares/bob@example.org", json={"role": "reader"})
    assert shared.status_code == 200, shared.text
    assert await search(bob, "shared") == [("score", "Shared song")]
    assert await search(ann, "bob@example") == [("person", "bob")]
    assert await search(bob, "ann@example") == []


async def test_a_search_for_nothing_or_for_too_much_is_refused(ann: Caller) -> None:
    for wrong in ({"q": ""}, {"q": "a", "limit": 51}, {}):
        assert slug(await ann("GET", "/search", params=wrong)) == (422, "invalid"), wrong
    for query in ("   ", "a " * 21):
        assert slug(await ann("GET", "/search", params={"q": query})) == (422, "text-unfit"), query
