"""The door: the one connected member who shows a code."""

from satchel.features.drop.events import DoorChanged
from satchel.features.drop.model import MemberId
from satchel.features.drop.records import SESSION
from satchel.features.drop.service.context import Caller, Drop, member_ids_of, missing, still_there
from satchel.features.drop.service.session_leave import change_session
from satchel.kernel.errors import Conflict
from satchel.live import tell
from satchel.stores.ports.ephemeral import Delete, HashPut


async def become_door(drop: Drop, caller: Caller) -> None:
    """Become the door, if no connected member is. The host can take it over from anybody."""
    door_id = caller.session.door_id
    if door_id not in (None, caller.member_id) and not caller.is_host and await is_here(drop, door_id):
        raise Conflict("Another member already shows a code. Ask them for it.")
    await _put_at_door(drop, caller, caller.member_id)


async def give_up_door(drop: Drop, caller: Caller) -> None:
    if caller.session.door_id == caller.member_id:
        await _put_at_door(drop, caller, None)


async def is_here(drop: Drop, member_id: MemberId) -> bool:
    return bool((await drop.attending.present([member_id]))[member_id])


async def _put_at_door(drop: Drop, caller: Caller, door_id: MemberId | None) -> None:
    """Set and publish the door in one step: of two concurrent changes, everybody hears the right one last."""
    session = SESSION(session_id=caller.session_id)
    everybody = await member_ids_of(drop, caller.session_id)
    found, member, *_ = await drop.ephemeral.together(
        *still_there(caller),
        HashPut(session, {"door_id": (door_id or "").encode()}),
        *tell(everybody, DoorChanged(door_id=door_id)),
    )
    if found is None:
        await drop.ephemeral.run(Delete(session))
        raise missing()
    if member is None:
        await change_session(drop, caller.session_id, door_id=b"")
        raise missing()
