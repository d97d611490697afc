"""Revokes and deletes all links of a person, when their account is deleted."""

from dataclasses import dataclass

from satchel.features.links.model import OwnerId
from satchel.features.links.records import LINK, POINTER
from satchel.features.links.service.context import Links
from satchel.features.links.service.link_change import forget_link, revoke
from satchel.features.links.service.link_find import state_of
from satchel.kernel.departure import Leaver, Tally
from satchel.kernel.linked import LinkedThing

_PAGE = 1000


@dataclass(frozen=True, slots=True)
class LinkHoldings:
    """The links that people have given."""

    links: Links

    async def count(self, leaver: Leaver) -> Tally:
        links, number, cursor = self.links, 0, None
        while True:
            page = await POINTER.list(links.tables, owner_id=leaver.user_id, limit=_PAGE, cursor=cursor)
            items = await links.tables.get_many(LINK.table, [LINK.key(token=each.token) for each in page.records])
            rows = [LINK.read(item) for item in items if item is not None]
            number += sum(state_of(row, LinkedThing(name=""), links.now()) != "revoked" for row in rows)
            if (cursor := page.cursor) is None:
                return Tally(links=number)

    async def delete(self, leaver: Leaver) -> None:
        """Each is revoked first, which ends downloads that are under way."""
        owner_id = OwnerId(leaver.user_id)
        while found := (await POINTER.list(self.links.tables, owner_id=owner_id, limit=_PAGE)).records:
            for pointer in found:
                await revoke(self.links, owner_id, pointer.link_id)
                await forget_link(self.links, pointer.token)
