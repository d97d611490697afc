"""What a server says of clicks and statistics, as far as the command reads it."""

from typing import Literal

import msgspec

Kind = Literal["press", "open", "view", "download", "upload"]


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """How often in all and of each kind, and by how many different people; None where that is not known."""

    clicks: int
    people: int | None
    press: int
    open: int
    view: int
    download: int
    upload: int


class Day(Figures, frozen=True, kw_only=True):
    """A day of the zone that was asked for."""

    day: str

    @property
    def period(self) -> str:
        return self.day


class Month(Figures, frozen=True, kw_only=True):
    """A month of UTC."""

    month: str

    @property
    def period(self) -> str:
        return self.month


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """Where things stand."""

    total: Figures
    today: Figures
    yesterday_so_far: Figures
    yesterday: Figures
    month: Month
    previous_month: Month
    last_at: str | None
    today_is: str


class Days(msgspec.Struct, frozen=True):
    """Every day from the first to the last; while `people_pending`, asking again tells more."""

    days: list[Day]
    people_pending: bool


class Months(msgspec.Struct, frozen=True):
    """Every month from the first to the last."""

    months: list[Month]


class Ranked(Figures, frozen=True, kw_only=True):
    """A link, or a thing that is shared."""

    scope: str
    name: str
    last_at: str | None


class Ranking(msgspec.Struct, frozen=True):
    """The most opened first."""

    links: list[Ranked]
    things: list[Ranked]


class Click(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
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


class Clicks(msgspec.Struct, frozen=True):
    """A page of them."""

    clicks: list[Click]
    cursor: str | None


class Stat(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A row of statistics as it is stored."""

    user_id: str
    create_date_time: str
    total_clicks: int
    unique_users: int | None = None
    date_key: str
    record_sort: str


class RecordedClick(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Where a click is stored; `repeated` if it had been stored before."""

    user_id: str
    create_date_time: str
    repeated: bool


class RecordedClicks(msgspec.Struct, frozen=True):
    """In the order in which they were sent."""

    clicks: list[RecordedClick]


class Count(msgspec.Struct, frozen=True):
    """How many clicks, by how many different people."""

    clicks: int
    people: int


class Rebuilt(msgspec.Struct, frozen=True):
    """What a period came to before it was counted again, and what it comes to now."""

    before: Count
    after: Count


class Erased(msgspec.Struct, frozen=True):
    """How many clicks are gone."""

    erased: int
