"""Stores uploaded photos and videos: bytes once per owner, each media in its home album, halves together.

The bytes are stored first, at a key that nothing else ever has. Then one transaction enters everything that says that
they exist: media, location, timeline, day, pair and counts. A crash in between leaves an object that nothing names,
which `photo_garbage` finds. The same bytes again are the same media: one in the bin comes out of it.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from satchel.features.albums.count_records import count_days, owner_days
from satchel.features.albums.media_records import (
    LOCATION,
    MEDIA,
    NEVER,
    OBJECTS_PREFIX,
    PAIR,
    REDACTION,
    LocationRow,
    MediaRow,
    PairRow,
)
from satchel.features.albums.model import BIN, AlbumId, Email, MediaId, OwnerId, PhotoBytesGone, media_id_of
from satchel.features.albums.service import media_pair
from satchel.features.albums.service.album_notify import tell_photos
from satchel.features.albums.service.library import Library
from satchel.features.albums.service.library_state import place_of
from satchel.features.albums.service.media_bin import take_out
from satchel.features.albums.service.media_describe import (
    details_of,
    local_time_of,
    pair_of,
    ratio_of,
    time_source_of,
    type_of,
    utc_time_of,
    zone_source_of,
)
from satchel.features.albums.service.media_home import library_covering
from satchel.features.albums.service.media_rows import days_of, enter_timeline, locate
from satchel.features.albums.service.photo_quota import quota_reached, room_left, transact_counted
from satchel.features.albums.service.photo_redact import redaction_row
from satchel.features.albums.service.photos_context import Photos
from satchel.kernel.errors import SatchelError
from satchel.kernel.names import FileName
from satchel.media.metadata.media_facts import MediaFacts
from satchel.media.metadata_job import MetadataJob
from satchel.media.picture_kinds import may_have_picture
from satchel.media.pictures import Pictured
from satchel.media.redaction.redaction import Redaction
from satchel.stores.object_rules import known_content_type
from satchel.stores.patterns.optimistic_update import NEW, StaleRead, optimistic_update
from satchel.stores.ports.expressions import attr
from satchel.stores.ports.objects import Corrupted, ObjectMissing, SmallObject
from satchel.stores.ports.table import Write

# Each makes five writes. Days and counts come besides; if these are many, a group is split.
_GROUP = 16
_ORIGINAL_NAME = "original-name"
_ORDER = {"image": 0, "raw": 1, "video": 2, "other": 3}
_CONTENT_TYPES = {
    "jpeg": "image/jpeg",
    "png": "image/png",
    "gif": "image/gif",
    "webp": "image/webp",
    "heic": "image/heic",
    "avif": "image/avif",
    "tiff": "image/tiff",
    "mp4": "video/mp4",
    "mov": "video/quicktime",
    "avi": "video/x-msvideo",
}

Outcome = MediaId | SatchelError


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """A complete upload: its bytes are in an object, or at hand. `path` is the name with the folders before it."""

    owner: OwnerId
    email: Email
    upload_id: str
    name: FileName
    path: str
    content_type: str
    size_bytes: int
    sha256: str
    # The album that it stays in, if one was chosen.
    pinned: AlbumId
    key: str = ""
    data: bytes = b""
    modified: float | None = None
    zone: str | None = None
    sidecars: Sequence[tuple[str, bytes]] = ()
    added_by: str = ""

    @property
    def media_id(self) -> MediaId:
        return media_id_of(self.sha256, self.size_bytes)


@dataclass(frozen=True, slots=True)
class Ready:
    """An upload whose metadata was read and whose bytes are stored."""

    upload: Upload
    facts: MediaFacts
    key: str
    pair: str = field(default="")
    redaction: Redaction | None = None


async def keep_upload(photos: Photos, upload: Upload) -> MediaId:
    (outcome,) = await keep_uploads(photos, [upload])
    if isinstance(outcome, SatchelError):
        raise outcome
    return outcome


async def keep_uploads(photos: Photos, uploads: Sequence[Upload]) -> list[Outcome]:
    """What each became, in their order. All belong to one owner."""
    outcomes: dict[MediaId, Outcome] = {}
    distinct = {upload.media_id: upload for upload in uploads}
    located = await _located(photos, list(distinct.values()))
    ready: list[Ready] = []
    room = await room_left(photos.albums, uploads[0].owner)
    for media_id, upload in distinct.items():
        try:
            if media_id in located and (known := await _seen_again(photos, upload, located[media_id])):
                outcomes[media_id] = known
            elif room is not None and upload.size_bytes > room:
                raise quota_reached(photos.albums)
            else:
                ready.append(await _read(photos, upload))
                room = None if room is None else room - upload.size_bytes
        except SatchelError as error:
            outcomes[media_id] = error
    await _store(photos, ready)
    for group in _groups(ready):
        outcomes |= await _entered(photos, group)
    # Files that belong to another one are not shown themselves.
    await photos.pictures.make(
        [
            Pictured(each.key, each.upload.name, content_type_of(each))
            for each in ready
            if outcomes[each.upload.media_id] == each.upload.media_id
        ]
    )
    await _discard_staged(photos, uploads, outcomes)
    await _tell(photos, uploads[0].owner, [each for each in outcomes.values() if not isinstance(each, SatchelError)])
    return [outcomes[upload.media_id] for upload in uploads]


async def _tell(photos: Photos, owner: OwnerId, media_ids: Sequence[MediaId]) -> None:
    """Let those who look at the albums know."""
    keys = [MEDIA.key(owner=owner, media_id=media_id) for media_id in dict.fromkeys(media_ids)]
    items = await photos.albums.tables.get_many(MEDIA.table, keys) if keys else []
    await tell_photos(photos.albums, owner, [AlbumId(item["AlbumId"]) for item in items if item is not None])


async def _located(photos: Photos, uploads: Sequence[Upload]) -> dict[MediaId, LocationRow]:
    keys = [LOCATION.key(owner=upload.owner, media_id=upload.media_id) for upload in uploads]
    items = await photos.albums.tables.get_many(LOCATION.table, keys)
    return {row.media_id: row for item in items if item is not None and (row := LOCATION.read(item))}


async def _seen_again(photos: Photos, upload: Upload, location: LocationRow) -> MediaId | None:
    """The media that has these bytes already, out of the bin. None if it was deleted for good meanwhile.

    Whoever brings lost bytes back repairs it.
    """
    try:
        await photos.objects.head(location.key)
    except ObjectMissing:
        await _put(photos, upload, location.key, known_content_type(upload.content_type))
    await take_out(photos.albums, upload.owner, location.part_of or location.media_id)
    left = await LOCATION.get(photos.albums.tables, owner=upload.owner, media_id=location.media_id)
    return None if left is None else left.part_of or left.media_id


async def _read(photos: Photos, upload: Upload) -> Ready:
    job = MetadataJob(
        name=upload.path,
        size_bytes=upload.size_bytes,
        now=photos.albums.clock(),
        modified=upload.modified,
        zone=upload.zone,
        sidecars=list(upload.sidecars),
    )
    try:
        facts, redaction = await (
            photos.reader.describe_object(job, upload.key)
            if upload.key
            else photos.reader.describe_bytes(job, upload.data)
        )
    except ObjectMissing as error:
        raise _bytes_gone() from error
    year = local_time_of(facts.time)[:4] or "undated"
    key = f"{OBJECTS_PREFIX}{upload.owner}/{year}/{upload.sha256}.{upload.upload_id}"
    return Ready(upload, facts, key, pair_of(facts), redaction)


async def _store(photos: Photos, ready: Sequence[Ready]) -> None:
    small = [
        SmallObject(each.key, each.upload.data, content_type_of(each), {_ORIGINAL_NAME: each.upload.name})
        for each in ready
        if not each.upload.key
    ]
    await photos.objects.put_many(small)
    for each in ready:
        if each.upload.key:
            await _put(photos, each.upload, each.key, content_type_of(each))


async def _put(photos: Photos, upload: Upload, key: str, content_type: str) -> None:
    name = {_ORIGINAL_NAME: upload.name}
    if not upload.key:
        await photos.objects.put_many([SmallObject(key, upload.data, content_type, name)])
        return
    try:
        await photos.objects.copy(upload.key, key, metadata=name)
        stored = await photos.objects.head(key)
    except ObjectMissing as error:
        raise _bytes_gone() from error
    if stored.size_bytes != upload.size_bytes:
        raise Corrupted("The photo was not stored whole. Upload it again.")


def _groups(ready: Sequence[Ready]) -> Iterator[list[Ready]]:
    """Images come before what may belong to them, and two files of one pair are never in the same group."""
    waiting = sorted(ready, key=lambda each: _ORDER[each.facts.kind])
    while waiting:
        group: dict[str, Ready] = {}
        for each in waiting:
            if len(group) < _GROUP:
                group.setdefault(each.pair, each)
        yield list(group.values())
        waiting = [each for each in waiting if group.get(each.pair) is not each]


async def _entered(photos: Photos, group: Sequence[Ready]) -> dict[MediaId, Outcome]:
    """Enter a group together, or each alone if that meets something."""
    try:
        return await _enter(photos, group)
    except SatchelError as error:
        if len(group) == 1:
            return {group[0].upload.media_id: error}
    outcomes: dict[MediaId, Outcome] = {}
    for each in group:
        outcomes |= await _entered(photos, [each])
    return outcomes


@optimistic_update()
async def _enter(photos: Photos, group: Sequence[Ready]) -> dict[MediaId, Outcome]:
    owner = group[0].upload.owner
    outcomes: dict[MediaId, Outcome] = {}
    located = await _located(photos, [each.upload for each in group])
    known = await media_pair.read_pairs(photos.albums, owner, [each.pair for each in group])
    alone: list[Ready] = []
    for each in group:
        location, pair = located.get(each.upload.media_id), known.get(each.pair)
        if location is not None:
            outcomes[each.upload.media_id] = await _was_second(photos, each, location)
        elif pair is not None and media_pair.belongs(pair, each.facts):
            outcomes[each.upload.media_id] = await _join(photos, each, pair)
        else:
            alone.append(each)
    if alone:
        await _enter_alone(photos, alone, known)
    return outcomes | {each.upload.media_id: each.upload.media_id for each in alone}


async def _was_second(photos: Photos, ready: Ready, location: LocationRow) -> MediaId:
    """Another upload of the same bytes was first."""
    if location.key != ready.key:
        await photos.objects.delete(ready.key)
    return location.part_of or location.media_id


async def _enter_alone(photos: Photos, group: Sequence[Ready], known: dict[str, PairRow]) -> None:
    upload = group[0].upload
    times = [local_time_of(each.facts.time) for each in group if not each.upload.pinned]
    library = await library_covering(photos.albums, upload.owner, upload.email, times)
    medias = [media_row(photos, library, each) for each in group]
    writes: list[Write] = [
        library.unchanged(),
        *(write for each, media in zip(group, medias, strict=True) for write in _rows(each, media, known)),
        *count_days(owner_days(upload.owner), days_of(medias)),
        *library.counted(Counter(map(place_of, medias))),
    ]
    # One more counts the files.
    if len(writes) < photos.albums.most_writes or len(group) == 1:
        size_bytes = sum(media.size_bytes for media in medias)
        await transact_counted(photos.albums, upload.owner, writes, files=len(medias), size_bytes=size_bytes)
        return
    # Many people see these albums, and each has a count.
    middle = len(group) // 2
    await _enter_alone(photos, group[:middle], known)
    await _enter_alone(photos, group[middle:], known)


def _rows(ready: Ready, media: MediaRow, known: dict[str, PairRow]) -> Iterator[Write]:
    yield MEDIA.put(media, when=NEW)
    yield locate(media.media_id, media.owner, media.key, media.size_bytes, media.added_at)
    yield from enter_timeline(media)
    if ready.redaction is not None:
        yield REDACTION.put(redaction_row(media.owner, media.media_id, ready.redaction))
    earlier = known.get(ready.pair)
    as_read = NEW if earlier is None else attr("MediaId") == earlier.media_id
    yield PAIR.put(media_pair.pair_row(media, ready.facts, ready.pair), when=as_read)


async def _join(photos: Photos, ready: Ready, pair: PairRow) -> MediaId:
    """Add a file to the media that it belongs to, or let it lead that media."""
    upload = ready.upload
    await take_out(photos.albums, upload.owner, pair.media_id)
    shown = await MEDIA.get(photos.albums.tables, owner=upload.owner, media_id=pair.media_id)
    if shown is None:
        await photos.albums.tables.delete(PAIR.table, PAIR.key(owner=upload.owner, pair=ready.pair))
        raise StaleRead
    # Deleted since: it is on no day, and may be deleted for good without what joins it now.
    if shown.album_id == BIN:
        raise StaleRead
    if pair.kind == "image":
        await media_pair.attach(photos.albums, shown, media_pair.part_of(ready.facts.kind, bare_row(photos, ready)))
        return shown.media_id
    library = await library_covering(photos.albums, upload.owner, upload.email, [local_time_of(ready.facts.time)])
    leader = media_row(photos, library, replace(ready, upload=replace(upload, pinned=shown.pinned or upload.pinned)))
    await media_pair.lead(photos.albums, library, shown, pair, leader, ready.facts)
    return leader.media_id


def media_row(photos: Photos, library: Library, ready: Ready) -> MediaRow:
    bare = bare_row(photos, ready)
    home = library.home(bare.local_time, ready.upload.pinned)
    if home is None:
        raise StaleRead
    pinned = home if ready.upload.pinned == home else AlbumId("")
    return MEDIA.read(MEDIA.item(bare) | {"AlbumId": home, "Pinned": pinned})


def bare_row(photos: Photos, ready: Ready) -> MediaRow:
    """The media without its album."""
    upload, facts = ready.upload, ready.facts
    return MediaRow(
        owner=upload.owner,
        media_id=upload.media_id,
        album_id=AlbumId(""),
        type=type_of(facts),
        local_time=local_time_of(facts.time),
        utc_time=utc_time_of(facts.time),
        time_source=time_source_of(facts.time),
        zone_source=zone_source_of(facts.time),
        guessed=facts.time is not None and facts.time.guessed,
        name=upload.name,
        content_type=content_type_of(ready),
        size_bytes=upload.size_bytes,
        sha256=upload.sha256,
        key=ready.key,
        details=details_of(facts),
        favourite=facts.is_favourite,
        added_at=photos.albums.now(),
        added_by=upload.added_by,
        ratio=ratio_of(facts),
        no_picture="" if may_have_picture(upload.name, content_type_of(ready)) else NEVER,
        pair=ready.pair,
    )


def content_type_of(ready: Ready) -> str:
    """What the bytes prove counts before what the client says."""
    return _CONTENT_TYPES.get(ready.facts.format) or known_content_type(ready.upload.content_type)


async def _discard_staged(photos: Photos, uploads: Sequence[Upload], outcomes: dict[MediaId, Outcome]) -> None:
    staged = [each.key for each in uploads if each.key and not isinstance(outcomes[each.media_id], SatchelError)]
    if staged:
        await photos.objects.delete(*staged)


def _bytes_gone() -> PhotoBytesGone:
    return PhotoBytesGone("The uploaded data is no longer stored. Upload the file again.")
