"""A photo that is cut off at any step comes to the same end when it is sent again, and nothing is lost or left."""

import hashlib
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any, cast

import pytest

from satchel.features.albums.model import AlbumId, Email, MediaId, MediaUnknown, OwnerId
from satchel.features.albums.service.context import Albums
from satchel.features.albums.service.media_add import Upload, keep_upload, keep_uploads
from satchel.features.albums.service.media_bin import delete_media, empty_bin, sweep_bins, take_out
from satchel.features.albums.service.photo_garbage import sweep_photos
from satchel.features.albums.service.photos_context import Photos
from satchel.features.shelf.adapters import ShelfFiles
from satchel.kernel.ids import new_id
from satchel.kernel.names import FileName
from satchel.media.metadata_reader import MetadataReader
from satchel.stores.ports.objects import Objects
from satchel.stores.ports.table import Tables
from tests.application import Caller, Satchel
from tests.features.albums.given import library_of
from tests.features.albums.photos_given import check_photos, photo
from tests.features.albums.test_photo_pairs import CLIP, FILES, STILL
from tests.features.shelf.given import Killed, Meddling, kill, shelf_of
from tests.media.given import pictures_of

LONG = timedelta(days=2)
each_side = pytest.mark.parametrize("afterwards", [False, True])


@pytest.fixture
async def photos(satchel: Satchel, ann: Caller) -> AsyncGenerator[Photos]:
    objects = satchel.stores.objects
    reader = MetadataReader(objects)
    albums = library_of(satchel, ann, "ann@example.org").albums
    shelves = ShelfFiles(shelf_of(satchel))
    yield Photos(albums=albums, shelves=shelves, objects=objects, reader=reader, pictures=pictures_of(satchel))
    await reader.close()


class _Meddled:
    def __init__(self, store: Any, meddling: Meddling) -> None:
        self._store, self._meddling = store, meddling

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._store, name)
        if name == "read":
            return call

        async def around(*positional: Any, **named: Any) -> Any:
            return await self._meddling.around(call, *positional, **named)

        return around


def meddled(photos: Photos, meddling: Meddling) -> Photos:
    tables = cast("Tables", _Meddled(photos.albums.tables, meddling))
    albums: Albums = replace(photos.albums, tables=tables, libraries={})
    return replace(photos, albums=albums, objects=cast("Objects", _Meddled(photos.objects, meddling)))


async def staged(satchel: Satchel, owner: Caller, content: bytes, name: str) -> Upload:
    """A complete upload that waits to be taken over."""
    upload_id = new_id(satchel.clock)

    async def body() -> AsyncGenerator[bytes]:
        yield content

    await satchel.stores.objects.put(f"uploads/{upload_id}", body())
    return Upload(
        owner=OwnerId(owner.user_id),
        email=Email("ann@example.org"),
        upload_id=upload_id,
        name=FileName(name),
        path=name,
        content_type="image/jpeg",
        size_bytes=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        pinned=AlbumId(""),
        key=f"uploads/{upload_id}",
    )


async def check_end(satchel: Satchel, photos: Photos, ann: Caller, medias: int) -> None:
    """After garbage collection nothing is left over."""
    satchel.clock.advance(LONG)
    await sweep_photos(photos)
    assert len(await check_photos(satchel, ann)) == medias
    assert (await satchel.stores.objects.list("uploads/")).objects == []


@each_side
async def test_an_upload_cut_off_at_any_step_is_completed_by_the_next(
    satchel: Satchel, photos: Photos, ann: Caller, afterwards: bool
) -> None:
    step, was_cut = 0, True
    while was_cut:
        step += 1
        upload = await staged(satchel, ann, photo(f"2024:0{1 + step % 9}:01 10:00:00", mark=str(step)), f"{step}.jpg")
        meddling = Meddling(step, kill, afterwards)
        try:
            await keep_upload(meddled(photos, meddling), upload)
            was_cut = False
        except Killed:
            await keep_upload(photos, upload)
        await check_photos(satchel, ann, leftovers=True)
    assert step > 5
    await check_end(satchel, photos, ann, step)


@each_side
@pytest.mark.parametrize("first", ["IMG_1.JPG", "IMG_1.MOV"])
async def test_a_pair_cut_off_at_any_step_becomes_one(
    satchel: Satchel, photos: Photos, ann: Caller, first: str, afterwards: bool
) -> None:
    second = "IMG_1.MOV" if first == "IMG_1.JPG" else "IMG_1.JPG"
    step, was_cut = 0, True
    while was_cut:
        step += 1
        await keep_upload(photos, await staged(satchel, ann, FILES[first], first))
        upload = await staged(satchel, ann, FILES[second], second)
        try:
            await keep_upload(meddled(photos, Meddling(step, kill, afterwards)), upload)
            was_cut = False
        except Killed:
            await keep_upload(photos, upload)
        (media,) = await check_photos(satchel, ann, leftovers=True)
        assert (media.name, [part.name for part in media.parts]) == ("IMG_1.JPG", ["IMG_1.MOV"])
        await delete_media(photos.albums, media.owner, media.media_id)
        await empty_bin(photos, media.owner)
    await check_end(satchel, photos, ann, 0)


@each_side
async def test_a_bundle_cut_off_at_any_step_is_completed_by_the_next(
    satchel: Satchel, photos: Photos, ann: Caller, afterwards: bool
) -> None:
    step, was_cut = 0, True
    while was_cut:
        step += 1
        days = [photo(f"2024:0{1 + day}:01 10:00:00", mark=f"{step}/{day}") for day in range(4)]
        uploads = [
            replace(await staged(satchel, ann, data, f"{step}-{number}.jpg"), key="", data=data)
            for number, data in enumerate([*days, days[0]])
        ]
        await satchel.stores.objects.delete(*(f"uploads/{upload.upload_id}" for upload in uploads))
        try:
            await keep_uploads(meddled(photos, Meddling(step, kill, afterwards)), uploads)
            was_cut = False
        except Killed:
            await keep_uploads(photos, uploads)
        assert len(await check_photos(satchel, ann, leftovers=True)) == 4 * step
    await check_end(satchel, photos, ann, 4 * step)


@each_side
async def test_the_bin_cut_off_at_any_step_is_right(
    satchel: Satchel, photos: Photos, ann: Caller, afterwards: bool
) -> None:
    owner = OwnerId(ann.user_id)
    for act in ("delete", "restore", "purge"):
        step, was_cut = 0, True
        while was_cut:
            step += 1
            media_id = await keep_upload(photos, await staged(satchel, ann, STILL, "IMG_1.JPG"))
            await keep_upload(photos, await staged(satchel, ann, CLIP, "IMG_1.MOV"))
            if act != "delete":
                await delete_media(photos.albums, owner, media_id)
            cut = meddled(photos, Meddling(step, kill, afterwards))
            try:
                if act == "delete":
                    await delete_media(cut.albums, owner, media_id)
                elif act == "restore":
                    await take_out(cut.albums, owner, media_id)
                else:
                    await empty_bin(cut, owner)
                was_cut = False
            except Killed:
                await check_photos(satchel, ann, leftovers=True)
    satchel.clock.advance(timedelta(days=40))
    await sweep_bins(photos)
    await check_end(satchel, photos, ann, len(await check_photos(satchel, ann, leftovers=True)))


async def test_what_happens_at_the_same_moment_is_noticed(satchel: Satchel, photos: Photos, ann: Caller) -> None:
    """An album appears, or the same photo arrives, at each step of an upload."""
    step, was_met = 0, True
    while was_met:
        step += 1
        content = photo(f"2024:05:{1 + step % 28:02} 10:00:00", mark=str(step))
        upload, other = [await staged(satchel, ann, content, name) for name in ("a.jpg", "b.jpg")]
        day = f"2024-05-{1 + step % 28:02}"

        async def meddle(other: Upload = other, day: str = day) -> None:
            await keep_upload(photos, other)
            answer = await ann("POST", "/albums", json={"name": day, "start": day, "end": f"{day}T23:00:00"})
            assert answer.is_success, answer.text

        meddling = Meddling(step, meddle)
        await keep_upload(meddled(photos, meddling), upload)
        was_met = meddling.calls >= step
        if not was_met:
            await satchel.stores.objects.delete(other.key)
        await check_photos(satchel, ann, leftovers=True)
    await check_end(satchel, photos, ann, step)


@pytest.mark.parametrize("emptied", [False, True])
@pytest.mark.parametrize("name", ["IMG_1.JPG", "IMG_1.MOV"])
async def test_a_photo_deleted_while_its_other_half_comes_leaves_nothing_wrong(
    satchel: Satchel, photos: Photos, ann: Caller, name: str, emptied: bool
) -> None:
    """At each step of an upload, what it belongs to goes into the bin, or for good."""
    other, owner = "IMG_1.MOV" if name == "IMG_1.JPG" else "IMG_1.JPG", OwnerId(ann.user_id)
    step, was_met = 0, True
    while was_met:
        step += 1
        first = await keep_upload(photos, await staged(satchel, ann, FILES[other], other))

        async def meddle(first: MediaId = first) -> None:
            with suppress(MediaUnknown):
                await delete_media(photos.albums, owner, first)
            if emptied:
                await empty_bin(photos, owner)

        meddling = Meddling(step, meddle)
        became = await keep_upload(meddled(photos, meddling), await staged(satchel, ann, FILES[name], name))
        was_met = meddling.calls >= step
        await check_photos(satchel, ann, leftovers=True)
        # It may have been deleted with the other half afterwards, but never by half.
        with suppress(MediaUnknown):
            await delete_media(photos.albums, owner, became)
        await empty_bin(photos, owner)
        assert await check_photos(satchel, ann, leftovers=True) == []
    await check_end(satchel, photos, ann, 0)


async def test_a_photo_that_comes_again_while_the_bin_is_emptied_is_kept(
    satchel: Satchel, photos: Photos, ann: Caller
) -> None:
    owner, step, was_met = OwnerId(ann.user_id), 0, True
    while was_met:
        step += 1
        media_id = await keep_upload(photos, await staged(satchel, ann, STILL, "IMG_1.JPG"))
        await delete_media(photos.albums, owner, media_id)

        async def meddle() -> None:
            await empty_bin(photos, owner)

        meddling = Meddling(step, meddle)
        assert await keep_upload(meddled(photos, meddling), await staged(satchel, ann, STILL, "again.jpg")) == media_id
        was_met = meddling.calls >= step
        assert len(await check_photos(satchel, ann, leftovers=True)) == 1
    await check_end(satchel, photos, ann, 1)


@pytest.mark.parametrize("name", ["IMG_1.JPG", "IMG_1.MOV"])
async def test_a_bin_that_is_emptied_while_a_half_comes_forgets_none(
    satchel: Satchel, photos: Photos, ann: Caller, name: str
) -> None:
    """The other half comes at each step of what empties the bin."""
    other, owner = "IMG_1.MOV" if name == "IMG_1.JPG" else "IMG_1.JPG", OwnerId(ann.user_id)
    step, was_met = 0, True
    while was_met:
        step += 1
        first = await keep_upload(photos, await staged(satchel, ann, FILES[other], other))
        await delete_media(photos.albums, owner, first)
        became: list[MediaId] = []

        async def meddle(became: list[MediaId] = became) -> None:
            became.append(await keep_upload(photos, await staged(satchel, ann, FILES[name], name)))

        meddling = Meddling(step, meddle)
        await empty_bin(meddled(photos, meddling), owner)
        was_met = meddling.calls >= step
        kept = await check_photos(satchel, ann, leftovers=True)
        assert [media.media_id for media in kept] == became
        for media_id in became:
            await delete_media(photos.albums, owner, media_id)
        await empty_bin(photos, owner)
    await check_end(satchel, photos, ann, 0)
