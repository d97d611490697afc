"""Counts visits. The owner's visits do not count, and robots only count as previews."""

from satchel.features.links.records import ENDING, LINK, EndingRow, LinkRow
from satchel.features.links.service.context import Links
from satchel.kernel.counted import Counted, Kind
from satchel.stores.patterns.idempotency_key import order_of
from satchel.stores.ports.expressions import add, attr
from satchel.stores.ports.table import ConditionFailed


async def count(
    links: Links,
    link: LinkRow,
    visitor_id: str,
    kind: Kind,
    thing: str = "",
    *,
    address: str | None = None,
    key: str | None = None,
) -> None:
    """Count a visit. With the `key` of an earlier one by this visitor of this link, it counts nothing.

    With an `address`, only so many of its network count.
    """
    if visitor_id == link.owner_id:
        return
    if address is not None and not await links.limits.may_count(link.link_id, address):
        return
    counted = Counted(
        user_id=visitor_id,
        kind=kind,
        owner=link.owner_id,
        target=link.link_id,
        thing=thing or link.thing,
        # People behind one network are one visitor, and may have chosen a key for other links, too.
        key=None if key is None else order_of(kind, link.link_id, key),
    )
    await links.counter.count(counted)


async def count_ended(links: Links, link: LinkRow, ending: EndingRow) -> None:
    """Count the downloads of a journal entry, then delete it. Done again, it counts nothing twice."""
    for number in range(ending.finished):
        counted = Counted(
            user_id=ending.visitor,
            kind="download",
            owner=link.owner_id,
            target=link.link_id,
            thing=link.thing,
            at=ending.ended_at,
            key=f"{ending.answer_id}/{number}",
        )
        await links.counter.count(counted)
    await links.tables.delete(ENDING.table, ENDING.key(answer_id=ending.answer_id))


async def count_robot(links: Links, link: LinkRow) -> None:
    """Count a preview by a robot: its owner may want to know that a chat has drawn one."""
    try:
        await links.tables.update(
            LINK.table, LINK.key(token=link.token), [add("previews", 1)], when=attr("PK").exists()
        )
    except ConditionFailed:
        return
