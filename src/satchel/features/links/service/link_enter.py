"""Let visitors in: with the password once, then with the pass that they get for it; with neither where none is set."""

from dataclasses import dataclass

from satchel.features.links.model import DOWNLOADABLE, LinkPasswordNeeded, LinkPasswordWrong, LinkUnknown
from satchel.features.links.records import LinkRow
from satchel.features.links.service import passes
from satchel.features.links.service.context import Links
from satchel.features.links.service.link_find import Usable, usable
from satchel.features.links.service.passes import Pass
from satchel.features.links.service.visit_count import count
from satchel.kernel.errors import Forbidden
from satchel.kernel.linked import LinkedFiles, LinkedThing


@dataclass(frozen=True, slots=True, kw_only=True)
class Visitor:
    """Whoever comes by a link: `person_id` if they have shown who they are, and where from in any case."""

    person_id: str | None
    address: str
    agent: str
    is_robot: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """Somebody whom a link has let in; without a pass there is no `pass_id`."""

    link: LinkRow
    thing: LinkedThing
    visitor_id: str
    pass_id: str = ""

    @property
    def is_owners(self) -> bool:
        return self.visitor_id == self.link.owner_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Entered:
    """What a visitor gets for entering: a pass, and what can be seen with it."""

    link: LinkRow
    given: Pass
    thing: LinkedThing
    listing: LinkedFiles | None


async def find_usable(links: Links, token: str, visitor: Visitor, *, even_used_up: bool = False) -> Usable:
    """A link that works. Whoever tries tokens that no link has is told so more and more seldom.

    Only wrong ones are refused then. Nobody guesses one of 128 bits, and whoever shares an address with somebody who
    tries must not suffer for it.
    """
    try:
        return await usable(links, token, even_used_up=even_used_up)
    except LinkUnknown:
        await links.limits.count_token(visitor.address)
        raise


async def enter(links: Links, token: str, visitor: Visitor, password: str | None) -> Entered:
    """Counts as one opening."""
    refuse_robots(visitor)
    found = await find_usable(links, token, visitor)
    link = found.link
    if link.password:
        await _check_password(links, link, visitor, password)
    listing = await list_files(links, link, None) if has_files(link) else None
    visitor_id = await identify(links, visitor)
    await count(links, link, visitor_id, "open")
    return Entered(link=link, given=passes.give(links, link, visitor_id), thing=found.thing, listing=listing)


async def let_in(links: Links, token: str, visitor: Visitor, shown: str, *, even_used_up: bool = False) -> Visit:
    """Somebody with a pass, or anybody if there is no password; `shown` is empty without a pass."""
    refuse_robots(visitor)
    found = await find_usable(links, token, visitor, even_used_up=even_used_up)
    if shown:
        holder = passes.check(links, found.link, shown)
        # To the owner nothing counts, so what they were given is worth no more than any other pass to everybody else.
        is_lent = holder.visitor_id == found.link.owner_id != visitor.person_id
        visitor_id = await identify(links, visitor) if is_lent else holder.visitor_id
        return Visit(link=found.link, thing=found.thing, visitor_id=visitor_id, pass_id=holder.pass_id)
    if found.link.password:
        raise LinkPasswordNeeded("Open the link with its password first.")
    return Visit(link=found.link, thing=found.thing, visitor_id=await identify(links, visitor))


async def list_files(links: Links, link: LinkRow, cursor: str | None) -> LinkedFiles:
    return await links.things[link.kind].files(link.owner_id, link.thing_id, cursor)


def has_files(link: LinkRow) -> bool:
    """Whether there are files to be had; a request only takes them."""
    return link.kind in DOWNLOADABLE


async def identify(links: Links, visitor: Visitor) -> str:
    return visitor.person_id or await links.visitors.visitor_of(visitor.address, visitor.agent)


def refuse_robots(visitor: Visitor) -> None:
    if visitor.is_robot:
        raise Forbidden("Programs that look at links by themselves learn what a link is, and no more.")


async def _check_password(links: Links, link: LinkRow, visitor: Visitor, password: str | None) -> None:
    if not password:
        raise LinkPasswordNeeded("This link opens with a password.")
    await links.limits.check_password(link.token, visitor.address)
    if not await links.passwords.matches(link.password, password):
        await links.limits.count_password(link.token, visitor.address)
        raise LinkPasswordWrong("This is not the password of this link.")
    # Of many that were tried at once, a right one is worth nothing after too many wrong ones.
    await links.limits.check_password(link.token, visitor.address)
