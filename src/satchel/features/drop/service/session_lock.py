"""The lock of a session: while it is on, nobody else may join, with the right secret or the right code either."""

from satchel.features.drop.events import LockChanged
from satchel.features.drop.model import SessionLocked
from satchel.features.drop.records import SESSION
from satchel.features.drop.service.context import Caller, Drop, member_ids_of, missing, still_there
from satchel.features.drop.service.session_leave import change_session
from satchel.kernel.errors import Forbidden
from satchel.live import tell
from satchel.stores.ports.ephemeral import Delete, HashPut


async def set_lock(drop: Drop, caller: Caller, *, is_locked: bool) -> None:
    """Set and publish the lock in one step: of two concurrent changes, everybody hears the right one last."""
    if not caller.is_host:
        raise Forbidden("Only the host of the session can decide whether others may join.")
    session = SESSION(session_id=caller.session_id)
    everybody = await member_ids_of(drop, caller.session_id)
    found, member, *_ = await drop.ephemeral.together(
        *still_there(caller),
        HashPut(session, {"locked_at": drop.now().encode() if is_locked else b""}),
        *tell(everybody, LockChanged(is_locked=is_locked)),
    )
    if found is None:
        await drop.ephemeral.run(Delete(session))
        raise missing()
    if member is None:
        await change_session(drop, caller.session_id, locked_at=caller.session.locked_at.encode())
        raise missing()


def locked() -> SessionLocked:
    return SessionLocked("The host lets nobody else join this session. Ask them to let people join again.")
