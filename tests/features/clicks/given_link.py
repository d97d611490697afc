"""A link of Bob's in a whole Satchel, and what visitors have done with it."""

from dataclasses import dataclass
from typing import Any

from satchel.features.clicks.events import SiteWatchers
from satchel.features.clicks.limits import ClickLimits, PageLimits
from satchel.features.clicks.model import NewClick
from satchel.features.clicks.service.click_record import record, recorder_for
from satchel.features.clicks.service.context import Clicks
from satchel.features.clicks.service.unique_people import Visitors
from satchel.kernel.clock import iso
from satchel.kernel.counted import Kind
from tests.application import Caller, Satchel
from tests.features.clicks.given import Links
from tests.features.links.given import given_file


@dataclass
class Shared:
    """The link, its owner, and the satchel to count in."""

    satchel: Satchel
    owner: Caller
    link: dict[str, Any]
    clicks: Clicks

    @property
    def thing(self) -> str:
        return f"{self.link['thing']['kind']}:{self.link['thing']['id']}"

    @property
    def scopes(self) -> list[str]:
        return [f"link:{self.link['link_id']}", f"thing:{self.thing}", "mine"]

    async def click(self, user_id: str, kind: Kind = "open", *, ago: float = 0, count: int = 1) -> None:
        """Somebody does something with the link, so many seconds ago."""
        new = NewClick(
            user_id=user_id,
            at=iso(self.satchel.clock() - ago),
            kind=kind,
            count=count,
            owner=self.owner.user_id,
            target=self.link["link_id"],
            thing=self.thing,
        )
        await record(self.clicks, [new])


async def shared_by(satchel: Satchel, owner: Caller) -> Shared:
    stores, clock = satchel.stores, satchel.clock
    clicks = Clicks(
        tables=stores.tables,
        clock=clock,
        recorder=recorder_for(
            tables=stores.tables, bulk=stores.bulk, ephemeral=stores.ephemeral, clock=clock, kept_for=None
        ),
        targets=Links(),
        calls=ClickLimits(stores.ephemeral),
        page_limits=PageLimits(stores.ephemeral),
        visitors=Visitors(stores.tables, clock),
        watchers=SiteWatchers(stores.ephemeral, clock),
        kept_for=None,
    )
    return Shared(satchel, owner, await given_file(satchel, owner), clicks)


async def asked(caller: Caller, path: str, **params: Any) -> Any:
    answer = await caller("GET", f"/stats/{path}", params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()
