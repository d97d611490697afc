"""Facts that one slice states and others act on, without either knowing the other; the wiring brings them together."""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from satchel.kernel.errors import SatchelError

_log = logging.getLogger("satchel.events")


@dataclass(frozen=True, slots=True)
class Event:
    """Something that has happened. Slices derive theirs, named in the past tense."""


E = TypeVar("E", bound=Event)


class Events:
    """Who wants to hear of what, in this process."""

    def __init__(self) -> None:
        self._hearers: dict[type[Event], list[Callable[[Any], Awaitable[object]]]] = {}

    def on(self, kind: type[E], hear: Callable[[E], Awaitable[object]]) -> None:
        self._hearers.setdefault(kind, []).append(hear)

    async def publish(self, event: Event) -> None:
        """Let everybody hear it before going on. What has happened stays so, whatever a hearer makes of it."""
        for hear in self._hearers.get(type(event), ()):
            try:
                await hear(event)
            except SatchelError as error:
                _log.warning("nothing came of %s: %s", type(event).__name__, error.detail)
