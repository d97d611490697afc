"""Correct the clock of a camera: which cameras there are, what a correction would do, and the act that does it."""

from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass, field
from datetime import timedelta

import msgspec

from satchel.features.albums.limits import MAX_MEDIAS_PER_ACT
from satchel.features.albums.model import (
    ActId,
    ActSuperseded,
    AlbumId,
    Email,
    LocalTime,
    MediaId,
    OwnerId,
    TooManyMedias,
    quarter_of,
)
from satchel.features.albums.records import ACT, ACT_DUE, CORRECTED, ActRow, ClockFix, camera_name
from satchel.features.albums.service.album_act import FINISHED_WITHIN, carry_out, due_row
from satchel.features.albums.service.album_change import Acted, Owner
from satchel.features.albums.service.album_plan import Move
from satchel.features.albums.service.clock_moves import is_meant, pages_of_clock, shifted_time
from satchel.features.albums.service.context import Albums
from satchel.features.albums.service.library import find_own, open_library
from satchel.features.albums.service.library_state import Library
from satchel.kernel.ids import new_id
from satchel.kernel.unfit import CombinationUnfit, TimeUnfit
from satchel.stores.patterns.idempotency_key import Claim, IdempotencyKey, decode_claim, encode_claim, order_of
from satchel.stores.patterns.optimistic_update import optimistic_update
from satchel.stores.ports.expressions import assign, attr
from satchel.stores.ports.table import Item, Write

# A camera that was never set shows a time since 1970, or since 1904.
MAX_SHIFT = timedelta(days=366 * 130)
SAMPLES = 20
_FIRST, _LAST = LocalTime("0001-01-01T00:00:00.000"), LocalTime("9999-12-31T23:59:59.999")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockScope:
    """Where medias are looked for: in an album, or in a time; `end` is excluded."""

    album_id: str = ""
    first: str = ""
    end: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """A camera, where its medias are, and by how much their times are to change."""

    scope: ClockScope
    make: str
    model: str
    serial: str = ""
    shift_seconds: int


@dataclass(slots=True)
class Camera:
    """A camera, how many medias are from it, and the first and the last of their times."""

    make: str
    model: str
    serial: str
    medias: int = 0
    first: LocalTime = _LAST
    last: LocalTime = _FIRST

    @property
    def name(self) -> str:
        return camera_name(self.make, self.model)


@dataclass(slots=True)
class ClockPlan:
    """What a correction would do: how many medias it moves in time, and which of them from album to album."""

    medias: int = 0
    first: LocalTime = _LAST
    last: LocalTime = _FIRST
    new_first: LocalTime = _LAST
    new_last: LocalTime = _FIRST
    samples: list[tuple[MediaId, LocalTime, LocalTime]] = field(
        default_factory=list[tuple[MediaId, LocalTime, LocalTime]]
    )
    moves: list[Move] = field(default_factory=list[Move])


async def list_cameras(albums: Albums, owner: Owner, scope: ClockScope) -> list[Camera]:
    """The cameras of an album or of a time, the one with most medias first."""
    act = await _act(albums, owner, Correction(scope=scope, make="", model="", shift_seconds=0), 0)
    found: dict[tuple[str, str, str], Camera] = {}
    async for item in _bounded(albums, act):
        details = item.get("Details", {})
        key = details.get("Make", ""), details.get("Model", ""), details.get("Serial", "")
        if not any(key[:2]):
            continue
        camera = found.setdefault(key, Camera(*key))
        camera.medias += 1
        camera.first, camera.last = min(camera.first, item["DateTime"]), max(camera.last, item["DateTime"])
    return sorted(found.values(), key=lambda camera: (-camera.medias, camera.name, camera.serial))


async def plan_correction(albums: Albums, owner: Owner, correction: Correction) -> ClockPlan:
    library = await open_library(albums, owner.owner, owner.email)
    return await _preview(albums, library, await _act(albums, owner, correction, library.row.version + 1))


async def correct_clock(
    albums: Albums, owner: Owner, correction: Correction, *, idempotency_key: str | None = None
) -> Acted:
    """Correct all times of a camera in an album or a time. Medias move as their dates say.

    With a key that came before it is the same act: a clock that is corrected twice would be wrong again.
    """
    act_id = ActId(new_id(albums.clock))
    if idempotency_key is not None:
        key = IdempotencyKey(albums.ephemeral, CORRECTED(owner=owner.owner, key=idempotency_key))
        claim = Claim(made_id=act_id, order=order_of(asdict(correction)))
        if (earlier := await key.claim(encode_claim(claim).decode())) is not None:
            decode_claim(earlier).check(claim.order)
            act_id = ActId(decode_claim(earlier).made_id)
    act = await _begin(albums, owner, correction, act_id)
    return Acted(None, None if act is None else await carry_out(albums, act))


async def undo_correction(albums: Albums, owner: Owner, act: ActRow) -> Acted:
    return Acted(None, await carry_out(albums, await _begin_undo(albums, owner, act)))


async def plan_undo_correction(albums: Albums, owner: Owner, act: ActRow) -> ClockPlan:
    library = await open_library(albums, owner.owner, owner.email)
    return await _preview(albums, library, _undoing(albums, act, library))


@optimistic_update()
async def _begin(albums: Albums, owner: Owner, correction: Correction, act_id: ActId) -> ActRow | None:
    if (begun := await ACT.get(albums.tables, owner=owner.owner, act_id=act_id)) is not None:
        return begun
    library = await open_library(albums, owner.owner, owner.email)
    act = msgspec.structs.replace(await _act(albums, owner, correction, library.row.version + 1), act_id=act_id)
    if not (await _preview(albums, library, act)).medias:
        return None
    await albums.tables.transact([*_journal(albums, library, act)])
    return act


@optimistic_update()
async def _begin_undo(albums: Albums, owner: Owner, act: ActRow) -> ActRow:
    undone = await ACT.get(albums.tables, owner=owner.owner, act_id=act.act_id) or act
    if undone.undone_by and (known := await ACT.get(albums.tables, owner=owner.owner, act_id=undone.undone_by)):
        return known
    library = await open_library(albums, owner.owner, owner.email)
    undoing = _undoing(albums, act, library)
    if not (await _preview(albums, library, undoing)).medias:
        raise ActSuperseded("The times of these photos were changed again since. Undo the later change first.")
    mark = ACT.update(
        [assign("UndoneBy", undoing.act_id)],
        when=attr("PK").exists() & attr("UndoneBy").absent(),
        owner=act.owner,
        act_id=act.act_id,
    )
    await albums.tables.transact([*_journal(albums, library, undoing), mark])
    return undoing


def _journal(albums: Albums, library: Library, act: ActRow) -> list[Write]:
    return [library.changed(), ACT.put(act), ACT_DUE.put(due_row(albums, act, FINISHED_WITHIN))]


async def _act(albums: Albums, owner: Owner, wanted: Correction, version: int) -> ActRow:
    """The act as it would be. `AlbumUnknown` if the album is not the caller's."""
    scope = wanted.scope
    if scope.album_id:
        await find_own(albums, owner.owner, scope.album_id)
    elif not (scope.first and scope.end):
        raise CombinationUnfit("Name an album, or a first and a last day.", field="album_id")
    if abs(wanted.shift_seconds) > MAX_SHIFT.total_seconds():
        raise TimeUnfit("This is more than a clock can be wrong.", field="shift_seconds")
    fix = ClockFix(
        make=wanted.make,
        model=wanted.model,
        serial=wanted.serial,
        shift_seconds=wanted.shift_seconds,
        first=_FIRST if scope.album_id else LocalTime(scope.first),
        last=_LAST if scope.album_id else shifted_time(LocalTime(scope.end), -1),
        version=version,
    )
    return _row(albums, owner.owner, AlbumId(scope.album_id), fix)


def _undoing(albums: Albums, act: ActRow, library: Library) -> ActRow:
    fix = act.clock
    assert fix is not None
    back = ClockFix(
        make=fix.make,
        model=fix.model,
        serial=fix.serial,
        shift_seconds=-fix.shift_seconds,
        first=_FIRST,
        last=_LAST,
        version=library.row.version + 1,
    )
    return _row(albums, act.owner, act.album_id, back, act.act_id)


def _row(albums: Albums, owner: OwnerId, album_id: AlbumId, fix: ClockFix, undoes: str = "") -> ActRow:
    return ActRow(
        owner=owner,
        act_id=ActId(new_id(albums.clock)),
        kind="clock",
        album_id=album_id,
        at=albums.now(),
        clock=fix,
        undoes=ActId(undoes),
    )


async def _bounded(albums: Albums, act: ActRow) -> AsyncIterator[Item]:
    looked_at = 0
    async for items in pages_of_clock(albums, act):
        for item in items:
            yield item
        looked_at += len(items)
        if looked_at > MAX_MEDIAS_PER_ACT:
            raise TooManyMedias(
                f"These are more than {MAX_MEDIAS_PER_ACT:,} photos. Choose an album or a shorter time.",
                at_most=MAX_MEDIAS_PER_ACT,
            )


async def _preview(albums: Albums, library: Library, act: ActRow) -> ClockPlan:
    plan, moves, names = ClockPlan(), Counter[tuple[AlbumId, AlbumId]](), dict[AlbumId, str]()
    assert act.clock is not None
    async for item in _bounded(albums, act):
        if not is_meant(act, item):
            continue
        before: LocalTime = item["DateTime"]
        try:
            after = shifted_time(before, act.clock.shift_seconds)
        except OverflowError as error:
            raise TimeUnfit("Some photos would be before or after all years.", field="shift_seconds") from error
        plan.medias += 1
        plan.first, plan.last = min(plan.first, before), max(plan.last, before)
        plan.new_first, plan.new_last = min(plan.new_first, after), max(plan.new_last, after)
        if len(plan.samples) < SAMPLES:
            plan.samples.append((MediaId(item["Id"]), before, after))
        target = library.home(after, item.get("Pinned", ""))
        if target is None:
            # A quarter album is made for it.
            target = AlbumId(quarter_of(after).folder)
            names[target] = quarter_of(after).name
        if target != item["AlbumId"]:
            moves[item["AlbumId"], target] += 1
    plan.moves = await _moves(albums, library, moves, names)
    return plan


async def _moves(
    albums: Albums, library: Library, moves: Counter[tuple[AlbumId, AlbumId]], new: dict[AlbumId, str]
) -> list[Move]:
    things = {f"album:{target}": target for _, target in moves if target not in new}
    links = await albums.links.count_open(library.owner, sorted(things))
    return [
        Move(
            source=source,
            source_name=_name(library, source),
            target=AlbumId("") if target in new else target,
            target_name=new.get(target) or _name(library, target),
            medias=number,
            newly=sorted(_people(library, target) - _people(library, source)),
            no_longer=sorted(_people(library, source) - _people(library, target)),
            links=links.get(f"album:{target}", 0),
        )
        for (source, target), number in moves.most_common()
    ]


def _name(library: Library, album_id: AlbumId) -> str:
    row = library.albums.get(album_id)
    return "" if row is None else row.name


def _people(library: Library, album_id: AlbumId) -> set[Email]:
    row = library.albums.get(album_id)
    return set() if row is None else set(row.people)
