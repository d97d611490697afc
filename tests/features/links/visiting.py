"""Somebody who comes by a link, and what was counted of it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import httpx

from satchel.features.accounts.service.passwords import Passwords
from satchel.features.clicks.adapters import LinkCounts, Visitors, count_stated
from satchel.features.clicks.events import SiteWatchers
from satchel.features.clicks.limits import ClickLimits, PageLimits
from satchel.features.clicks.service.click_record import recorder_for
from satchel.features.clicks.service.context import Clicks
from satchel.features.links.adapters import LinkTargets
from satchel.features.links.limits import LinkLimits
from satchel.features.links.records import LINK, LinkRow
from satchel.features.links.service.context import Links
from satchel.features.links.service.download_endings import end_interrupted
from satchel.features.links.service.download_grants import LINKS
from satchel.features.shelf.adapters import AskingFolders, LinkedFolders, LinkedShelfFiles
from satchel.kernel.counted import Counted
from satchel.kernel.events import Events
from satchel.kernel.signature import Signer
from satchel.outbox import Outbox
from tests.application import Caller, Satchel
from tests.features.links.given import read
from tests.features.shelf.given import shelf_of
from tests.uploads.given import SENDS, TUS, pairs

AGENT = "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0"
PREVIEWER = "WhatsApp/2.23.20.0"


@dataclass
class Visitor:
    """A browser that has a link; after `enter` it shows its pass."""

    caller: Caller
    token: str
    headers: dict[str, str] = field(default_factory=lambda: {"user-agent": AGENT})
    shown: str = ""

    async def __call__(self, method: str, path: str = "", **options: Any) -> httpx.Response:
        headers = {**self.headers, **options.pop("headers", {})}
        if self.shown:
            options["params"] = {"pass": self.shown, **options.get("params", {})}
        return await self.caller(method, f"/open/{self.token}{path}", headers=headers, **options)

    async def enter(self, password: str | None = None, *, work: str = "") -> httpx.Response:
        headers = {"satchel-work": work} if work else {}
        answer = await self("POST", "/enter", json={} if password is None else {"password": password}, headers=headers)
        if answer.is_success:
            self.shown = answer.json()["pass"]
        return answer

    async def entered(self, password: str | None = None) -> dict[str, Any]:
        answer = await self.enter(password)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def look(self) -> dict[str, Any]:
        answer = await self("GET")
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def begin_upload(self, size: int, **about: str) -> httpx.Response:
        metadata = pairs(destination="link", link=self.token, **{"pass": self.shown}, **about)
        headers = {**TUS, "upload-length": str(size), "upload-metadata": metadata}
        return await self.caller("POST", "/uploads", headers=headers)

    async def upload(self, content: bytes, **about: str) -> httpx.Response:
        """The last answer: to the bytes, or to what was said of them."""
        begun = await self.begin_upload(len(content), **about)
        if not begun.is_success:
            return begun
        address = begun.headers["location"].removeprefix("/api/v1")
        return await self.caller("PATCH", address, content=content, headers={**SENDS, "upload-offset": "0"})


def visitor(
    satchel: Satchel, link: dict[str, Any], address: str = "203.0.113.7", caller: Caller | None = None
) -> Visitor:
    """A stranger, unless a caller is given."""
    return Visitor(caller or satchel.caller(address), link["token"])


async def counted(owner: Caller, link: dict[str, Any]) -> dict[str, int]:
    """What the owner sees to have been counted."""
    seen = await read(owner, link)
    return {name: seen[name] for name in ("opens", "people", "downloads", "downloads_used", "previews")}


def figures(**some: int) -> dict[str, int]:
    return {"opens": 0, "people": 0, "downloads": 0, "downloads_used": 0, "previews": 0} | some


async def stored(satchel: Satchel, link: dict[str, Any]) -> LinkRow:
    row = await LINK.get(satchel.stores.tables, token=link["token"])
    assert row is not None
    return row


@dataclass(frozen=True)
class Somebody:
    """Whoever is asked for has an account."""

    person_id: str
    name: str = "ann"


class Everybody:
    """All people there could be."""

    async def by_id(self, user_id: str) -> Somebody:
        return Somebody(user_id)


@asynccontextmanager
async def links_on(satchel: Satchel) -> AsyncGenerator[Links]:
    """The slice on the stores of a running Satchel, for what cannot be seen over HTTP."""
    stores, clock, shelf = satchel.stores, satchel.clock, shelf_of(satchel)
    asking = AskingFolders(shelf)
    clicks = Clicks(
        tables=stores.tables,
        clock=clock,
        recorder=recorder_for(
            tables=stores.tables, bulk=stores.bulk, ephemeral=stores.ephemeral, clock=clock, kept_for=None
        ),
        targets=LinkTargets(stores.tables, {}),
        calls=ClickLimits(stores.ephemeral),
        page_limits=PageLimits(stores.ephemeral),
        visitors=Visitors(stores.tables, clock),
        watchers=SiteWatchers(stores.ephemeral, clock),
        kept_for=None,
    )
    events = Events()
    events.on(Counted, partial(count_stated, clicks))
    outbox = Outbox(tables=stores.tables, ephemeral=stores.ephemeral, clock=clock, count=events.deliver)
    links = Links(
        tables=stores.tables,
        objects=stores.objects,
        ephemeral=stores.ephemeral,
        clock=clock,
        pictures=shelf.pictures,
        signer=Signer(b"s" * 32),
        things={"file": LinkedShelfFiles(shelf), "folder": LinkedFolders(shelf), "request": asking},
        inboxes={"request": asking},
        people=Everybody(),
        passwords=Passwords(),
        figures=LinkCounts(clicks),
        visitors=Visitors(stores.tables, clock),
        events=events,
        outbox=outbox,
        limits=LinkLimits(stores.ephemeral, Signer(b"s" * 32), clock),
    )
    outbox.ends[LINKS] = partial(end_interrupted, links)
    try:
        yield links
    finally:
        await clicks.recorder.close()
