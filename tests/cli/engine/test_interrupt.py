"""Ctrl-C is heard at once, and once more where nobody heard it."""

import os
import signal
from contextlib import suppress

import pytest

from satchel.cli.engine.terminal.interrupt import Interruption


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_ctrl_c_is_raised_where_it_comes() -> None:
    with pytest.raises(KeyboardInterrupt), Interruption():
        interrupt()


def test_what_was_swallowed_is_raised_again() -> None:
    with Interruption() as interruption:
        interruption.raise_again()
        with suppress(KeyboardInterrupt):
            interrupt()
        with pytest.raises(KeyboardInterrupt):
            interruption.raise_again()


def test_afterwards_ctrl_c_is_as_it_was_before() -> None:
    before = signal.getsignal(signal.SIGINT)
    with Interruption():
        assert signal.getsignal(signal.SIGINT) != before
    assert signal.getsignal(signal.SIGINT) == before
