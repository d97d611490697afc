"""The clocks of cameras: list cameras, see what a correction would do, correct. Undo is that of all acts."""

from datetime import date, timedelta
from typing import Annotated

import msgspec
from starlette.requests import Request

from satchel.edge.api.endpoints import Body, Query, Router
from satchel.edge.api.idempotency_key import idempotency_key_of
from satchel.edge.http.callers import Member
from satchel.features.albums.model import AlbumUnknown, TooManyMedias
from satchel.features.albums.routes.albums import names_in, owner_of
from satchel.features.albums.routes.views import ActedView, MoveView, act_view, move_view
from satchel.features.albums.service import camera_clock
from satchel.features.albums.service.camera_clock import ClockScope, Correction
from satchel.features.albums.service.context import Albums
from satchel.stores.patterns.idempotency_key import KeyReused

Id = Annotated[str, msgspec.Meta(max_length=64)]
Text = Annotated[str, msgspec.Meta(max_length=1000)]
Seconds = Annotated[int, msgspec.Meta(ge=-(2**33), le=2**33)]


class CamerasQuery(Query, frozen=True, kw_only=True):
    """An album of yours, or a first and a last day."""

    album: Id = ""
    first: date | None = msgspec.field(name="from", default=None)
    last: date | None = msgspec.field(name="to", default=None)


class ClockBody(Body, frozen=True, kw_only=True):
    """A camera, the album or the days in which its clock was wrong, and the seconds to add to the times.

    With a serial number, only medias that have it. Otherwise every camera of this make and model.
    """

    album_id: Id = ""
    first_day: date | None = None
    last_day: date | None = None
    make: Text
    model: Text
    serial: Text = ""
    shift_seconds: Seconds


class CameraView(msgspec.Struct, frozen=True, kw_only=True):
    """A camera: its name, how many medias are from it, and the first and last of their local times."""

    camera: str
    make: str
    model: str
    serial: str | None
    medias: int
    first: str
    last: str


class CameraList(msgspec.Struct, frozen=True):
    """Cameras, the one with most medias first."""

    cameras: list[CameraView]


class ClockSample(msgspec.Struct, frozen=True):
    """A media, its local time now, and the one that it would have."""

    id: str
    before: str
    after: str


class ClockPlanView(msgspec.Struct, frozen=True, kw_only=True):
    """What a correction would do: how many medias would have another time, and which would move to other albums.

    The album of a move whose id is null would be made. Without any media, the times are null.
    """

    medias: int
    first: str | None
    last: str | None
    new_first: str | None
    new_last: str | None
    moves: list[MoveView]
    samples: list[ClockSample]


def routes(albums: Albums) -> Router:
    router = Router("photos")

    @router.get("/photos/cameras", raises=(AlbumUnknown, TooManyMedias))
    async def list_cameras(member: Member, query: CamerasQuery) -> CameraList:
        """List the cameras of an album of yours, or of some days."""
        scope = ClockScope(album_id=query.album, first=_first(query.first), end=_end(query.last))
        return CameraList(
            [
                CameraView(
                    camera=each.name,
                    make=each.make,
                    model=each.model,
                    serial=each.serial or None,
                    medias=each.medias,
                    first=each.first,
                    last=each.last,
                )
                for each in await camera_clock.list_cameras(albums, owner_of(member), scope)
            ]
        )

    @router.post("/photos/clock/plan", status=200, raises=(AlbumUnknown, TooManyMedias))
    async def plan_clock(member: Member, body: ClockBody) -> ClockPlanView:
        """Read what a correction of a camera's clock would do, and who would newly see photos."""
        plan = await camera_clock.plan_correction(albums, owner_of(member), _correction(body))
        names = await names_in(albums, plan.moves)
        return ClockPlanView(
            medias=plan.medias,
            first=plan.first if plan.medias else None,
            last=plan.last if plan.medias else None,
            new_first=plan.new_first if plan.medias else None,
            new_last=plan.new_last if plan.medias else None,
            moves=[move_view(move, names) for move in plan.moves],
            samples=[ClockSample(*each) for each in plan.samples],
        )

    @router.post(
        "/photos/clock",
        status=200,
        raises=(AlbumUnknown, TooManyMedias, KeyReused),
        sends={"Idempotency-Key": "letters, digits, - and _: a retry with the same key corrects the clock once"},
    )
    async def correct_clock(member: Member, body: ClockBody, request: Request) -> ActedView:
        """Correct the clock of a camera. What the camera wrote is kept, and the act can be undone like others."""
        key = idempotency_key_of(request)
        acted = await camera_clock.correct_clock(albums, owner_of(member), _correction(body), idempotency_key=key)
        return ActedView(album=None, act=None if acted.act is None else act_view(acted.act))

    return router


def _correction(body: ClockBody) -> Correction:
    return Correction(
        scope=ClockScope(album_id=body.album_id, first=_first(body.first_day), end=_end(body.last_day)),
        make=body.make,
        model=body.model,
        serial=body.serial,
        shift_seconds=body.shift_seconds,
    )


def _first(day: date | None) -> str:
    return "" if day is None else f"{day.isoformat()}T00:00:00.000"


def _end(day: date | None) -> str:
    """The day after, unless there is none."""
    return "" if day is None else _first(min(day, date.max - timedelta(days=1)) + timedelta(days=1))
