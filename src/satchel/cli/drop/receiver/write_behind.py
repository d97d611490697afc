"""Writes in a thread of its own while the next chunks are read and decrypted, because a disk takes as long as both."""

import threading
from contextlib import suppress
from queue import Full, Queue
from types import TracebackType
from typing import Protocol, Self

from satchel.cli.drop.crypto.sealed_records import Digest
from satchel.cli.drop.stream_wait import Wait

# How many chunks wait at most: with fewer, the two threads wake each other more often. Their buffers, and that of the
# chunk being written, must not be reused meanwhile.
WAITING_CHUNKS = 16
HELD_CHUNKS = WAITING_CHUNKS + 1
_LAST_WORDS_SECONDS = 0.3


class Target(Protocol):
    """Where chunks are written. `digest` includes a chunk before it is written."""

    digest: Digest

    def write(self, chunk: memoryview) -> None: ...


class WriteBehind:
    """A block at whose end everything that was put is written. Errors are raised there at the latest."""

    def __init__(self, target: Target, wait: Wait) -> None:
        self._target = target
        self._wait = wait
        self._waiting: Queue[tuple[memoryview, Digest] | None] = Queue(WAITING_CHUNKS)
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._work, name="writing", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def put(self, chunk: memoryview, reached: Digest) -> None:
        if self._failure is not None:
            raise self._failure
        self._waiting.put((chunk, reached))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, KeyboardInterrupt):  # the thread may wait for a reader who never reads
            with suppress(Full):
                self._waiting.put_nowait(None)
            self._thread.join(_LAST_WORDS_SECONDS)
            return
        self._waiting.put(None)
        self._thread.join()
        if error is None and self._failure is not None:
            raise self._failure

    def _work(self) -> None:
        while (put := self._waiting.get()) is not None:
            if self._failure is None:  # else the queue is only emptied, so that `put` does not block
                try:
                    chunk, self._target.digest = put
                    with self._wait:
                        self._target.write(chunk)
                except BaseException as error:  # noqa: BLE001  # raised again in the thread that puts
                    self._failure = error
