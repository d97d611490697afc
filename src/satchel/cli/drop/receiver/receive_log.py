"""What a receiver sees: progress, speed, and what was received.

Texts for people go to standard error, because standard output may be the file itself. JSON goes to standard output.
"""

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from satchel.cli.drop.crypto.session_keys import Description, Stream, Sum
from satchel.cli.drop.session.drop_session import Announced
from satchel.cli.drop.stream_bars import Bars
from satchel.cli.drop.stream_pace import Pace
from satchel.cli.engine.terminal.output import paint, printable
from satchel.cli.engine.terminal.sizes import shown_bytes, shown_seconds

_LINE_EVERY_SECONDS = 10.0
_OBJECT_EVERY_SECONDS = 1.0
# A quick download needs no bar, and nobody sees more than ten updates a second.
_MOMENT_SECONDS = 0.3
_MOVED_EVERY_SECONDS = 0.1


class ReceiveLog:
    """Several threads may call it."""

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json
        has_bars = not as_json and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._bars = Bars() if has_bars else None
        self._speaking = threading.RLock()
        self._said = ""
        self._is_asking = False

    def offered(self, files: Sequence[Announced], names: Sequence[str]) -> None:
        """For machines only. People see the prompt."""
        things = [
            {
                "file_id": file.file_id,
                "kind": file.description.kind,
                "name": file.description.name,
                "size": file.description.size,
                "files": file.description.files,
                "from": name,
            }
            for file, name in zip(files, names, strict=True)
        ]
        self.tell("offer", "", files=things)

    def taking(self, description: Description) -> "Taking":
        return Taking(self, description)

    def saved(self, path: Path, written: Sum, pace: Pace, *, is_folder: bool) -> None:
        """What is on the disk now, which was counted there."""
        size = written.size or 0
        files = f"{written.files:,} {'file' if written.files == 1 else 'files'}, " if is_folder else ""
        facts = f"{files}{shown_bytes(size)}{pace.summed_up(size)}"
        sentence = f"{paint('✓', 'good', sys.stderr)} {printable(str(path))} ({facts}), verified."
        where = os.fsencode(path).decode(errors="replace")
        self.tell("saved", sentence, path=where, size=size, files=written.files)

    def renamed(self, called: str, name: str) -> None:
        """A name that was taken already, or that cannot be stored here."""
        self.tell("renamed", printable(f"  {called} is called {name} here."), name=called, stored_as=name)

    def failed(self, name: str, why: str) -> None:
        self.tell("failed", printable(f"Not received: {name}: {why}"), name=name, why=why)

    def ask(self, question: Callable[[], bool]) -> bool:
        """Ask while no bar moves. Downloads go on meanwhile."""
        with self._speaking:
            self.end_bars()
            self._is_asking = True
        try:
            return question()
        finally:
            self._is_asking = False

    def say(self, sentence: str) -> None:
        """Say this once, until something else is said or bytes arrive."""
        with self._speaking:
            if sentence == self._said:
                return
            self._said = sentence
        self.tell("note", printable(sentence), text=sentence)

    def forget_what_was_said(self) -> None:
        self._said = ""

    def tell(self, kind: str, sentence: str, **facts: Any) -> None:
        """An empty sentence is not shown to people."""
        with self._speaking:
            if self.as_json:
                moment = datetime.now(UTC).isoformat(timespec="milliseconds")
                print(json.dumps({"type": kind, "at": moment, **facts}), flush=True)
            elif sentence and self._bars:
                self._bars.print(sentence, sys.stderr)
            elif sentence:
                print(sentence, file=sys.stderr, flush=True)

    def move_bar(self, taking: "Taking", title: str, total: int | None, completed: int) -> bool:
        """Whether bars are shown."""
        with self._speaking:
            if self._bars and not self._is_asking:
                self._bars.move(taking, title, total, completed)
            return self._bars is not None

    def end_bar(self, taking: "Taking") -> None:
        with self._speaking:
            if self._bars:
                self._bars.end(taking)

    def end_bars(self) -> None:
        with self._speaking:
            if self._bars:
                self._bars.stop()

    @property
    def every_seconds(self) -> float:
        return _OBJECT_EVERY_SECONDS if self.as_json else _LINE_EVERY_SECONDS


class Taking:
    """The progress of one download, through any number of streams."""

    def __init__(self, log: ReceiveLog, description: Description) -> None:
        self._log = log
        self._name = "a text" if description.kind == "text" else description.name
        self._length = description.size
        self.pace = Pace()
        self.written_bytes = 0
        self._moved_at = 0.0
        self._said = ""

    def begun(self, stream: Stream) -> None:
        self._length = stream.length
        self.pace = Pace(stream.first * stream.chunk)
        if self.pace.from_bytes:
            self._log.say(f"Resuming {self._name} at {shown_bytes(self.pace.from_bytes)}.")

    def moved(self, written_bytes: int) -> None:
        self.written_bytes = written_bytes
        if self._said:
            self._said = ""
            self._log.forget_what_was_said()
        now = time.monotonic()
        if now - self.pace.begun_at < _MOMENT_SECONDS or now - self._moved_at < _MOVED_EVERY_SECONDS:
            return
        self._moved_at = now
        has_bar = self._log.move_bar(self, self._name, self._length, written_bytes)
        if not has_bar and now - self.pace.shown_at >= self._log.every_seconds:
            self.pace.shown_at = now
            self._show(written_bytes)

    def close(self) -> None:
        self._log.end_bar(self)

    def say(self, sentence: str) -> None:
        if sentence != self._said:
            self._said = sentence
            self._log.say(sentence)

    def _show(self, written_bytes: int) -> None:
        speed = self.pace.speed(written_bytes)
        of_all = left = ""
        if self._length:
            of_all = f" of {shown_bytes(self._length)}"
            left = f", {shown_seconds((self._length - written_bytes) / max(speed, 1))} left" if speed else ""
        sentence = printable(f"{self._name}: {shown_bytes(written_bytes)}{of_all}, {shown_bytes(speed)}/s{left}.")
        facts = {"written_bytes": written_bytes, "size_bytes": self._length, "bytes_per_second": speed}
        self._log.tell("progress", sentence, name=self._name, **facts)
