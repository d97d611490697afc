"""`satchel receive`: join a session, choose, and download everything, resuming after every break."""

import sys
import threading
from collections.abc import Sequence
from contextlib import ExitStack, closing, suppress
from importlib import import_module
from pathlib import Path
from queue import SimpleQueue

from satchel.cli.drop.crypto.sealed_records import Digest
from satchel.cli.drop.crypto.session_keys import Tampered
from satchel.cli.drop.receiver import offer_prompt
from satchel.cli.drop.receiver.folder_unpack import BadFolder
from satchel.cli.drop.receiver.inflow import Changed, Inflow, NotHandedOver
from satchel.cli.drop.receiver.not_as_offered import NotAsOffered
from satchel.cli.drop.receiver.partial_content import Part, is_begun
from satchel.cli.drop.receiver.receive_log import ReceiveLog, Taking
from satchel.cli.drop.receiver.stdout_sink import MAX_TEXT_BYTES, Output, Text, print_text
from satchel.cli.drop.receiver.target_folder import TargetFolder
from satchel.cli.drop.session.description_text import described
from satchel.cli.drop.session.drop_session import Announced, DropSession
from satchel.cli.drop.session.session_join import invited_by, join
from satchel.cli.drop.session.session_listener import SessionListener
from satchel.cli.engine.files.worker_pool import WorkerPool
from satchel.cli.engine.http.client import open_client
from satchel.cli.engine.http.failures import Refused, Unreachable
from satchel.cli.engine.terminal.interrupt import say_in_time
from satchel.cli.engine.terminal.output import CommandFailed, Misused, note
from satchel.cli.engine.terminal.sizes import shown_bytes
from satchel.kernel.names import folded

# How long an owner may take to announce a changed file again.
_ANEW_SECONDS = 30.0
# The announcement of what a sender sends already is on its way, if there is one.
_ANNOUNCED_SECONDS = 5.0
# How many a sender serves at once.
_AT_ONCE = 4
_FORGED = "The server lists a file that no member of the session announced."


def receive_all(
    given: str | None, into: str, *, output: str | None, yes: bool, name: str, as_json: bool, server: str | None
) -> None:
    if output not in (None, "-"):
        raise Misused("--output takes - for standard output; a folder is named with --into.")
    if not yes and (as_json or not sys.stdin.isatty()):
        raise Misused("There is no terminal to ask on. Use --yes to take everything.")
    invitation = invited_by(given)
    log = ReceiveLog(as_json=as_json)
    # The module for live events. It loads while we wait to be admitted.
    preload = threading.Thread(target=import_module, args=("websockets.sync.client",), daemon=True)
    preload.start()
    with open_client(invitation.server or server) as client, client.silence.told_by(log.say):
        session = join(client, invitation, name)
        preload.join()  # two threads that import the same package at once can deadlock
        client.remember_server()
        try:
            with closing(TargetFolder.at(Path(into))) as target:
                receiving = Receiving(session, target, log, to_output=output is not None, asks=not yes)
                receiving.take(receiving.choose())
        except KeyboardInterrupt:
            log.end_bars()
            say_in_time(lambda: _leave(session))
            raise
        except BaseException:
            log.end_bars()
            _leave(session)
            raise
        log.end_bars()
        _leave(session)


def _leave(session: DropSession) -> None:
    with suppress(Refused, Unreachable):  # our membership expires without us
        session.leave()


class Receiving:
    """One receiver in one session."""

    def __init__(
        self, session: DropSession, target: TargetFolder, log: ReceiveLog, *, to_output: bool, asks: bool
    ) -> None:
        self._session = session
        self._target = target
        self._log = log
        self._to_output = to_output
        self._asks = asks
        self._pool = WorkerPool(_AT_ONCE, self._interrupt)
        self._listener = SessionListener(session, log.say, self._pool.stop)
        self._inflows: list[Inflow] = []
        self._idle: SimpleQueue[Inflow] = SimpleQueue()
        self._here = self._here_bytes = 0
        self._counting = threading.Lock()
        self._asking = threading.Lock()

    def choose(self) -> list[Announced]:
        """The files that are offered, or those that were chosen."""
        self._listener.start()
        if not self._offered():
            self._log.say("Waiting for something to be offered.")
        offered = self._listener.wait_for(self._offered_at_last) or []
        if self._session.state.forged:
            self._log.say(f"{_FORGED} It was left out.")
        members = self._session.state.members
        self._log.offered(offered, [offer_prompt.owner_name(file, members) for file in offered])
        if not self._log.as_json:
            offer_prompt.show(offered, members)
        return offer_prompt.ask(offered) if self._asks else offered

    def take(self, files: Sequence[Announced]) -> None:
        if not files:
            note("Nothing was taken.")
            return
        if self._to_output and (len(files) > 1 or files[0].description.kind == "folder"):
            raise CommandFailed("Only a single file can go to standard output. Omit --output to save them.")
        self._refuse_if_full(files)
        with ExitStack() as until_the_end:
            for _ in range(min(_AT_ONCE, len(files))):
                self._inflows.append(until_the_end.enter_context(closing(Inflow(self._session, self._listener))))
                self._idle.put(self._inflows[-1])
            self._take_all(files)
        missed = len(files) - self._here
        self._log.tell("done", self._sum_up(len(files)), files=self._here, size=self._here_bytes, missed=missed)
        if missed:
            raise CommandFailed("Some files were not received. Run the same command again to retry them.")

    def _take_all(self, files: Sequence[Announced]) -> None:
        """Download several at once, because a small file mostly waits for answers."""
        printed = [file for file in files if self._is_printed(file)]
        try:
            for file in printed:  # standard output gets them in order, before the rest
                self._take(file)
            self._pool.run_all([file for file in files if file not in printed], self._take)
        except KeyboardInterrupt:
            self._log.end_bars()
            resumed = "" if self._to_output else " Partial files are kept. Run the same command again to resume."
            note(f"Stopped.{resumed}")
            raise

    def _interrupt(self) -> None:
        for inflow in self._inflows:
            with suppress(OSError):
                inflow.interrupt()

    def _offered(self) -> list[Announced]:
        """Sorted by owner and name, because the server does not know the order of the announcements."""
        files = [file for file in self._session.state.files.values() if file.owner_id != self._session.member_id]
        return sorted(files, key=lambda file: (file.owner_id, folded(file.description.name)))

    def _offered_at_last(self) -> list[Announced] | None:
        offered = self._offered()
        if not offered and self._session.state.forged:
            raise Tampered(f"{_FORGED} Nothing was taken.")
        return offered or None

    def _refuse_if_full(self, files: Sequence[Announced]) -> None:
        """Partial files are checked later, one by one."""
        descriptions = [file.description for file in files]
        new = [each.size or 0 for each in descriptions if not is_begun(self._target, each)]
        if not self._to_output and new:
            self._target.refuse_if_full(sum(new))

    def _take(self, file: Announced) -> None:
        inflow = self._idle.get()
        try:
            self._take_as_offered(file, inflow)
        except (NotHandedOver, NotAsOffered, Tampered, BadFolder) as error:
            self._log.failed(file.description.name, str(error))
        finally:
            self._idle.put(inflow)

    def _take_as_offered(self, file: Announced, inflow: Inflow) -> None:
        """Take what was chosen, or what it has become, if the person agrees to that."""
        while True:
            try:
                self._take_one(file, inflow)
            except Changed:
                file = self._anew(file, _ANEW_SECONDS)
            except NotAsOffered as error:
                file = self._anew(file, _ANNOUNCED_SECONDS, error)
            else:
                return

    def _take_one(self, file: Announced, inflow: Inflow) -> None:
        if self._is_other_now(file):
            raise Changed("The file has changed since it was announced.")
        try:
            with closing(self._sink(file)) as sink, closing(self._log.taking(file.description)) as taking:
                path = inflow.take(file, sink, taking)
                taking.close()
                self._tell_taken(file, sink, path, taking)
        except BrokenPipeError:  # the reader of our standard output has gone
            raise
        except OSError as error:
            raise CommandFailed(f"Cannot write to {self._target.path}: {error.strerror}.") from error

    def _tell_taken(self, file: Announced, sink: Part | Text | Output, path: Path | None, taking: Taking) -> None:
        written = sink.written
        with self._counting:
            self._here, self._here_bytes = self._here + 1, self._here_bytes + (written.size or 0)
        if isinstance(sink, Text):
            self._tell_text(sink.text)
        elif path is not None:
            self._log.saved(path, written, taking.pace, is_folder=file.description.kind == "folder")
            for called, name in sink.renamed if isinstance(sink, Part) else ():
                self._log.renamed(called, name)

    def _sink(self, file: Announced) -> Part | Text | Output:
        description = file.description
        empty = Digest(self._session.keys.digest_key(file.file_id))
        if self._to_output:
            return Output(empty)
        if self._is_printed(file):
            return Text(empty)
        part = Part(self._target, description, empty)
        self._target.refuse_if_full(max((description.size or 0) - part.here_bytes, 0))
        return part

    def _is_printed(self, file: Announced) -> bool:
        description = file.description
        return description.kind == "text" and (description.size or 0) <= MAX_TEXT_BYTES and not self._to_output

    def _tell_text(self, text: str) -> None:
        if self._log.as_json:
            self._log.tell("text", "", text=text)
        else:
            print_text(text)

    def _is_other_now(self, file: Announced) -> Announced | None:
        """What is announced in the place of this file by now, if that is something else."""
        now = self._session.state.files.get(file.file_id)
        return now if now and now.description != file.description else None

    def _anew(self, file: Announced, seconds: float, error: NotAsOffered | None = None) -> Announced:
        """Wait for the announcement that replaces a changed file, and ask whether that is wanted as well."""
        again = self._listener.wait_for(lambda: self._is_other_now(file), seconds)
        if again is None:
            raise error or NotHandedOver("It has changed since it was offered, and was not offered again.")
        name, now = file.description.name, described(again.description)
        self._log.say(f"{name} has changed since it was offered. It is now {now}.")
        with self._asking:
            if self._asks and not self._log.ask(offer_prompt.is_wanted):
                raise NotHandedOver("It has changed since it was offered, and you did not want it then.")
        return again

    def _sum_up(self, wanted: int) -> str:
        return f"{self._here:,} of {wanted:,} received, {shown_bytes(self._here_bytes)}." if wanted > 1 else ""
