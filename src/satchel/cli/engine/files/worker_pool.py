"""Threads that share a list of things to do, and stop together."""

import threading
import time
from collections.abc import Callable, Iterable
from typing import TypeVar

from satchel.cli.engine.http.retry import Stopped

T = TypeVar("T")

# After Ctrl-C. What a thread is doing then is resumed by the next command.
_LAST_WORDS_SECONDS = 0.4


class WorkerPool:
    """Threads that share a list of things to do; what one raises, or Ctrl-C, stops all of them.

    `interrupt` is called after Ctrl-C, to end what threads wait for. It must not wait itself.
    """

    def __init__(self, workers: int, interrupt: Callable[[], None] = lambda: None) -> None:
        self.stop = threading.Event()
        self._interrupt = interrupt
        self._workers = workers
        self._taking = threading.Lock()
        self._raised: list[BaseException] = []

    def run_all(self, things: Iterable[T], do: Callable[[T], None]) -> None:
        waiting = iter(things)

        def work() -> None:
            try:
                while not self.stop.is_set():
                    with self._taking:
                        thing = next(waiting, None)
                    if thing is None:
                        return
                    do(thing)
            except Stopped:
                return
            except BaseException as error:  # noqa: BLE001  # raised again where the command can see it
                self._raised.append(error)
                self.stop.set()

        # Daemons: a second Ctrl-C does not wait for a server that does not answer.
        threads = [threading.Thread(target=work, daemon=True) for _ in range(self._workers)]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                thread.join()
        except KeyboardInterrupt:
            self.stop.set()
            self._interrupt()
            deadline = time.monotonic() + _LAST_WORDS_SECONDS
            for thread in threads:
                thread.join(max(0.0, deadline - time.monotonic()))
            raise
        if self._raised:
            raise self._raised[0]
