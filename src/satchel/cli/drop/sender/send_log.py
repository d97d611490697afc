"""What a sender sees: how to join, who receives what, progress, and what was received and verified."""

import json
import os
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeAlias

from satchel.cli.drop.crypto.session_keys import Description
from satchel.cli.drop.sender.handover import Handover
from satchel.cli.drop.session.description_text import described
from satchel.cli.drop.session.drop_session import Somebody
from satchel.cli.drop.stream_bars import Bars
from satchel.cli.drop.stream_pace import Pace
from satchel.cli.engine.terminal.output import paint, printable
from satchel.cli.engine.terminal.qr_code import qr_code
from satchel.cli.engine.terminal.sizes import shown_bytes, shown_seconds

_LINE_EVERY_SECONDS = 10.0
_OBJECT_EVERY_SECONDS = 1.0
_LISTED = 5
# Receiver and file: a resumed download has another request.
_Taking: TypeAlias = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Invitation:
    """How others can join."""

    code: str
    link: str


class SendLog:
    """Reports to people in sentences and bars, to machines in JSON lines. Several threads may call it."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        is_terminal = sys.stdout.isatty() and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._bars = Bars() if is_terminal and not as_json else None
        self._paces: dict[_Taking, Pace] = {}
        self._speaking = threading.RLock()

    def opened(self, invitation: Invitation, offered: Sequence[Description], stays: str, *, qr: bool) -> None:
        """`stays` says how long the command runs."""
        from msgspec import to_builtins

        lines = [*_opening(invitation, offered, qr=qr and sys.stdout.isatty()), stays, ""]
        files = to_builtins(list(offered))
        self._tell("opened", "\n".join(lines), code=invitation.code, link=invitation.link, files=files)

    def code_died(self, code: str | None) -> None:
        """`code` is the new one, or None if there is none any more."""
        lines = ["The code was disabled after three wrong tries. The new code:", "", _code(code or ""), ""]
        if code is None:
            lines = ["This code was disabled too: somebody is guessing. There is no new code; the link still works."]
        self._tell("code-dead", "\n".join(lines), code=code)

    def joined(self, who: Somebody) -> None:
        device = f" ({who.device})" if who.device else ""
        facts = {"member_id": who.member_id, "name": who.name, "device": who.device}
        self._tell("joined", printable(f"{who.name}{device} joined."), **facts)

    def left(self, who: Somebody) -> None:
        self._tell("left", printable(f"{who.name} left."), member_id=who.member_id, name=who.name)

    def requested(self, handover: Handover) -> None:
        self._tell("requested", "", **_facts(handover))

    def begun(self, handover: Handover) -> None:
        with self._speaking:
            pace = self._paces[_taking(handover)] = Pace(handover.from_bytes)
            if self._as_json:  # progress goes to machines at once, to people only if it takes long
                pace.shown_at = 0.0
            if self._bars:
                self._bars.end(_taking(handover))
                return
        goes_on = f"resumes {handover.name} at {shown_bytes(handover.from_bytes)}"
        takes = goes_on if handover.from_bytes else f"receives {described(handover.offer.description)}"
        sentence = printable(f"{handover.receiver.name} {takes}.")
        self._tell("begun", sentence, **_facts(handover), from_bytes=handover.from_bytes, size_bytes=handover.length)

    def progressed(self, handover: Handover, written_bytes: int) -> None:
        with self._speaking:
            pace = self._paces.get(_taking(handover))
            if self._bars:
                title = f"{handover.receiver.name}: {handover.name}"
                self._bars.move(_taking(handover), title, handover.length, written_bytes)
            elif pace and time.monotonic() - pace.shown_at >= self._every_seconds:
                pace.shown_at = time.monotonic()
                self._show_pace(handover, written_bytes, pace.speed(written_bytes))

    def received(self, handover: Handover) -> None:
        """Only after a valid receipt."""
        with self._speaking:
            pace = self._end(handover)
        size, seconds = handover.offer.source.description.size or 0, pace.seconds if pace else 0.0
        speed = pace.summed_up(size) if pace else ""
        what = printable(f"{handover.receiver.name} received and verified {handover.name}")
        sentence = f"{paint('✓', 'good')} {what} ({shown_bytes(size)}{speed})."
        facts = {"size_bytes": size, "seconds": round(seconds, 3), "verified": True}
        self._tell("received", sentence, **_facts(handover), **facts)

    def unproven(self, handover: Handover) -> None:
        claim = f"{handover.receiver.name} claims to have {handover.name}, without a valid receipt. It does not count."
        self._tell("unproven", printable(claim), **_facts(handover))

    def tampered(self, handover: Handover) -> None:
        """The receiver has proved that it is they who say so."""
        with self._speaking:
            self._end(handover)
        found = f"{handover.receiver.name}'s program found that {handover.name} was changed on its way."
        advice = "It kept nothing. Somebody between you alters what you send: use another network or server."
        self._tell("tampered", printable(f"{found} {advice}"), **_facts(handover))

    def paused(self, handover: Handover, why: str) -> None:
        """A stream broke off. One that nobody wants any more is not reported."""
        with self._speaking:
            self._end(handover)
        self._tell("paused", printable(why), **_facts(handover), why=why)

    def say(self, sentence: str) -> None:
        self._tell("note", printable(sentence), text=sentence)

    def ended(self, reason: str, complete: int) -> None:
        """How many have received everything."""
        with self._speaking:
            if self._bars:
                self._bars.stop()
        self._tell("ended", "", reason=reason, receivers=complete)

    @property
    def _every_seconds(self) -> float:
        return _OBJECT_EVERY_SECONDS if self._as_json else _LINE_EVERY_SECONDS

    def _end(self, handover: Handover) -> Pace | None:
        if self._bars:
            self._bars.end(_taking(handover))
        return self._paces.pop(_taking(handover), None)

    def _show_pace(self, handover: Handover, written_bytes: int, speed: int) -> None:
        of_all = left = ""
        if handover.length:
            of_all = f" of {shown_bytes(handover.length)}"
            seconds = (handover.length - written_bytes) / max(speed, 1)
            left = f", {shown_seconds(seconds)} left" if speed else ""
        has = f"{handover.receiver.name} has {shown_bytes(written_bytes)}{of_all} of {handover.name}"
        sentence = printable(f"{has}, {shown_bytes(speed)}/s{left}.")
        facts = {"written_bytes": written_bytes, "size_bytes": handover.length, "bytes_per_second": speed}
        self._tell("progress", sentence, **_facts(handover), **facts)

    def _tell(self, kind: str, sentence: str, **facts: Any) -> None:
        """An empty sentence is not shown to people."""
        with self._speaking:
            if self._as_json:
                moment = datetime.now(UTC).isoformat(timespec="milliseconds")
                print(json.dumps({"type": kind, "at": moment, **facts}), flush=True)
            elif not sentence:
                return
            elif self._bars:
                self._bars.print(sentence, sys.stdout)
            else:
                print(sentence, flush=True)


def _opening(invitation: Invitation, offered: Sequence[Description], *, qr: bool) -> Iterator[str]:
    shown = [printable(described(each)) for each in offered[:_LISTED]]
    more = [f"{len(offered) - _LISTED:,} more"] if len(offered) > _LISTED else []
    yield f"Sending {_listed([*shown, *more])}."
    yield ""
    if qr:  # first, so that a small window still shows the lines after it
        yield from (*qr_code(invitation.link), "")
    yield _code(invitation.code)
    yield f"  Link  {printable(invitation.link)}"
    yield ""
    yield "The receiver runs `satchel receive` and types the code, or opens the link."


def _code(code: str) -> str:
    return f"  Code  {paint(printable(code), 'strong')}"


def _listed(things: Sequence[str]) -> str:
    *most, last = things
    return f"{', '.join(most)} and {last}" if most else last


def _taking(handover: Handover) -> _Taking:
    return handover.receiver.member_id, handover.offer.file_id


def _facts(handover: Handover) -> dict[str, str]:
    return {
        "request_id": handover.request_id,
        "file_id": handover.offer.file_id,
        "file": handover.name,
        "member_id": handover.receiver.member_id,
        "name": handover.receiver.name,
    }
