"""One line per request and per event on standard error, as JSON for machines or as text for people.

No line holds a path, a query, a token, a cookie or a body. Paths can be secrets here, and the template of the route and
the request id are enough to find what happened.
"""

import asyncio
import contextlib
import logging
import os
import time
from collections import deque
from collections.abc import Callable
from typing import Any, Literal

import msgspec

from satchel.kernel.clock import iso

LogFormat = Literal["text", "json"]
Write = Callable[[bytes], object]

_encode = msgspec.json.Encoder(enc_hook=str).encode
# Fields that every record has. The others came by `extra=` and belong into the line.
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName", "color_message"}


class RequestLine(msgspec.Struct, tag_field="event", tag="request"):
    """The log line of a request."""

    time: str
    level: str
    request: str
    method: str
    route: str
    status: int
    ms: float
    bytes: int
    caller: str
    caller_id: str

    def for_people(self) -> str:
        who = f"{self.caller} {self.caller_id}".rstrip()
        return (
            f"{self.time} {self.method} {self.route or '(no route)'} {self.status} "
            f"{self.ms:g} ms {self.bytes} bytes, {who} [{self.request}]"
        )


class LineBuffer:
    """Lines on their way to standard error; those of one turn of the event loop leave with one system call."""

    def __init__(self, descriptor: int = 2) -> None:
        self._descriptor = descriptor
        # Appending and popping are atomic, because threads log as well.
        self._lines: deque[bytes] = deque()
        # The loop that will flush in its next turn.
        self._due_on: asyncio.AbstractEventLoop | None = None

    def write(self, line: bytes) -> None:
        self._lines.append(line)
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self.flush()
            return
        if self._due_on is not loop:
            self._due_on = loop
            loop.call_soon(self.flush)

    def flush(self) -> None:
        self._due_on = None
        lines: list[bytes] = []
        # Another thread may take the last one.
        with contextlib.suppress(IndexError):
            while self._lines:
                lines.append(self._lines.popleft())
        left = b"".join(lines)
        # A log that nobody reads any more must not stop the server.
        with contextlib.suppress(OSError):
            while left:
                left = left[os.write(self._descriptor, left) :]


class Journal(logging.Handler):
    """Where all lines go. Requests come directly, because a trip through `logging` costs as much as an endpoint.

    Lines of requests are buffered for a turn of the event loop, all others are written at once. `logging` flushes its
    handlers when the process exits, so only a process that is killed outright can lose the lines of its last turn.
    """

    def __init__(self, log_format: LogFormat = "json", level: str = "info", write: Write | None = None) -> None:
        super().__init__(level.upper())
        self._json = log_format == "json"
        self._buffer = LineBuffer()
        self._out = write or self._buffer.write
        self.wants_requests = self.level <= logging.INFO
        self.wants_everything = self.level <= logging.DEBUG

    def write_request(self, line: RequestLine) -> None:
        self._write(_encode(line) if self._json else line.for_people().encode())

    def emit(self, record: logging.LogRecord) -> None:
        extra = {name: value for name, value in vars(record).items() if name not in _STANDARD}
        trace = self._trace(record)
        if self._json:
            line = {
                "time": iso(record.created),
                "level": record.levelname.lower(),
                "event": record.getMessage(),
                "logger": record.name,
                **extra,
                **({"trace": trace} if trace else {}),
            }
            self._write(_encode(line))
        else:
            facts = "".join(f" {name}={value}" for name, value in extra.items())
            text = f"{iso(record.created)} {record.levelname.lower()}: {record.getMessage()}{facts}"
            self._write((f"{text}\n{trace}" if trace else text).encode(errors="replace"))
        self.flush()

    def flush(self) -> None:
        self._buffer.flush()

    def _trace(self, record: logging.LogRecord) -> str:
        return logging.Formatter().formatException(record.exc_info) if record.exc_info else ""

    def _write(self, line: bytes) -> None:
        # A log that nobody reads any more must not stop the server.
        try:  # noqa: SIM105 -- `suppress` costs as much as the line
            self._out(line + b"\n")
        except (OSError, ValueError):
            pass


class Timestamps:
    """The current time in the stored form. The part down to the second is made once per second."""

    def __init__(self) -> None:
        self._second = -1
        self._text = ""

    def now(self) -> str:
        moment = time.time()
        second = int(moment)
        if second != self._second:
            self._second, self._text = second, iso(second)[:-4]
        return f"{self._text}{int((moment - second) * 1000):03}Z"


def start_journal(log_format: LogFormat, level: str, **options: Any) -> Journal:
    """Send every log of the process to one journal. Of libraries only warnings are kept; we log the rest ourselves."""
    journal = Journal(log_format, level, **options)
    root = logging.getLogger()
    root.handlers = [journal]
    root.setLevel(max(journal.level, logging.WARNING))
    logging.getLogger("satchel").setLevel(journal.level)
    return journal
