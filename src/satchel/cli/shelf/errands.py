"""Send or fetch all that one command was asked for: many at once, each failure on its own, and a word at the end."""

import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar

from satchel.cli.answers import UploadState
from satchel.cli.client import SIGN_IN_AGAIN, Client, Refused, Unreachable
from satchel.cli.output import CommandFailed
from satchel.cli.shelf.crew import Crew, Patience
from satchel.cli.shelf.fetching import Fetcher, Wanted
from satchel.cli.shelf.journal import Journal
from satchel.cli.shelf.sending import Sender
from satchel.cli.shelf.showing import Lines, showing
from satchel.cli.shelf.sizes import shown_bytes
from satchel.cli.shelf.sources import Gathered, Source, near

# A server answers when its disk has a file, and flushes many of them at once as fast as one.
SENDING_AT_ONCE = 32
FETCHING_AT_ONCE = 4


class Sized(Protocol):
    """Something to move."""

    @property
    def size_bytes(self) -> int: ...


T = TypeVar("T", bound=Sized)
Move = Callable[[T, Patience, Callable[[int], None]], dict[str, Any]]


@dataclass(slots=True)
class _Errand:
    """What is to be moved, and what has become of it."""

    crew: Crew
    view: Lines
    failures: int = 0
    done: int = 0
    done_bytes: int = 0
    started: float = field(default_factory=time.monotonic)

    def move_all(self, things: Sequence[T], name_of: Callable[[T], str], move: Move[T]) -> None:
        def move_one(thing: T) -> None:
            name = name_of(thing)
            moved = self.view.begin(name, thing.size_bytes)
            try:
                facts = move(thing, Patience(self.crew.stop, self.view.say), moved)
            except (CommandFailed, OSError) as error:
                if _concerns_all(error):
                    raise
                self.fail(name, _reason(error))
            else:
                self.done += 1
                self.done_bytes += thing.size_bytes
                self.view.done(name, thing.size_bytes, facts)

        self.crew.do_all(things, move_one)

    def fail(self, name: str, why: str) -> None:
        self.failures += 1
        self.view.failed(name, why)

    def sum_up(self, before: int = 0) -> bool:
        """Whether everything went well."""
        self.view.end(self.done, self.done_bytes, time.monotonic() - self.started, before)
        return not self.failures


def send_all(client: Client, journal: Journal, found: Gathered, *, as_json: bool, quiet: bool) -> bool:
    """Whether everything is on the shelf now."""
    waiting = [source for source in found.sources if not journal.is_done(source)]
    crew = Crew(SENDING_AT_ONCE)
    sender = Sender(client, journal, crew.stop.is_set)

    def send(source: Source, patience: Patience, moved: Callable[[int], None]) -> dict[str, Any]:
        upload_id = sender.send(source, patience, moved)
        if not as_json:
            return {}
        state = client.call("GET", f"/uploads/{upload_id}", UploadState)
        return {"place": source.place, "file_id": state.became}

    view = showing("sent", len(waiting), _bytes_of(waiting), as_json=as_json, quiet=quiet)
    errand = _Errand(crew, view)
    with view:
        for path, why in found.left_out:
            view.left_out(near(path), why)
        for path, why in found.failed:
            errand.fail(near(path), why)
        errand.move_all(waiting, lambda source: near(source.path), send)
    return errand.sum_up(before=len(found.sources) - len(waiting))


def fetch_all(client: Client, wanted: Sequence[Wanted], *, as_json: bool, quiet: bool) -> bool:
    """Whether everything is here now."""
    crew = Crew(FETCHING_AT_ONCE)
    fetcher = Fetcher(client, client.credentials.path.parent / "downloads", crew.stop.is_set)

    def fetch(each: Wanted, patience: Patience, moved: Callable[[int], None]) -> dict[str, Any]:
        return {"saved_as": str(fetcher.fetch(each, patience, moved)), "file_id": each.entry.id}

    view = showing("fetched", len(wanted), _bytes_of(wanted), as_json=as_json, quiet=quiet)
    errand = _Errand(crew, view)
    with view:
        errand.move_all(wanted, lambda each: str(each.target), fetch)
    return errand.sum_up()


def refuse_if_full(folder: Path, wanted: Sequence[Wanted]) -> None:
    needed, free = sum(each.missing_bytes for each in wanted), shutil.disk_usage(folder).free
    if needed > free:
        raise CommandFailed(
            f"There is not enough room in {folder}: {shown_bytes(needed)} are wanted and {shown_bytes(free)} are free."
        )


def _bytes_of(things: Sequence[Sized]) -> int:
    return sum(thing.size_bytes for thing in things)


def _concerns_all(error: Exception) -> bool:
    """Whether every other file would fail for the same reason."""
    return isinstance(error, Unreachable) or (isinstance(error, Refused) and error.slug in SIGN_IN_AGAIN)


def _reason(error: CommandFailed | OSError) -> str:
    return (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
