"""Folders over HTTP: made, listed, renamed and moved, alone and by several at once."""

import asyncio
from typing import Any

import pytest

from tests.application import Caller, Satchel
from tests.features.shelf.given import check_shelf, made, names, uploaded

MAX_DEPTH = 64


async def listed(caller: Caller, folder_id: str) -> dict[str, Any]:
    return (await caller("GET", "/shelf/entries", params={"folder": folder_id})).json()


async def moved(caller: Caller, folder_id: str, target: str) -> int:
    return (await caller("PATCH", f"/shelf/folders/{folder_id}", json={"folder_id": target})).status_code


async def chain(caller: Caller, levels: int, folder_id: str = "root") -> list[str]:
    """Folders inside each other, from the top down."""
    ids: list[str] = []
    for level in range(levels):
        folder_id = await made(caller, f"level {level}", folder_id)
        ids.append(folder_id)
    return ids


async def test_a_folder_is_an_entry_and_knows_the_way_to_the_top(ann: Caller) -> None:
    answer = await ann("POST", "/shelf/folders", json={"name": "music/ scores. "})
    assert (answer.status_code, answer.json()["name"]) == (201, "scores.")
    outer = answer.json()["id"]
    inner = await made(ann, "Bach", outer)
    assert (
        answer.json()
        == (await listed(ann, "root"))["entries"][0]
        == {
            "kind": "folder",
            "id": outer,
            "name": "scores.",
            "folder_id": "root",
            "size_bytes": None,
            "content_type": None,
            "sha256": None,
            "created_at": "2030-03-17T17:46:40.000Z",
            "modified_at": None,
            "executable": False,
            "received": False,
            "expires_at": None,
            "previewable": None,
            "picture": None,
            "etag": answer.json()["etag"],
        }
    )
    path = [{"folder_id": outer, "name": "scores."}, {"folder_id": inner, "name": "Bach"}]
    assert (await listed(ann, inner))["folder"] == {"folder_id": inner, "name": "Bach", "path": path}


async def test_a_name_is_used_once_in_a_folder_by_files_and_folders_alike(satchel: Satchel, ann: Caller) -> None:
    folder_id = await made(ann, "a")
    taken = await ann("POST", "/shelf/folders", json={"name": "a"})
    assert (taken.status_code, taken.json()["type"]) == (409, "/problems#name-taken")
    assert taken.json()["field"] == "name"  # so that a form says it where the name was typed
    file = await uploaded(satchel, ann, "a", b"x")
    assert file.name == "a (1)"
    assert (await ann("PATCH", f"/shelf/files/{file.file_id}", json={"name": "a"})).status_code == 409
    assert (await ann("PATCH", f"/shelf/folders/{folder_id}", json={"name": "a (1)"})).status_code == 409
    await uploaded(satchel, ann, "a", b"x", folder_id=folder_id)
    assert await names(ann, folder_id) == ["a"]
    await check_shelf(satchel, ann)


async def test_a_file_moves_between_folders_and_keeps_its_id(satchel: Satchel, ann: Caller) -> None:
    there = await made(ann, "there")
    file = await uploaded(satchel, ann, "a.txt", b"x")
    await uploaded(satchel, ann, "b.txt", b"y", folder_id=there)
    path = f"/shelf/files/{file.file_id}"
    assert (await ann("PATCH", path, json={"folder_id": there, "name": "b.txt"})).status_code == 409
    answer = await ann("PATCH", path, json={"folder_id": there, "name": "c.txt"})
    assert (answer.json()["folder_id"], answer.json()["name"]) == (there, "c.txt")
    assert (await names(ann), await names(ann, there)) == (["there"], ["b.txt", "c.txt"])
    assert await names(ann, there, sort="newest") in (["c.txt", "b.txt"], ["b.txt", "c.txt"])
    assert (await ann("GET", f"{path}/content")).content == b"x"
    assert (await ann("PATCH", path, json={"folder_id": "root"})).json()["folder_id"] == "root"
    await check_shelf(satchel, ann)


async def test_a_folder_moves_with_all_that_is_in_it(satchel: Satchel, ann: Caller) -> None:
    outer, inner = await chain(ann, 2)
    file = await uploaded(satchel, ann, "a.txt", b"x", folder_id=inner)
    other = await made(ann, "other")
    answer = await ann("PATCH", f"/shelf/folders/{inner}", json={"folder_id": other, "name": "moved"})
    assert (answer.status_code, answer.json()["folder_id"], answer.json()["name"]) == (200, other, "moved")
    assert (await names(ann, outer), await names(ann, other), await names(ann, inner)) == ([], ["moved"], ["a.txt"])
    assert (await ann("GET", f"/shelf/files/{file.file_id}/content")).content == b"x"
    await check_shelf(satchel, ann)


async def test_a_folder_never_gets_inside_itself(ann: Caller) -> None:
    first, second, third = await chain(ann, 3)
    for target in (first, second, third):
        refused = await ann("PATCH", f"/shelf/folders/{first}", json={"folder_id": target})
        assert (refused.status_code, refused.json()["type"]) == (409, "/problems#folder-inside-itself")
    assert await moved(ann, second, first) == 200
    assert await moved(ann, third, "nowhere") == 404
    assert await moved(ann, "root", first) == 404


async def test_moves_that_would_close_a_circle_together_do_not(satchel: Satchel, ann: Caller) -> None:
    for turn in range(8):
        ids = [await made(ann, f"{turn} {number}") for number in range(3)]
        statuses = await asyncio.gather(*(moved(ann, ids[n], ids[(n + 1) % 3]) for n in range(3)))
        assert sorted(statuses) == [200, 200, 409]
        for folder_id in ids:
            assert len((await listed(ann, folder_id))["folder"]["path"]) in (1, 2, 3)
    await check_shelf(satchel, ann)


async def test_folders_stand_inside_each_other_only_so_deep(ann: Caller) -> None:
    ids = await chain(ann, MAX_DEPTH)
    refused = await ann("POST", "/shelf/folders", json={"name": "one more", "folder_id": ids[-1]})
    assert (refused.status_code, refused.json()["type"]) == (422, "/problems#too-deep")
    other = await made(ann, "other")
    assert await moved(ann, other, ids[-1]) == 422
    assert await moved(ann, other, ids[-2]) == 200
    assert await moved(ann, other, "root") == 200
    # A deep folder may go deeper, and everything in it stays within reach.
    assert await moved(ann, ids[1], other) == 200
    assert len((await listed(ann, ids[-1]))["folder"]["path"]) == MAX_DEPTH


async def test_of_many_folders_of_one_name_at_once_one_is_made(satchel: Satchel, ann: Caller) -> None:
    answers = await asyncio.gather(*(ann("POST", "/shelf/folders", json={"name": "same"}) for _ in range(6)))
    assert sorted(answer.status_code for answer in answers) == [201, 409, 409, 409, 409, 409]
    await check_shelf(satchel, ann)


@pytest.mark.parametrize("name", ["", "..", "/", "\u202e"])
async def test_a_folder_needs_a_name_that_can_be_seen(ann: Caller, name: str) -> None:
    refused = await ann("POST", "/shelf/folders", json={"name": name})
    assert (refused.status_code, refused.json()["type"]) == (422, "/problems#name-unusable")


async def test_nobody_else_reaches_a_folder_or_puts_something_into_it(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    bobs = await made(bob, "private")
    mine = await uploaded(satchel, ann, "a.txt", b"x")
    answers = [
        await ann("GET", "/shelf/entries", params={"folder": bobs}),
        await ann("POST", "/shelf/folders", json={"name": "x", "folder_id": bobs}),
        await ann("PATCH", f"/shelf/folders/{bobs}", json={"name": "x"}),
        await ann("DELETE", f"/shelf/folders/{bobs}"),
        await ann("PATCH", f"/shelf/files/{mine.file_id}", json={"folder_id": bobs}),
        await ann("GET", "/shelf/archive", params={"folder": bobs}),
    ]
    assert [answer.status_code for answer in answers] == [404] * 6
    missing = await ann("GET", "/shelf/entries", params={"folder": "nowhere"})
    assert answers[0].json()["detail"] == missing.json()["detail"]
    assert await names(bob) == ["private"]


async def test_the_top_is_no_folder_to_rename_or_delete(ann: Caller) -> None:
    assert (await ann("PATCH", "/shelf/folders/root", json={"name": "x"})).status_code == 404
    assert (await ann("DELETE", "/shelf/folders/root")).status_code == 404


async def test_a_folder_whose_answer_was_lost_is_made_once(ann: Caller) -> None:
    """Whoever asked again was told that the name is in use, by the folder that they had made."""
    body, key = {"name": "Photos", "folder_id": "root"}, {"idempotency-key": "once"}
    answers = [await ann("POST", "/shelf/folders", json=body, headers=key) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 201]
    folder_id = answers[0].json()["id"]
    assert answers[1].json() == answers[0].json()
    # The key leads to what it became, also under another name.
    assert (await ann("PATCH", f"/shelf/folders/{folder_id}", json={"name": "Pictures"})).is_success
    again = (await ann("POST", "/shelf/folders", json=body, headers=key)).json()
    assert (again["id"], again["name"]) == (folder_id, "Pictures")
    assert (await ann("DELETE", f"/shelf/folders/{folder_id}")).is_success
    assert (await ann("POST", "/shelf/folders", json=body, headers=key)).status_code == 404
    assert (await ann("POST", f"/shelf/bin/{folder_id}/restore")).is_success
    assert (await ann("POST", "/shelf/folders", json=body)).status_code == 201


async def test_a_key_of_which_nothing_came_makes_a_folder_of_another_name(ann: Caller) -> None:
    await made(ann, "Photos")
    key = {"idempotency-key": "once"}
    taken = await ann("POST", "/shelf/folders", json={"name": "Photos", "folder_id": "root"}, headers=key)
    other = await ann("POST", "/shelf/folders", json={"name": "Pictures", "folder_id": "root"}, headers=key)
    assert [taken.status_code, other.status_code] == [409, 201]


async def test_a_folder_asked_for_twice_at_once_under_a_key_is_one(ann: Caller) -> None:
    body, key = {"name": "Photos", "folder_id": "root"}, {"idempotency-key": "once"}
    answers = await asyncio.gather(*(ann("POST", "/shelf/folders", json=body, headers=key) for _ in range(5)))
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.json()["id"] for answer in answers}) == 1
