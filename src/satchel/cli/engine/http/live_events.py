"""Events of a server as they happen, over a websocket that reconnects after a lost connection."""

import time
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import msgspec

from satchel.cli.engine.api_types.event_types import LiveEvent
from satchel.cli.engine.http.client import Client
from satchel.cli.engine.http.failures import Refused, Unreachable
from satchel.cli.engine.http.retry import CONNECTION_LOST, Backoff, is_transient

if TYPE_CHECKING:
    from websockets.sync.client import ClientConnection

T = TypeVar("T")

_FIRST_PAUSE_SECONDS = 0.5


_EVENTS = msgspec.json.Decoder(LiveEvent)


@dataclass(slots=True)
class Live:
    """The live events of one server. `say` is called when the connection is lost and when it is back."""

    client: Client
    say: Callable[[str], None]

    def events(self, every_seconds: float = 60) -> Generator[LiveEvent | None]:
        """Without end: events, and None whenever there was none for so long."""
        return listening(lambda: self.client.listen("/live"), _EVENTS, self.say, every_seconds)


def listening(
    listen: Callable[[], "ClientConnection"],
    told: msgspec.json.Decoder[T],
    say: Callable[[str], None],
    every_seconds: float,
) -> Generator[T | None]:
    """Events of one connection after another, and None whenever there was none for so long."""
    was_connected, is_lost, backoff = False, False, Backoff(_FIRST_PAUSE_SECONDS)
    while True:
        try:
            with closing(listen()) as connection:
                if is_lost:
                    say("Connected again.")
                was_connected, is_lost = True, False
                backoff.reset()
                yield from _heard(connection, told, every_seconds)
        except (Refused, Unreachable) as error:
            if not was_connected or not is_transient(error):
                raise
        if not is_lost:
            say(CONNECTION_LOST)
        is_lost = True
        time.sleep(backoff.next_seconds())


def _heard(connection: "ClientConnection", told: msgspec.json.Decoder[T], every_seconds: float) -> Generator[T | None]:
    """Until the connection ends, for whatever reason: the attempt at the next one finds out which."""
    from websockets.exceptions import ConnectionClosed

    while True:
        try:
            yield told.decode(connection.recv(every_seconds))
        except TimeoutError:
            yield None
        except msgspec.DecodeError:  # of a server that is newer than this command
            continue
        except ConnectionClosed:
            return
