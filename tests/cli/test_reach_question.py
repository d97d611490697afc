"""The question at the first start in a terminal: whether phones shall reach the server, too."""

import os
import pty
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from satchel.cli.serve.reach_question import ask_reach
from satchel.config import Settings
from satchel.edge.http.lan_addresses import lan_addresses

HAS_NETWORK = bool(lan_addresses("0.0.0.0"))


@contextmanager
def typed_in_terminal(typed: str) -> Generator[None]:
    """Somebody's keyboard and screen, for a program that runs in this process."""
    outside, inside = pty.openpty()
    with (
        open(inside, closefd=False) as keyboard,
        open(inside, "w", closefd=False) as screen,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(sys, "stdin", keyboard)
        patch.setattr(sys, "stdout", screen)
        os.write(outside, typed.encode())
        yield
    os.close(outside)
    os.close(inside)


@pytest.mark.parametrize(("typed", "wanted"), [("y\n", True), ("Yes\n", True), ("n\n", False), ("\n", False)])
def test_the_first_start_asks_for_phones(tmp_path: Path, typed: str, wanted: bool) -> None:
    with typed_in_terminal(typed):
        assert ask_reach(Settings(data=tmp_path)).lan == (wanted and HAS_NETWORK)


@pytest.mark.parametrize(
    "decided",
    [
        {"lan": True},
        {"public_url": "https://satchel.example"},
        {"host": "192.0.2.1"},
        {"table": "dynamodb://eu-west-1"},
    ],
)
def test_whoever_has_decided_is_not_asked(tmp_path: Path, decided: dict[str, Any]) -> None:
    settings = Settings(data=tmp_path, **decided)
    with typed_in_terminal("y\n"):
        assert ask_reach(settings) == settings


def test_neither_a_later_start_nor_one_without_a_terminal_asks(tmp_path: Path) -> None:
    (tmp_path / "satchel.db").touch()
    with typed_in_terminal("y\n"):
        assert not ask_reach(Settings(data=tmp_path)).lan
    assert not ask_reach(Settings(data=tmp_path / "new")).lan
