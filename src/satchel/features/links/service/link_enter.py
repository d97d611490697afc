"""Lets visitors enter: with the password once, then with the pass. A link without a password needs neither."""

from dataclasses import dataclass

from satchel.features.links.model import WITH_FILES, LinkPasswordNeeded, LinkPasswordWrong, LinkUnknown
from satchel.features.links.records import LinkRow
from satchel.features.links.service import passes
from satchel.features.links.service.context import Links
from satchel.features.links.service.link_find import Usable, find_link, is_token, usable
from satchel.features.links.service.passes import Pass
from satchel.features.links.service.visit_count import Opening, count_opening
from satchel.kernel.errors import Forbidden
from satchel.kernel.linked import FILES_PAGE, LinkedFiles, LinkedThing
from satchel.kernel.visit_source import device_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Visitor:
    """The visitor of a link: `person_id` if they are known, `member_id` if signed in; their network in any case."""

    person_id: str | None
    address: str
    agent: str
    is_robot: bool
    # Nobody looks now; a browser or a page fetches what somebody may look at next.
    is_beforehand: bool = False
    member_id: str | None = None
    # The host of the page from which they came, if they say so.
    referrer: str | None = None
    # A proof of work, for whoever is where others have guessed.
    work: str = ""

    @property
    def is_nobody(self) -> bool:
        return self.is_robot or self.is_beforehand


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """A visitor who has entered. Without a pass there is no `pass_id`."""

    link: LinkRow
    thing: LinkedThing
    visitor_id: str
    address: str | None = None
    pass_id: str = ""

    @property
    def is_owners(self) -> bool:
        return self.visitor_id == self.link.owner_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Entered:
    """What a visitor gets for entering: a pass, and what it opens."""

    link: LinkRow
    given: Pass
    thing: LinkedThing
    listing: LinkedFiles | None


async def find_usable(
    links: Links, token: str, visitor: Visitor, shown: str = "", *, even_used_up: bool = False
) -> Usable:
    """A link that works. Wrong tokens are rate-limited per address.

    Above the limit only wrong tokens are refused. Nobody guesses one of 128 bits, and people who share an address with
    somebody who tries must not suffer for it.
    """
    # A word can be guessed, so here a right one is refused, too, above the limit; not of those who have entered.
    if not is_token(token) and not await has_entered(links, token, shown):
        await links.limits.check_token(visitor.address, visitor.member_id)
    try:
        return await usable(links, token, even_used_up=even_used_up)
    except LinkUnknown:
        await links.limits.count_token(visitor.address, visitor.member_id)
        raise


async def has_entered(links: Links, token: str, shown: str) -> bool:
    """Whether somebody shows a pass for this link that is valid now."""
    try:
        return bool(shown) and passes.is_valid(links, await find_link(links, token), shown)
    except LinkUnknown:
        return False


async def enter(links: Links, token: str, visitor: Visitor, password: str | None, key: str | None = None) -> Entered:
    """Enter a link. Counts as one opening; repeated with the same idempotency key, it does not count again."""
    refuse_nobody(visitor)
    found = await find_usable(links, token, visitor)
    link = found.link
    if link.password:
        await _check_password(links, link, visitor, password)
    listing = await list_files(links, link, None) if has_files(link) else None
    visitor_id = await identify(links, visitor)
    seen = Opening(visitor.address, device_of(visitor.agent), visitor.referrer, key)
    await count_opening(links, link, visitor_id, seen)
    return Entered(link=link, given=passes.give(links, link, visitor_id), thing=found.thing, listing=listing)


async def let_in(links: Links, token: str, visitor: Visitor, shown: str, *, even_used_up: bool = False) -> Visit:
    """A visitor with a pass, or anybody if there is no password. `shown` is empty without a pass."""
    refuse_nobody(visitor)
    return await _let_in(links, token, visitor, shown, even_used_up=even_used_up)


async def look_in(links: Links, token: str, visitor: Visitor, shown: str) -> Visit:
    """Likewise to look at a file, which whoever has entered may do beforehand. Count a look only if it is one."""
    if visitor.is_robot or not shown:
        refuse_nobody(visitor)
    return await _let_in(links, token, visitor, shown)


async def _let_in(links: Links, token: str, visitor: Visitor, shown: str, *, even_used_up: bool = False) -> Visit:
    found = await find_usable(links, token, visitor, shown, even_used_up=even_used_up)
    if shown:
        holder = passes.check(links, found.link, shown)
        # The owner's visits do not count, so for everybody else the owner's pass is like any other.
        is_lent = holder.visitor_id == found.link.owner_id != visitor.person_id
        visitor_id = await identify(links, visitor) if is_lent else holder.visitor_id
        return Visit(
            link=found.link,
            thing=found.thing,
            visitor_id=visitor_id,
            address=visitor.address,
            pass_id=holder.pass_id,
        )
    if found.link.password:
        raise LinkPasswordNeeded("This link needs a password. Open it with the password first.")
    visitor_id = await identify(links, visitor)
    return Visit(link=found.link, thing=found.thing, visitor_id=visitor_id, address=visitor.address)


async def list_files(links: Links, link: LinkRow, cursor: str | None, limit: int = FILES_PAGE) -> LinkedFiles:
    return await links.things[link.kind].files(link.owner_id, link.thing_id, cursor, limit)


def has_files(link: LinkRow) -> bool:
    """Whether there are files to look at. A request link only receives them."""
    return link.kind in WITH_FILES


async def identify(links: Links, visitor: Visitor) -> str:
    return visitor.person_id or await links.visitors.visitor_of(visitor.address, visitor.agent)


def refuse_nobody(visitor: Visitor) -> None:
    if visitor.is_nobody:
        raise Forbidden("Robots can read what a link is, but cannot open it.")


async def _check_password(links: Links, link: LinkRow, visitor: Visitor, password: str | None) -> None:
    if not password:
        raise LinkPasswordNeeded("This link needs a password. Ask its owner for it.")
    right = await links.limits.passwords.is_right(
        link.token,
        visitor.address,
        visitor.work,
        lambda: links.passwords.matches(link.password, password, visitor.address),
    )
    if not right:
        raise LinkPasswordWrong("This password is wrong. Try again.")
