"""Admits guests who know the spoken code, and counts wrong guesses. After three of them the code is replaced.

The client counts, not the server, because a hostile server would not count its own guesses.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

from satchel.cli.drop.crypto.codes import new_code, spoken
from satchel.cli.drop.crypto.cpace import BadShare, Door, WrongTag
from satchel.cli.drop.crypto.session_keys import SUITE, b64, from_b64
from satchel.cli.drop.session.drop_session import DropSession
from satchel.cli.engine.api_types.event_types import Knocked, Tagged
from satchel.cli.engine.http.failures import Refused, Unreachable

GUESSES = 3
# Without this limit, an attacker would have three guesses at each of any number of codes.
DEAD_CODES = 3
_KNOCK_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class _Knock:
    knock_id: str
    door: Door
    until: float


class Doorkeeper:
    """The door of a session. `renewed` is called with the new code, or with None when the door is shut."""

    def __init__(
        self,
        session: DropSession,
        renewed: Callable[[str | None], None],
        *,
        words: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._session = session
        self._renewed = renewed
        self._words = words
        self._clock = clock
        self._code = new_code(words)
        self._wrong_guesses = 0
        self._dead_codes = 0
        self._open: _Knock | None = None

    @property
    def spoken(self) -> str:
        """The name and code to tell to guests."""
        return spoken(self._session.name, self._code)

    @property
    def is_shut(self) -> bool:
        """Whether the last codes were all guessed at and never used. Then there are no more codes."""
        return self._dead_codes >= DEAD_CODES

    def keep(self) -> None:
        """Become the door of the session, unless we are."""
        if self._session.state.door_id != self._session.member_id:
            self._session.call("PUT", "/door", type(None))

    def knocked(self, knock: Knocked) -> None:
        self.expire_knock()
        if self._open is not None:
            return  # one at a time; the server tells other guests to wait
        if self.is_shut or knock.suite != SUITE:  # nothing is computed for it, so it is no guess
            self._answer(knock.knock_id, "verdict", {"refused": "code-dead" if self.is_shut else "versions-differ"})
            return
        try:
            door = Door(
                self._code,
                self._session.name,
                self._session.session_id,
                knock.knock_id,
                self._session.secret,
                from_b64(knock.share) or b"",
            )
        except BadShare:
            self._count(knock.knock_id)
            return
        self._open = _Knock(knock.knock_id, door, self._clock() + _KNOCK_SECONDS)
        self._answer(knock.knock_id, "share", {"share": b64(door.share)})

    def tagged(self, tag: Tagged) -> None:
        self.expire_knock()
        knock = self._open
        if knock is None or knock.knock_id != tag.knock_id:
            return
        self._open = None
        try:
            own_tag, box = knock.door.verdict(from_b64(tag.tag) or b"")
        except WrongTag:
            self._count(knock.knock_id)
        else:
            self._dead_codes = 0
            self._answer(knock.knock_id, "verdict", {"tag": b64(own_tag), "sealed": b64(box)})

    def expire_knock(self) -> None:
        """A guest who does not answer in time may have learnt that the guess was wrong, so it counts."""
        if self._open is not None and self._clock() >= self._open.until:
            knock, self._open = self._open, None
            self._count(knock.knock_id)

    def _count(self, knock_id: str) -> None:
        self._wrong_guesses += 1
        is_dead = self._wrong_guesses >= GUESSES
        if is_dead:
            self._code, self._wrong_guesses = new_code(self._words), 0
            self._dead_codes += 1
        self._answer(knock_id, "verdict", {"refused": "code-dead" if is_dead else "code-wrong"})
        if is_dead:
            self._renewed(None if self.is_shut else self.spoken)

    def _answer(self, knock_id: str, what: str, body: dict[str, str]) -> None:
        try:
            self._session.call("POST", f"/knocks/{knock_id}/{what}", type(None), body)
        except (Refused, Unreachable):
            return  # the guest or the connection is gone; a guess that was begun counts all the same
