"""`satchel send`: stay in a session and serve what is offered, to several receivers at once, until enough have it."""

import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, suppress
from itertools import islice
from queue import SimpleQueue

from satchel.cli.drop.crypto.session_keys import Request, Tampered, b64, from_b64
from satchel.cli.drop.sender.handover import Chain, Handover, HandoverStreams, Offer
from satchel.cli.drop.sender.send_content import Changed, Source, Stalled
from satchel.cli.drop.sender.send_log import SendLog
from satchel.cli.drop.session.doorkeeper import Doorkeeper
from satchel.cli.drop.session.drop_session import DropSession, Somebody, new_id
from satchel.cli.engine.api_types.drop_types import RequestView, SessionView
from satchel.cli.engine.api_types.event_types import (
    Came,
    Closed,
    Declined,
    Done,
    DropEvent,
    Ended,
    Knocked,
    Left,
    Progressed,
    Requested,
    Tagged,
)
from satchel.cli.engine.http.failures import Refused, Unreachable
from satchel.cli.engine.terminal.interrupt import say_in_time
from satchel.cli.engine.terminal.output import CommandFailed

_STREAMS_AT_ONCE = 4
_ANNOUNCED_AT_ONCE = 50
# Reasons of a broken stream that are not reported: the receiver ended it, or has made a new request already.
_UNREMARKABLE = {"receiver-gone", "request-unknown", "other-side-missing", "stream-over"}


class StreamThreads:
    """A pool with a thread for each concurrent stream, and a queue."""

    def __init__(self, work: Callable[[Handover], None]) -> None:
        self._work = work
        self._waiting: SimpleQueue[Handover] = SimpleQueue()
        self._threads = 0
        self._raised: list[BaseException] = []

    def take(self, handover: Handover) -> None:
        self._waiting.put(handover)
        if self._threads < _STREAMS_AT_ONCE:
            self._threads += 1
            # Daemons, so that Ctrl-C does not wait for a receiver that reads nothing.
            threading.Thread(target=self._do, daemon=True).start()

    def raise_failure(self) -> None:
        if self._raised:
            raise self._raised[0]

    def _do(self) -> None:
        try:
            while True:
                self._work(self._waiting.get())
        except BaseException as error:  # noqa: BLE001  # raised again where the command can see it
            self._raised.append(error)


class Sending:
    """One sender in one session."""

    def __init__(
        self,
        session: DropSession,
        sources: Sequence[Source],
        log: SendLog,
        door: Doorkeeper,
        *,
        receivers: int | None,
    ) -> None:
        self._session = session
        self._log = log
        self._door = door
        self._enough = receivers
        self._offers = {offer.file_id: offer for offer in map(self._offer, sources)}
        self._streams = HandoverStreams(session, log.say)
        self._threads = StreamThreads(self._serve)
        self._handovers: dict[str, Handover] = {}
        self._met: dict[str, Somebody] = {}
        self._received: defaultdict[str, set[str]] = defaultdict(set)
        self._renewing = threading.Lock()

    @property
    def complete(self) -> int:
        """How many receivers have everything."""
        return sum(self._offers.keys() <= received for received in self._received.values())

    @property
    def _is_busy(self) -> bool:
        """Whether a receiver downloads something, or waits for it."""
        members = self._session.state.members
        is_here = {each.member_id for each in members.values() if each.here}
        open_ = [each for each in self._handovers.values() if not each.is_broken and not each.is_disputed]
        return any(each.receiver.member_id in is_here for each in open_)

    def run(self, ready: Callable[[], None], raise_if_stopped: Callable[[], None]) -> None:
        """Serve until enough receivers have everything and none is busy. `ready` is called once people can join."""
        is_ready = False
        try:
            with closing(self._session.live(self._log.say)) as events:
                for told in events:
                    self._hear(told)
                    if isinstance(told, SessionView) and not is_ready:
                        is_ready = True
                        ready()
                    self._door.expire_knock()
                    self._threads.raise_failure()
                    self._tell_silence()
                    raise_if_stopped()
                    if self._enough is not None and self.complete >= self._enough and not self._is_busy:
                        return
        except Refused as refusal:
            if refusal.slug != "session-unknown":
                raise
            raise _over() from refusal

    def leave(self, *, in_time: bool) -> None:
        """Close the session, or only leave it if others offer something in it. `in_time` for whoever pressed Ctrl-C."""
        owners = {file.owner_id for file in self._session.state.files.values()} - {self._session.member_id}

        def leave() -> None:
            with suppress(Refused, Unreachable):  # the session expires without us
                if owners:
                    self._session.leave()
                else:
                    self._session.call("DELETE", "", type(None))

        if in_time:
            say_in_time(leave)
        else:
            leave()

    def _hear(self, told: SessionView | DropEvent | None) -> None:
        match told:
            case SessionView(receipts=receipts):
                for each in receipts:  # receipts that came while we were not connected
                    self._hear_done(each.request_id, each.receipt)
                self._read_everything()
            case Came():
                self._meet()
            case Left(member_id):
                if who := self._met.pop(member_id, None):
                    self._log.left(who)
            case Requested(request):
                self._take_on(request)
            case Progressed(request_id, chunks):
                if handover := self._handovers.get(request_id):
                    handover.passing.heard()
                    self._log.progressed(handover, handover.written_bytes(chunks))
            case Done(request_id, receipt):
                self._hear_done(request_id, receipt)
            case Ended(request_id) | Declined(request_id):
                if handover := self._handovers.pop(request_id, None):
                    self._log.paused(handover, "")
            case Closed():
                raise _over()
            case Knocked():
                self._door.knocked(told)
            case Tagged():
                self._door.tagged(told)
            case _:
                pass

    def _tell_silence(self) -> None:
        """Once for each silence."""
        for handover in self._handovers.values():
            silence = "" if handover.is_disputed else handover.silence
            if silence and silence != handover.said:
                self._log.say(silence)
            handover.said = silence

    def _read_everything(self) -> None:
        state = self._session.state
        with suppress(Unreachable):  # the live connection notices, and reads everything again
            self._door.keep()
            self._announce(offer for offer in self._offers.values() if offer.file_id not in state.files)
        self._meet()
        for request_id in self._handovers.keys() - state.requests.keys():
            handover = self._handovers.pop(request_id)
            # Without a receipt, only the server says that it was received.
            unproven = f"All of {handover.name} was sent to {handover.receiver.name}, but no receipt came back."
            self._log.paused(handover, unproven if handover.is_sent else "")
        for request in list(state.requests.values()):
            self._take_on(request)

    def _meet(self) -> None:
        for member_id, who in self._session.state.members.items():
            if member_id not in self._met and member_id != self._session.member_id:
                self._met[member_id] = who
                self._log.joined(who)

    def _take_on(self, view: RequestView) -> None:
        offer = self._offers.get(view.file_id)
        known = self._handovers.get(view.request_id)
        is_served = known is not None and not known.is_broken and not known.is_disputed
        if view.owner_id != self._session.member_id or view.acknowledged or is_served:
            return
        if offer is None:
            self._decline(view.request_id, "gone")
            return
        key, sealed = from_b64(view.public_key) or b"", from_b64(view.sealed) or b""
        request = Request(view.request_id, view.file_id, view.receiver_id, view.owner_id, key, sealed)
        who = self._session.state.members.get(view.receiver_id) or Somebody(view.receiver_id, "Somebody", "", here=True)
        handover = self._handovers[view.request_id] = Handover(request, offer, who)
        self._log.requested(handover)
        self._threads.take(handover)

    def _hear_done(self, request_id: str, receipt: str) -> None:
        handover = self._handovers.get(request_id)
        if handover is None:
            return
        if handover.is_refused(receipt):
            del self._handovers[request_id]
            self._log.tampered(handover)
            return
        if not handover.confirm(receipt):
            # Anybody between us can invent one. The handover stays, so that the receiver's own is still heard.
            if not handover.is_disputed:
                handover.is_disputed = True
                self._log.unproven(handover)
            return
        del self._handovers[request_id]
        self._log.received(handover)
        self._received[handover.receiver.member_id].add(handover.offer.file_id)

    def _serve(self, handover: Handover) -> None:
        """Serve one stream, in a thread of its own."""
        if handover.request_id not in self._handovers:
            return  # cancelled while it was queued
        try:
            self._streams.serve(handover, lambda: self._log.begun(handover))
        except Changed:
            self._renew(handover)
        except Stalled:
            handover.is_broken = handover.stream is not None
            if not handover.is_broken:
                self._threads.take(handover)
        except OSError as error:
            self._withdraw(handover, error)
        except Tampered:
            self._decline(handover.request_id, "declined")
            self._log.say("The server forwarded a request that no member of the session made. It was declined.")
        except (Refused, Unreachable) as error:
            # The receiver makes a new request, and resumes.
            handover.is_broken = True
            is_remarkable = isinstance(error, Refused) and error.slug not in _UNREMARKABLE
            self._log.paused(handover, str(error) if is_remarkable else "")

    def _renew(self, handover: Handover) -> None:
        """Announce a changed file again, as it is now."""
        self._decline(handover.request_id, "changed")
        with self._renewing:
            file_id = handover.offer.file_id
            if self._offers.get(file_id) is not handover.offer:
                return
            try:
                self._offers[file_id] = self._offer(handover.offer.source.as_it_is_now(), file_id)
            except OSError as error:
                self._withdraw(handover, error)
                return
            with suppress(Unreachable):
                self._announce([self._offers[file_id]])
        self._log.say(f"{handover.name} has changed. The new version is offered.")

    def _withdraw(self, handover: Handover, error: OSError) -> None:
        self._offers.pop(handover.offer.file_id, None)
        self._decline(handover.request_id, "gone")
        with suppress(Refused, Unreachable):
            self._session.call("DELETE", f"/files/{handover.offer.file_id}", type(None))
        self._log.say(f"{handover.name} can no longer be read, and is no longer offered: {error.strerror}.")
        if not self._offers:
            raise CommandFailed("Nothing is left to send.") from error

    def _offer(self, source: Source, file_id: str = "") -> Offer:
        file_id = file_id or new_id()
        return Offer(file_id, source, source.description, Chain(self._session.keys.digest_key(file_id)))

    def _decline(self, request_id: str, reason: str) -> None:
        with suppress(Refused, Unreachable):
            self._session.call("POST", f"/requests/{request_id}/decline", type(None), {"reason": reason})

    def _announce(self, offers: Iterable[Offer]) -> None:
        keys, owner_id = self._session.keys, self._session.member_id
        waiting = iter(offers)
        while some := list(islice(waiting, _ANNOUNCED_AT_ONCE)):
            files = [
                {"file_id": each.file_id, "sealed": b64(keys.announce(each.file_id, owner_id, each.description))}
                for each in some
            ]
            self._session.call("POST", "/files", type(None), {"files": files})


def _over() -> CommandFailed:
    return CommandFailed(
        "The session is over. Run the same command to open another; receivers with partial files resume."
    )
