"""What was announced is compared with what comes, and success tells what was written."""

import os
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from satchel.cli.drop.crypto.session_keys import Description, Sum
from satchel.cli.drop.receiver.folder_unpack import Unpacking
from satchel.cli.drop.receiver.not_as_offered import NotAsOffered
from satchel.cli.drop.receiver.target_folder import TargetFolder
from satchel.cli.drop.sender.send_command import Sending
from satchel.cli.drop.sender.send_content import Source, TextContent
from satchel.cli.drop.sender.send_log import SendLog
from satchel.cli.drop.session.doorkeeper import Doorkeeper
from satchel.cli.drop.session.drop_session import open_session
from satchel.cli.engine.http.client import Client
from satchel.cli.engine.http.credentials import CredentialsFile
from tests.cli.drop.sender import sending
from tests.cli.drop.test_folder_unpack import packed
from tests.cli.drop.test_target_folder import names
from tests.cli.terminal import Person
from tests.cli.test_put_get import fill
from tests.server.process import ServerProcess


@dataclass(frozen=True)
class Lie:
    """Something that is announced as what it is not."""

    description: Description
    content: bytes

    def begin(self) -> TextContent:
        return TextContent(self.content)

    def as_it_is_now(self) -> Source:
        return self


FILE = Lie(Description("file", "film", 42_000_000, 1, None, ""), b"x" * 1000)
MORE = Lie(Description("file", "note", 10, 1, None, ""), os.urandom(786_432))
MANY = Lie(Description("folder", "one", 10, 1, None, ""), packed(*((f"{n}", b"0123456789") for n in range(27))))
FEW = Lie(Description("folder", "two", 20, 2, None, ""), packed(("only", b"0123456789")))


@contextmanager
def lying(home: Path, server: ServerProcess, *lies: Lie) -> Generator[str]:
    """Somebody whose program offers something else than it sends. The link to them."""
    with Client(server.url, CredentialsFile(home / "credentials.json")) as client:
        session, link = open_session(client, "Mallory")
        door = Doorkeeper(session, lambda _: None)
        is_ready, is_over = threading.Event(), threading.Event()

        def stop() -> None:
            if is_over.is_set():
                raise KeyboardInterrupt

        def run() -> None:
            with pytest.raises(KeyboardInterrupt):
                Sending(session, lies, SendLog(as_json=True), door, receivers=None).run(is_ready.set, stop)

        thread = threading.Thread(target=run)
        thread.start()
        try:
            assert is_ready.wait(60)
            yield link
        finally:
            is_over.set()
            thread.join(60)


@pytest.mark.slow
def test_what_is_not_what_was_announced_is_not_taken_and_nothing_of_it_stays(
    bob: Person, server: ServerProcess, tmp_path: Path
) -> None:
    with lying(tmp_path, server, FILE, MORE, MANY, FEW) as link:
        ran = bob.run("receive", link, "--yes", "--into", "here")
    assert ran.code == 1
    assert "film: It is not what was offered: 1,000 bytes instead of 42,000,000 bytes." in ran.err
    assert "note: It is not what was offered: 786,432 bytes instead of 10 bytes." in ran.err
    assert "one: It is not what was offered: 2 files with 20 bytes instead of 10 bytes." in ran.err
    assert "two: It is not what was offered: 10 bytes instead of 2 files with 20 bytes." in ran.err
    assert "verified" not in ran.err
    assert names(bob.home / "here") == []


@pytest.fixture
def ground(tmp_path: Path) -> Iterator[TargetFolder]:
    ground = TargetFolder.at(tmp_path / "into")
    yield ground
    ground.close()


def test_the_first_file_beyond_what_was_announced_is_not_begun(ground: TargetFolder) -> None:
    unpacking = Unpacking(ground, caseless=False, offered=Sum(10, 1))
    with pytest.raises(NotAsOffered, match="2 files with 20 bytes instead of 10 bytes"):
        unpacking.write(memoryview(MANY.content))
    unpacking.close()
    assert names(ground.path) == ["0"]


@pytest.mark.slow
@pytest.mark.parametrize(("answer", "code"), [("n", 1), ("y", 0)])
def test_whoever_chose_a_file_is_asked_again_when_it_has_changed(
    ann: Person, bob: Person, server: ServerProcess, answer: str, code: int
) -> None:
    draft = fill(ann.home / "draft", 70_000)
    with sending(ann, server.url, "--keep", "draft") as sender:
        fill(draft, 300)
        answers = [("Take it?", "y\n"), ("It is now draft (300 B)", f"{answer}\n")]
        ran = bob.run_in_terminal("receive", sender.opened["link"], answers=answers)
    assert ran.code == code, ran
    assert ("draft (300 B), verified" in ran.out) == (answer == "y")
    assert (bob.home / "draft").exists() == (answer == "y")
