"""The door of a session: three wrong guesses in the life of a code, whoever makes them and however they are made."""

import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from satchel.cli.drop.crypto.cpace import Guest
from satchel.cli.drop.crypto.session_keys import SUITE, b64
from satchel.cli.drop.session.doorkeeper import GUESSES, Doorkeeper
from satchel.cli.drop.session.drop_session import DropSession, open_session
from satchel.cli.engine.api_types.event_types import Knocked, Tagged
from satchel.cli.engine.http.client import Client
from satchel.cli.engine.http.credentials import CredentialsFile
from satchel.kernel.clock import ManualClock
from tests.server.process import ServerProcess

pytestmark = pytest.mark.slow


@dataclass
class Keeper:
    """A door in a session of its own, which hears what a server, perhaps a hostile one, would tell it."""

    session: DropSession
    clock: ManualClock = field(default_factory=ManualClock)
    renewed: list[str | None] = field(default_factory=list[str | None])

    def __post_init__(self) -> None:
        self.door = Doorkeeper(self.session, self.renewed.append, clock=self.clock)
        self.first_code = self.door.spoken

    def is_knocked_at(self, share: bytes | None = None, suite: int = SUITE) -> str:
        knock_id = secrets.token_hex(16)
        guest = Guest("000000", self.session.name, self.session.session_id, knock_id)
        self.door.knocked(Knocked(knock_id, suite, b64(guest.share if share is None else share)))
        return knock_id

    def is_guessed_at(self) -> None:
        knock_id = self.is_knocked_at()
        self.door.tagged(Tagged(knock_id, b64(secrets.token_bytes(64))))

    @property
    def is_dead(self) -> bool:
        """Whether the first code has died, and another is shown."""
        assert self.renewed == ([] if self.door.spoken == self.first_code else [self.door.spoken])
        return bool(self.renewed)


@pytest.fixture
def keeper(server: ServerProcess, tmp_path: Path) -> Iterator[Keeper]:
    with Client(server.url, CredentialsFile(tmp_path / "credentials.json")) as client:
        yield Keeper(open_session(client, "Ann")[0])


def test_three_wrong_guesses_kill_the_code(keeper: Keeper) -> None:
    for _ in range(GUESSES):
        assert not keeper.is_dead
        keeper.is_guessed_at()
    assert keeper.is_dead


def test_who_knocks_and_says_nothing_for_half_a_minute_has_guessed(keeper: Keeper) -> None:
    for _ in range(GUESSES):
        keeper.is_knocked_at()
        keeper.clock.advance(29.9)
        keeper.door.expire_knock()
        assert not keeper.is_dead
        keeper.clock.advance(0.1)
        keeper.door.expire_knock()
    assert keeper.is_dead


def test_a_share_of_which_every_key_makes_zero_is_a_guess(keeper: Keeper) -> None:
    for share in (bytes(32), (1).to_bytes(32, "little"), b""):
        assert not keeper.is_dead
        keeper.is_knocked_at(share)
    assert keeper.is_dead


def test_one_knock_is_open_at_a_time_so_that_many_at_once_are_no_more_guesses(keeper: Keeper) -> None:
    knocks = [keeper.is_knocked_at() for _ in range(10)]
    for knock_id in knocks:
        keeper.door.tagged(Tagged(knock_id, b64(bytes(64))))
    assert not keeper.is_dead
    keeper.is_guessed_at()
    keeper.is_guessed_at()
    assert keeper.is_dead


def test_a_tag_is_heard_once(keeper: Keeper) -> None:
    knock_id = keeper.is_knocked_at()
    for _ in range(10):
        keeper.door.tagged(Tagged(knock_id, b64(bytes(64))))
    assert not keeper.is_dead


def test_another_suite_is_refused_without_a_guess(keeper: Keeper) -> None:
    for _ in range(10):
        keeper.is_knocked_at(suite=SUITE + 1)
    assert not keeper.is_dead
