"""Clicks over HTTP: sending them, and reading them and their statistics as they are stored."""

from collections.abc import Sequence
from datetime import date

import msgspec
from starlette.requests import Request

from satchel.edge.api.endpoints import Body, PageQuery, Reply, Router
from satchel.edge.api.fields import TimeWithZone
from satchel.edge.http.callers import Admin, Guest, Member, Stranger
from satchel.edge.http.request_context import Client
from satchel.features.clicks.model import (
    GUEST,
    MAX_CLICKS_AT_ONCE,
    MAX_KEY_CHARACTERS,
    ClickTooEarly,
    ClickTooLate,
    CounterUnknown,
    KeyReused,
    NewClick,
    OriginNotAllowed,
    Period,
    PeriodGone,
    Recorded,
    ReservedId,
    SeenByServer,
    TargetUnknown,
    check_text,
)
from satchel.features.clicks.routes.click_views import (
    ClickBody,
    ClicksView,
    PressBody,
    PressedView,
    PressView,
    RecordedClicksView,
    StatView,
    Who,
    clicks_view,
    recorded_view,
    stat_view,
)
from satchel.features.clicks.routes.counters import OPEN_HEADERS, PREFLIGHT_HEADERS, event_of
from satchel.features.clicks.routes.views import Month
from satchel.features.clicks.service import click_list, counter_press
from satchel.features.clicks.service.click_erase import erase_person
from satchel.features.clicks.service.click_record import Poster, check_about, post
from satchel.features.clicks.service.context import Clicks
from satchel.kernel.errors import Conflict, Forbidden, TooLarge, TooMany, Unauthenticated, Unavailable
from satchel.kernel.unfit import CombinationUnfit

IDEMPOTENCY_KEY = "Idempotency-Key"
_REFUSALS = (
    ClickTooLate,
    ClickTooEarly,
    ReservedId,
    SeenByServer,
    TargetUnknown,
    KeyReused,
    Forbidden,
    TooLarge,
    TooMany,
)


class ClicksQuery(PageQuery, frozen=True, kw_only=True):
    """Whose clicks, if not yours, and from when to when, both included."""

    user_id: Who | None = msgspec.field(name="userId", default=None)
    first: TimeWithZone | None = msgspec.field(name="from", default=None)
    last: TimeWithZone | None = msgspec.field(name="to", default=None)


class RebuildBody(Body, frozen=True, kw_only=True):
    """Either a UTC day or a UTC month."""

    day: date | None = None
    month: Month | None = None


class CountView(msgspec.Struct, frozen=True, kw_only=True):
    """How many clicks, by how many different people."""

    clicks: int
    people: int


class RebuiltView(msgspec.Struct, frozen=True, kw_only=True):
    """The whole site's figures of a period, before it was counted again and now."""

    before: CountView
    after: CountView


class ErasedView(msgspec.Struct, frozen=True, kw_only=True):
    """How many clicks are gone."""

    erased: int


def routes(clicks: Clicks) -> Router:
    router = Router("clicks")

    @router.post(
        "/clicks",
        status=201,
        raises=_REFUSALS,
        sends={IDEMPOTENCY_KEY: "The idempotency key of all clicks in this request that have none of their own."},
    )
    async def send_clicks(
        caller: Member | Guest, request: Request, client: Client, body: ClickBody | list[ClickBody]
    ) -> RecordedClicksView:
        """Record a click, or a list of up to 1,000: all of them, or none.

        With a key for each, or one in the header, a request that may have failed can be sent again until it
        succeeds: nothing counts twice within seven days. A time may lie 48 hours back and 5 minutes ahead. What
        happens to a link is counted by the server itself, so a click with a `target` is a press.

        A guest's click counts once, and not for the whole site. A list of a guest has up to 50, and guests of one
        network send up to 500 a day.
        """
        sent = body if isinstance(body, list) else [body]
        poster = _poster(caller, client)
        asked = _asked(poster, sent, _key_of(request))
        return RecordedClicksView(clicks=[recorded_view(each) for each in await post(clicks, poster, asked)])

    @router.get("/clicks", raises=(Forbidden, ReservedId))
    async def list_clicks(caller: Member | Guest, query: ClicksQuery) -> ClicksView:
        """See your clicks, the newest first; administrators see anybody's."""
        poster = _poster(caller)
        user_id = _named(query.user_id, poster)
        check_about(poster, user_id)
        return clicks_view(
            await click_list.clicks_of(clicks, user_id, query.first, query.last, limit=query.limit, cursor=query.cursor)
        )

    @router.get("/clicks/days/{day}")
    async def list_clicks_of_day(_admin: Admin, day: date, query: PageQuery) -> ClicksView:
        """See everybody's clicks of a UTC day, the newest first."""
        return clicks_view(await click_list.clicks_on(clicks, day, limit=query.limit, cursor=query.cursor))

    @router.get("/clicks/stats/days/{day}")
    async def read_day_stat(_admin: Admin, day: date) -> StatView:
        """See the clicks and different people of a UTC day, on the whole site."""
        return stat_view(await click_list.day_stat(clicks, day))

    @router.get("/clicks/stats/months/{month}")
    async def read_month_stat(_admin: Admin, month: Month) -> StatView:
        """See the clicks and different people of a UTC month, on the whole site.

        Somebody who came on several days is one person in it.
        """
        return stat_view(await click_list.month_stat(clicks, month))

    @router.get("/clicks/stats/total")
    async def read_total_stat(_admin: Admin) -> StatView:
        """See the number of clicks of all time, on the whole site."""
        return stat_view(await click_list.total_stat(clicks))

    @router.post("/clicks/rebuild", raises=(PeriodGone, Conflict, Unavailable, Forbidden))
    async def rebuild_period(_admin: Admin, body: RebuildBody) -> RebuiltView:
        """Count a day or a month again from its clicks, should a figure be in doubt.

        If you are not sure that a figure is wrong, this does no harm: what is right stays as it is.
        """
        rebuilt = await clicks.recorder.rebuild(_period(body))
        before, after = (CountView(clicks=each.clicks, people=each.people) for each in (rebuilt.before, rebuilt.after))
        return RebuiltView(before=before, after=after)

    @router.delete("/clicks/people/{user_id}", raises=(Forbidden, ReservedId))
    async def erase_clicks_of(caller: Member | Guest, user_id: str) -> ErasedView:
        """Erase all clicks of a person: your own or, as an administrator, anybody's. Sums stay as they were counted."""
        check_about(_poster(caller), user_id)
        return ErasedView(erased=await erase_person(clicks, user_id))

    return router


def seed_route(clicks: Clicks) -> Router:
    """The address that pages use which were made for it: as a member, as a guest, or from a site of a counter."""
    router = Router("clicks", headers=OPEN_HEADERS)

    @router.post(
        "/quitItToday",
        open_to_sites=True,
        raises=(*_REFUSALS, CounterUnknown, OriginNotAllowed),
        sends={IDEMPOTENCY_KEY: "A press with a token that is sent again with the same key counts once."},
    )
    async def quit_it_today(
        caller: Stranger | Member | Guest, client: Client, request: Request, body: PressBody
    ) -> PressView:
        """Say that you stay off something today: a press, with what it is as its label.

        If an administrator has named a counter for it, pages of its sites may send this without a token. Readers who
        have asked their browser not to be counted are thanked, and not counted.
        """
        if isinstance(caller, Stranger):
            recorded = await _pressed_on_page(clicks, client, request, body)
        else:
            poster = _poster(caller, client)
            press = NewClick(user_id=_named(body.user_id, poster), label=body.social_media_type, key=_key_of(request))
            (recorded,) = await post(clicks, poster, [press])
        if recorded is None:
            return PressView(success=True, message="Your press was not counted, as your browser asks.", data=None)
        data = PressedView(user_id=recorded.user_id, create_date_time=recorded.created)
        return PressView(success=True, message="Your press was counted.", data=data)

    @router.options("/quitItToday")
    async def may_quit_it_today() -> Reply[None]:
        """What browsers ask before a page of another site may send JSON."""
        return Reply(None, headers=PREFLIGHT_HEADERS)

    return router


async def _pressed_on_page(clicks: Clicks, client: Client, request: Request, body: PressBody) -> Recorded | None:
    if not clicks.quit_counter or "origin" not in request.headers:
        raise Unauthenticated("Sign in to do this.")
    event = event_of("press", client, request, label=body.social_media_type, user_id=body.user_id)
    return await counter_press.press(clicks, clicks.quit_counter, event)


def _poster(caller: Member | Guest, client: Client | None = None) -> Poster:
    """`client` is given by those who count."""
    if isinstance(caller, Guest):
        return Poster(f"{GUEST}{caller.id}", is_admin=False, address=client.address if client else None)
    return Poster(caller.user_id, is_admin=caller.admin)


def _named(user_id: str | None, poster: Poster) -> str:
    """Whose click is meant. An empty id is refused later."""
    return poster.user_id if user_id is None else user_id


def _key_of(request: Request) -> str | None:
    key = request.headers.get(IDEMPOTENCY_KEY)
    if key is not None:
        # An empty key would make all requests that have it the same request.
        check_text(IDEMPOTENCY_KEY, key, MAX_KEY_CHARACTERS - len(f"/{MAX_CLICKS_AT_ONCE - 1}"))
    return key


def _asked(poster: Poster, sent: Sequence[ClickBody], key: str | None) -> list[NewClick]:
    return [
        NewClick(
            user_id=_named(click.user_id, poster),
            at=click.create_date_time,
            count=click.click_count,
            kind=click.kind,
            target=click.target,
            label=click.label,
            key=f"{key}/{place}" if click.key is None and key is not None else click.key,
        )
        for place, click in enumerate(sent)
    ]


def _period(body: RebuildBody) -> Period:
    if body.day is not None and body.month is None:
        return Period.of_day(body.day)
    if body.month is not None and body.day is None:
        return Period.of_month(*map(int, body.month.split("-")))
    raise CombinationUnfit("Send either a day, such as 2025-10-02, or a month, such as 2025-10.")
