"""Progress of uploads and downloads: bars in a terminal, lines without one, a JSON object per line for machines."""

import json
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from satchel.cli.engine.terminal.numbers import shown_files
from satchel.cli.engine.terminal.output import note, printable
from satchel.cli.engine.terminal.sizes import shown_bytes, shown_seconds

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

# Smaller files come and go before one could read their names.
_WORTH_A_BAR_BYTES = 4 * 1024**2


def progress_view(verb: str, files: int, size_bytes: int, *, as_json: bool, quiet: bool) -> "Lines":
    if as_json:
        return Objects(verb)
    if quiet:
        return Silence(verb)
    if sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        return Bars(verb, files, size_bytes)
    return Lines(verb)


class Lines:
    """A line on standard output for every file. Told from many threads what happens."""

    def __init__(self, verb: str) -> None:
        self.verb = verb
        self._speaking = threading.Lock()
        self._said = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        sys.stdout.flush()

    def begin(self, name: str, size_bytes: int) -> Callable[[int], None]:  # noqa: ARG002  # only bars need them
        """A file is under way; what is answered wants to know how many of its bytes have moved, each time."""
        return self._hear

    def done(self, name: str, size_bytes: int, facts: dict[str, Any]) -> None:  # noqa: ARG002  # for machines
        self._said = ""
        self._print(f"{self.verb} {printable(name)} ({shown_bytes(size_bytes)})")

    def failed(self, name: str, why: str) -> None:
        note(f"Not {self.verb}: {name}: {why}")

    def left_out(self, name: str, why: str) -> None:
        note(f"Left out: {name} is {why}.")

    def renamed(self, name: str, other: str) -> None:
        """A name cannot be written where the file goes."""
        note(f"Renamed: {name} was {self.verb} as {other}.")

    def end(self, files: int, size_bytes: int, seconds: float, before: int) -> None:
        earlier = f" {shown_files(before)} {_were(before)} {self.verb} before." if before else ""
        speed = f", {shown_bytes(int(size_bytes / seconds))}/s" if size_bytes and seconds >= 1 else ""
        took = f" in {shown_seconds(seconds)}{speed}" if files else ""
        print(f"{shown_files(files)}, {shown_bytes(size_bytes)}, {self.verb}{took}.{earlier}")

    def say(self, sentence: str) -> None:
        """Something to know that many files may have to say at once; heard once until something moves again."""
        with self._speaking:
            if sentence != self._said:
                self._said = sentence
                self._speak(sentence)

    def _hear(self, moved_bytes: int) -> None:
        if moved_bytes:
            self._said = ""

    def _speak(self, sentence: str) -> None:
        note(sentence)

    def _print(self, line: str) -> None:
        with self._speaking:
            print(line)


class Silence(Lines):
    """Only what went wrong."""

    def done(self, name: str, size_bytes: int, facts: dict[str, Any]) -> None:
        pass

    def left_out(self, name: str, why: str) -> None:
        pass

    def end(self, files: int, size_bytes: int, seconds: float, before: int) -> None:
        pass


class Objects(Lines):
    """An object per line on standard output, also for what went wrong."""

    def done(self, name: str, size_bytes: int, facts: dict[str, Any]) -> None:
        self._tell(self.verb, name, size_bytes=size_bytes, **facts)

    def failed(self, name: str, why: str) -> None:
        self._tell("failed", name, why=why)

    def left_out(self, name: str, why: str) -> None:
        self._tell("left out", name, why=why)

    def renamed(self, name: str, other: str) -> None:
        pass  # what a file is called stands in its own line

    def end(self, files: int, size_bytes: int, seconds: float, before: int) -> None:
        pass

    def _tell(self, result: str, name: str, **facts: Any) -> None:
        # JSON cannot say what is not UTF-8.
        path = os.fsencode(name).decode(errors="replace")
        self._print(json.dumps({"result": result, "path": path, **facts}))
        sys.stdout.flush()


class Bars(Lines):
    """One bar for everything and one for each large file under way, with speed and time left."""

    def __init__(self, verb: str, files: int, size_bytes: int) -> None:
        super().__init__(verb)
        self._progress = progress_bars()
        self._files, self._finished = files, 0
        self._under_way: dict[str, int] = {}
        self._bars: dict[str, TaskID] = {}
        self._moved_bytes = 0
        self._counting = threading.Lock()
        self._all = self._progress.add_task(self._title(), total=size_bytes or None)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def begin(self, name: str, size_bytes: int) -> Callable[[int], None]:
        def moved(moved_bytes: int) -> None:
            self._hear(moved_bytes)
            self._count(name, moved_bytes)
            if size_bytes >= _WORTH_A_BAR_BYTES:
                if name not in self._bars:
                    self._bars[name] = self._progress.add_task(printable(Path(name).name), total=size_bytes)
                self._progress.update(self._bars[name], completed=moved_bytes)

        return moved

    def done(self, name: str, size_bytes: int, facts: dict[str, Any]) -> None:  # noqa: ARG002  # for machines
        self._said = ""
        self._count(name, size_bytes, finished=True)
        self._end_bar(name)

    def failed(self, name: str, why: str) -> None:
        self._end_bar(name)
        self._speak(f"Not {self.verb}: {name}: {why}")

    def left_out(self, name: str, why: str) -> None:
        self._speak(f"Left out: {name} is {why}.")

    def _end_bar(self, name: str) -> None:
        if (bar := self._bars.pop(name, None)) is not None:
            self._progress.remove_task(bar)

    def _speak(self, sentence: str) -> None:
        self._progress.console.print(printable(sentence), markup=False, highlight=False, soft_wrap=True)

    def _count(self, name: str, moved_bytes: int, *, finished: bool = False) -> None:
        with self._counting:
            self._moved_bytes += moved_bytes - self._under_way.pop(name, 0)
            if finished:
                self._finished += 1
            else:
                self._under_way[name] = moved_bytes
            self._progress.update(self._all, completed=self._moved_bytes, description=self._title())

    def _title(self) -> str:
        return f"{self._finished:,} of {self._files:,} files"


def _were(count: int) -> str:
    return "was" if count == 1 else "were"


def progress_bars() -> "Progress":
    """Bars with what has moved, speed and time left; without how much is left where a task has no total."""
    from rich.console import Console, RenderableType
    from rich.constrain import Constrain
    from rich.progress import BarColumn, Progress, TextColumn
    from rich.table import Column

    console = Console(stderr=True)

    class NarrowProgress(Progress):
        def get_renderable(self) -> RenderableType:
            # Leaves room for the ^C that a terminal writes behind the last bar, lest that begin a new line.
            return Constrain(self.make_tasks_table(self.tasks), console.width - 3)

    return NarrowProgress(
        TextColumn(
            "{task.description}",
            markup=False,
            table_column=Column(no_wrap=True, overflow="ellipsis", min_width=16, max_width=36, ratio=3),
        ),
        BarColumn(bar_width=None, table_column=Column(min_width=10, ratio=2)),
        *_figures(),
        console=console,
        expand=True,
    )


def _figures() -> list[Any]:
    from rich.progress import ProgressColumn, Task, TaskProgressColumn, TimeRemainingColumn
    from rich.text import Text

    class Moved(ProgressColumn):
        def render(self, task: Task) -> Text:
            of_total = "" if task.total is None else f"/{shown_bytes(int(task.total))}"
            return Text(shown_bytes(int(task.completed)) + of_total, justify="right")

    class Speed(ProgressColumn):
        def render(self, task: Task) -> Text:
            speed = task.finished_speed or task.speed
            return Text(f"{shown_bytes(int(speed))}/s" if speed else "", justify="right")

    class Share(TaskProgressColumn):
        def render(self, task: Task) -> Text:
            return Text() if task.total is None else super().render(task)

    return [Share(), Moved(), Speed(), TimeRemainingColumn(compact=True)]
