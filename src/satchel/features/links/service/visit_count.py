"""Counts visits. The owner's visits do not count, and robots only count as previews."""

from dataclasses import dataclass

from satchel.features.links.records import LINK, LinkRow
from satchel.features.links.service.context import Links
from satchel.kernel.counted import Counted, Device, Kind
from satchel.stores.patterns.idempotency_key import order_of
from satchel.stores.ports.expressions import add, attr
from satchel.stores.ports.table import ConditionFailed


@dataclass(frozen=True, slots=True)
class Opening:
    """Whoever enters: from which network, with which kind of device, from where, and the key of the request."""

    address: str
    device: Device
    referrer: str | None
    key: str | None


async def count(
    links: Links, link: LinkRow, visitor_id: str, kind: Kind, thing: str = "", *, address: str | None = None
) -> None:
    """Count what a visitor does. With an `address`, only so much of its network counts."""
    if not await _may_count(links, link, visitor_id, address):
        return
    await links.events.deliver(use_of(link, visitor_id, kind, thing))


def use_of(link: LinkRow, visitor_id: str, kind: Kind, thing: str = "") -> Counted:
    """What a visitor does by a link, as it is counted."""
    return Counted(user_id=visitor_id, kind=kind, owner=link.owner_id, target=link.link_id, thing=thing or link.thing)


async def count_opening(links: Links, link: LinkRow, visitor_id: str, seen: Opening) -> None:
    """Count that somebody enters. With the key of an earlier one by this visitor of this link, it counts nothing."""
    if not await _may_count(links, link, visitor_id, seen.address):
        return
    counted = Counted(
        user_id=visitor_id,
        kind="open",
        owner=link.owner_id,
        target=link.link_id,
        thing=link.thing,
        # People behind one network are one visitor, and may have chosen a key for other links, too.
        key=None if seen.key is None else order_of("open", link.link_id, seen.key),
        device=seen.device,
        referrer=seen.referrer,
    )
    await links.events.deliver(counted)


async def _may_count(links: Links, link: LinkRow, visitor_id: str, address: str | None) -> bool:
    if visitor_id == link.owner_id:
        return False
    return address is None or await links.limits.may_count(link.link_id, address)


async def count_robot(links: Links, link: LinkRow, address: str) -> None:
    """Count a preview by a robot: its owner may want to know that a chat has drawn one."""
    if not await links.limits.may_count(link.link_id, address):
        return
    try:
        await links.tables.update(
            LINK.table, LINK.key(token=link.token), [add("previews", 1)], when=attr("PK").exists()
        )
    except ConditionFailed:
        return
