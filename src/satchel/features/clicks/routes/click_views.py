"""What clients send and see of clicks, under the seed's names."""

from typing import Annotated

import msgspec

from satchel.edge.api.endpoints import Body
from satchel.edge.api.fields import TimeWithZone
from satchel.features.clicks.model import (
    MAX_COUNT,
    MAX_ID_CHARACTERS,
    MAX_KEY_CHARACTERS,
    MAX_LABEL_CHARACTERS,
    Recorded,
)
from satchel.features.clicks.records import ClickRow
from satchel.kernel.counted import Kind
from satchel.stores.ports.table import Item
from satchel.stores.schema import RecordPage

Who = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_ID_CHARACTERS)]
Label = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_LABEL_CHARACTERS)]


class ClickBody(Body, frozen=True, kw_only=True, rename="camel"):
    """A click.

    Without `userId` it is your own, without `createDateTime` it happens now. `clickCount` says for how many clicks it
    stands. `target` is the id of a link of yours. Sent again with the same `key`, it is the same click.
    """

    user_id: Who | None = None
    create_date_time: TimeWithZone | None = None
    click_count: Annotated[int, msgspec.Meta(ge=1, le=MAX_COUNT)] = 1
    kind: Kind = "press"
    target: Annotated[str, msgspec.Meta(min_length=1, max_length=64)] | None = None
    label: Label | None = None
    key: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_KEY_CHARACTERS)] | None = None


class PressBody(Body, frozen=True, kw_only=True, rename="camel"):
    """Whose press it is, if not yours, and what they stay off today."""

    user_id: Who | None = None
    social_media_type: Label


class RecordedView(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Where a click is stored; `repeated` if it had been stored before."""

    user_id: str
    create_date_time: str
    repeated: bool


class RecordedClicksView(msgspec.Struct, frozen=True, kw_only=True):
    """The clicks in the order in which they were sent."""

    clicks: list[RecordedView]


class PressedView(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Where a press is stored."""

    user_id: str
    create_date_time: str


class PressView(msgspec.Struct, frozen=True, kw_only=True):
    """That a press was counted, and where; no data if the browser asks not to count its reader."""

    success: bool
    message: str
    data: PressedView | None


class ClickView(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A click as it is stored."""

    user_id: str
    create_date_time: str
    click_count: int
    date_key: str
    record_sort: str
    kind: Kind = "press"
    target: str | None = None
    thing: str | None = None
    label: str | None = None


class ClicksView(msgspec.Struct, frozen=True, kw_only=True):
    """Some clicks, and the cursor of those that follow, if there are more."""

    clicks: list[ClickView]
    cursor: str | None


class StatView(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What a UTC day, a UTC month or all time comes to, as it is stored; of all time without people."""

    user_id: str
    create_date_time: str
    total_clicks: int
    unique_users: int | None = None
    date_key: str
    record_sort: str


def recorded_view(recorded: Recorded) -> RecordedView:
    return RecordedView(user_id=recorded.user_id, create_date_time=recorded.created, repeated=recorded.repeated)


def clicks_view(page: RecordPage[ClickRow]) -> ClicksView:
    return ClicksView(
        clicks=[
            ClickView(
                user_id=row.user_id,
                create_date_time=row.created,
                click_count=row.count,
                date_key=row.date_key,
                record_sort=row.record_sort,
                kind=row.kind,
                target=row.target,
                thing=row.thing,
                label=row.label,
            )
            for row in page.records
        ],
        cursor=page.cursor,
    )


def stat_view(item: Item) -> StatView:
    return msgspec.convert(item, StatView)
