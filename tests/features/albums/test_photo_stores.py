"""Photos on SQLite and on DynamoDB: the same uploads come to the same end."""

import hashlib
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from satchel.features.albums.media_records import LOCATION, MEDIA, TIMELINE, MediaRow
from satchel.features.albums.model import BIN, AlbumId, LocalTime, MediaId
from satchel.features.albums.service import media_change, media_verify, photo_timeline
from satchel.features.albums.service.count_check import check_library
from satchel.features.albums.service.media_add import Upload, keep_uploads
from satchel.features.albums.service.media_bin import delete_media, empty_bin, list_tray, restore
from satchel.features.albums.service.media_verify import Signature
from satchel.features.albums.service.photos_context import Photos
from satchel.features.shelf.adapters import ShelfFiles
from satchel.features.shelf.service.context import Shelf
from satchel.kernel.errors import SatchelError
from satchel.kernel.ids import new_id
from satchel.kernel.names import FileName
from satchel.kernel.signature import Signer
from satchel.media.metadata_reader import MetadataReader
from satchel.media.pictures import Pictures
from satchel.stores.embedded.objects_folder import FolderObjects
from tests.features.albums.given import ANN, Given, on_both_stores
from tests.features.albums.photos_given import photo
from tests.features.albums.test_photo_pairs import FILES
from tests.media.made_files import jpeg

LOCAL = LocalTime("")


@pytest.fixture
async def photos(library: Given, tmp_path: Path) -> AsyncGenerator[Photos]:
    clock = library.albums.clock
    objects = await FolderObjects.open(tmp_path / "o", clock=clock, signer=Signer(b"s" * 32), base_url="http://x")
    reader = MetadataReader(objects)
    pictures = Pictures(library.albums.tables, objects, library.albums.ephemeral, clock)
    shelf = Shelf(
        tables=library.albums.tables,
        objects=objects,
        ephemeral=library.albums.ephemeral,
        clock=clock,
        pictures=pictures,
        links=library.albums.links,
    )
    yield Photos(albums=library.albums, shelves=ShelfFiles(shelf), objects=objects, reader=reader, pictures=pictures)
    await reader.close()
    await objects.close()


async def added(photos: Photos, *files: tuple[str, bytes]) -> list[MediaId]:
    uploads = [
        Upload(
            owner=ANN.owner,
            email=ANN.email,
            upload_id=new_id(photos.albums.clock),
            name=FileName(name),
            path=name,
            content_type="image/jpeg",
            size_bytes=len(data),
            sha256=hashlib.sha256(data).hexdigest(),
            pinned=AlbumId(""),
            data=data,
        )
        for name, data in files
    ]
    outcomes = await keep_uploads(photos, uploads)
    assert not [each for each in outcomes if isinstance(each, SatchelError)]
    return [MediaId(str(each)) for each in outcomes]


async def media(photos: Photos, media_id: MediaId) -> MediaRow:
    found = await MEDIA.get(photos.albums.tables, owner=ANN.owner, media_id=media_id)
    assert found is not None
    return found


@on_both_stores
async def test_photos_come_pair_change_and_go(photos: Photos) -> None:
    albums, owner = photos.albums, ANN.owner
    many = [(f"{day}.jpg", photo(f"2024:0{1 + day % 6}:{1 + day:02} 10:00:00")) for day in range(20)]
    ids = await added(photos, *many, ("none.jpg", jpeg()), many[0])
    assert ids[0] == ids[-1] and len(set(ids)) == 21
    page = await photo_timeline.list_photos(albums, owner, LOCAL, LOCAL, 1000, None)
    assert {TIMELINE.read(item).media_id for item in page.items} == set(ids[:20])
    # The halves come in the order in which the image has to take the lead.
    for name in ("IMG_1.MOV", "IMG_1.JPG", "IMG_1.CR2"):
        (pair_id,) = await added(photos, (name, FILES[name]))
    assert sorted(part.role for part in (await media(photos, pair_id)).parts) == ["live", "raw"]
    await media_change.set_favourite(albums, owner, ids[1], favourite=True)
    await media_change.set_date(albums, owner, ids[1], LocalTime("2023-01-01T10:00:00.000"))
    await media_change.set_date(albums, owner, ids[20], LocalTime("2023-01-02T10:00:00.000"))
    changed = await media(photos, ids[1])
    assert (changed.favourite, changed.camera_time) == (True, "2024-02-02T10:00:00.000")
    await delete_media(albums, owner, pair_id)
    await delete_media(albums, owner, ids[2])
    assert (await restore(albums, owner, ids[2])).album_id != BIN
    signature = Signature(hashlib.sha256(many[3][1]).hexdigest(), len(many[3][1]))
    (verified,) = await media_verify.verify(photos, owner, [signature], "")
    assert verified.state == "verified"
    assert await check_library(albums, owner, repair=False) == []
    assert await empty_bin(photos, owner) == 1
    assert (await list_tray(albums, owner, BIN, 10, None)).items == []
    assert await LOCATION.get(albums.tables, owner=owner, media_id=pair_id) is None
    assert sum((await photo_timeline.list_days(albums, owner)).values()) == 21
    assert await check_library(albums, owner, repair=False) == []
