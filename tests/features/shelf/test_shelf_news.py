"""What open pages hear of a shelf: each folder that something came into, left, or was changed in."""

from datetime import timedelta

from satchel.features.shelf.model import ROOT
from satchel.features.shelf.service.purge import sweep_due
from satchel.kernel.clock import iso
from tests.application import Caller, Satchel
from tests.features.hearing import Hearing, heard_by
from tests.features.shelf.given import made, replaced, shelf_of, uploaded
from tests.features.shelf.test_bundles import bundle, named


async def folders(hearing: Hearing) -> list[str]:
    return (await hearing.until("shelf.changed"))["folder_ids"]


async def test_whoever_looks_at_a_folder_hears_of_what_happens_in_it(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    ephemeral = satchel.stores.ephemeral
    async with heard_by(ephemeral, ann.user_id) as at_ann, heard_by(ephemeral, bob.user_id) as at_bob:
        inner = await made(ann, "inner")
        assert await folders(at_ann) == [ROOT]
        file = await uploaded(satchel, ann, "a.txt", b"one", folder_id=inner)
        assert await folders(at_ann) == [inner]
        await replaced(satchel, ann, file, b"second")
        assert await folders(at_ann) == [inner]
        await ann("PATCH", f"/shelf/files/{file.file_id}", json={"folder_id": ROOT})
        assert await folders(at_ann) == sorted([ROOT, inner])
        versions = (await ann("GET", f"/shelf/files/{file.file_id}/versions")).json()["versions"]
        await ann("POST", f"/shelf/files/{file.file_id}/versions/{versions[0]['version_id']}/restore")
        assert await folders(at_ann) == [ROOT]
        await ann("DELETE", f"/shelf/files/{file.file_id}")
        assert await folders(at_ann) == [ROOT]
        await ann("POST", f"/shelf/bin/{file.file_id}/restore")
        assert await folders(at_ann) == [ROOT]
        await ann("PATCH", f"/shelf/folders/{inner}", json={"name": "renamed"})
        assert await folders(at_ann) == [ROOT]
        # Nothing of all that was for anybody else.
        await made(bob, "of Bob")
        assert await at_bob.next() == {"type": "shelf.changed", "folder_ids": [ROOT]}


async def test_a_bundle_is_one_piece_of_news_and_a_refused_change_is_none(satchel: Satchel, ann: Caller) -> None:
    async with heard_by(satchel.stores.ephemeral, ann.user_id) as hearing:
        await bundle(ann, *((named(f"{number}.txt"), b"%d" % number) for number in range(5)))
        assert await folders(hearing) == [ROOT]
        assert (await ann("POST", "/shelf/folders", json={"name": "0.txt"})).status_code == 409
        folder = await made(ann, "last")
        assert await hearing.next() == {"type": "shelf.changed", "folder_ids": [ROOT]}
        assert (await ann("PATCH", f"/shelf/folders/{folder}", json={"name": "last"})).status_code == 200
        await uploaded(satchel, ann, "in it", b"x", folder_id=folder)
        assert await hearing.next() == {"type": "shelf.changed", "folder_ids": [folder]}


async def test_what_expires_is_news_too(satchel: Satchel, ann: Caller) -> None:
    file = await uploaded(satchel, ann, "a.txt", b"one")
    until = iso(satchel.clock() + 3600)
    await ann("PATCH", f"/shelf/files/{file.file_id}", json={"expires_at": until})
    satchel.clock.advance(timedelta(hours=2))
    async with heard_by(satchel.stores.ephemeral, ann.user_id) as hearing:
        await sweep_due(shelf_of(satchel))
        assert await folders(hearing) == [ROOT]
