"""Counters over HTTP: their owner's side, and the one address that pages of other sites send to."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated

import msgspec
from starlette.requests import Request

from satchel.edge.api.addresses import Addresses
from satchel.edge.api.endpoints import Body, Router
from satchel.edge.api.idempotency_key import idempotency_key_of
from satchel.edge.api.validation import json_decoder
from satchel.edge.http.callers import Member
from satchel.edge.http.request_body import stream_body
from satchel.edge.http.request_context import Client
from satchel.features.clicks.model import (
    DEFAULT_DAILY_LIMIT,
    MAX_DAILY_LIMIT,
    MAX_LABEL_CHARACTERS,
    MAX_ORIGINS,
    MAX_PAGE_EVENT_BYTES,
    CounterUnknown,
    OriginNotAllowed,
    TooManyCounters,
)
from satchel.features.clicks.routes.counter_script import SCRIPT_PATH, integrity
from satchel.features.clicks.service import counter_press, counter_undo, page_counters
from satchel.features.clicks.service.context import Clicks
from satchel.features.clicks.service.counter_press import PageEvent, PageKind
from satchel.kernel.clock import iso
from satchel.kernel.errors import TooLarge, TooMany
from satchel.kernel.markup import escape
from satchel.kernel.visit_source import MAX_REFERRER_CHARACTERS
from satchel.stores.patterns.idempotency_key import KeyReused

# Any page may read the answer, since nobody's cookies or tokens are looked at. The origin is checked where it counts.
OPEN_HEADERS = {"access-control-allow-origin": "*"}
PREFLIGHT_HEADERS = {
    "access-control-allow-methods": "POST",
    "access-control-allow-headers": "content-type",
    "access-control-max-age": "86400",
}

Words = Annotated[str, msgspec.Meta(max_length=1000)]
Origins = Annotated[list[Words], msgspec.Meta(max_length=MAX_ORIGINS)]
DailyLimit = Annotated[int, msgspec.Meta(ge=1, le=MAX_DAILY_LIMIT)]
Moment = Annotated[datetime, msgspec.Meta(tz=True)]


class NewCounter(Body, frozen=True, kw_only=True):
    """The sites whose pages may count, such as `https://example.org`, and how many clicks it takes a day."""

    origins: Origins
    name: Words = ""
    daily_limit: DailyLimit = DEFAULT_DAILY_LIMIT


class CounterChange(Body, frozen=True, kw_only=True):
    """What to change; the rest stays."""

    name: Words | None = None
    origins: Origins | None = None
    daily_limit: DailyLimit | None = None


class UndoBody(Body, frozen=True, kw_only=True):
    """From which moment to which, both included; up to 31 days."""

    first: Moment = msgspec.field(name="from")
    last: Moment = msgspec.field(name="to")


class PageClick(Body, frozen=True, kw_only=True):
    """A view of the page, or a press of a button on it, with a word for what was pressed.

    Of `referrer`, the address of the page before, only the host is kept.
    """

    kind: PageKind = "press"
    label: Annotated[str, msgspec.Meta(max_length=MAX_LABEL_CHARACTERS)] | None = None
    referrer: Annotated[str, msgspec.Meta(max_length=MAX_REFERRER_CHARACTERS)] = ""


class CounterView(msgspec.Struct, frozen=True, kw_only=True):
    """A counter as its owner sees it.

    `lines` are for the page: a script, and a button that counts presses. `policy` is what a page's content security
    policy has to allow. `people` are different readers. They are told apart within a month only.
    """

    counter_id: str
    name: str
    origins: list[str]
    daily_limit: int
    created_at: str
    script: str
    integrity: str
    lines: str
    policy: str
    clicks: int
    views: int
    presses: int
    people: int
    last_at: str | None


class CounterList(msgspec.Struct, frozen=True):
    """Your counters, the newest first."""

    counters: list[CounterView]


class TakenBackView(msgspec.Struct, frozen=True):
    """How many clicks are gone."""

    taken_back: int


class CountedView(msgspec.Struct, frozen=True):
    """Whether it was counted. Robots are not, nor readers whose browser asks not to count them."""

    counted: bool


def routes(clicks: Clicks, addresses: Addresses) -> Router:
    router = Router("counters")

    async def show(counter_row: page_counters.CounterRow, request: Request) -> CounterView:
        (counted,) = await page_counters.with_figures(clicks, [counter_row])
        return _view(counted, addresses, request)

    @router.post(
        "/counters",
        status=201,
        raises=(TooManyCounters, KeyReused),
        sends={"Idempotency-Key": "letters, digits, - and _: a retry with the same key is the same counter"},
    )
    async def create_counter(member: Member, body: NewCounter, request: Request) -> CounterView:
        """Create a counter for pages of your own, and see the lines to put there."""
        row = await page_counters.create_counter(
            clicks,
            member.user_id,
            body.name,
            body.origins,
            body.daily_limit,
            idempotency_key=idempotency_key_of(request),
        )
        return await show(row, request)

    @router.get("/counters")
    async def list_counters(member: Member, request: Request) -> CounterList:
        """List your counters, the newest first."""
        found = await page_counters.list_counters(clicks, member.user_id)
        return CounterList([_view(each, addresses, request) for each in found])

    @router.get("/counters/{counter_id}", raises=(CounterUnknown,))
    async def read_counter(member: Member, counter_id: str, request: Request) -> CounterView:
        """Read one of your counters. By the scope `counter:<id>` its figures can be asked for."""
        return await show(await page_counters.find_own_counter(clicks, member.user_id, counter_id), request)

    @router.patch("/counters/{counter_id}", raises=(CounterUnknown,))
    async def change_counter(member: Member, counter_id: str, body: CounterChange, request: Request) -> CounterView:
        """Change its name, its sites, or how many clicks it takes a day."""
        row = await page_counters.change_counter(
            clicks, member.user_id, counter_id, name=body.name, origins=body.origins, daily_limit=body.daily_limit
        )
        return await show(row, request)

    @router.delete("/counters/{counter_id}", raises=(CounterUnknown,))
    async def delete_counter(member: Member, counter_id: str) -> None:
        """Delete a counter. Pages that still have its lines count nothing any more."""
        await page_counters.delete_counter(clicks, member.user_id, counter_id)

    @router.post("/counters/{counter_id}/undo", raises=(CounterUnknown,))
    async def undo_counting(member: Member, counter_id: str, body: UndoBody) -> TakenBackView:
        """Take back what a counter has counted in a range of time, such as what somebody forged or you tried out.

        The clicks are deleted, and every figure is less by them. If you are not sure that it worked, do it again.
        """
        first, last = (iso(moment.timestamp()) for moment in (body.first, body.last))
        return TakenBackView(await counter_undo.undo(clicks, member.user_id, counter_id, first, last))

    return router


def open_routes(clicks: Clicks) -> Router:
    """The address that pages of other sites send to."""
    router = Router("counters", headers=OPEN_HEADERS)

    @router.post(
        "/counters/{counter_id}/clicks",
        open_to_sites=True,
        consumes="text/plain",
        raises=(CounterUnknown, OriginNotAllowed, TooLarge, TooMany),
    )
    async def count_on_page(counter_id: str, client: Client, request: Request) -> CountedView:
        """Count a view of a page, or a press on it: `{"kind": "view"}` or `{"kind": "press", "label": "…"}` as text.

        Anybody may send it from a page of the counter's sites. As plain text it needs no preflight.
        """
        sent = _decode(b"".join([piece async for piece in stream_body(request, MAX_PAGE_EVENT_BYTES)]))
        event = event_of(sent.kind, client, request, label=sent.label, referrer=sent.referrer)
        return CountedView(await counter_press.press(clicks, counter_id, event) is not None)

    return router


_decode = json_decoder(PageClick)


def event_of(
    kind: PageKind,
    client: Client,
    request: Request,
    *,
    label: str | None,
    user_id: str | None = None,
    referrer: str = "",
) -> PageEvent:
    headers: Mapping[str, str] = request.headers
    return PageEvent(
        kind=kind,
        label=label,
        user_id=user_id,
        referrer=referrer,
        address=client.address,
        agent=client.user_agent,
        headers=headers,
    )


def _view(counted: page_counters.Counted, addresses: Addresses, request: Request) -> CounterView:
    row, total = counted.counter, counted.total
    script = addresses.of(SCRIPT_PATH, request)
    origin = script.removesuffix(SCRIPT_PATH)
    return CounterView(
        counter_id=row.counter_id,
        name=row.name,
        origins=row.origins,
        daily_limit=row.daily_limit,
        created_at=row.created_at,
        script=script,
        integrity=integrity(),
        lines=_lines(script, row.counter_id),
        policy=f"script-src {origin}; connect-src {origin}",
        clicks=total.clicks,
        views=total.kind("view"),
        presses=total.kind("press"),
        people=total.people,
        last_at=counted.last_at or None,
    )


def _lines(script: str, counter_id: str) -> str:
    return (
        f'<script src="{escape(script)}" data-counter="{counter_id}" defer\n'
        f'  crossorigin="anonymous" integrity="{integrity()}"></script>\n'
        '<satchel-press label="like" done="Thank you!">I like this</satchel-press>'
    )
