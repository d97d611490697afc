"""Write in a thread of its own while the next chunks are read and decrypted, because a disk takes as long as both."""

import threading
from queue import Queue
from types import TracebackType
from typing import Protocol, Self

from satchel.cli.drop.crypto.sealed_records import Digest

# So many chunks wait at most; their bytes have to stay as they are meanwhile, and those of the one being written.
WAITING_CHUNKS = 6
HELD_CHUNKS = WAITING_CHUNKS + 1


class Target(Protocol):
    """What is written to. `digest` counts a chunk before it is written."""

    digest: Digest

    def write(self, chunk: memoryview) -> None: ...


class WriteBehind:
    """What was put has been written when the block is left; what goes wrong is raised there at the latest."""

    def __init__(self, target: Target) -> None:
        self._target = target
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
        self._waiting.put(None)
        self._thread.join()
        if error is None and self._failure is not None:
            raise self._failure

    def _work(self) -> None:
        while (put := self._waiting.get()) is not None:
            if self._failure is None:  # else they are only taken, lest whoever puts them waits for ever
                try:
                    chunk, self._target.digest = put
                    self._target.write(chunk)
                except BaseException as error:  # noqa: BLE001  # it belongs to the thread that puts
                    self._failure = error
