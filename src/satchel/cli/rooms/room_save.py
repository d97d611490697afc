"""Download what comes into a room while it is watched, verify it, and send receipts for transfers."""

import queue
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from satchel.cli.engine.api_types.room_types import FileView
from satchel.cli.engine.api_types.transfer_types import TransferView
from satchel.cli.engine.files.download import Fetcher, Wanted, full_name, local_path
from satchel.cli.engine.http.client import Client
from satchel.cli.engine.http.retry import Retry, Stopped
from satchel.cli.engine.resources.transfer_download import open_offer, plan, prove, report_verified
from satchel.cli.engine.resources.transfer_find import read_transfer
from satchel.cli.engine.resources.transfer_text import shown_count
from satchel.cli.engine.terminal.output import CommandFailed
from satchel.cli.engine.terminal.sizes import shown_bytes
from satchel.cli.rooms.narrator import Narrator

_LAST_WORDS_SECONDS = 0.4
# Of a file that takes longer, one wants to know how far it is.
_TELL_EVERY_SECONDS = 10.0


@dataclass(slots=True)
class Saver:
    """Fetches into one folder, in a thread of its own. What is there already is not fetched again."""

    client: Client
    folder: Path
    narrator: Narrator
    _jobs: "queue.SimpleQueue[Callable[[], None]]" = field(default_factory=lambda: queue.SimpleQueue())
    _stop: threading.Event = field(default_factory=threading.Event)
    _asked_for: set[str] = field(default_factory=set[str])
    # Whatever name it got here: the same bytes under the same name, offered once more, are here.
    _saved: dict[tuple[Path, str], Path] = field(default_factory=dict[tuple[Path, str], Path])

    def __post_init__(self) -> None:
        threading.Thread(target=self._work, daemon=True).start()

    def save_file(self, room_id: str, file: FileView) -> None:
        if file.file_id in self._asked_for:
            return
        self._asked_for.add(file.file_id)
        self._jobs.put(lambda: self._try(full_name(file), lambda: self._take(room_id, file)))

    def save_offer(self, transfer: TransferView) -> None:
        if transfer.transfer_id in self._asked_for:
            return
        self._asked_for.add(transfer.transfer_id)
        what = f"what {transfer.sender.name} offered"
        self._jobs.put(lambda: self._try(what, lambda: self._accept(transfer.transfer_id)))

    def finish(self) -> None:
        """Stop downloads. They are resumed when the same room is watched again."""
        done = threading.Event()
        self._jobs.put(done.set)
        self._stop.set()
        done.wait(_LAST_WORDS_SECONDS)

    def _work(self) -> None:
        with suppress(BrokenPipeError):  # nobody reads any more what is told, which ends the command as well
            while True:
                self._jobs.get()()

    def _try(self, what: str, job: Callable[[], None]) -> None:
        try:
            if not self._stop.is_set():
                job()
        except Stopped:
            return
        except BrokenPipeError:
            raise
        except (CommandFailed, OSError) as error:
            why = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
            self.narrator.tell("not-saved", f"Not saved: {what}: {why}", path=what, why=why)

    def _take(self, room_id: str, file: FileView) -> None:
        # What was handed to the room before we came is taken from that transfer, which gives its sender a receipt.
        handed = f"/transfers/{file.transfer_id}/files/{file.place}" if file.transfer_id else ""
        content = f"{handed or f'/rooms/{room_id}/files/{file.file_id}'}/content"

        def report(saved_as: Path) -> None:
            if handed:
                prove(self.client, handed, saved_as)

        self._fetch(
            Wanted(
                content,
                file.size_bytes,
                file.sha256,
                self.folder / local_path(full_name(file)),
                called=full_name(file),
                modified_at=file.modified_at,
                executable=file.executable,
            ),
            report,
        )

    def _accept(self, transfer_id: str) -> None:
        # With all of its files: lists only have the first few.
        transfer = read_transfer(self.client, transfer_id)
        open_offer(self.client, transfer)
        for wanted in plan(transfer, self.folder):
            self._fetch(wanted, partial(report_verified, self.client, transfer, wanted.facts["place"]))
        size = shown_bytes(transfer.size_bytes)
        self.narrator.tell(
            "received",
            f"Received from {transfer.sender.name}: {shown_count(transfer.file_count)}, {size}, verified.",
            transfer_id=transfer.transfer_id,
        )

    def _fetch(self, wanted: Wanted, report: Callable[[Path], None]) -> None:
        """Have the file here, report that it is, and say so."""
        key = (wanted.target, wanted.sha256)
        if (saved_before := self._saved.get(key)) is not None:
            report(saved_before)
            return
        wanted.target.parent.mkdir(parents=True, exist_ok=True)
        fetcher = Fetcher(self.client, self.client.credentials.path.parent / "downloads", self._stop.is_set)
        saved_as = fetcher.fetch(wanted, Retry(self._stop, self._say), self._progress_of(wanted))
        self._saved[key] = saved_as
        report(saved_as)
        other = f" It was called {wanted.called}." if wanted.is_renamed(saved_as) else ""
        sentence = f"Saved {saved_as} ({shown_bytes(wanted.size_bytes)}), verified.{other}"
        self.narrator.tell("saved", sentence, saved_as=str(saved_as), sha256=wanted.sha256)

    def _progress_of(self, wanted: Wanted) -> Callable[[int], None]:
        told_at = time.monotonic()

        def moved(moved_bytes: int) -> None:
            nonlocal told_at
            if time.monotonic() - told_at < _TELL_EVERY_SECONDS:
                return
            told_at = time.monotonic()
            share = f"{shown_bytes(moved_bytes)} of {shown_bytes(wanted.size_bytes)}"
            sentence = f"Saving {wanted.target}: {share}."
            self.narrator.tell("saving", sentence, saved_bytes=moved_bytes, size_bytes=wanted.size_bytes)

        return moved

    def _say(self, sentence: str) -> None:
        self.narrator.tell("connection", sentence)
