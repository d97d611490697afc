"""Finds a link by its token or by its owner, and computes its state."""

import re
from dataclasses import dataclass

import msgspec

from satchel.features.links.model import (
    MAX_ID_CHARACTERS,
    TOKEN_CHARACTERS,
    LinkExpired,
    LinkId,
    LinkNotYet,
    LinkPaused,
    LinkRevoked,
    LinkTargetGone,
    LinkUnknown,
    LinkUsedUp,
    OwnerId,
    State,
    Token,
    check_alias,
)
from satchel.features.links.records import ALIAS, LINK, POINTER, LinkRow
from satchel.features.links.service.context import Links
from satchel.kernel.errors import Invalid, SatchelError
from satchel.kernel.linked import LinkedThing

_TOKEN = re.compile(rf"[A-Za-z0-9_-]{{{TOKEN_CHARACTERS}}}")
_UNKNOWN = "This link does not exist. Check the address, or ask for it again."
_REFUSALS: dict[State, tuple[type[SatchelError], str]] = {
    "not-yet": (LinkNotYet, "This link does not open yet. Come back later, or ask its owner when."),
    "paused": (LinkPaused, "This link is paused. Try again later, or ask its owner."),
    "expired": (LinkExpired, "This link has expired. Ask its owner for a new one."),
    "used-up": (LinkUsedUp, "This link has reached its download limit. Ask its owner for a new one."),
    "revoked": (LinkRevoked, "This link was revoked. Ask its owner for a new one."),
    "gone": (LinkTargetGone, "The content of this link no longer exists. Ask its owner."),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Usable:
    """A link that works now, its target, and the name of its owner."""

    link: LinkRow
    thing: LinkedThing
    shared_by: str


def is_token(written: str) -> bool:
    return _TOKEN.fullmatch(written) is not None


async def token_of(links: Links, written: str) -> Token | None:
    """The token that stands in an address, or that its alias leads to."""
    if is_token(written):
        return Token(written)
    try:
        alias = check_alias(written)
    except Invalid:
        return None
    row = await ALIAS.get(links.tables, alias=alias) if alias else None
    return None if row is None else row.token


async def find_link(links: Links, token: str) -> LinkRow:
    """A link in any state, by its token or its alias."""
    found = await token_of(links, token)
    link = None if found is None else await LINK.get(links.tables, token=found)
    if link is None:
        raise LinkUnknown(_UNKNOWN)
    return link


async def find_own(links: Links, owner_id: OwnerId, link_id: str) -> LinkRow:
    """A link, for its owner. For everybody else it does not exist."""
    known = 0 < len(link_id) <= MAX_ID_CHARACTERS
    pointer = await POINTER.get(links.tables, owner_id=owner_id, link_id=LinkId(link_id)) if known else None
    link = None if pointer is None else await LINK.get(links.tables, token=pointer.token)
    if link is None:
        raise LinkUnknown("You have no such link.")
    return link


def state_of(link: LinkRow, thing: LinkedThing | None, now: str) -> State:
    """The state of a link: the most final obstacle first."""
    if link.revoked_at:
        return "revoked"
    if thing is None:
        return "gone"
    if link.expires_at and link.expires_at <= now:
        return "expired"
    if link.downloads_limit and link.downloads_used >= link.downloads_limit:
        return "used-up"
    if link.paused_at:
        return "paused"
    return "not-yet" if link.starts_at > now else "active"


async def usable(links: Links, token: Token | str, *, counted: bool = False, even_used_up: bool = False) -> Usable:
    """A link that works. Each other state raises its own error. `counted` also counts the contents of a folder."""
    link = await find_link(links, token)
    owner = await links.people.by_id(link.owner_id)
    things = links.things[link.kind]
    thing = None if owner is None else await things.describe(link.owner_id, link.thing_id, counted=counted)
    limited = msgspec.structs.replace(link, downloads_limit=0) if even_used_up else link
    state = state_of(limited, thing, links.now())
    if owner is None or thing is None or state != "active":
        kind, detail = _REFUSALS[state]
        raise kind(detail)
    return Usable(link=link, thing=thing, shared_by=owner.name)
