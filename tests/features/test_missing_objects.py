"""Objects that are gone though something needs them: which they are is found, and backups bring them back."""

import asyncio
from pathlib import Path

from satchel.data_backup import verify_all
from satchel.stores import backups
from satchel.stores.backups import Verified
from tests.application import Caller, Satchel
from tests.features.albums.photos_given import photo
from tests.features.albums.photos_given import sent as sent_photo
from tests.features.rooms.given import opened
from tests.features.rooms.given import sent as sent_to_room
from tests.features.scores.given import with_pages
from tests.features.shelf.given import replaced, uploaded

LARGE = bytes(range(256)) * 1000


def told(_files: int, _size_bytes: int) -> None:
    pass


async def verified(satchel: Satchel, folder: Path | None = None) -> Verified:
    place = None if folder is None else backups.open_place(str(folder), satchel.clock)
    return await verify_all(satchel.settings, satchel.clock, told, place)


async def everything(satchel: Satchel, ann: Caller) -> dict[str, str]:
    """One of each kind of object that something needs, by what is said of it."""
    keys = satchel.stores.objects
    found: dict[str, str] = {}

    async def note(name: str) -> None:
        listed = [info.key for info in (await keys.list()).objects if not info.key.startswith("uploads/")]
        (found[name],) = (key for key in listed if key not in found.values() and "/picture/" not in key)

    file = await uploaded(satchel, ann, "report.pdf", LARGE)
    await note("report.pdf (shelf, ")
    await replaced(satchel, ann, file, b"newer")
    found["an earlier content of "] = found.pop("report.pdf (shelf, ")
    await note("report.pdf (shelf, ")
    await sent_to_room(ann, await opened(ann), "notes.txt", b"hello")
    await note("rooms, room:")
    await sent_photo(ann, photo(), "beach.jpg")
    await note("beach.jpg (albums, ")
    score = await with_pages(ann, 1)
    await note("page 0.jpg (scores, ")
    made = await ann("POST", f"/scores/{score['score_id']}/snapshots", json={"name": "Concert"})
    assert made.status_code == 201, made.text
    await note("a snapshot (scores, ")
    return found


async def test_every_kind_of_missing_object_is_named_and_brought_back(
    satchel: Satchel, ann: Caller, tmp_path: Path
) -> None:
    needed = await everything(satchel, ann)
    before = await verified(satchel)
    assert (before.damages, before.missing) == ([], [])
    place = backups.open_place(str(tmp_path / "backups"), satchel.clock)
    await asyncio.to_thread(backups.backup, satchel.settings, place, satchel.clock, told)
    contents = {key: await content(satchel, key) for key in needed.values()}
    await satchel.stores.objects.delete(*needed.values())

    missing = {each.path: each.why for each in (await verified(satchel)).missing}
    assert missing.keys() == set(needed.values())
    for name, key in needed.items():
        assert name in missing[key]
    repaired = await verified(satchel, tmp_path / "backups")
    assert (repaired.missing, sorted(repaired.repaired)) == ([], sorted(needed.values()))
    assert {key: await content(satchel, key) for key in needed.values()} == contents
    assert (await verified(satchel)).missing == []


async def test_bytes_that_a_copy_shares_are_brought_back_with_it(satchel: Satchel, ann: Caller, tmp_path: Path) -> None:
    await uploaded(satchel, ann, "large.bin", LARGE)
    ((key, _),) = [(info.key, info.etag) for info in (await satchel.stores.objects.list("user/")).objects]
    objects = satchel.stores.objects
    await objects.copy(key, "user/aside")
    await objects.copy("user/aside", key)
    place = backups.open_place(str(tmp_path / "backups"), satchel.clock)
    await asyncio.to_thread(backups.backup, satchel.settings, place, satchel.clock, told)
    await objects.delete(key, "user/aside")
    assert (await verified(satchel, tmp_path / "backups")).repaired == [key]
    assert await content(satchel, key) == LARGE


async def test_what_is_in_no_backup_stays_missing_and_what_nobody_needs_is_not(
    satchel: Satchel, ann: Caller, tmp_path: Path
) -> None:
    place = backups.open_place(str(tmp_path / "backups"), satchel.clock)
    await asyncio.to_thread(backups.backup, satchel.settings, place, satchel.clock, told)
    file = await uploaded(satchel, ann, "a.txt", b"hello")
    (info,) = (await satchel.stores.objects.list("user/")).objects
    await satchel.stores.objects.delete(info.key)
    assert [each.path for each in (await verified(satchel, tmp_path / "backups")).missing] == [info.key]
    await ann("DELETE", f"/shelf/files/{file.file_id}")
    await ann("DELETE", f"/shelf/bin/{file.file_id}")
    assert (await verified(satchel)).missing == []


async def content(satchel: Satchel, key: str) -> bytes:
    async with satchel.stores.objects.read(key) as reading:
        return b"".join([chunk async for chunk in reading])
