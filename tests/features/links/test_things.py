"""What links lead to: shelves and rooms as links see them, and what becomes of a link when its thing goes and comes."""

import hashlib
from datetime import timedelta

import pytest

from satchel.features.rooms.adapters import LinkedRooms
from satchel.features.shelf.adapters import PAGE, AskingFolders, LinkedFolders, LinkedShelfFiles
from satchel.features.shelf.model import QuotaReached
from satchel.kernel.errors import Conflict, Invalid, NotFound
from satchel.kernel.handed_file import HandedFile
from satchel.kernel.linked import LinkedThing
from satchel.kernel.names import FileName
from tests.application import Caller, Satchel, running_satchel
from tests.features.links.given import CONTENT, given, given_file, given_folder, read, slug
from tests.features.rooms.given import opened, rooms_of
from tests.features.shelf.given import check_shelf, made, names, shelf_of, staged, uploaded


async def state(caller: Caller, link: dict[str, object]) -> tuple[object, object]:
    shown = await read(caller, link)
    return shown["state"], shown["thing"]["is_there"]


async def paths(folders: LinkedFolders, owner_id: str, folder_id: str) -> list[str]:
    """All files below a folder, page by page, none of which is longer than it may be. Each folder comes once, first."""
    found: list[str] = []
    begun: list[str] = []
    cursor: str | None = None
    while True:
        page = await folders.files(owner_id, folder_id, cursor)
        assert len(page.files) < 2 * PAGE
        found += [file.path for file in page.files]
        begun += [folder.path for folder in page.folders]
        assert {file.folder for file in page.files} <= {*begun}
        if (cursor := page.cursor) is None:
            assert begun == sorted({*begun}, key=lambda path: path.casefold().split("/"))
            return found


async def test_a_link_to_a_file_is_gone_with_the_file_and_comes_back_with_it(satchel: Satchel, ann: Caller) -> None:
    link = await given_file(satchel, ann)
    file_id = link["thing"]["id"]
    await ann("DELETE", f"/shelf/files/{file_id}")
    assert await state(ann, link) == ("gone", False)
    assert (await read(ann, link))["thing"]["name"] == "file.txt"
    await ann("POST", f"/shelf/bin/{file_id}/restore")
    assert await state(ann, link) == ("active", True)
    await ann("DELETE", f"/shelf/files/{file_id}")
    await ann("DELETE", "/shelf/bin")
    assert await state(ann, link) == ("gone", False)


async def test_a_link_is_gone_when_a_folder_above_its_thing_is_deleted(satchel: Satchel, ann: Caller) -> None:
    above = await made(ann, "Above")
    folder_id = await made(ann, "Folder", above)
    file = await uploaded(satchel, ann, "file.txt", b"x", folder_id=folder_id)
    links = [
        await given(ann, "file", file.file_id),
        await given(ann, "folder", folder_id),
        await given(ann, "request", folder_id),
    ]
    await ann("DELETE", f"/shelf/folders/{above}")
    assert {await state(ann, link) for link in links} == {("gone", False)}
    await ann("POST", f"/shelf/bin/{above}/restore")
    assert {await state(ann, link) for link in links} == {("active", True)}


async def test_a_link_follows_its_thing_to_another_name_and_place(satchel: Satchel, ann: Caller) -> None:
    link = await given_file(satchel, ann)
    folder_id = await made(ann, "Elsewhere")
    await ann("PATCH", f"/shelf/files/{link['thing']['id']}", json={"name": "new.txt", "folder_id": folder_id})
    assert (await read(ann, link))["thing"]["name"] == "new.txt"


async def test_a_file_whose_time_is_up_is_gone_for_its_links(satchel: Satchel, ann: Caller) -> None:
    link = await given_file(satchel, ann)
    end = {"expires_at": "2030-03-17T18:00:00Z"}
    assert (await ann("PATCH", f"/shelf/files/{link['thing']['id']}", json=end)).status_code == 200
    satchel.clock.advance(timedelta(days=1))
    await ann.sign_in("ann@example.org")
    assert await state(ann, link) == ("gone", False)


async def test_a_link_to_a_room_leads_to_its_door_until_the_room_ends(satchel: Satchel, ann: Caller) -> None:
    room = await opened(ann, name="Choir")
    rooms = LinkedRooms(rooms_of(satchel))
    link = await given(ann, "room", room["room_id"])
    thing = await rooms.describe(ann.user_id, room["room_id"])
    assert thing is not None
    assert thing.goto is not None
    assert thing.name == "Choir"
    assert thing.goto.startswith(f"/join/{room['code']}#")
    assert (await rooms.files(ann.user_id, room["room_id"], None)).files == []
    assert await rooms.file(ann.user_id, room["room_id"], "x") is None
    assert (await ann("DELETE", f"/rooms/{room['room_id']}")).is_success
    assert await state(ann, link) == ("gone", False)
    assert await rooms.describe(ann.user_id, room["room_id"]) is None


async def test_a_room_is_a_thing_of_its_owner_alone(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    room = await opened(ann)
    await bob("POST", "/rooms/join", json={"code": room["code"]})
    rooms = LinkedRooms(rooms_of(satchel))
    assert await rooms.describe(bob.user_id, room["room_id"]) is None
    assert await rooms.names(bob.user_id, [room["room_id"], "x", "#"]) == {}
    assert await rooms.names(ann.user_id, [room["room_id"], "x", "#"]) == {room["room_id"]: room["code"]}


async def test_the_letters_of_a_room_are_not_told_by_its_name(satchel: Satchel, ann: Caller) -> None:
    room = await opened(ann)
    assert room["name"] == room["code"]
    thing = await LinkedRooms(rooms_of(satchel)).describe(ann.user_id, room["room_id"])
    assert thing is not None
    assert thing.name == ""


async def test_nothing_is_there_for_visitors_while_the_owner_is_suspended(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    visitor = satchel.caller("192.0.2.1")
    link = await given_file(satchel, bob)
    path = f"/open/{link['token']}"
    assert (await visitor("GET", path)).status_code == 200
    await ann("PATCH", f"/people/{bob.user_id}", json={"suspended": True})
    assert slug(await visitor("GET", path)) == (410, "link-target-gone")
    await ann("PATCH", f"/people/{bob.user_id}", json={"suspended": False})
    assert (await visitor("GET", path)).status_code == 200


async def test_a_file_is_described_and_nothing_else_is_in_it(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    files = LinkedShelfFiles(shelf_of(satchel))
    file = await uploaded(satchel, ann, "file.txt", CONTENT)
    other = await uploaded(satchel, ann, "other.txt", b"other")
    described = await files.describe(ann.user_id, file.file_id, counted=True)
    assert described == LinkedThing(
        name="file.txt", content_type="text/plain", size_bytes=len(CONTENT), files=1, file_id=file.file_id
    )
    found = await files.file(ann.user_id, file.file_id, file.file_id)
    assert found is not None
    assert (found.path, found.sha256) == ("file.txt", hashlib.sha256(CONTENT).hexdigest())
    assert (await files.files(ann.user_id, file.file_id, None)).files == [found]
    assert await files.file(ann.user_id, file.file_id, other.file_id) is None
    assert await files.describe(bob.user_id, file.file_id) is None
    assert await files.names(ann.user_id, [file.file_id, "unknown"]) == {file.file_id: "file.txt"}
    assert await files.names(bob.user_id, [file.file_id]) == {}


@pytest.mark.slow
async def test_the_files_of_a_folder_come_with_their_folders_whatever_their_number(
    satchel: Satchel, ann: Caller
) -> None:
    top = await made(ann, "Top")
    await uploaded(satchel, ann, "outside.txt", b"outside")
    wanted: list[str] = []
    for folder, number in (("a#1", 3), ("B", 0), ("c%", PAGE + 5)):
        folder_id = await made(ann, folder, top)
        deep = await made(ann, "deep", folder_id)
        await uploaded(satchel, ann, "z.txt", b"z", folder_id=deep)
        wanted.append(f"{folder}/deep/z.txt")
        for index in range(number):
            await uploaded(satchel, ann, f"{index:03}.txt", b"x", folder_id=folder_id)
            wanted.append(f"{folder}/{index:03}.txt")
    for index in range(2):
        await uploaded(satchel, ann, f"{index}.txt", b"x", folder_id=top)
        wanted.append(f"{index}.txt")
    folders = LinkedFolders(shelf_of(satchel))
    assert await paths(folders, ann.user_id, top) == wanted
    described = await folders.describe(ann.user_id, top, counted=True)
    assert described == LinkedThing(name="Top", files=len(wanted), size_bytes=len(wanted))
    assert await folders.describe(ann.user_id, top) == LinkedThing(name="Top")


async def test_a_tree_of_empty_folders_is_walked_through_in_several_steps(satchel: Satchel, ann: Caller) -> None:
    top = await made(ann, "Top")
    for number in range(120):
        await made(ann, f"{number}", top)
    await uploaded(satchel, ann, "last.txt", b"x", folder_id=top)
    folders = LinkedFolders(shelf_of(satchel))
    first = await folders.files(ann.user_id, top, None)
    assert (first.files, first.cursor is None) == ([], False)
    assert await paths(folders, ann.user_id, top) == ["last.txt"]


async def test_no_cursor_leads_out_of_the_folder(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    shared, hidden = await made(ann, "Shared"), await made(ann, "Hidden")
    secret = await uploaded(satchel, ann, "secret.txt", b"secret", folder_id=hidden)
    await uploaded(satchel, ann, "top.txt", b"top")
    folders = LinkedFolders(shelf_of(satchel))
    for cursor in (f'["{hidden}",""]', '["root",""]', f'["{shared}/../{hidden}",""]', '["",""]', f'["{"x" * 99}"]'):
        with pytest.raises(Conflict):
            await folders.files(ann.user_id, shared, cursor)
    assert (await folders.files(ann.user_id, "unknown", None)).files == []
    for cursor in ("", "x", "[]", "[1]", '{"folder_id":"root"}', f'["{shared}","9"]', f'["{shared}","{"x" * 2000}"]'):
        with pytest.raises(Invalid):
            await folders.files(ann.user_id, shared, cursor)
    assert await folders.file(ann.user_id, shared, secret.file_id) is None
    assert await folders.file(ann.user_id, hidden, secret.file_id) is not None
    assert await folders.file(bob.user_id, hidden, secret.file_id) is None


async def test_what_is_in_the_bin_is_not_among_the_files_of_a_folder(satchel: Satchel, ann: Caller) -> None:
    link = await given_folder(satchel, ann, "a.txt", "b.txt")
    folders, folder_id = LinkedFolders(shelf_of(satchel)), link["thing"]["id"]
    inner = await made(ann, "Inner", folder_id)
    below = await uploaded(satchel, ann, "c.txt", b"c", folder_id=inner)
    gone = (await folders.files(ann.user_id, folder_id, None)).files[1]
    assert gone.path == "a.txt"
    await ann("DELETE", f"/shelf/files/{gone.file_id}")
    await ann("DELETE", f"/shelf/folders/{inner}")
    assert await paths(folders, ann.user_id, folder_id) == ["b.txt"]
    assert await folders.file(ann.user_id, folder_id, gone.file_id) is None
    assert await folders.file(ann.user_id, folder_id, below.file_id) is None


async def test_whoever_passes_on_what_they_were_given_has_opened_it(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    file = await uploaded(satchel, ann, "song.txt", b"la la")
    sent = {"to": {"kind": "email", "email": "bob@example.org"}, "files": [file.file_id]}
    transfer = (await ann("POST", "/transfers", json=sent)).json()
    (received,) = (await bob("GET", "/shelf/search", params={"q": "song"})).json()["entries"]
    assert (await ann("GET", f"/transfers/{transfer['transfer_id']}")).json()["state"] == "shelved"
    link = await given(bob, "file", received["id"])
    assert (await ann("GET", f"/transfers/{transfer['transfer_id']}")).json()["state"] == "opened"
    answer = await satchel.caller("192.0.2.1")("GET", f"/open/{link['token']}/content")
    assert answer.content == b"la la"


async def test_a_folder_that_files_are_asked_into_shows_nothing(satchel: Satchel, ann: Caller) -> None:
    folder_id = await made(ann, "Inbox")
    file = await uploaded(satchel, ann, "theirs.txt", b"theirs", folder_id=folder_id)
    asking = AskingFolders(shelf_of(satchel))
    assert await asking.describe(ann.user_id, folder_id, counted=True) == LinkedThing(name="Inbox")
    assert (await asking.files(ann.user_id, folder_id, None)).files == []
    assert await asking.file(ann.user_id, folder_id, file.file_id) is None


async def test_what_comes_by_a_request_is_kept_once_in_a_folder_of_its_own(satchel: Satchel, ann: Caller) -> None:
    folder_id = await made(ann, "Inbox")
    upload = await staged(satchel, ann, "../photo.jpg", CONTENT, "image/jpeg")
    asking = AskingFolders(shelf_of(satchel))
    await asking.admit(ann.user_id, folder_id, len(CONTENT))
    file = HandedFile(
        file_id=upload.file_id,
        name=upload.name,
        folder="../Gus",
        key=upload.key,
        size_bytes=upload.size_bytes,
        sha256=upload.sha256,
        content_type=upload.content_type,
    )
    for _ in range(2):
        assert await asking.keep(ann.user_id, folder_id, file, {}) == upload.file_id
    (kept,) = await check_shelf(satchel, ann)
    assert kept.name == FileName("photo.jpg")
    assert await names(ann, folder_id) == ["Gus"]
    assert await names(ann, kept.folder_id) == ["photo.jpg"]


async def test_a_request_is_refused_without_its_folder_or_room_on_the_shelf(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    async with running_satchel(tmp_path_factory.mktemp("small"), sign_up="open", quota=10) as satchel:
        ann = satchel.caller()
        await ann.sign_up("ann@example.org")
        folder_id = await made(ann, "Inbox")
        asking = AskingFolders(shelf_of(satchel))
        await asking.admit(ann.user_id, folder_id, 10)
        with pytest.raises(QuotaReached):
            await asking.admit(ann.user_id, folder_id, 11)
        for unknown in ("unknown", "root", "", "#"):
            with pytest.raises(NotFound):
                await asking.admit(ann.user_id, unknown, 1)
        await ann("DELETE", f"/shelf/folders/{folder_id}")
        with pytest.raises(NotFound):
            await asking.admit(ann.user_id, folder_id, 1)
