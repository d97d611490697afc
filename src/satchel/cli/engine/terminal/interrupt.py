"""Ctrl-C: remember it, because the interpreter can lose its exception, and end within a second after it."""

import signal
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, Self

# What is left to say to a server after Ctrl-C gets so long. Together with closing websockets, this is below a second.
LAST_WORDS_SECONDS = 0.6


def say_in_time(last_words: Callable[[], None]) -> None:
    """Say something to a server that may not answer: in a thread that is left behind if it takes too long."""
    thread = threading.Thread(target=last_words, daemon=True)
    thread.start()
    thread.join(LAST_WORDS_SECONDS)


class Interruption:
    """Inside the block, Ctrl-C is remembered as well as raised. An endless loop calls `raise_again`."""

    def __init__(self) -> None:
        self._is_noted = False
        self._before: Any = None

    def __enter__(self) -> Self:
        self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        signal.signal(signal.SIGINT, self._before)

    def raise_again(self) -> None:
        if self._is_noted:
            raise KeyboardInterrupt

    def _note(self, _signal: int, _frame: FrameType | None) -> None:
        self._is_noted = True
        raise KeyboardInterrupt
