"""Creates a link to a thing of the caller, with its conditions."""

import hashlib
import math
from dataclasses import astuple, dataclass, replace

from satchel.features.links.model import (
    DOWNLOADABLE,
    LONGEST_LIFE,
    MAX_ID_CHARACTERS,
    Alias,
    AliasTaken,
    LinkId,
    OwnerId,
    check_alias,
    check_name,
    check_note,
    check_password,
    new_token,
)
from satchel.features.links.records import ALIAS, GIVEN, LINK, POINTER, POINTER_BY_THING, AliasRow, LinkRow, pointer_to
from satchel.features.links.service.context import Links
from satchel.kernel.clock import iso
from satchel.kernel.errors import Invalid, NotFound
from satchel.kernel.ids import new_id
from satchel.kernel.linked import ThingKind, ThingLinked
from satchel.kernel.unfit import CombinationUnfit, TimeUnfit
from satchel.stores.patterns.idempotency_key import IdempotencyKey, key_reused
from satchel.stores.patterns.optimistic_update import NEW
from satchel.stores.ports.table import TransactionCancelled, Write

# The expiry of a link that never expires.
NEVER = math.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """The target and conditions of a new link. An empty text or zero is no condition."""

    kind: ThingKind
    thing_id: str
    name: str = ""
    note: str = ""
    password: str = ""
    expires_at: float = NEVER
    starts_at: float = NEVER
    alias: str = ""
    downloads: int = 0
    max_bytes: int = 0
    may_add: bool = False


async def give(links: Links, owner_id: OwnerId, wish: Wish, idempotency_key: str | None = None) -> LinkId:
    """Create a link in one transaction, so that it is complete or does not exist. With a key, what the key became."""
    if idempotency_key is None:
        return await _give(links, owner_id, wish, LinkId(new_id(links.clock)))
    key = IdempotencyKey(links.ephemeral, GIVEN(owner_id=owner_id, key=idempotency_key))
    claimed = f"{new_id(links.clock)} {_order(wish)}"
    link_id, order = (await key.claim(claimed) or claimed).split()
    if order != _order(wish):
        raise key_reused()
    if await POINTER.get(links.tables, owner_id=owner_id, link_id=link_id) is not None:
        return LinkId(link_id)
    try:
        return await _give(links, owner_id, wish, LinkId(link_id))
    except TransactionCancelled:
        # The same request was done beside us, or the store has to be asked again.
        if await POINTER.get(links.tables, owner_id=owner_id, link_id=link_id) is None:
            raise
        return LinkId(link_id)
    except (Invalid, NotFound, AliasTaken):
        await key.release()
        raise


async def _give(links: Links, owner_id: OwnerId, wish: Wish, link_id: LinkId) -> LinkId:
    known = 0 < len(wish.thing_id) <= MAX_ID_CHARACTERS
    thing = await links.things[wish.kind].describe(owner_id, wish.thing_id) if known else None
    if thing is None:
        raise NotFound("You have no such file, folder, album, photo, score or room to link to.", field="thing")
    link = LinkRow(
        token=new_token(),
        link_id=link_id,
        owner_id=owner_id,
        kind=wish.kind,
        thing_id=wish.thing_id,
        thing_name=thing.name,
        created_at=links.now(),
        name=check_name(wish.name),
        note=check_note(wish.note),
        expires_at=(end := check_end(links, wish.expires_at)),
        starts_at=check_start(links, wish.starts_at, end),
        alias=check_alias(wish.alias),
        downloads_limit=check_downloads(wish.kind, wish.downloads),
        max_bytes=check_max_bytes(wish.kind, wish.max_bytes),
        may_add=check_may_add(wish.kind, may_add=wish.may_add),
        # Last, since it is the only expensive step.
        password=await hash_of(links, wish.password),
    )
    pointer = pointer_to(link)
    writes: list[Write] = [LINK.put(link, when=NEW), POINTER.put(pointer, when=NEW), POINTER_BY_THING.put(pointer)]
    if link.alias:
        writes.append(ALIAS.put(AliasRow(alias=Alias(link.alias), token=link.token), when=NEW))
    try:
        await links.tables.transact(writes)
    except TransactionCancelled:
        await check_alias_free(links, link)
        raise
    await links.events.publish(ThingLinked(owner_id, wish.kind, wish.thing_id))
    return link_id


def _order(wish: Wish) -> str:
    """The digest of what is asked for, without the password: a plain digest could be guessed."""
    return hashlib.sha256(repr(astuple(replace(wish, password=""))).encode()).hexdigest()


def check_end(links: Links, moment: float) -> str:
    """The stored form of an expiry."""
    now = links.clock()
    if moment == NEVER:
        return ""
    if not now < moment <= now + LONGEST_LIFE.total_seconds():
        raise TimeUnfit("Choose a time in the future, within a hundred years.", field="expires_at")
    return iso(moment)


def check_start(links: Links, moment: float, end: str) -> str:
    """The stored form of the time before which a link does not open; empty for none."""
    if moment == NEVER:
        return ""
    if moment > links.clock() + LONGEST_LIFE.total_seconds():
        raise TimeUnfit("Choose a time within a hundred years.", field="starts_at")
    start = iso(moment)
    if end and end <= start:
        raise TimeUnfit(
            "A link cannot expire before it opens. Choose an earlier start, or a later end.", field="starts_at"
        )
    return start


async def check_alias_free(links: Links, link: LinkRow) -> None:
    """Raise `AliasTaken` if the alias of this link is another's."""
    known = await ALIAS.get(links.tables, alias=Alias(link.alias)) if link.alias else None
    if known is not None and known.token != link.token:
        raise AliasTaken("Another link has this alias. Choose another word.", field="alias")


def check_downloads(kind: ThingKind, downloads: int) -> int:
    if downloads and kind not in DOWNLOADABLE:
        raise CombinationUnfit("Only links to files, folders and albums can have a download limit.", field="downloads")
    return downloads


def check_max_bytes(kind: ThingKind, max_bytes: int) -> int:
    if max_bytes and kind not in ("request", "album"):
        raise CombinationUnfit("Only a link that asks for files can have a size limit.", field="max_bytes")
    return max_bytes


def check_may_add(kind: ThingKind, *, may_add: bool) -> bool:
    if may_add and kind != "album":
        raise CombinationUnfit(
            "Only to albums can visitors add photos. To ask for other files, link to a folder.", field="may_add"
        )
    return may_add


async def hash_of(links: Links, password: str) -> str:
    return await links.passwords.hash(check_password(password), "") if password else ""
