"""What clients see of albums."""

from collections.abc import Mapping

import msgspec

from satchel.features.albums.model import ActKind, AlbumId, Email, MediaType, Role
from satchel.features.albums.records import ActRow, AlbumRow
from satchel.features.albums.service.album_list import Part, SeenAlbum
from satchel.features.albums.service.album_plan import Move, Plan
from satchel.features.albums.service.album_share import Share
from satchel.features.albums.service.camera_clock import ClockPlan
from satchel.features.albums.service.count_check import Drift, DriftKind
from satchel.features.albums.service.picture_note import placeholder_in, version_in
from satchel.stores.ports.table import Item


class CoverView(msgspec.Struct, frozen=True, kw_only=True):
    """The media that stands for an album, its owner's choice or the newest.

    `ratio` is width over height in thousandths, 0 if unknown; `placeholder` is a thumbhash in base64; `version` is that
    of its picture.
    """

    media_id: str
    type: MediaType
    ratio: int
    placeholder: str | None
    version: str | None


class ReaderView(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody who sees an album besides its owner."""

    email: str
    role: Role


class AlbumView(msgspec.Struct, frozen=True, kw_only=True):
    """An album. `start` and `end` are local times, the end is excluded. Only the owner sees `people`.

    `role` is the caller's. `medias` is how many photos and videos are in it. Unless it is shared `with_location`,
    others get originals without place, makers' notes and serial numbers.
    """

    album_id: str
    owner: str
    owner_name: str
    role: Part
    name: str
    folder: str
    start: str
    end: str
    created_at: str
    medias: int
    cover: CoverView | None
    people: list[ReaderView]
    with_location: bool


class AlbumList(msgspec.Struct, frozen=True):
    """All albums that the caller sees, the newest start first; and how many of the caller's medias have no date."""

    albums: list[AlbumView]
    undated: int


class ActView(msgspec.Struct, frozen=True, kw_only=True):
    """A change of the albums. While it is not `done`, medias are still moving. `undone_by` is the act that undid it.

    `clock` is a correction of the clock of a camera, which is its `name` then. Its `album_id` may be empty.
    """

    act_id: str
    kind: ActKind
    album_id: str
    name: str
    at: str
    moved: int
    done: bool
    undoes: str | None
    undone_by: str | None


class ActList(msgspec.Struct, frozen=True):
    """A page of changes, the last first, and the cursor of the next."""

    acts: list[ActView]
    cursor: str | None


class ActedView(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a change: the album, null if it was deleted; and the act, null if there was nothing to do."""

    album: AlbumView | None
    act: ActView | None


class PlannedAlbum(msgspec.Struct, frozen=True, kw_only=True):
    """The album as it would be."""

    name: str
    folder: str
    start: str
    end: str


class AlbumName(msgspec.Struct, frozen=True, kw_only=True):
    """An album by id and name. The id of one that would be created is null, and that of a tray is `undated`."""

    album_id: str | None
    name: str


class KnownPerson(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody by address. Their name is null if they have no account."""

    email: str
    name: str | None


class MoveView(msgspec.Struct, frozen=True, kw_only=True):
    """How many medias would move from one album to another, and who would newly, or no longer, see them.

    `links` is how many public links would newly show them.
    """

    source: AlbumName
    target: AlbumName
    medias: int
    newly: list[KnownPerson]
    no_longer: list[KnownPerson]
    links: int


class OrphansView(msgspec.Struct, frozen=True, kw_only=True):
    """Medias that would be in no album, and the first and last of their local times. They refuse the change."""

    medias: int
    first: str
    last: str


class PlanView(msgspec.Struct, frozen=True, kw_only=True):
    """What a change would do. `album` is null if it would be deleted. `medias` is how many would move in all."""

    album: PlannedAlbum | None
    medias: int
    moves: list[MoveView]
    orphans: OrphansView | None


class AlbumShareView(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody who sees an album. Their name is null if they have no account."""

    email: str
    role: Role
    name: str | None
    granted_at: str


class AlbumShareList(msgspec.Struct, frozen=True):
    """Everybody who sees an album besides its owner."""

    shares: list[AlbumShareView]


class PinView(msgspec.Struct, frozen=True, kw_only=True):
    """Where a media is now."""

    media_id: str
    album_id: str
    pinned: bool


class DriftView(msgspec.Struct, frozen=True, kw_only=True):
    """A count or a grant that is not as it should be."""

    kind: DriftKind
    album_id: str
    email: str
    stored: int
    counted: int
    repaired: bool


class DriftList(msgspec.Struct, frozen=True):
    """What a check has found. Nothing is expected."""

    drifts: list[DriftView]


def album_view(seen: SeenAlbum) -> AlbumView:
    album = seen.album
    mine = seen.part == "owner"
    return AlbumView(
        album_id=album.album_id,
        owner=album.owner,
        owner_name=seen.owner_name,
        role=seen.part,
        name=album.name,
        folder=album.folder,
        start=album.start,
        end=album.end,
        created_at=album.created_at,
        medias=seen.medias,
        cover=None if seen.cover is None else _cover(seen.cover),
        people=[ReaderView(email=email, role=role) for email, role in album.people.items()] if mine else [],
        with_location=album.with_location,
    )


def act_view(act: ActRow) -> ActView:
    state = act.after or act.before
    camera = "" if act.clock is None else act.clock.camera
    return ActView(
        act_id=act.act_id,
        kind=act.kind,
        album_id=act.album_id,
        name=camera if state is None else state.name,
        at=act.at,
        moved=act.moved,
        done=bool(act.done_at),
        undoes=act.undoes or None,
        undone_by=act.undone_by or None,
    )


def plan_view(plan: Plan | ClockPlan, names: Mapping[Email, str | None]) -> PlanView:
    if isinstance(plan, ClockPlan):
        return PlanView(
            album=None, medias=plan.medias, moves=[move_view(move, names) for move in plan.moves], orphans=None
        )
    after, created = plan.change.after, plan.change.after if plan.change.before is None else None
    orphans = plan.orphans
    return PlanView(
        album=None if after is None else _planned(after),
        medias=plan.medias,
        moves=[move_view(move, names, created) for move in plan.moves],
        orphans=OrphansView(medias=orphans.medias, first=orphans.first, last=orphans.last) if orphans.medias else None,
    )


def share_view(share: Share) -> AlbumShareView:
    return AlbumShareView(email=share.email, role=share.role, name=share.name, granted_at=share.granted_at)


def drift_view(drift: Drift) -> DriftView:
    return DriftView(
        kind=drift.kind,
        album_id=drift.album_id,
        email=drift.email,
        stored=drift.stored,
        counted=drift.counted,
        repaired=drift.repaired,
    )


def _cover(item: Item) -> CoverView:
    return CoverView(
        media_id=item["Id"],
        type=item["Type"],
        ratio=item.get("Ratio", 0),
        placeholder=placeholder_in(item),
        version=version_in(item),
    )


def _planned(album: AlbumRow) -> PlannedAlbum:
    return PlannedAlbum(name=album.name, folder=album.folder, start=album.start, end=album.end)


def move_view(move: Move, names: Mapping[Email, str | None], created: AlbumRow | None = None) -> MoveView:
    def named(album_id: AlbumId, name: str) -> AlbumName:
        is_new = created is not None and created.album_id == album_id
        return AlbumName(album_id=None if is_new else album_id or None, name=name)

    return MoveView(
        source=named(move.source, move.source_name),
        target=named(move.target, move.target_name),
        medias=move.medias,
        newly=[KnownPerson(email=email, name=names.get(email)) for email in move.newly],
        no_longer=[KnownPerson(email=email, name=names.get(email)) for email in move.no_longer],
        links=move.links,
    )
