"""What every use case of a drop needs, and how it tells the members of a session what has changed.

The ephemeral store runs several commands as one step, but has no conditions. So a change reads, in the step in which it
writes, whether the session and the member still exist (`still_there`), and undoes what came too late. What a crash
keeps from being undone expires within a day.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from satchel.features.drop.limits import SESSIONS_PER_NETWORK, DropLimits
from satchel.features.drop.model import KNOCK_LASTS, MemberId, SessionId, SessionUnknown
from satchel.features.drop.needs import Attending
from satchel.features.drop.records import MEMBERS, SEEN, SESSION, MemberRow, SessionRow
from satchel.kernel.clock import Clock, iso
from satchel.live import LiveEvent, tell
from satchel.stores.ports.ephemeral import Command, Ephemeral, HashAll, HashGet

# How many commands one step has at most: the store does nothing else while it lasts.
TOGETHER = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop:
    """The store, clock, presence and limits: `daily_limit_bytes` of a network (None: no limit), and `knock_timeout`
    for a door or guest that does not answer."""

    ephemeral: Ephemeral
    clock: Clock
    attending: Attending
    limits: DropLimits
    max_sessions_of_a_network: int = SESSIONS_PER_NETWORK
    daily_limit_bytes: int | None
    knock_timeout: timedelta = KNOCK_LASTS

    def now(self) -> str:
        return iso(self.clock())


@dataclass(frozen=True, slots=True)
class Caller:
    """An authenticated member, and their session."""

    session: SessionRow
    member_id: MemberId
    row: MemberRow

    @property
    def session_id(self) -> SessionId:
        return self.session.session_id

    @property
    def is_host(self) -> bool:
        return self.session.host_id == self.member_id


def is_open(session_id: str) -> Command[bytes | None]:
    """Reads whether the session exists: it has a code. A late change may leave other fields, but never that one."""
    return HashGet(SESSION(session_id=session_id), "code")


def still_there(caller: Caller) -> tuple[Command[bytes | None], Command[bytes | None]]:
    """What to read together with a change, to know whether the caller was in the session at that moment."""
    return is_open(caller.session_id), HashGet(MEMBERS(session_id=caller.session_id), caller.member_id)


def missing() -> SessionUnknown:
    return SessionUnknown("This session does not exist, or you are not in it. Ask for a new link or code.")


async def in_parts(drop: Drop, commands: Sequence[Command[Any]]) -> list[Any]:
    """Run many commands, in steps of bounded size."""
    answers: list[Any] = []
    for start in range(0, len(commands), TOGETHER):
        answers += await drop.ephemeral.together(*commands[start : start + TOGETHER])
    return answers


async def member_ids_of(drop: Drop, session_id: SessionId) -> list[MemberId]:
    """All members of the session."""
    return [MemberId(member_id) for member_id in await drop.ephemeral.run(HashAll(SEEN(session_id=session_id)))]


async def tell_members(drop: Drop, session_id: SessionId, *events: LiveEvent) -> None:
    await tell_people(drop, await member_ids_of(drop, session_id), *events)


async def tell_people(drop: Drop, member_ids: Iterable[MemberId], *events: LiveEvent) -> None:
    people = list(member_ids)
    await in_parts(drop, [command for event in events for command in tell(people, event)])
