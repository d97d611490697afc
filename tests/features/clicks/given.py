"""Clicks on embedded stores without a server around them, and brute-force recounts to compare figures with."""

from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from satchel.config import Settings
from satchel.features.clicks.events import SiteWatchers
from satchel.features.clicks.limits import ClickLimits, PageLimits
from satchel.features.clicks.model import KINDS, NewClick
from satchel.features.clicks.service.click_record import record, recorder_for
from satchel.features.clicks.service.context import Clicks
from satchel.features.clicks.service.counts import Figures
from satchel.features.clicks.service.unique_people import Visitors
from satchel.kernel.clock import ManualClock, from_iso, iso
from satchel.kernel.counted import Kind
from satchel.stores.connect import bulk_of, open_ephemeral, open_tables
from satchel.stores.ports.ephemeral import Ephemeral
from satchel.tables import CLICKS, COUNTS

OWNER = "ann"
TOLD_WITHIN = timedelta(hours=40).total_seconds()


@dataclass(frozen=True)
class Title:
    """A link of somebody."""

    link_id: str
    name: str
    thing: str
    thing_name: str


@dataclass
class Links:
    """Links that were given, by owner, and badges."""

    given: dict[str, list[Title]] = field(default_factory=dict[str, list[Title]])
    badges: dict[str, str] = field(default_factory=dict[str, str])

    async def thing_of(self, owner_id: str, target: str) -> str | None:
        return next((each.thing for each in self.given.get(owner_id, ()) if each.link_id == target), None)

    async def has_thing(self, owner_id: str, thing: str) -> bool:
        return any(each.thing == thing for each in self.given.get(owner_id, ()))

    async def titles(self, owner_id: str, at_most: int) -> Sequence[Title]:
        return self.given.get(owner_id, [])[:at_most]

    async def link_of_badge(self, badge_id: str) -> str | None:
        return self.badges.get(badge_id)


@asynccontextmanager
async def counting(
    folder: Path,
    clock: ManualClock,
    *,
    kept_for: timedelta | None = None,
    links: Links | None = None,
    ephemeral: Ephemeral | None = None,
) -> AsyncGenerator[Clicks]:
    settings = Settings(data=folder)
    folder.mkdir(parents=True, exist_ok=True)
    tables = await open_tables(settings, clock)
    ephemeral = ephemeral or await open_ephemeral(settings, clock)
    await tables.create(CLICKS, COUNTS)
    recorder = recorder_for(tables=tables, bulk=bulk_of(tables), ephemeral=ephemeral, clock=clock, kept_for=kept_for)
    try:
        yield Clicks(
            tables=tables,
            clock=clock,
            recorder=recorder,
            targets=links or Links(),
            calls=ClickLimits(ephemeral),
            page_limits=PageLimits(ephemeral),
            visitors=Visitors(tables, clock),
            watchers=SiteWatchers(ephemeral, clock),
            kept_for=kept_for,
        )
    finally:
        await recorder.close()
        await ephemeral.close()
        await tables.close()


def at(written: str, zone: str = "UTC") -> float:
    return datetime.fromisoformat(written).replace(tzinfo=ZoneInfo(zone)).timestamp()


async def click(
    clicks: Clicks, clock: ManualClock, when: float, user_id: str = "u", kind: Kind = "open", **more: object
) -> None:
    """A click at that moment, at which the clock then stands if it stood before."""
    clock.now = max(clock.now, when)
    fields = {"owner": OWNER, "target": "l", "thing": "file:f", **more}
    await record(clicks, [NewClick(user_id=user_id, at=iso(when), kind=kind, **fields)])  # type: ignore[arg-type]


@dataclass(frozen=True)
class Past:
    """A click that has happened, for recounts."""

    when: float
    user_id: str
    kind: Kind
    count: int = 1
    owner: str = OWNER

    @property
    def moment(self) -> float:
        """As it is stored, in milliseconds."""
        return from_iso(iso(self.when))


async def happen(clicks: Clicks, clock: ManualClock, past: Iterable[Past]) -> None:
    """Clicks of the past, told in as few calls as their times allow."""
    waiting = sorted(past, key=lambda one: one.when)
    while waiting:
        some = [each for each in waiting if each.when <= waiting[0].when + TOLD_WITHIN]
        clock.now = max(clock.now, some[-1].when)
        new = [
            NewClick(
                user_id=each.user_id,
                at=iso(each.when),
                kind=each.kind,
                count=each.count,
                owner=each.owner,
                target="l",
                thing="file:f",
            )
            for each in some
        ]
        await record(clicks, new)
        waiting = waiting[len(some) :]


def recounted(past: Iterable[Past]) -> Figures:
    them = list(past)
    kinds: dict[Kind, int] = {kind: sum(each.count for each in them if each.kind == kind) for kind in KINDS}
    return Figures(clicks=sum(kinds.values()), people=len({each.user_id for each in them}), kinds=kinds)


def on_day(past: Iterable[Past], day: date, zone: ZoneInfo) -> list[Past]:
    return [each for each in past if datetime.fromtimestamp(each.moment, zone).date() == day]
