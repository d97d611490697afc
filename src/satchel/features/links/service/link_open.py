"""What a visitor may know of a link before anything counts. Before the password, not even the content's name."""

from dataclasses import dataclass

from satchel.features.links.model import WITH_MANY_FILES
from satchel.features.links.records import LinkRow
from satchel.features.links.service import passes
from satchel.features.links.service.context import Links
from satchel.features.links.service.link_enter import Visitor, find_usable, list_files
from satchel.features.links.service.visit_count import count_robot
from satchel.kernel.linked import LinkedFiles, LinkedThing

# What is in these is seen before anything counts: so many files, and the rest once somebody wants it.
_SEEN_AHEAD = ("file", "folder", "selection")
MOST_AHEAD = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Landing:
    """A link that works, and its target, if the visitor may know it. `entered` with a valid pass."""

    link: LinkRow
    thing: LinkedThing | None
    shared_by: str
    entered: bool

    @property
    def downloads_left(self) -> int | None:
        limit = self.link.downloads_limit
        return max(0, limit - self.link.granted) if limit else None


async def look(links: Links, token: str, visitor: Visitor, shown: str) -> Landing:
    """A robot that looks is counted, and so is what looks beforehand."""
    found = await find_landing(links, token, visitor, shown)
    if visitor.is_nobody:
        await count_robot(links, found.link, visitor.address)
    return found


async def list_ahead(links: Links, found: Landing) -> LinkedFiles | None:
    """The first files, which people see before they enter; names count as nothing."""
    link = found.link
    if found.thing is None or link.password or found.entered or link.kind not in _SEEN_AHEAD:
        return None
    return await list_files(links, link, None, MOST_AHEAD)


async def find_landing(links: Links, token: str, visitor: Visitor, shown: str = "") -> Landing:
    found = await find_usable(links, token, visitor, shown)
    link = found.link
    entered = bool(shown) and passes.is_valid(links, link, shown)
    thing = found.thing if entered or not link.password else None
    if thing is not None and link.kind in WITH_MANY_FILES:
        thing = await links.things[link.kind].describe(link.owner_id, link.thing_id, counted=True)
    return Landing(link=link, thing=thing, shared_by=found.shared_by, entered=entered)
