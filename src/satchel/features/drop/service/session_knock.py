"""Passes messages between a guest and the door until the guest has the secret. The server cannot read them.

The guest's call waits for the door's answer. It subscribes before it tells the door, so that no answer is missed, and
it subscribes in the store, so that the door may be connected to another server. The door's client counts wrong codes.
The server only counts guests who fail so often that they keep others from the door.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Literal, TypeVar

import msgspec

from satchel.features.drop.events import Knocked, Tagged
from satchel.features.drop.model import (
    CodeDead,
    CodeWrong,
    DoorBusy,
    DoorClosed,
    KnockId,
    KnockUnanswered,
    MemberId,
    Refusal,
    SessionId,
    VersionsDiffer,
    is_id,
)
from satchel.features.drop.records import KNOCK, knock_channel
from satchel.features.drop.service.context import Caller, Drop
from satchel.features.drop.service.drop_door import is_here
from satchel.features.drop.service.session_join import find_session
from satchel.features.drop.service.session_lock import locked
from satchel.kernel.errors import Forbidden, NotFound, SatchelError
from satchel.live import LiveEvent, tell
from satchel.stores.ports.ephemeral import Delete, Get, Message, Publish, Put

# How soon a door that has disconnected is noticed while somebody waits for it.
_LOOK_EVERY_SECONDS = 2.0

# What the door has been asked last, and what may therefore come next.
Stage = Literal["asked", "answered", "tagged"]


class Shared(msgspec.Struct, frozen=True, tag="share"):
    """The door's public value."""

    share: str


class Verdict(msgspec.Struct, frozen=True, tag="verdict"):
    """The door's tag, and the secret, encrypted so that only the right code opens it."""

    tag: str
    sealed: str


class Refused(msgspec.Struct, frozen=True, tag="refused"):
    """The door's refusal."""

    refused: Refusal


Answer = Shared | Verdict | Refused
A = TypeVar("A", Shared, Verdict)

_encode = msgspec.json.Encoder().encode
_decode: "msgspec.json.Decoder[Answer]" = msgspec.json.Decoder(Answer)
_ANSWERS: dict[type[Answer], tuple[Stage, ...]] = {
    Shared: ("asked",),
    Verdict: ("tagged",),
    Refused: ("asked", "tagged"),
}


async def knock(
    drop: Drop, session_id: SessionId, knock_id: KnockId, *, suite: int, share: str, network: str
) -> Shared:
    """Exchange public values. The knock counts as a failed attempt until the guest turns out to be right."""
    door_id = await _find_door(drop, session_id, network)
    key, note = KNOCK(session_id=session_id), _note(knock_id, "asked")
    if not await drop.ephemeral.run(Put(key, note, ttl=drop.knock_timeout, only_if_absent=True)):
        raise DoorBusy("Somebody else is joining right now. Try again in a moment.")
    async with _over_if_it_fails(drop, session_id):
        await drop.limits.count_attempt(session_id, network)
        told = Knocked(knock_id=knock_id, suite=suite, share=share)
        try:
            answer = await _ask_door(drop, session_id, knock_id, door_id, told, Shared)
        except VersionsDiffer:
            await drop.limits.forgive_attempt(session_id, network)
            raise
        await drop.ephemeral.run(Put(key, _note(knock_id, "answered"), ttl=drop.knock_timeout))
    return answer


async def present_tag(drop: Drop, session_id: SessionId, knock_id: KnockId, *, tag: str, network: str) -> Verdict:
    """Exchange the guest's tag for the door's verdict. Once for each knock."""
    door_id = await _find_door(drop, session_id, network)
    await _check_stage(drop, session_id, knock_id, "answered")
    key = KNOCK(session_id=session_id)
    async with _over_if_it_fails(drop, session_id):
        await drop.ephemeral.run(Put(key, _note(knock_id, "tagged"), ttl=drop.knock_timeout))
        told = Tagged(knock_id=knock_id, tag=tag)
        verdict = await _ask_door(drop, session_id, knock_id, door_id, told, Verdict)
    await drop.ephemeral.run(Delete(key))
    await drop.limits.forgive_attempt(session_id, network)
    return verdict


async def answer_knock(drop: Drop, caller: Caller, knock_id: KnockId, answer: Answer) -> None:
    """Answer a knock. Only the door may."""
    if caller.session.door_id != caller.member_id:
        raise Forbidden("Only the member who shows the code can answer a knock.")
    await _check_stage(drop, caller.session_id, knock_id, *_ANSWERS[type(answer)])
    await drop.ephemeral.run(Publish(knock_channel(caller.session_id, knock_id), _encode(answer)))


async def _ask_door(
    drop: Drop, session_id: SessionId, knock_id: KnockId, door_id: MemberId, told: LiveEvent, wanted: type[A]
) -> A:
    async with drop.ephemeral.subscribe(knock_channel(session_id, knock_id)) as messages:
        await drop.ephemeral.together(*tell([door_id], told))
        answering = asyncio.create_task(_first_answer(messages, wanted))
        try:
            async with asyncio.timeout(drop.knock_timeout.total_seconds()):
                while not (await asyncio.wait({answering}, timeout=_LOOK_EVERY_SECONDS))[0]:
                    await _refuse_if_gone(drop, door_id)
            return answering.result()
        except TimeoutError as error:
            raise KnockUnanswered(
                "Nobody answered. Ask the person who gave you the code whether they are still connected."
            ) from error
        finally:
            answering.cancel()
            await asyncio.wait({answering})


async def _first_answer(messages: AsyncIterator[Message], wanted: type[A]) -> A:
    async for message in messages:
        answer = _decode.decode(message.body)
        if isinstance(answer, wanted):
            return answer
        if isinstance(answer, Refused):
            raise _refusal(answer.refused)
    raise TimeoutError


@asynccontextmanager
async def _over_if_it_fails(drop: Drop, session_id: SessionId) -> AsyncGenerator[None]:
    """Release the door for others if this fails, or if the guest disconnects."""
    has_failed = True
    try:
        yield
        has_failed = False
    finally:
        if has_failed:
            await drop.ephemeral.run(Delete(KNOCK(session_id=session_id)))


async def _find_door(drop: Drop, session_id: SessionId, network: str) -> MemberId:
    session = await find_session(drop, session_id)
    await drop.limits.check_attempts(session_id, network)
    if session.locked_at:
        raise locked()
    return await _refuse_if_gone(drop, session.door_id)


async def _refuse_if_gone(drop: Drop, door_id: MemberId | None) -> MemberId:
    if door_id is None or not await is_here(drop, door_id):
        raise DoorClosed("Nobody is showing a code for this session. Ask for a link, or ask a member to show a code.")
    return door_id


async def _check_stage(drop: Drop, session_id: SessionId, knock_id: KnockId, *stages: Stage) -> None:
    noted = await drop.ephemeral.run(Get(KNOCK(session_id=session_id))) if is_id(knock_id) else None
    if noted not in [_note(knock_id, stage) for stage in stages]:
        raise NotFound("This knock has ended, or is not at this step. Knock again.")


def _note(knock_id: KnockId, stage: Stage) -> bytes:
    return f"{knock_id}@{stage}".encode()


def _refusal(said: Refusal) -> SatchelError:
    if said == "code-wrong":
        return CodeWrong("This code is wrong. Check it: after a few wrong attempts it stops working.")
    if said == "versions-differ":
        return VersionsDiffer("The two programs speak different versions of drop. Update both, then try again.")
    return CodeDead("This code was wrong too often and no longer works. Ask for the new one.")
