"""Progress bars of streams, below the lines that tell what has happened."""

from collections.abc import Hashable
from typing import TYPE_CHECKING, TextIO

from satchel.cli.engine.terminal.output import printable
from satchel.cli.engine.terminal.progress import progress_bars

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class Bars:
    """For one thread at a time. Nothing is loaded or drawn before the first bytes."""

    def __init__(self) -> None:
        self._progress: Progress | None = None
        self._bars: dict[Hashable, TaskID] = {}

    def move(self, what: Hashable, title: str, total: int | None, completed: int) -> None:
        if self._progress is None:
            self._progress = progress_bars()
            self._progress.start()
        if (bar := self._bars.get(what)) is None:
            self._bars[what] = self._progress.add_task(printable(title), total=total, completed=completed)
        else:
            self._progress.update(bar, completed=completed)

    def end(self, what: Hashable) -> None:
        bar = self._bars.pop(what, None)
        if self._progress is not None and bar is not None:
            self._progress.remove_task(bar)
            if not self._bars:
                self.stop()

    def print(self, line: str, stream: TextIO) -> None:
        """Print a line above the bars, if there are any."""
        if self._progress is None:
            print(line, file=stream, flush=True)
            return
        from rich.text import Text

        self._progress.console.print(Text.from_ansi(line), soft_wrap=True)

    def stop(self) -> None:
        if self._progress is not None:
            for bar in self._progress.task_ids:
                self._progress.remove_task(bar)
            self._progress.stop()
        self._progress = None
        self._bars.clear()
