"""Listen to a session in a thread, and let other threads wait for what happens in it."""

import threading
import time
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from typing import TypeVar

from satchel.cli.drop.session.drop_session import DropSession
from satchel.cli.engine.api_types.drop_types import SessionView
from satchel.cli.engine.api_types.event_types import Closed, Declined, DropEvent, Ended
from satchel.cli.engine.http.failures import Refused
from satchel.cli.engine.http.retry import Stopped
from satchel.cli.engine.terminal.output import CommandFailed

T = TypeVar("T")


class SessionOver(CommandFailed):
    """The session has ended."""

    def __init__(self) -> None:
        super().__init__(
            "The session is over: the sender has closed it. Partial files are kept, and resumed when the same files "
            "are sent again."
        )


class SessionListener:
    """Listens in a thread and keeps `session.state` current. Once `stop` is set, every `wait` ends."""

    def __init__(self, session: DropSession, say: Callable[[str], None], stop: threading.Event) -> None:
        self.stop = stop
        self._session = session
        self._say = say
        self._changed = threading.Condition()
        self._failed: BaseException | None = None
        # How often the whole session was read. A request that is missing in the newest reading has ended.
        self.readings = 0
        # Why requests ended, by their ids.
        self.endings: dict[str, str] = {}
        self._ticks: list[Callable[[], None]] = []

    def start(self) -> None:
        """Returns once the session is known."""
        threading.Thread(target=self._listen, daemon=True).start()
        self.wait_for(lambda: self.readings or None)

    @contextmanager
    def ticking(self, tick: Callable[[], None]) -> Generator[None]:
        """A block during which the listening thread calls `tick` at least every second."""
        self._ticks.append(tick)
        try:
            yield
        finally:
            self._ticks.remove(tick)

    def wait_for(self, look: Callable[[], T | None], seconds: float | None = None) -> T | None:
        """Wait until `look` returns something, and return that. None after the timeout. Raises `Stopped`."""
        until = None if seconds is None else time.monotonic() + seconds
        with self._changed:
            while (seen := look()) is None:
                if self._failed is not None:
                    raise self._failed
                if self.stop.is_set():
                    raise Stopped
                left = None if until is None else until - time.monotonic()
                if left is not None and left <= 0:
                    return None
                # Bounded, because on some systems Ctrl-C does not interrupt an endless wait.
                self._changed.wait(1.0 if left is None else min(left, 1.0))
            return seen

    def _listen(self) -> None:
        try:
            with closing(self._session.live(self._say)) as events:
                for told in events:
                    self._hear(told)
                    for tick in tuple(self._ticks):
                        tick()
        except Refused as refusal:
            self._fail(SessionOver() if refusal.slug == "session-unknown" else refusal)
        except BaseException as error:  # noqa: BLE001  # raised again where the command can see it
            self._fail(error)

    def _hear(self, told: SessionView | DropEvent | None) -> None:
        if isinstance(told, Closed):
            raise SessionOver
        with self._changed:
            if isinstance(told, SessionView):
                self.readings += 1
            elif isinstance(told, Declined):
                self.endings[told.request_id] = told.reason
            elif isinstance(told, Ended):
                self.endings[told.request_id] = "ended"
            self._changed.notify_all()

    def _fail(self, error: BaseException) -> None:
        with self._changed:
            self._failed = error
            self._changed.notify_all()
