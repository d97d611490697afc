"""Files on their way to a shelf over the upload protocol, from the first request to the download."""

import asyncio
from base64 import b64encode
from pathlib import Path

import httpx
import pytest

from satchel.edge.http.callers import Guest, Member
from satchel.edge.uploads.destinations import Arrived
from satchel.features.shelf.routes import ShelfDestination
from satchel.kernel.errors import Unauthenticated
from tests.application import Caller, Satchel, running_satchel
from tests.features.shelf.given import check_shelf, made, names, shelf_of, staged, stored_keys

TUS = {"tus-resumable": "1.0.0"}
BYTES = {"content-type": "application/offset+octet-stream"}


async def begin(caller: Caller, name: str, size_bytes: int) -> httpx.Response:
    pairs = {"destination": "shelf", "filename": name, "filetype": "text/plain"}
    metadata = ",".join(f"{key} {b64encode(value.encode()).decode()}" for key, value in pairs.items())
    headers = {**TUS, "upload-length": str(size_bytes), "upload-metadata": metadata}
    return await caller("POST", "/uploads", headers=headers)


async def send(caller: Caller, path: str, offset: int, content: bytes) -> httpx.Response:
    return await caller("PATCH", path, headers={**TUS, **BYTES, "upload-offset": str(offset)}, content=content)


@pytest.mark.parametrize("name", ["notes.txt", 'the "best" 🎉\u202e.txt', "a/b\\c.txt", "n" * 250 + ".txt"])
async def test_an_upload_becomes_a_file_that_can_be_downloaded(satchel: Satchel, ann: Caller, name: str) -> None:
    begun = await begin(ann, name, 11)
    path = begun.headers["location"].removeprefix("/api/v1")
    assert (await send(ann, path, 0, b"hello ")).status_code == 204
    assert (await send(ann, path, 6, b"world")).status_code == 204
    became = (await ann("GET", path)).json()["became"]
    (file,) = (await ann("GET", "/shelf/entries")).json()["entries"]
    assert file["id"] == became
    assert (await ann("GET", f"/shelf/files/{became}/content")).content == b"hello world"
    await check_shelf(satchel, ann)
    assert len(await stored_keys(satchel, "")) == 1


async def test_an_empty_file_needs_no_bytes(satchel: Satchel, ann: Caller) -> None:
    path = (await begin(ann, "empty.txt", 0)).headers["location"].removeprefix("/api/v1")
    became = (await ann("GET", path)).json()["became"]
    assert (await ann("GET", f"/shelf/files/{became}/content")).content == b""
    await check_shelf(satchel, ann)


async def test_a_guest_has_no_shelf_to_upload_to(satchel: Satchel) -> None:
    guest = satchel.caller()
    guest.tokens = {"access_token": (await guest("POST", "/guests", json={"name": "Gus"})).json()["token"]}
    refused = await begin(guest, "a.txt", 5)
    assert (refused.status_code, refused.json()["type"]) == (401, "/problems#unauthenticated")


async def test_what_arrives_for_a_guest_is_not_taken_over(satchel: Satchel, ann: Caller) -> None:
    upload = await staged(satchel, ann, "a.txt", b"hello")
    destination = ShelfDestination(shelf_of(satchel))

    def arrived(owner: Member | Guest) -> Arrived:
        return Arrived(
            owner=owner,
            name=upload.name,
            content_type=upload.content_type,
            size_bytes=upload.size_bytes,
            details={},
            upload_id=upload.file_id,
            key=upload.key,
            sha256=upload.sha256,
        )

    with pytest.raises(Unauthenticated):
        await destination.receive(arrived(Guest("guest-1", "Gus")))
    member = Member(ann.user_id, "ann@example.org", ann.session_id)
    assert await destination.receive(arrived(member)) == await destination.receive(arrived(member)) == upload.file_id


async def sent(caller: Caller, content: bytes, **details: str) -> httpx.Response:
    """A whole upload in one request."""
    pairs = {"destination": "shelf", **details}
    metadata = ",".join(f"{key} {b64encode(value.encode()).decode()}" for key, value in pairs.items())
    headers = {**TUS, **BYTES, "upload-length": str(len(content)), "upload-metadata": metadata}
    return await caller("POST", "/uploads", headers=headers, content=content)


async def test_folders_come_along_with_their_structure(satchel: Satchel, ann: Caller) -> None:
    base = await made(ann, "base")
    for path in ("trip/day 1/a.jpg", "trip/day 1/b.jpg", "trip/day 2/a.jpg"):
        answer = await sent(ann, path.encode(), folder=base, relativePath=path, filename=path.rpartition("/")[2])
        assert answer.status_code == 201, answer.text
    (trip,) = (await ann("GET", "/shelf/entries", params={"folder": base})).json()["entries"]
    days = (await ann("GET", "/shelf/entries", params={"folder": trip["id"]})).json()["entries"]
    assert (trip["name"], [day["name"] for day in days]) == ("trip", ["day 1", "day 2"])
    assert [await names(ann, day["id"]) for day in days] == [["a.jpg", "b.jpg"], ["a.jpg"]]
    await check_shelf(satchel, ann)


async def test_many_files_of_one_new_folder_at_once_make_it_once(satchel: Satchel, ann: Caller) -> None:
    paths = [f"a/b/c/{number}.txt" for number in range(12)]
    answers = await asyncio.gather(*(sent(ann, b"x", relativePath=path) for path in paths))
    assert {answer.status_code for answer in answers} == {201}
    assert len((await ann("GET", "/shelf/search", params={"q": "txt"})).json()["entries"]) == 12
    assert await names(ann) == ["a"]
    await check_shelf(satchel, ann)


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("../../etc/passwd", ["etc", "passwd"]),
        ("/etc/passwd", ["etc", "passwd"]),
        ("C:\\Windows\\win.ini", ["C:\\Windows\\win.ini"]),
        ("a//./../b.txt", ["a", "b.txt"]),
        ("a/\x00/b.txt", ["a", "b.txt"]),
        ("con/.git/nul.", ["con", ".git", "nul."]),
        ("..", ["file"]),
        ("a/" * 3 + "..", ["a", "a", "a"]),
        ("é/e\u0301/x", ["é", "e\u0301", "x"]),
    ],
)
async def test_no_path_leads_out_of_the_folder(satchel: Satchel, ann: Caller, path: str, place: list[str]) -> None:
    folder_id = base = await made(ann, "base")
    assert (await sent(ann, b"x", folder=base, relativePath=path)).status_code == 201
    for name in place:
        (entry,) = (await ann("GET", "/shelf/entries", params={"folder": folder_id})).json()["entries"]
        assert entry["name"] == name
        folder_id = entry["id"]
    assert await names(ann) == ["base"]
    await check_shelf(satchel, ann)


async def test_a_path_that_is_too_deep_is_refused_before_a_byte_is_taken(satchel: Satchel, ann: Caller) -> None:
    refused = await sent(ann, b"x", relativePath="a/" * 300 + "b.txt")
    assert (refused.status_code, refused.json()["type"]) == (422, "/problems#too-deep")
    assert await names(ann) == []
    assert await stored_keys(satchel, "") == []


async def test_a_file_that_has_the_name_of_a_folder_on_the_way_stays(satchel: Satchel, ann: Caller) -> None:
    await sent(ann, b"x", filename="a")
    for name in ("b", "c"):
        assert (await sent(ann, b"x", relativePath=f"a/{name}")).status_code == 201
    assert await names(ann) == ["a (1)", "a"]
    await check_shelf(satchel, ann)


@pytest.mark.parametrize(
    "details", [{"folder": "nowhere"}, {"expires": "tomorrow"}, {"expires": "2030-01-01T00:00:00Z"}]
)
async def test_an_upload_that_cannot_be_placed_is_refused_at_once(ann: Caller, details: dict[str, str]) -> None:
    assert (await sent(ann, b"x", **details)).status_code in (404, 422)
    assert await names(ann) == []


async def test_an_upload_can_say_when_the_file_goes(satchel: Satchel, ann: Caller) -> None:
    await sent(ann, b"x", filename="a.txt", expires="2030-03-17T17:47:40Z")
    assert (await ann("GET", "/shelf/entries")).json()["entries"][0]["expires_at"] == "2030-03-17T17:47:40.000Z"
    satchel.clock.advance(60)
    await satchel.housekeep()
    assert await check_shelf(satchel, ann) == []


async def test_a_folder_that_is_deleted_meanwhile_sends_the_file_to_the_top(satchel: Satchel, ann: Caller) -> None:
    folder_id = await made(ann, "folder")
    pairs = {"destination": "shelf", "filename": "a.txt", "folder": folder_id, "relativePath": "x/a.txt"}
    metadata = ",".join(f"{key} {b64encode(value.encode()).decode()}" for key, value in pairs.items())
    begun = await ann("POST", "/uploads", headers={**TUS, "upload-length": "1", "upload-metadata": metadata})
    await ann("DELETE", f"/shelf/folders/{folder_id}")
    sent_rest = await send(ann, begun.headers["location"].removeprefix("/api/v1"), 0, b"x")
    assert sent_rest.status_code == 204
    assert await names(ann) == ["x"]
    await check_shelf(satchel, ann)


async def test_an_upload_that_does_not_fit_is_refused_at_its_announcement(tmp_path: Path) -> None:
    async with running_satchel(tmp_path, sign_up="open", quota=10) as small:
        owner = small.caller()
        await owner.sign_up("owner@example.org")
        refused = await begin(owner, "a.txt", 11)
        assert (refused.status_code, refused.json()["type"]) == (507, "/problems#quota-reached")
        assert refused.json()["quota_bytes"] == 10
        assert (await begin(owner, "a.txt", 10)).status_code == 201


async def test_time_and_executable_bit_go_with_a_file_wherever_it_goes(ann: Caller, bob: Caller) -> None:
    time = "2019-06-01T10:00:00.123456789Z"
    await sent(ann, b"x", filename="run.sh", modified=time, executable="true")
    (file,) = (await ann("GET", "/shelf/entries")).json()["entries"]
    assert (file["modified_at"], file["executable"], file["received"]) == (time, True, False)
    to = {"kind": "email", "email": "bob@example.org"}
    transfer = (await ann("POST", "/transfers", json={"to": to, "files": [file["id"]]})).json()
    (handed,) = transfer["files"]
    assert (handed["modified_at"], handed["executable"]) == (time, True)
    (hit,) = (await bob("GET", "/shelf/search", params={"q": "run.sh"})).json()["entries"]
    assert (hit["modified_at"], hit["executable"], hit["received"]) == (time, True, True)
    room = (await ann("POST", "/rooms", json={"name": "r"})).json()
    shared = await ann("POST", f"/rooms/{room['room_id']}/files", json={"shelf": [file["id"]]})
    assert shared.is_success, shared.text
    (there,) = (await ann("GET", f"/rooms/{room['room_id']}/files")).json()["files"]
    assert (there["modified_at"], there["executable"]) == (time, True)


@pytest.mark.parametrize("modified", ["yesterday", "2019-06-01", "2019-13-01T10:00:00Z"])
async def test_a_time_that_is_none_is_refused(ann: Caller, modified: str) -> None:
    assert (await sent(ann, b"x", filename="a", modified=modified)).status_code == 422
