"""The places in a link's limit that are taken and not used up, for its owner: in progress or broken off.

The visitor of a download that was broken off keeps their place, so that they can go on. If they never come back, the
owner gives the place back to everybody.
"""

import hashlib
from dataclasses import dataclass
from typing import Literal

from satchel.features.links.model import OwnerId, PlaceInUse, PlaceUnknown
from satchel.features.links.records import GRANT, GrantRow, LinkRow
from satchel.features.links.service.context import Links
from satchel.features.links.service.download_grants import release
from satchel.features.links.service.grant_rules import alive_answers, gone_bytes, open_places
from satchel.features.links.service.link_find import find_own
from satchel.stores.patterns.optimistic_update import optimistic_update

PlaceState = Literal["in-progress", "broken-off"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A download by one visitor that has begun and not ended. Of `size_bytes`, `gone_bytes` have gone out."""

    place_id: str
    state: PlaceState
    places: int
    gone_bytes: int
    size_bytes: int
    changed_at: str


@dataclass(frozen=True, slots=True)
class PlacePage:
    """Some of the places, and the cursor of the next ones. A page may have none."""

    places: list[Place]
    cursor: str | None


async def list_places(links: Links, owner_id: OwnerId, link_id: str, limit: int, cursor: str | None) -> PlacePage:
    link = await find_own(links, owner_id, link_id)
    page = await GRANT.list(links.tables, token=link.token, limit=limit, cursor=cursor)
    return PlacePage([_place(links, grant) for grant in page.records if open_places(grant)], page.cursor)


@optimistic_update()
async def give_back(links: Links, owner_id: OwnerId, link_id: str, place_id: str) -> None:
    """Let somebody else have the place of a download that was broken off. What went of it counts for nothing."""
    link = await find_own(links, owner_id, link_id)
    grant = await _find(links, link, place_id)
    if alive_answers(links, grant):
        raise PlaceInUse("This download is in progress. Wait until it has ended.")
    finished_bytes = grant.finished * grant.size_bytes
    await release(
        links,
        grant,
        open_places(grant),
        sent_bytes=finished_bytes,
        lost_bytes=0,
        covered=[],
        covered_bytes=0,
        under_way={},
    )


async def _find(links: Links, link: LinkRow, place_id: str) -> GrantRow:
    cursor: str | None = None
    while True:
        page = await GRANT.list(links.tables, token=link.token, limit=1000, cursor=cursor)
        for grant in page.records:
            if open_places(grant) and _place_id(grant) == place_id:
                return grant
        if (cursor := page.cursor) is None:
            raise PlaceUnknown("This download has ended, or its place was given back.")


def _place(links: Links, grant: GrantRow) -> Place:
    return Place(
        place_id=_place_id(grant),
        state="in-progress" if alive_answers(links, grant) else "broken-off",
        places=open_places(grant),
        gone_bytes=gone_bytes(grant),
        size_bytes=grant.size_bytes,
        changed_at=grant.changed_at,
    )


def _place_id(grant: GrantRow) -> str:
    """Does not tell who the visitor is."""
    return hashlib.sha256(f"{grant.token}#{grant.visitor}#{grant.file_id}".encode()).hexdigest()[:24]
