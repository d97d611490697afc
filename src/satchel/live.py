"""Telling people what happens while they look: who hears an event, and who is here to hear it.

An event goes to the channel of each person concerned at that moment, never to one that they share. So somebody who was
put out of a room hears nothing more of it, whatever connections they keep open.
"""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import msgspec

from satchel.kernel.clock import Clock
from satchel.stores.patterns.due_list import Due, DueList
from satchel.stores.ports.ephemeral import Command, Ephemeral, Expire, HashAll, HashDelete, HashPut, Publish
from satchel.stores.schema import EphemeralKey

# A connection is believed in for this long after it was last refreshed: longer than a server takes to be restarted,
# short enough for the people of one that died.
BELIEVED_FOR = timedelta(seconds=30)
_SPAN = timedelta(seconds=5)


_CONNECTIONS = EphemeralKey(
    "presence:{person_id}", "hash", owner="live", about="Connection id → device, and the moment until which it counts"
)
_LAPSING = EphemeralKey(
    "presence-due:{span}", "set", owner="live", about="Ids of people to look after in these seconds: did they go?"
)
_LOOKED = EphemeralKey("presence-looked", "value", owner="live", about="Up to which of these seconds somebody looked")
EPHEMERAL_KEYS = (_CONNECTIONS, _LAPSING, _LOOKED)

encode = msgspec.json.Encoder().encode


class LiveEvent(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    """What a client is told. Slices derive theirs: `class RoomChanged(LiveEvent, tag="room.changed", frozen=True)`.

    It is also the frame that clients get, so its fields are public. An event is a hint, not the truth: it may be lost
    with the connection, and who missed one reads everything again.
    """


def tell(person_ids: Iterable[str], event: LiveEvent) -> list[Publish]:
    """Commands that tell each of these people; run them `together` with the change that the event is about."""
    frame = encode(event)
    return [Publish(person_channel(person_id), frame) for person_id in person_ids]


def person_channel(person_id: str) -> str:
    return f"live:{person_id}"


def session_channel(session_id: str) -> str:
    """Where the end of a session is told, so that its connections end with it."""
    return f"live-session:{session_id}"


class _Connection(msgspec.Struct, frozen=True, array_like=True):
    device: str
    until: float


_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder(_Connection).decode


class Presence:
    """Who is connected, with which devices, on any of the servers.

    Every connection stands in the hash of its person with the moment until which it counts; whoever keeps it moves
    that moment on. So the connections of a server that died end by themselves.
    """

    def __init__(self, ephemeral: Ephemeral, clock: Clock) -> None:
        self._ephemeral = ephemeral
        self._clock = clock
        self._due = DueList(
            ephemeral=ephemeral, clock=clock, spans=_LAPSING, cursor=_LOOKED, lasts=_SPAN, reach=3 * BELIEVED_FOR
        )
        # Where this server has put people, so that each stands in one place.
        self._put: dict[str, Due] = {}

    async def present(self, person_ids: Iterable[str]) -> dict[str, list[str]]:
        """The devices of each of these people, such as "Firefox on Android"; none for those who are away."""
        wanted = list(dict.fromkeys(person_ids))
        if not wanted:
            return {}
        found = await self._ephemeral.together(*(HashAll(_CONNECTIONS(person_id=person_id)) for person_id in wanted))
        return {person_id: self._devices(each) for person_id, each in zip(wanted, found, strict=True)}

    async def enter(self, person_id: str, connection_id: str, device: str) -> bool:
        """Count a new connection; answers whether the person was away until now."""
        earlier, *_ = await self._ephemeral.together(
            HashAll(_CONNECTIONS(person_id=person_id)), *self._counting(person_id, connection_id, device, BELIEVED_FOR)
        )
        return not self._devices(earlier)

    async def refresh(self, connections: Iterable[tuple[str, str, str]]) -> None:
        """Go on counting these: of each the person, the connection and the device."""
        commands = [each for one in connections for each in self._counting(*one, BELIEVED_FOR)]
        if commands:
            await self._ephemeral.together(*commands)

    async def linger(self, person_id: str, connection_id: str, device: str, for_: timedelta) -> None:
        """Count a connection that has ended for a little longer, since most people are back at once."""
        await self._ephemeral.together(*self._counting(person_id, connection_id, device, for_))

    async def leave(self, person_id: str, connection_id: str) -> bool:
        """Forget a connection; answers whether the person is away now."""
        _, left = await self._ephemeral.together(
            HashDelete(_CONNECTIONS(person_id=person_id), connection_id), HashAll(_CONNECTIONS(person_id=person_id))
        )
        put = self._put.pop(person_id, None)
        if (away := not self._devices(left)) and put is not None:
            await self._ephemeral.run(self._due.removing(put))
        return away

    async def lapsed(self) -> list[str]:
        """People who are away without anybody having seen them go, since their server died; each is answered once."""
        looked_at = await self._due.look()
        devices = await self.present(due.name for due in looked_at)
        later = self._clock() + BELIEVED_FOR.total_seconds()
        gone: dict[str, None] = {}
        for due in looked_at:
            if devices[due.name]:
                # By another of their connections, whose server may not live to put them anywhere.
                await self._ephemeral.together(self._due.removing(due), self._due.adding(due.name, later))
            elif await self._ephemeral.run(self._due.removing(due)):
                gone[due.name] = None
        return list(gone)

    def _counting(self, person_id: str, connection_id: str, device: str, for_: timedelta) -> tuple[Command[Any], ...]:
        until = self._clock() + for_.total_seconds()
        key = _CONNECTIONS(person_id=person_id)
        return (
            HashPut(key, {connection_id: _pack(_Connection(device, until))}),
            Expire(key, BELIEVED_FOR),
            *self._putting(person_id, until),
        )

    def _putting(self, person_id: str, until: float) -> list[Command[Any]]:
        """Look after them when this connection ends, and not when it was to end before."""
        before = self._put.get(person_id)
        put = self._put[person_id] = Due(person_id, self._due.span_of(until))
        if put == before:
            return []
        adding = self._due.adding(person_id, until)
        leaving: list[Command[Any]] = [] if before is None else [self._due.removing(before)]
        return [*leaving, adding, Expire(adding.key, 4 * BELIEVED_FOR)]

    def _devices(self, entries: dict[str, bytes]) -> list[str]:
        now = self._clock()
        connections = map(_unpack, entries.values())
        return sorted({each.device for each in connections if each.until > now})
