"""What people make of files that others have brought into a room is counted for whoever brought them, and once."""

from tests.application import Caller, Satchel
from tests.features.rooms.given import content, guest, joined, opened, sent


async def counted(owner: Caller, room: dict[str, str]) -> dict[str, int]:
    answer = await owner("GET", f"/stats/thing:room:{room['room_id']}/summary")
    assert answer.status_code == 200, answer.text
    total = answer.json()["total"]
    return {name: total[name] for name in ("view", "download", "people")}


async def test_a_download_counts_for_who_brought_the_file_when_all_of_it_has_gone(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    room = await opened(ann)
    file_id = await sent(ann, room, "a.txt", b"0123456789")
    gus = await guest(satchel)
    for person in (gus, bob):
        await joined(person, room)
    path = f"/rooms/{room['room_id']}/files/{file_id}/content"
    assert (await gus("HEAD", path)).is_success
    # Neither the first half nor the last byte, however often, is the whole file.
    for part in ("bytes=0-4", "bytes=-1", "bytes=-1", "bytes=0-4"):
        assert (await gus("GET", path, headers={"range": part})).status_code == 206
    assert await counted(ann, room) == {"view": 0, "download": 0, "people": 0}
    assert (await gus("GET", path, headers={"range": "bytes=5-"})).status_code == 206
    assert (await content(bob, room, file_id)).is_success
    assert (await content(ann, room, file_id)).is_success
    assert await counted(ann, room) == {"view": 0, "download": 2, "people": 2}
    # Bob has neither opened the room nor brought anything that was used.
    assert (await bob("GET", f"/stats/thing:room:{room['room_id']}/summary")).status_code == 404


async def test_a_look_counts_once_for_each_person_and_file(ann: Caller, bob: Caller) -> None:
    room = await opened(ann)
    file_ids = [await sent(ann, room, f"{number}.txt", b"words") for number in range(2)]
    await joined(bob, room)
    for person in (ann, bob, bob):
        for file_id in file_ids:
            path = f"/rooms/{room['room_id']}/files/{file_id}/preview"
            assert (await person("HEAD", path)).is_success
            assert (await person("GET", path)).is_success
    assert await counted(ann, room) == {"view": 2, "download": 0, "people": 1}


async def test_an_archive_is_one_download_for_each_who_brought_any_of_it(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    room = await opened(ann)
    gus = await guest(satchel)
    for person in (gus, bob):
        await joined(person, room)
    for number in range(2):
        await sent(ann, room, f"{number}.txt", b"of Ann")
    await sent(bob, room, "b.txt", b"of Bob")
    assert (await gus("GET", f"/rooms/{room['room_id']}/archive")).is_success
    assert await counted(ann, room) == {"view": 0, "download": 1, "people": 1}
    assert await counted(bob, room) == {"view": 0, "download": 1, "people": 1}


async def test_what_is_handed_over_in_a_room_is_counted_by_its_transfer_alone(ann: Caller, bob: Caller) -> None:
    room = await opened(ann)
    await joined(bob, room)
    file_id = await sent(ann, room, "a.txt", b"for all")
    body = {"to": {"kind": "room", "room_id": room["room_id"]}, "files": [file_id]}
    assert (await ann("POST", "/transfers", json=body)).status_code == 201
    assert (await content(bob, room, file_id)).is_success
    assert (await bob("GET", f"/rooms/{room['room_id']}/files/{file_id}/preview")).is_success
    assert await counted(ann, room) == {"view": 0, "download": 0, "people": 0}
