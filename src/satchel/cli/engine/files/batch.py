"""Upload or download everything that one command names: in parallel, each failure on its own, with a summary."""

import shutil
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar

from satchel.cli.engine.api_types.shelf_types import UploadState
from satchel.cli.engine.files.archive_fetch import fetch_archived, grouped
from satchel.cli.engine.files.download import Fetcher, Wanted
from satchel.cli.engine.files.local_files import Gathered, Source, near
from satchel.cli.engine.files.upload import About, Sender, bundled, say_nothing_more
from satchel.cli.engine.files.upload_journal import Journal
from satchel.cli.engine.files.worker_pool import WorkerPool
from satchel.cli.engine.http.client import SIGN_IN_AGAIN, Client
from satchel.cli.engine.http.failures import Refused, Unreachable
from satchel.cli.engine.http.retry import Retry
from satchel.cli.engine.terminal.output import CommandFailed
from satchel.cli.engine.terminal.progress import Lines, progress_view
from satchel.cli.engine.terminal.sizes import shown_bytes

# A server answers when its disk has a file, and flushes many of them at once as fast as one.
SENDING_AT_ONCE = 32
FETCHING_AT_ONCE = 4


class Sized(Protocol):
    """Something to move."""

    @property
    def size_bytes(self) -> int: ...


T = TypeVar("T", bound=Sized)
Move = Callable[[T, Retry, Callable[[int], None]], dict[str, Any]]


@dataclass(slots=True)
class _Batch:
    """What is to be moved, and what has become of it."""

    pool: WorkerPool
    view: Lines
    failures: int = 0
    done: int = 0
    done_bytes: int = 0
    started: float = field(default_factory=time.monotonic)

    def move_one(self, thing: T, name: str, move: Move[T]) -> None:
        moved = self.view.begin(name, thing.size_bytes)
        try:
            facts = move(thing, self.retry(), moved)
        except (CommandFailed, OSError) as error:
            if _concerns_all(error):
                raise
            self.fail(name, _reason(error))
        else:
            self.has_moved(name, thing.size_bytes, facts)

    def has_moved(self, name: str, size_bytes: int, facts: dict[str, Any]) -> None:
        self.done += 1
        self.done_bytes += size_bytes
        self.view.done(name, size_bytes, facts)

    def retry(self) -> Retry:
        return Retry(self.pool.stop, self.view.say)

    def fail(self, name: str, why: str) -> None:
        self.failures += 1
        self.view.failed(name, why)

    def sum_up(self, before: int = 0) -> bool:
        """Whether everything went well."""
        self.view.end(self.done, self.done_bytes, time.monotonic() - self.started, before)
        return not self.failures


@dataclass(frozen=True, slots=True)
class Sent:
    """Whether everything is on the server now, and by which upload each file came there."""

    is_whole: bool
    uploads: dict[Source, str]
    # What each file became, of those that came in a bundle or are asked about.
    became: dict[Source, str] = field(default_factory=dict[Source, str])

    def file_ids(self, client: Client, known: Collection[str]) -> list[str]:
        """What became of the uploads. The journal keeps of a file that came in a bundle only that; `known` tells it."""
        became = {upload_id: upload_id for upload_id in self.uploads.values() if upload_id in known}

        def ask(upload_id: str) -> None:
            became[upload_id] = _became(client, upload_id)

        WorkerPool(SENDING_AT_ONCE).run_all(set(self.uploads.values()) - became.keys(), ask)
        return [became[upload_id] for upload_id in self.uploads.values()]


def send_all(
    client: Client,
    journal: Journal,
    found: Gathered,
    *,
    as_json: bool,
    quiet: bool,
    destination: Mapping[str, str],
    about: About = say_nothing_more,
    view_of: Callable[[int, int], Lines] | None = None,
) -> Sent:
    """Send what the journal does not know as sent. `view_of` gets the number of files and bytes of that."""
    waiting = [source for source in found.sources if not journal.is_done(source)]
    uploads = {source: journal.upload_of(source) for source in found.sources}
    became: dict[Source, str] = {}
    pool = WorkerPool(SENDING_AT_ONCE)
    sender = Sender(client, journal, pool.stop.is_set, destination, about)

    def send(source: Source, retry: Retry, moved: Callable[[int], None]) -> dict[str, Any]:
        upload_id = uploads[source] = sender.send(source, retry, moved)
        if not as_json and "replaces" not in about(source):
            return {}
        became[source] = _became(client, upload_id)
        return {"place": source.place, "file_id": became[source]}

    def send_some(sources: Sequence[Source]) -> None:
        sent = sender.send_bundle(sources, batch.retry()) if len(sources) > 1 else {}
        for source in sources:
            name, file_id = near(source.path), sent.get(source)
            if file_id is None:
                batch.move_one(source, name, send)
            else:
                uploads[source] = became[source] = file_id
                batch.has_moved(name, source.size_bytes, {"place": source.place, "file_id": file_id})

    def send_folders(folders: Sequence[Source]) -> None:
        """After their files, without counting them. Sending one again changes nothing."""
        sent = sender.send_bundle(folders, batch.retry())
        for folder in folders:
            if folder not in sent:
                _send_folder(sender, batch, folder)

    if view_of is None:
        view = progress_view("sent", len(waiting), _bytes_of(waiting), as_json=as_json, quiet=quiet)
    else:
        view = view_of(len(waiting), _bytes_of(waiting))
    batch = _Batch(pool, view)
    with view, client.silence.told_by(view.say):
        for path, why in found.left_out:
            view.left_out(near(path), why)
        for path, placed in found.renamed:
            view.renamed(near(path), placed)
        if not keeps_folders(destination):
            for folder in empty_folders(found):
                view.left_out(near(folder.path), "an empty folder")
        for path, why in found.failed:
            batch.fail(near(path), why)
        pool.run_all(bundled(waiting, about), send_some)
        if keeps_folders(destination):
            pool.run_all(bundled(found.folders), send_folders)
    return Sent(batch.sum_up(before=len(found.sources) - len(waiting)), uploads, became)


def keeps_folders(destination: Mapping[str, str]) -> bool:
    """Whether folders are things of their own there, with a time, also if they are empty."""
    return destination["destination"] == "shelf"


def _send_folder(sender: Sender, batch: _Batch, folder: Source) -> None:
    try:
        sender.send(folder, batch.retry(), lambda _: None)
    except (CommandFailed, OSError) as error:
        if _concerns_all(error):
            raise
        batch.fail(near(folder.path), _reason(error))


def empty_folders(found: Gathered) -> list[Source]:
    filled = {each.place.rstrip("/").rpartition("/")[0] for each in (*found.sources, *found.folders)}
    return [folder for folder in found.folders if folder.place.rstrip("/") not in filled]


def fetch_all(
    client: Client,
    wanted: Sequence[Wanted],
    *,
    as_json: bool,
    quiet: bool,
    then: Callable[[Wanted, Path], None] = lambda _wanted, _saved_as: None,
    archive: tuple[str, Path] | None = None,
) -> bool:
    """Whether everything is here now. `then` is told of every file that is, and where.

    `archive` is where the API has several files in one answer, and the folder that they go to.
    """
    pool = WorkerPool(FETCHING_AT_ONCE)
    fetcher = Fetcher(client, client.credentials.path.parent / "downloads", pool.stop.is_set)

    def fetch(each: Wanted, retry: Retry, moved: Callable[[int], None]) -> dict[str, Any]:
        return tell(each, fetcher.fetch(each, retry, moved))

    def tell(each: Wanted, saved_as: Path) -> dict[str, Any]:
        if each.is_renamed(saved_as):
            view.renamed(each.called, str(saved_as))
        then(each, saved_as)
        return {"saved_as": str(saved_as), **each.facts}

    def fetch_some(some: Sequence[Wanted]) -> None:
        arrived = 0
        if archive and len(some) > 1:
            for each, saved_as in fetch_archived(client, archive[0], some, pool.stop.is_set):
                batch.has_moved(str(each.target), each.size_bytes, tell(each, saved_as))
                arrived += 1
        for each in some[arrived:]:
            batch.move_one(each, str(each.target), fetch)

    view = progress_view("fetched", len(wanted), _bytes_of(wanted), as_json=as_json, quiet=quiet)
    batch = _Batch(pool, view)
    with view, client.silence.told_by(view.say):
        pool.run_all(grouped(wanted, archive[1]) if archive else ([each] for each in wanted), fetch_some)
    return batch.sum_up()


def refuse_if_full(folder: Path, wanted: Sequence[Wanted]) -> None:
    needed, free = sum(each.missing_bytes for each in wanted), shutil.disk_usage(folder).free
    if needed > free:
        raise CommandFailed(f"Not enough space in {folder}: {shown_bytes(needed)} needed, {shown_bytes(free)} free.")


def _became(client: Client, upload_id: str) -> str:
    return client.call("GET", f"/uploads/{upload_id}", UploadState).became or ""


def _bytes_of(things: Sequence[Sized]) -> int:
    return sum(thing.size_bytes for thing in things)


def _concerns_all(error: Exception) -> bool:
    """Whether every other file would fail for the same reason."""
    return isinstance(error, Unreachable) or (isinstance(error, Refused) and error.slug in SIGN_IN_AGAIN)


def _reason(error: CommandFailed | OSError) -> str:
    return (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
