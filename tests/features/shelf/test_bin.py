"""The bin over HTTP: what was deleted disappears at once, comes back whole, and goes for good once."""

import asyncio
from datetime import timedelta
from typing import Any

from tests.application import Caller, Satchel
from tests.features.shelf.given import check_shelf, made, names, room, stored_keys, uploaded, usage

DAY = timedelta(days=1)


async def binned(caller: Caller) -> list[dict[str, Any]]:
    return (await caller("GET", "/shelf/bin")).json()["entries"]


async def restored(caller: Caller, entry_id: str) -> dict[str, Any]:
    answer = await caller("POST", f"/shelf/bin/{entry_id}/restore")
    assert answer.status_code == 200, answer.text
    return answer.json()


async def later(satchel: Satchel, caller: Caller, by: timedelta) -> None:
    """Sessions end meanwhile, so the caller signs in again."""
    satchel.clock.advance(by)
    await caller.sign_in("ann@example.org")


async def test_a_deleted_file_lies_in_the_bin_and_comes_back_to_where_it_was(satchel: Satchel, ann: Caller) -> None:
    outer = await made(ann, "outer")
    inner = await made(ann, "inner", outer)
    file = await uploaded(satchel, ann, "a.txt", b"content", folder_id=inner)
    path = f"/shelf/files/{file.file_id}"
    assert (await ann("DELETE", path)).status_code == 204
    (entry,) = await binned(ann)
    assert entry["id"] == file.file_id
    assert entry["from"] == ["outer", "inner"]
    assert (entry["deleted_at"], entry["gone_at"]) == ("2030-03-17T17:46:40.000Z", "2030-04-16T17:46:40.000Z")
    for gone in (await ann("GET", path), await ann("GET", f"{path}/content"), await ann("DELETE", path)):
        assert gone.status_code == 404
    assert await usage(ann) == room(7, 1, bin_bytes=7)
    back = await restored(ann, file.file_id)
    assert (back["folder_id"], back["name"]) == (inner, "a.txt")
    assert (await ann("GET", f"{path}/content")).content == b"content"
    assert await binned(ann) == []
    assert (await ann("POST", f"/shelf/bin/{file.file_id}/restore")).status_code == 404
    assert await usage(ann) == room(7, 1)
    await check_shelf(satchel, ann)


async def test_what_comes_back_is_numbered_if_its_name_is_taken(satchel: Satchel, ann: Caller) -> None:
    file = await uploaded(satchel, ann, "a.txt", b"old")
    await ann("DELETE", f"/shelf/files/{file.file_id}")
    await uploaded(satchel, ann, "a.txt", b"new")
    assert (await restored(ann, file.file_id))["name"] == "a (1).txt"
    folder_id = await made(ann, "f")
    await ann("DELETE", f"/shelf/folders/{folder_id}")
    await made(ann, "F")
    await made(ann, "f")
    assert (await restored(ann, folder_id))["name"] == "f (1)"
    await check_shelf(satchel, ann)


async def test_a_deleted_folder_takes_all_that_is_in_it_out_of_sight_and_back(satchel: Satchel, ann: Caller) -> None:
    outer = await made(ann, "outer")
    inner = await made(ann, "inner", outer)
    file = await uploaded(satchel, ann, "needle.txt", b"content", folder_id=inner)
    assert (await ann("DELETE", f"/shelf/folders/{outer}")).status_code == 204
    hidden = [
        await ann("GET", f"/shelf/files/{file.file_id}"),
        await ann("GET", f"/shelf/files/{file.file_id}/content"),
        await ann("GET", f"/shelf/files/{file.file_id}/preview"),
        await ann("GET", "/shelf/entries", params={"folder": inner}),
        await ann("GET", "/shelf/archive", params={"file": file.file_id}),
        await ann("PATCH", f"/shelf/folders/{inner}", json={"folder_id": "root"}),
        await ann("POST", f"/shelf/bin/{inner}/restore"),
        await ann("DELETE", f"/shelf/bin/{file.file_id}"),
    ]
    assert [answer.status_code for answer in hidden] == [404] * len(hidden)
    assert (await ann("GET", "/shelf/search", params={"q": "needle"})).json()["entries"] == []
    (entry,) = await binned(ann)
    assert (entry["kind"], entry["size_bytes"], entry["from"]) == ("folder", 7, [])
    await restored(ann, outer)
    assert await names(ann, inner) == ["needle.txt"]
    assert (await ann("GET", f"/shelf/files/{file.file_id}/content")).content == b"content"
    await check_shelf(satchel, ann)


async def test_what_was_in_a_folder_that_is_gone_comes_back_to_the_top(satchel: Satchel, ann: Caller) -> None:
    folder_id = await made(ann, "folder")
    file = await uploaded(satchel, ann, "a.txt", b"x", folder_id=folder_id)
    await ann("DELETE", f"/shelf/files/{file.file_id}")
    await ann("DELETE", f"/shelf/folders/{folder_id}")
    assert (await restored(ann, file.file_id))["folder_id"] == "root"
    await ann("DELETE", "/shelf/bin")
    assert await names(ann) == ["a.txt"]
    await check_shelf(satchel, ann)


async def test_what_was_deleted_last_comes_first_page_by_page(satchel: Satchel, ann: Caller) -> None:
    kept = [await uploaded(satchel, ann, f"{number}.txt", b"x") for number in range(3)]
    for file in reversed(kept):
        satchel.clock.advance(1)
        await ann("DELETE", f"/shelf/files/{file.file_id}")
    page = (await ann("GET", "/shelf/bin", params={"limit": 2})).json()
    rest = (await ann("GET", "/shelf/bin", params={"limit": 2, "cursor": page["cursor"]})).json()
    assert [entry["name"] for entry in page["entries"] + rest["entries"]] == ["0.txt", "1.txt", "2.txt"]


async def test_what_goes_for_good_frees_its_room_once(satchel: Satchel, ann: Caller) -> None:
    file = await uploaded(satchel, ann, "a.txt", b"content")
    folder_id = await made(ann, "folder")
    inner = await made(ann, "inner", folder_id)
    await uploaded(satchel, ann, "same.txt", b"content", folder_id=inner)
    await uploaded(satchel, ann, "other.txt", b"12345", folder_id=folder_id)
    assert (await ann("DELETE", f"/shelf/bin/{file.file_id}")).status_code == 404
    await ann("DELETE", f"/shelf/folders/{folder_id}")
    answers = await asyncio.gather(*(ann("DELETE", f"/shelf/bin/{folder_id}") for _ in range(4)))
    assert sorted(answer.status_code for answer in answers) == [204, 404, 404, 404]
    await satchel.housekeep()
    assert await usage(ann) == room(7, 1)
    await ann("DELETE", f"/shelf/files/{file.file_id}")
    assert (await ann("DELETE", "/shelf/bin")).status_code == 204
    assert await usage(ann) == room(0, 0)
    assert await stored_keys(satchel) == []
    await check_shelf(satchel, ann)


async def test_the_bin_empties_itself_after_thirty_days(satchel: Satchel, ann: Caller) -> None:
    file = await uploaded(satchel, ann, "a.txt", b"content")
    folder_id = await made(ann, "folder")
    for number in range(120):
        await uploaded(satchel, ann, f"{number}.txt", b"%d" % (number % 7), folder_id=folder_id)
    await ann("DELETE", f"/shelf/files/{file.file_id}")
    await ann("DELETE", f"/shelf/folders/{folder_id}")
    await later(satchel, ann, 30 * DAY - timedelta(seconds=1))
    await satchel.housekeep()
    assert len(await binned(ann)) == 2
    satchel.clock.advance(1)
    assert await binned(ann) == []
    assert (await ann("POST", f"/shelf/bin/{folder_id}/restore")).status_code == 404
    await satchel.housekeep()
    assert await usage(ann) == room(0, 0)
    await check_shelf(satchel, ann)
    assert await stored_keys(satchel) == []


async def test_emptying_also_takes_what_no_sweep_has_come_for_yet(satchel: Satchel, ann: Caller) -> None:
    file = await uploaded(satchel, ann, "a.txt", b"content")
    await ann("DELETE", f"/shelf/files/{file.file_id}")
    await later(satchel, ann, 31 * DAY)
    assert (await ann("DELETE", "/shelf/bin")).status_code == 204
    assert await usage(ann) == room(0, 0)


async def test_nobody_else_sees_or_touches_a_bin(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    file = await uploaded(satchel, bob, "a.txt", b"x")
    await bob("DELETE", f"/shelf/files/{file.file_id}")
    assert await binned(ann) == []
    assert (await ann("POST", f"/shelf/bin/{file.file_id}/restore")).status_code == 404
    assert (await ann("DELETE", f"/shelf/bin/{file.file_id}")).status_code == 404
    await ann("DELETE", "/shelf/bin")
    assert len(await binned(bob)) == 1


async def test_restoring_and_purging_at_once_end_in_one_of_the_two(satchel: Satchel, ann: Caller) -> None:
    for number in range(6):
        folder_id = await made(ann, f"folder {number}")
        await uploaded(satchel, ann, "a.txt", b"content", folder_id=folder_id)
        await ann("DELETE", f"/shelf/folders/{folder_id}")
        back, gone = await asyncio.gather(
            ann("POST", f"/shelf/bin/{folder_id}/restore"), ann("DELETE", f"/shelf/bin/{folder_id}")
        )
        assert sorted((back.status_code, gone.status_code)) in ([200, 404], [204, 404])
        there = await ann("GET", "/shelf/entries", params={"folder": folder_id})
        assert there.status_code == (200 if back.status_code == 200 else 404)
    await satchel.housekeep()
    await check_shelf(satchel, ann)


async def test_moving_a_file_while_its_folder_is_deleted_and_purged_loses_no_count(
    satchel: Satchel, ann: Caller
) -> None:
    for number in range(6):
        folder_id = await made(ann, f"folder {number}")
        file = await uploaded(satchel, ann, f"{number}.txt", b"content", folder_id=folder_id)

        async def delete(folder_id: str = folder_id) -> None:
            await ann("DELETE", f"/shelf/folders/{folder_id}")
            await ann("DELETE", f"/shelf/bin/{folder_id}")

        answer, _ = await asyncio.gather(
            ann("PATCH", f"/shelf/files/{file.file_id}", json={"folder_id": "root"}), delete()
        )
        assert answer.status_code in (200, 404)
    await satchel.housekeep()
    files = await check_shelf(satchel, ann)
    assert len(files) == len(await names(ann))
