"""Deletes the photos and albums of a person with their account, and takes them out of the albums of others."""

from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import dataclass

from satchel.features.albums.count_records import COUNT, PHOTO_USAGE, album_days, owner_days
from satchel.features.albums.media_records import (
    BINNED,
    CHOICE,
    CHOICES,
    LOCATION,
    MEDIA,
    OBJECTS_PREFIX,
    PAIR,
    REDACTION,
    TWIN,
    MediaRow,
)
from satchel.features.albums.model import ROLES, TRAYS, AlbumId, AlbumUnknown, Email, OwnerId, scope_of
from satchel.features.albums.records import ACT, ACT_DUE, ALBUM, ALBUM_INDEX, ALBUM_OWNER, LIBRARY, AlbumRow
from satchel.features.albums.service.album_share import remove_person
from satchel.features.albums.service.look_alikes import forget_look
from satchel.features.albums.service.media_moves import partition
from satchel.features.albums.service.media_rows import leave_timeline
from satchel.features.albums.service.photos_context import Photos
from satchel.kernel.departure import DELETED_PERSON, Leaver, Tally
from satchel.stores.patterns.partition_delete import delete_partition, delete_records
from satchel.stores.ports.expressions import assign, attr
from satchel.stores.ports.table import ConditionFailed, Delete, Item, Key, StartsWith

_PAGE = 100


@dataclass(frozen=True, slots=True)
class AlbumHoldings:
    """Photos and albums of people, and what others share with them."""

    photos: Photos

    async def count(self, leaver: Leaver) -> Tally:
        albums, owner = self.photos.albums, OwnerId(leaver.user_id)
        usage = await PHOTO_USAGE.get(albums.tables, owner=owner)
        library = await LIBRARY.get(albums.tables, owner=owner)
        return Tally(
            photos=usage.files if usage else 0,
            photo_bytes=usage.used_bytes if usage else 0,
            albums=library.albums if library else 0,
            shared=len(await albums.grants.all_of_person(leaver.email, "album:")) if leaver.email else 0,
        )

    async def delete(self, leaver: Leaver) -> None:
        owner, tables = OwnerId(leaver.user_id), self.photos.albums.tables
        if leaver.email:
            await self._leave_others(Email(leaver.email))
        albums = await self._albums_of(owner)
        for album_id in (*albums, *TRAYS):
            async for items in self._medias_in(owner, AlbumId(album_id)):
                await self._delete_medias([MEDIA.read(item) for item in items])
        await self.photos.pictures.delete_below(f"{OBJECTS_PREFIX}{owner}/")
        for album in albums.values():
            await self._delete_rows_of(album)
        await self._delete_choices(owner)
        await delete_partition(tables, LIBRARY.table, owner_days(owner))
        await delete_records(tables, TWIN, owner=owner)
        if leaver.email:
            await delete_records(tables, COUNT, email=leaver.email)
        for act in (await ACT.list(tables, owner=owner, limit=1000)).records:
            await tables.delete(ACT_DUE.table, ACT_DUE.key(owner=owner, act_id=act.act_id))
        # The albums last, by which their photos are found.
        await delete_partition(tables, LIBRARY.table, LIBRARY.key(owner=owner)["PK"])

    async def _delete_choices(self, owner: OwnerId) -> None:
        tables, cursor = self.photos.albums.tables, None
        while True:
            page = await CHOICE.list_by(tables, ALBUM_INDEX, CHOICES.format(owner=owner), limit=_PAGE, cursor=cursor)
            keys = [CHOICE.key(owner=owner, choice_id=row.choice_id) for row in page.records]
            await tables.write_many(CHOICE.table, delete=keys)
            if (cursor := page.cursor) is None:
                return

    async def _leave_others(self, email: Email) -> None:
        albums = self.photos.albums
        for grant in await albums.grants.all_of_person(email, "album:"):
            owner, album_id = OwnerId(grant.resource_owner), AlbumId(grant.resource_id)
            async for items in self._medias_in(owner, album_id):
                for item in items:
                    if item.get("AddedBy") == email:
                        await self._forget_who_added(item)
            with suppress(AlbumUnknown):
                await remove_person(albums, owner, album_id, email)

    async def _forget_who_added(self, item: Item) -> None:
        tables = self.photos.albums.tables
        with suppress(ConditionFailed):
            await tables.update(
                MEDIA.table,
                MEDIA.table.key_of(item),
                [assign("AddedBy", DELETED_PERSON)],
                when=attr("AddedBy") == item["AddedBy"],
            )

    async def _albums_of(self, owner: OwnerId) -> dict[AlbumId, AlbumRow]:
        found: dict[AlbumId, AlbumRow] = {}
        cursor: str | None = None
        while True:
            page = await ALBUM.list(self.photos.albums.tables, owner=owner, limit=1000, cursor=cursor)
            found |= {row.album_id: row for row in page.records}
            if (cursor := page.cursor) is None:
                return found

    async def _medias_in(self, owner: OwnerId, album_id: AlbumId) -> AsyncGenerator[list[Item]]:
        """Page by page. The next is asked for by a cursor, since an index may lag behind and show what is gone."""
        tables, cursor = self.photos.albums.tables, None
        while True:
            page = await tables.query(
                MEDIA.table,
                partition(owner, album_id),
                StartsWith("MEDIA#"),
                index=ALBUM_INDEX,
                limit=_PAGE,
                cursor=cursor,
            )
            if page.items:
                yield page.items
            if (cursor := page.cursor) is None:
                return

    async def _delete_medias(self, medias: list[MediaRow]) -> None:
        """The media itself goes last, by which the others are found."""
        beside: dict[str, Key] = {}
        for media in medias:
            owner, ids = media.owner, [media.media_id, *(part.media_id for part in media.parts)]
            writes = [
                *(shape.delete(owner=owner, media_id=each) for shape in (LOCATION, REDACTION) for each in ids),
                BINNED.delete(owner=owner, media_id=media.media_id),
                *forget_look(media),
                *leave_timeline(media),
                *([PAIR.delete(owner=owner, pair=media.pair)] if media.pair else []),
            ]
            beside |= {repr(each.key): each.key for each in writes if isinstance(each, Delete)}
        tables = self.photos.albums.tables
        await tables.write_many(MEDIA.table, delete=list(beside.values()))
        keys = [MEDIA.key(owner=each.owner, media_id=each.media_id) for each in medias]
        await tables.write_many(MEDIA.table, delete=keys)

    async def _delete_rows_of(self, album: AlbumRow) -> None:
        albums, tables = self.photos.albums, self.photos.albums.tables
        for email in album.people:
            await tables.transact(
                [albums.grants.delete(album.owner, email, scope_of(role), album.album_id) for role in ROLES]
            )
        keys = [
            COUNT.key(email=email, availability="VISITOR", owner=album.owner, album_id=album.album_id)
            for email in album.people
        ]
        await tables.write_many(COUNT.table, delete=keys)
        if album.days:
            await delete_partition(tables, ALBUM.table, album_days(album.owner, album.album_id, album.days))
        await tables.delete(ALBUM_OWNER.table, ALBUM_OWNER.key(album_id=album.album_id))
