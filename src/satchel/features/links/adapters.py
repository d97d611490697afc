"""What other slices ask of links: the owner, the target and the title of a link."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from satchel.features.links.model import MAX_ID_CHARACTERS, LinkId, OwnerId
from satchel.features.links.records import BADGE, LINK, POINTER, POINTER_BY_THING
from satchel.features.links.service.link_find import state_of
from satchel.features.links.service.link_list import names_of
from satchel.kernel.clock import Clock, iso
from satchel.kernel.linked import LinkedThing, ThingKind, Things
from satchel.kernel.searched import Finding, Findings, Seeker, Words
from satchel.stores.ports.table import Tables

_PAGE = 1000


class HasTables(Protocol):
    """Whatever stands on tables."""

    @property
    def tables(self) -> Tables: ...


@dataclass(frozen=True, slots=True)
class TitledLink:
    """A link with the title that its owner sees. `thing` is such as `file:<id>`."""

    link_id: str
    name: str
    thing: str
    thing_name: str


@dataclass(frozen=True, slots=True)
class LinkTargets:
    """Answers questions about links. It needs less than `Links`, which itself depends on the asking slice."""

    tables: Tables
    things: Mapping[ThingKind, Things]
    # Whether somebody has a thing that no link leads to, by its kind.
    counted: Mapping[str, Callable[[str, str], Awaitable[bool]]] = field(default_factory=dict[str, Any])

    async def thing_of(self, owner_id: str, target: str) -> str | None:
        """The target of this person's link. None if they have no such link."""
        known = 0 < len(target) <= MAX_ID_CHARACTERS
        pointer = await POINTER.get(self.tables, owner_id=owner_id, link_id=LinkId(target)) if known else None
        return None if pointer is None else pointer.thing

    async def has_thing(self, owner_id: str, thing: str) -> bool:
        """Whether they have such a thing to link to, or have a link to it, or one that counts on its own."""
        kind, _, thing_id = thing.partition(":")
        if kind in self.counted:
            return await self.counted[kind](owner_id, thing_id)
        things = next((things for known, things in self.things.items() if known == kind), None)
        if things is None or not 0 < len(thing_id) <= MAX_ID_CHARACTERS:
            return False
        if await things.describe(owner_id, thing_id) is not None:
            return True
        given = await POINTER_BY_THING.list(self.tables, owner_id=owner_id, thing=thing, limit=1)
        return bool(given.records)

    async def titles(self, owner_id: str, at_most: int) -> list[TitledLink]:
        """The links of a person, the newest first, including revoked ones."""
        found: list[TitledLink] = []
        cursor: str | None = None
        while len(found) < at_most:
            limit = min(_PAGE, at_most - len(found))
            page = await POINTER.list(self.tables, owner_id=owner_id, descending=True, limit=limit, cursor=cursor)
            items = await self.tables.get_many(LINK.table, [LINK.key(token=each.token) for each in page.records])
            rows = [LINK.read(item) for item in items if item is not None]
            names = await names_of(self.things, OwnerId(owner_id), rows)
            for row in rows:
                thing_name = names.get((row.kind, row.thing_id), row.thing_name)
                found.append(TitledLink(row.link_id, row.name or thing_name, row.thing, thing_name))
            if (cursor := page.cursor) is None:
                break
        return found

    async def link_of_badge(self, badge_id: str) -> str | None:
        """The id of the link with this badge, while its owner has it switched on."""
        known = 0 < len(badge_id) <= MAX_ID_CHARACTERS
        badge = await BADGE.get(self.tables, badge_id=badge_id) if known else None
        return None if badge is None else badge.link_id


@dataclass(frozen=True, slots=True)
class OpenLinks:
    """How many links can be opened now, and whether there are any, for slices that say who sees what."""

    tables: Tables
    clock: Clock

    async def count_open(self, owner: str, things: Sequence[str]) -> dict[str, int]:
        now = iso(self.clock())
        return {thing: await self._count(owner, thing, now) for thing in things}

    async def has_any(self, owner: str, thing: str) -> bool:
        """Whether there is a link in whatever state. Of those revoked long ago nothing is left."""
        return bool((await POINTER_BY_THING.list(self.tables, owner_id=owner, thing=thing, limit=1)).records)

    async def _count(self, owner: str, thing: str, now: str) -> int:
        page = await POINTER_BY_THING.list(self.tables, owner_id=owner, thing=thing, limit=_PAGE)
        items = await self.tables.get_many(LINK.table, [LINK.key(token=each.token) for each in page.records])
        rows = [LINK.read(item) for item in items if item is not None]
        there = LinkedThing(name="")
        return sum(state_of(row, there, now) == "active" for row in rows)


@dataclass(frozen=True, slots=True)
class LinkSearch:
    """Finds one's links by their names and notes, the newest first, for the search over everything."""

    links: HasTables

    async def find(self, seeker: Seeker, words: Words, limit: int) -> Findings:
        tables = self.links.tables
        page = await POINTER.list(tables, owner_id=seeker.user_id, descending=True, limit=_PAGE)
        items = await tables.get_many(LINK.table, [LINK.key(token=each.token) for each in page.records])
        rows = [LINK.read(item) for item in items if item is not None]
        found = [
            Finding(kind="link", id=row.link_id, name=row.name or row.thing_name, detail=row.note)
            for row in rows
            if not row.revoked_at and words.are_in(row.name, row.thing_name, row.note)
        ]
        return Findings(found[:limit], partial=page.cursor is not None and len(found) < limit)
