"""Pauses, extends, limits, renames and revokes links, and deletes those that were revoked long ago.

An update writes only the attributes that it changes. So two concurrent updates both hold, and no download that is
counted meanwhile is undone.
"""

from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta

import msgspec

from satchel.features.links.model import (
    Alias,
    BadgeId,
    LinkRevoked,
    OwnerId,
    Token,
    check_alias,
    check_name,
    check_note,
)
from satchel.features.links.records import (
    ALIAS,
    BADGE,
    ENDED,
    ENDED_INDEX,
    ENDED_SORT,
    LINK,
    POINTER,
    POINTER_BY_THING,
    AliasRow,
    BadgeRow,
    EndedRow,
    LinkRow,
)
from satchel.features.links.service.context import STANDING, Links
from satchel.features.links.service.link_find import find_own
from satchel.features.links.service.link_give import (
    check_alias_free,
    check_downloads,
    check_end,
    check_max_bytes,
    check_may_add,
    check_start,
    hash_of,
)
from satchel.kernel.clock import from_iso, iso
from satchel.kernel.errors import Unavailable
from satchel.kernel.ids import new_id
from satchel.stores.patterns.optimistic_update import NEW, optimistic_update, update_from
from satchel.stores.ports.ephemeral import Publish
from satchel.stores.ports.expressions import Action, Condition, assign, attr, remove
from satchel.stores.ports.table import Range, TransactionCancelled, Write

# How long the page of a revoked link says that it was revoked.
REMEMBERED = timedelta(days=90)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What to change. None changes nothing. An empty text, zero or `NEVER` removes a condition."""

    paused: bool | None = None
    name: str | None = None
    note: str | None = None
    password: str | None = None
    expires_at: float | None = None
    starts_at: float | None = None
    alias: str | None = None
    downloads: int | None = None
    max_bytes: int | None = None
    may_add: bool | None = None
    badge: bool | None = None


async def change(links: Links, owner_id: OwnerId, link_id: str, wanted: Change) -> LinkRow:
    link = await find_own(links, owner_id, link_id)
    # Once, since a password takes long to hash.
    values = await _values(links, link, wanted)

    async def attempt(link: LinkRow) -> LinkRow | None:
        if link.revoked_at:
            raise LinkRevoked("You have revoked this link. Create a new one instead.")
        badge, badge_writes = _badge_change(links, link, wanted.badge)
        alias, alias_writes = _alias_change(link, wanted.alias)
        actions = [_say(name, value) for name, value in (values | badge | alias).items()]
        if not actions:
            return link
        as_read = STANDING & _same_badge(link) if badge else STANDING
        as_read = as_read & _same_alias(link) if alias else as_read
        update = LINK.update(actions, when=as_read, token=link.token)
        try:
            await links.tables.transact([update, *badge_writes, *alias_writes])
        except TransactionCancelled:
            if alias:
                await check_alias_free(links, msgspec.structs.replace(link, alias=str(alias["alias"])))
            raise
        return None

    async def reread(_: LinkRow) -> LinkRow:
        return await find_own(links, owner_id, link_id)

    changed = await update_from(link, attempt, reread) or await find_own(links, owner_id, link_id)
    await _end_visits(links, link_id)
    return changed


def ending_channel(link_id: str) -> str:
    """Where live connections of visitors are told that they have to show again that they may look."""
    return f"live-link:{link_id}"


async def revoke(links: Links, owner_id: OwnerId, link_id: str) -> None:
    """Revoke for good. The row stays for a while, so that visitors can be told. Idempotent."""
    await _revoke(links, owner_id, link_id)
    await _end_visits(links, link_id)


async def _end_visits(links: Links, link_id: str) -> None:
    # They last a few minutes at most without this.
    with suppress(Unavailable):
        await links.ephemeral.run(Publish(ending_channel(link_id), b""))


@optimistic_update()
async def _revoke(links: Links, owner_id: OwnerId, link_id: str) -> None:
    link = await find_own(links, owner_id, link_id)
    if link.revoked_at:
        return
    due = iso(links.clock() + REMEMBERED.total_seconds())
    marks: list[Action] = [assign("revokedAt", links.now()), remove("badgeId")]
    writes: list[Write] = [
        LINK.update(marks, when=STANDING & _same_badge(link), token=link.token),
        ENDED.put(EndedRow(token=link.token, due=due)),
    ]
    if link.badge_id:
        writes.append(BADGE.delete(badge_id=link.badge_id))
    await links.tables.transact(writes)


async def forget_revoked(links: Links) -> int:
    """Delete all rows of links that were revoked long ago. Returns how many links."""
    page = await links.tables.query(ENDED.table, ENDED_SORT, Range(high=links.now()), index=ENDED_INDEX)
    for item in await links.tables.get_many(ENDED.table, [ENDED.table.key_of(item) for item in page.items]):
        if item is not None:
            await forget_link(links, ENDED.read(item).token)
    return len(page.items)


async def forget_link(links: Links, token: Token) -> None:
    """Delete a link. Its due row is deleted with the link itself, after everything that only the link leads to."""
    own = LINK.key(token=token)
    while True:
        page = await links.tables.query(LINK.table, own["PK"])
        keys = [key for item in page.items if (key := LINK.table.key_of(item)) != own]
        if not keys:
            break
        await links.tables.write_many(LINK.table, delete=keys)
    writes: list[Write] = [ENDED.delete(token=token), LINK.delete(token=token)]
    link = await LINK.get(links.tables, token=token)
    if link is not None:
        if link.alias:
            writes.append(ALIAS.delete(alias=link.alias))
        owner_id, link_id = link.owner_id, link.link_id
        writes.append(POINTER.delete(owner_id=owner_id, link_id=link_id))
        writes.append(POINTER_BY_THING.delete(owner_id=owner_id, link_id=link_id, thing=link.thing))
    await links.tables.transact(writes)


async def _values(links: Links, link: LinkRow, wanted: Change) -> dict[str, str | int]:
    """The attributes to store. An empty text or zero is not stored at all."""
    values: dict[str, str | int] = {}
    if wanted.paused is not None:
        values["pausedAt"] = (link.paused_at or links.now()) if wanted.paused else ""
    if wanted.name is not None:
        values["linkName"] = check_name(wanted.name)
    if wanted.note is not None:
        values["note"] = check_note(wanted.note)
    if wanted.expires_at is not None:
        values["expiresAt"] = check_end(links, wanted.expires_at)
    if wanted.starts_at is not None:
        end = values.get("expiresAt", link.expires_at)
        values["startsAt"] = check_start(links, wanted.starts_at, str(end))
    elif link.starts_at and "expiresAt" in values:
        check_start(links, from_iso(link.starts_at), str(values["expiresAt"]))
    if wanted.downloads is not None:
        values["downloadsLimit"] = check_downloads(link.kind, wanted.downloads)
    if wanted.max_bytes is not None:
        values["maxBytes"] = check_max_bytes(link.kind, wanted.max_bytes)
    if wanted.may_add is not None:
        values["mayAdd"] = check_may_add(link.kind, may_add=wanted.may_add)
    if wanted.password is not None:
        values["passwordHash"] = await hash_of(links, wanted.password)
    return values


def _badge_change(links: Links, link: LinkRow, wanted: bool | None) -> tuple[dict[str, str | int], list[Write]]:
    if wanted is None or wanted == bool(link.badge_id):
        return {}, []
    if not wanted:
        return {"badgeId": ""}, [BADGE.delete(badge_id=link.badge_id)]
    badge_id = BadgeId(new_id(links.clock))
    row = BadgeRow(badge_id=badge_id, link_id=link.link_id, owner_id=link.owner_id)
    return {"badgeId": badge_id}, [BADGE.put(row)]


def _alias_change(link: LinkRow, wanted: str | None) -> tuple[dict[str, str | int], list[Write]]:
    alias = link.alias if wanted is None else check_alias(wanted)
    if alias == link.alias:
        return {}, []
    writes: list[Write] = [ALIAS.delete(alias=link.alias)] if link.alias else []
    if alias:
        writes.append(ALIAS.put(AliasRow(alias=Alias(alias), token=link.token), when=NEW))
    return {"alias": alias}, writes


def _same_alias(link: LinkRow) -> Condition:
    return attr("alias") == link.alias if link.alias else attr("alias").absent()


def _same_badge(link: LinkRow) -> Condition:
    return attr("badgeId") == link.badge_id if link.badge_id else attr("badgeId").absent()


def _say(name: str, value: str | int) -> Action:
    return assign(name, value) if value else remove(name)
