"""Files on their way to a shelf over the upload protocol, from the first request to the download."""

from base64 import b64encode

import httpx
import pytest

from satchel.edge.callers import Guest, Member
from satchel.edge.uploads.destinations import Arrived
from satchel.features.shelf.routes import ShelfDestination
from satchel.kernel.errors import Unauthenticated
from tests.application import Caller, Satchel
from tests.features.shelf.given import check_shelf, shelf_of, staged, stored_keys

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
    (file,) = (await ann("GET", "/shelf/files")).json()["files"]
    assert file["file_id"] == became
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
