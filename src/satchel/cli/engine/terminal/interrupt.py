"""Remember Ctrl-C, because the interpreter can lose its exception, for example inside a finalizer."""

import signal
from types import FrameType, TracebackType
from typing import Any, Self


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
