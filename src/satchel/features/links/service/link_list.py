"""Lists the links of a person: target, state and counts."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from satchel.features.links.model import OwnerId, State
from satchel.features.links.needs import LinkFigures
from satchel.features.links.records import LINK, POINTER, POINTER_BY_THING, LinkRow
from satchel.features.links.service.context import Links
from satchel.features.links.service.link_find import find_own, state_of
from satchel.kernel.linked import LinkedThing, ThingKind, Things


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A link as its owner sees it. No `figures` if nothing was counted yet."""

    link: LinkRow
    thing_name: str
    is_there: bool
    state: State
    figures: LinkFigures | None


@dataclass(frozen=True, slots=True)
class GivenPage:
    """A page of links, and the cursor of the next."""

    given: list[Given]
    cursor: str | None


async def list_links(links: Links, owner_id: OwnerId, thing: str | None, limit: int, cursor: str | None) -> GivenPage:
    """The links, the newest first: all of them, or those to one thing such as `file:<id>`."""
    shape = POINTER if thing is None else POINTER_BY_THING
    fields: dict[str, Any] = {"owner_id": owner_id} if thing is None else {"owner_id": owner_id, "thing": thing}
    page = await shape.list(links.tables, **fields, descending=True, limit=limit, cursor=cursor)
    items = await links.tables.get_many(LINK.table, [LINK.key(token=each.token) for each in page.records])
    rows = [LINK.read(item) for item in items if item is not None]
    return GivenPage(await show(links, owner_id, rows), page.cursor)


async def show_link(links: Links, owner_id: OwnerId, link_id: str) -> Given:
    (given,) = await show(links, owner_id, [await find_own(links, owner_id, link_id)])
    return given


async def show(links: Links, owner_id: OwnerId, rows: Sequence[LinkRow]) -> list[Given]:
    """The links with targets and counts, which are read for all of them at once."""
    names, figures = await asyncio.gather(
        names_of(links.things, owner_id, rows), links.figures.figures([row.link_id for row in rows])
    )
    now = links.now()
    return [
        Given(
            link=row,
            thing_name=row.thing_name if name is None else name,
            is_there=name is not None,
            state=state_of(row, None if name is None else LinkedThing(name=name), now),
            figures=figures.get(row.link_id),
        )
        for row in rows
        for name in [names.get((row.kind, row.thing_id))]
    ]


async def names_of(
    things: Mapping[ThingKind, Things], owner_id: OwnerId, rows: Iterable[LinkRow]
) -> dict[tuple[ThingKind, str], str]:
    """The current names of the things that one person's links lead to, as far as they exist."""
    wanted: dict[ThingKind, set[str]] = {}
    for row in rows:
        wanted.setdefault(row.kind, set()).add(row.thing_id)
    found: dict[tuple[ThingKind, str], str] = {}
    for kind, thing_ids in wanted.items():
        names = await things[kind].names(owner_id, sorted(thing_ids))
        found |= {(kind, thing_id): name for thing_id, name in names.items()}
    return found
