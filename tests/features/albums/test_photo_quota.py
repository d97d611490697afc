"""How much photos take: counted exactly, shown, and bounded by a setting."""

from pathlib import Path
from typing import Any

from satchel.features.albums.count_records import PHOTO_USAGE
from satchel.features.albums.service.photo_quota import read_usage, stored_usage
from tests.application import Caller, Satchel, running_satchel
from tests.features.albums.given import ANN, Given, Meddling, days, on_both_stores
from tests.features.albums.photos_given import bundled, check_photos, photo, sent, upload


async def _usage(caller: Caller) -> dict[str, Any]:
    answer = await caller("GET", "/photos/usage")
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_a_full_library_takes_no_more_until_the_bin_is_empty(tmp_path: Path) -> None:
    size = len(photo())
    async with running_satchel(tmp_path, sign_up="open", photo_quota=2 * size) as satchel:
        ann = satchel.caller()
        await ann.sign_up("ann@example.org")
        assert await _usage(ann) == {"files": 0, "used_bytes": 0, "quota_bytes": 2 * size}
        first = await sent(ann, photo(mark="1"))
        # Of three in a bundle, one fits.
        fates = await bundled(ann, *((f"IMG_{mark}.JPG", photo(mark=mark)) for mark in "234"))
        assert [bool(fate.get("became")) for fate in fates] == [True, False, False]
        assert {fate["problem"]["type"].rpartition("#")[2] for fate in fates[1:]} == {"photo-quota-reached"}

        refused = await upload(ann, photo(mark="5"), "IMG_5.JPG")
        assert refused.status_code == 507
        assert refused.json()["quota_bytes"] == 2 * size
        # What is stored already takes no more.
        (again,) = await bundled(ann, ("IMG_1.JPG", photo(mark="1")))
        assert again["became"] == first

        await ann("DELETE", f"/photos/{ann.user_id}/{first}")
        assert (await _usage(ann))["used_bytes"] == 2 * size
        assert (await upload(ann, photo(mark="5"), "IMG_5.JPG")).status_code == 507
        await ann("DELETE", "/photos/bin")
        assert await _usage(ann) == {"files": 1, "used_bytes": size, "quota_bytes": 2 * size}
        await sent(ann, photo(mark="5"))
        await check_photos(satchel, ann)


async def test_a_contributor_fills_the_library_of_the_owner(tmp_path: Path) -> None:
    async with running_satchel(tmp_path, sign_up="open", photo_quota=len(photo())) as satchel:
        ann, bob = satchel.caller(), satchel.caller()
        await ann.sign_up("ann@example.org")
        await bob.sign_up("bob@example.org")
        body = {"name": "Sea", "start": "2024-01-01", "end": "2024-03-01"}
        album_id = (await ann("POST", "/albums", json=body)).json()["album"]["album_id"]
        await ann("PUT", f"/albums/{album_id}/shares/bob@example.org", json={"role": "contributor"})
        await sent(bob, photo(mark="1"), album=album_id)
        assert ((await _usage(ann))["files"], (await _usage(bob))["files"]) == (1, 0)
        refused = await upload(bob, photo(mark="2"), "IMG_2.JPG", album=album_id)
        assert (refused.status_code, refused.json()["type"].rpartition("#")[2]) == (507, "photo-quota-reached")
        await sent(bob, photo(mark="2"))


async def test_a_check_finds_a_library_that_was_never_counted(satchel: Satchel, ann: Caller) -> None:
    await sent(ann, photo())
    key = PHOTO_USAGE.key(owner=ann.user_id)
    await satchel.stores.tables.delete(PHOTO_USAGE.table, key)
    found = (await ann("POST", "/albums/check", json={"repair": True})).json()
    assert [(drift["kind"], drift["counted"]) for drift in found["drifts"]] == [("bytes", len(photo()))]
    assert await _usage(ann) == {"files": 1, "used_bytes": len(photo()), "quota_bytes": None}


async def test_a_library_from_before_is_counted_once_by_itself(tmp_path: Path) -> None:
    size = len(photo())
    async with running_satchel(tmp_path, sign_up="open", photo_quota=2 * size) as satchel:
        ann, tables, key = satchel.caller(), satchel.stores.tables, PHOTO_USAGE.key
        await ann.sign_up("ann@example.org")
        first, _ = await sent(ann, photo(mark="1")), await sent(ann, photo(mark="2"))
        await tables.delete(PHOTO_USAGE.table, key(owner=ann.user_id))
        # It is full, although nothing has said so yet.
        assert (await upload(ann, photo(mark="3"), "IMG_3.JPG")).status_code == 507
        # What goes before there is a sum does not leave less than nothing.
        await tables.delete(PHOTO_USAGE.table, key(owner=ann.user_id))
        await ann("DELETE", f"/photos/{ann.user_id}/{first}")
        await ann("DELETE", "/photos/bin")
        stored = await PHOTO_USAGE.get(tables, owner=ann.user_id)
        assert stored is not None
        assert (stored.files, stored.used_bytes, stored.complete) == (1, size, True)
        assert await _usage(ann) == {"files": 1, "used_bytes": size, "quota_bytes": 2 * size}
        await sent(ann, photo(mark="3"))
        await check_photos(satchel, ann)


@on_both_stores
async def test_what_comes_while_a_library_is_counted_is_not_forgotten(library: Given) -> None:
    await library.add(*days("2025-07", range(1, 9)))
    tables, key = library.albums.tables, PHOTO_USAGE.key(owner=ANN.owner)
    alone = Meddling(0, library.check)
    await tables.delete(PHOTO_USAGE.table, key)
    await read_usage(alone.albums(library.albums), ANN.owner)
    last = alone.calls
    for hour, step in enumerate((1, 2, 3, last // 2, last - 1, last)):
        await tables.delete(PHOTO_USAGE.table, key)

        async def meddle(hour: int = hour) -> None:
            await library.add(f"2025-07-20T{hour:02}:00:00.000")

        crossing = Meddling(step, meddle)
        # What comes beside it neither makes it wrong nor lets it begin anew.
        await read_usage(crossing.albums(library.albums), ANN.owner)
        assert crossing.calls >= step
        stored = await stored_usage(library.albums, ANN.owner)
        assert (stored.files, stored.complete) == (len(library.medias), True)
        await library.check()
