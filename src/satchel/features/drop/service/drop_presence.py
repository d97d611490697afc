"""Presence: tells a session when a member connects or disconnects. A lost connection removes nobody."""

from satchel.features.drop.events import MemberChanged
from satchel.features.drop.model import MemberId, SessionId, is_id
from satchel.features.drop.records import MEMBER, MEMBERS, decode_member
from satchel.features.drop.service.context import Drop, tell_members
from satchel.features.drop.service.session_show import show_members
from satchel.stores.ports.ephemeral import Get, HashGet


class DropAttendance:
    """Passes changes of presence on to the session of a member."""

    def __init__(self, drop: Drop) -> None:
        self._drop = drop

    async def came(self, person_id: str) -> None:
        await self._changed(person_id)

    async def went(self, person_id: str) -> None:
        await self._changed(person_id)

    async def _changed(self, person_id: str) -> None:
        drop, member_id = self._drop, MemberId(person_id)
        found = await drop.ephemeral.run(Get(MEMBER(member_id=member_id))) if is_id(person_id) else None
        if found is None:
            return
        session_id = SessionId(found.decode())
        row = await drop.ephemeral.run(HashGet(MEMBERS(session_id=session_id), member_id))
        if row is not None:
            (view,) = await show_members(drop, {member_id: decode_member(row)})
            await tell_members(drop, session_id, MemberChanged(member=view))
