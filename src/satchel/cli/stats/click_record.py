"""Record clicks in batches, each under an idempotency key, so that none counts twice."""

import secrets
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import msgspec

from satchel.cli.engine.api_types.stats_types import RecordedClicksView, RecordedView
from satchel.cli.engine.http.client import Client
from satchel.cli.engine.http.failures import Refused, Unreachable
from satchel.cli.engine.http.retry import Retry
from satchel.cli.engine.terminal.output import CommandFailed, note

AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class Line:
    """A click to be recorded, and the number of the line it was read from."""

    number: int
    click: Mapping[str, object]


def read_lines(lines: Iterable[bytes]) -> Iterator[Line]:
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                yield Line(number, msgspec.json.decode(line, type=dict[str, object]))
            except msgspec.DecodeError as error:
                raise CommandFailed(f"Line {number} is not a click, which is a JSON object: {error}.") from error


def new_key() -> str:
    return secrets.token_hex(6)


def record_all(client: Client, lines: Iterable[Line], key: str) -> Iterator[list[RecordedView]]:
    """List by list. Given the same key and lines once more, nothing is counted that had been counted."""
    waiting = iter(lines)
    while batch := list(islice(waiting, AT_ONCE)):
        yield _record(client, [{"key": f"{key}/{line.number}", **line.click} for line in batch], batch)


def _record(client: Client, clicks: Sequence[Mapping[str, object]], batch: Sequence[Line]) -> list[RecordedView]:
    content = msgspec.json.encode(clicks)
    retry = Retry(threading.Event(), note)
    while True:
        try:
            return client.post_bytes("/clicks", "application/json", content, RecordedClicksView).clicks
        except (Refused, Unreachable) as error:
            if isinstance(error, Refused) and error.status < 500 and len(batch) > 1:
                lines = f"lines {batch[0].number:,} to {batch[-1].number:,}"
                raise CommandFailed(f"None of {lines} was recorded: {error}") from error
            retry.wait_after(error)
