"""Contacts over HTTP: from whom one takes files at once, and whom one has blocked."""

import msgspec

from satchel.edge.api.endpoints import Body, Router
from satchel.edge.api.identity import Member
from satchel.features.accounts.model import Receiving, UserId
from satchel.features.accounts.service import contacts
from satchel.features.accounts.service.context import Accounts
from satchel.features.accounts.service.people import find_user
from satchel.kernel.errors import NotFound, TooMany


class ReceivingView(Body, frozen=True, kw_only=True):
    """Whose files come to your shelf at once: everybody's, those of people you know, or nobody's. Others ask first."""

    from_whom: Receiving


class BlockedView(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody whom you have blocked."""

    person_id: str
    name: str
    blocked_at: str


class BlockedList(msgspec.Struct, frozen=True):
    """Everybody whom you have blocked."""

    blocked: list[BlockedView]


def contact_routes(accounts: Accounts) -> Router:
    router = Router("contacts")

    @router.get("/contacts/receiving")
    async def read_receiving(member: Member) -> ReceivingView:
        """Read from whom you take files by e-mail address without being asked."""
        return ReceivingView(from_whom=(await find_user(accounts, UserId(member.user_id))).receiving)

    @router.put("/contacts/receiving")
    async def choose_receiving(member: Member, body: ReceivingView) -> ReceivingView:
        """Decide from whom you take files by e-mail address without being asked.

        What others send is an offer. It takes nothing of your space until you save it.
        """
        await contacts.choose_receiving(accounts, UserId(member.user_id), body.from_whom)
        return body

    @router.get("/contacts/blocked")
    async def list_blocked(member: Member) -> BlockedList:
        """List whom you have blocked."""
        found = await contacts.list_blocked(accounts, UserId(member.user_id))
        return BlockedList(
            [BlockedView(person_id=each.person_id, name=each.name, blocked_at=each.blocked_at) for each in found]
        )

    @router.put("/contacts/blocked/{user_id}", raises=(NotFound, TooMany))
    async def block_person(member: Member, user_id: str) -> None:
        """Block somebody: nothing that they send or share reaches you.

        They are not told. What they send looks to them like an offer that was not answered.
        """
        await contacts.block(accounts, UserId(member.user_id), UserId(user_id))

    @router.delete("/contacts/blocked/{user_id}", raises=(NotFound,))
    async def unblock_person(member: Member, user_id: str) -> None:
        """Stop blocking somebody. What they share with you is listed again."""
        await contacts.unblock(accounts, UserId(member.user_id), UserId(user_id))

    return router
