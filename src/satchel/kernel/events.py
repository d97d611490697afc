"""Facts that one slice publishes and others subscribe to. Neither imports the other: the wiring connects them."""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from satchel.kernel.errors import SatchelError

_log = logging.getLogger("satchel.events")


@dataclass(frozen=True, slots=True)
class Event:
    """Something that has happened. Slices derive their own events, named in the past tense."""


E = TypeVar("E", bound=Event)


class Events:
    """The subscribers of each kind of event, in this process."""

    def __init__(self) -> None:
        self._hearers: dict[type[Event], list[Callable[[Any], Awaitable[object]]]] = {}

    def on(self, kind: type[E], hear: Callable[[E], Awaitable[object]]) -> None:
        self._hearers.setdefault(kind, []).append(hear)

    async def deliver(self, event: Event) -> None:
        """Call every subscriber. If one fails, the rest is not called, and whoever states the event may do so again."""
        for hear in self._hearers.get(type(event), ()):
            await hear(event)

    async def publish(self, event: Event) -> None:
        """Call every subscriber, then return. A subscriber that fails does not undo what has happened."""
        for hear in self._hearers.get(type(event), ()):
            try:
                await hear(event)
            except SatchelError as error:
                _log.warning("nothing came of %s: %s", type(event).__name__, error.detail)
