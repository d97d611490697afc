"""Who hears at once of what happens to photos and albums: the owner's devices, and those who see the album then."""

from tests.application import Caller, Satchel
from tests.features.albums.photos_given import bundled, photo, sent
from tests.features.albums.test_photo_access import given_album
from tests.features.hearing import Hearing, heard_by

BOB = "bob@example.org"


async def _photos(hearing: Hearing) -> set[str]:
    return set((await hearing.until("album.photos"))["album_ids"])


async def test_whoever_sees_an_album_hears_of_its_photos_and_of_no_other(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    album_id = await given_album(ann, BOB)
    ephemeral = satchel.stores.ephemeral
    async with heard_by(ephemeral, ann.user_id) as at_ann, heard_by(ephemeral, bob.user_id) as at_bob:
        await sent(ann, photo("2024:03:01 10:00:00"))
        (fate,) = await bundled(ann, ("a.jpg", photo("2024:01:31 12:00:00")))
        assert len(await _photos(at_ann)) == 1
        assert await _photos(at_ann) == {album_id}
        # Of the first one, which is in no album that Bob sees, he hears nothing.
        assert await at_bob.next() == {"type": "album.photos", "album_ids": [album_id]}
        path = f"/photos/{ann.user_id}/{fate['became']}"
        await ann("PATCH", path, json={"local_time": "2024-03-02"})
        assert album_id in await _photos(at_ann)
        assert await at_bob.next() == {"type": "album.photos", "album_ids": [album_id]}
        await ann("PATCH", path, json={"favourite": True})
        await _photos(at_ann)
        await ann("PUT", f"/albums/{album_id}/pins/{fate['became']}")
        assert album_id in await _photos(at_ann)
        assert await at_bob.next() == {"type": "album.photos", "album_ids": [album_id]}
        await ann("DELETE", path)
        assert await _photos(at_ann) == {album_id, "bin"}
        assert await at_bob.next() == {"type": "album.photos", "album_ids": [album_id]}
        await ann("POST", "/photos/bin/restore", json={"ids": [fate["became"]]})
        assert await _photos(at_ann) == {album_id, "bin"}
        assert (await at_bob.next())["type"] == "album.photos"


async def test_changes_of_an_album_are_heard_by_those_who_had_it_and_by_those_who_have_it(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    ephemeral = satchel.stores.ephemeral
    async with heard_by(ephemeral, ann.user_id) as at_ann, heard_by(ephemeral, bob.user_id) as at_bob:
        album_id = await given_album(ann, BOB)
        changed = {"type": "album.changed", "album_id": album_id}
        assert await at_ann.next() == changed
        assert await at_bob.next() == changed
        await sent(ann, photo("2024:01:31 12:00:00"))
        assert await _photos(at_bob) == {album_id}
        await ann("PATCH", f"/albums/{album_id}", json={"end": "2024-02-03"})
        assert await at_bob.next() == changed
        moved = await ann("PATCH", f"/albums/{album_id}?quarters=true", json={"start": "2024-02-01"})
        assert moved.json()["act"]["moved"] == 1
        assert await at_bob.next() == changed
        assert await _photos(at_bob) == {album_id}
        await ann("DELETE", f"/albums/{album_id}/shares/{BOB}")
        assert await at_bob.next() == changed
        # Nothing more of it is heard from now on.
        await ann("PATCH", f"/albums/{album_id}", json={"name": "Private"})
        await ann("PUT", f"/albums/{album_id}/shares/{BOB}", json={"role": "visitor"})
        await ann("DELETE", f"/albums/{album_id}")
        assert [await at_bob.next() for _ in range(2)] == [changed, changed]
        assert (await bob("GET", f"/albums/{album_id}")).status_code == 404
