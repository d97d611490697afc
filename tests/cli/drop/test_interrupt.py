"""Ctrl-C ends a command whatever the line does, and silence is said."""

import os
import signal
import subprocess
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from threading import Timer

import pytest

from satchel.cli.drop.crypto.session_keys import CHUNK
from tests.cli.drop.sender import sending
from tests.cli.terminal import Person
from tests.cli.test_put_get import MEGABYTE, fill, sign_up
from tests.cli.watcher import Watcher
from tests.server.process import ServerProcess

pytestmark = pytest.mark.slow

# Below the time after which requests give up by themselves.
PATIENCE_SECONDS = 25


@pytest.fixture(autouse=True)
def heard_signals() -> Generator[None]:
    """A shell that starts the tests in the background has Ctrl-C ignored, and children would inherit that."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@contextmanager
def receiving(person: Person, link: str) -> Generator[Watcher]:
    with person.start("receive", "--yes", "--into", "here", "--json", SATCHEL_CODE=link) as process:
        try:
            yield Watcher(process)
        finally:
            process.kill()


def ends_by_interruption(process: "subprocess.Popen[str]") -> bool:
    process.send_signal(signal.SIGINT)
    return process.wait(PATIENCE_SECONDS) == 130


def test_a_receiver_whose_line_is_silent_says_so_and_ends_by_ctrl_c(
    ann: Person, bob: Person, server: ServerProcess
) -> None:
    with sending(ann, server.url, "-", "--as", "film") as sender:
        sender.is_piped(os.urandom(4 * CHUNK + 1))
        with receiving(bob, sender.opened["link"]) as receiver:
            sender.sees("begun")
            receiver.sees("note", lambda told: "Nothing has come for 5 s" in told["text"])
            sender.sees("note", lambda told: "Too little of film could be read in 5 s" in told["text"])
            assert ends_by_interruption(receiver.process)


@pytest.mark.parametrize("more", [1, 64 * MEGABYTE], ids=["only the receipt is missing", "the line is full"])
def test_a_sender_whose_receiver_stops_says_so_and_ends_by_ctrl_c(
    ann: Person, bob: Person, server: ServerProcess, more: int
) -> None:
    with sending(ann, server.url, "-", "--as", "film", "--name", "Ann") as sender:
        sender.is_piped(os.urandom(4 * CHUNK))
        with receiving(bob, sender.opened["link"]) as receiver:
            sender.sees("progress")
            receiver.process.send_signal(signal.SIGSTOP)
            sender.is_piped(bytes(more))
            sender.has_no_more_to_come()
            sender.sees("note", lambda told: "Nothing has been heard of" in told["text"])
            assert ends_by_interruption(sender.process)


def test_both_sides_say_that_nothing_can_be_written_and_end_by_ctrl_c(
    ann: Person, bob: Person, server: ServerProcess
) -> None:
    fill(ann.home / "film.bin", 64 * MEGABYTE)
    with sending(ann, server.url, "film.bin") as sender:
        # Nobody reads what this command writes.
        receiver = bob.start("receive", "--yes", "--output", "-", SATCHEL_CODE=sender.opened["link"])
        too_late = Timer(PATIENCE_SECONDS, receiver.kill)
        too_late.start()
        with receiver:
            try:
                assert receiver.stderr is not None
                said = [receiver.stderr.readline() for _ in range(3)]
                assert said[-1].startswith("Nothing could be written for 5 s."), said
                sender.sees("note", lambda told: "Nothing has been heard of" in told["text"])
                assert ends_by_interruption(receiver)
                assert receiver.stderr.read() == "Stopped.\n"
                assert ends_by_interruption(sender.process)
            finally:
                too_late.cancel()
                receiver.kill()


def test_both_sides_end_by_ctrl_c_while_the_server_stands_still(
    ann: Person, bob: Person, server: ServerProcess
) -> None:
    with sending(ann, server.url, "-", "--as", "film") as sender:
        sender.is_piped(os.urandom(4 * CHUNK + 1))
        with receiving(bob, sender.opened["link"]) as receiver:
            sender.sees("begun")
            server.process.send_signal(signal.SIGSTOP)
            try:
                assert ends_by_interruption(receiver.process)
                assert ends_by_interruption(sender.process)
            finally:
                server.process.send_signal(signal.SIGCONT)


def test_silence_is_said_and_ended_by_ctrl_c_whatever_waits(ann: Person, server: ServerProcess) -> None:
    sign_up(ann, server.url)
    fill(ann.home / "large.bin", 20 * MEGABYTE)
    assert ann.run("put", "large.bin", "--quiet").code == 0
    fill(ann.home / "large.bin", 20 * MEGABYTE)
    server.process.send_signal(signal.SIGSTOP)
    try:
        with ExitStack() as running:
            commands = [
                running.enter_context(ann.start(*arguments))
                for arguments in (("ls",), ("put", "large.bin", "--quiet"), ("get", "large.bin", "-o", "there"))
            ]
            running.callback(lambda: [command.kill() for command in commands])
            for command in commands:
                assert command.stderr is not None
                assert command.stderr.readline().startswith("Nothing has come from the server for 5 s.")
            assert [ends_by_interruption(command) for command in commands] == [True] * 3
    finally:
        server.process.send_signal(signal.SIGCONT)
