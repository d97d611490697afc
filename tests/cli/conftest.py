"""People at terminals, and a server that they share."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from satchel.cli import main
from tests.cli.terminal import SECRET, AtOnce, Person, Ran
from tests.server.process import ServerProcess, serving


@pytest.fixture
def ann(tmp_path: Path) -> Person:
    (tmp_path / "ann").mkdir()
    return Person(tmp_path / "ann")


@pytest.fixture
def bob(tmp_path: Path) -> Person:
    (tmp_path / "bob").mkdir()
    return Person(tmp_path / "bob")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    data = tmp_path_factory.mktemp("server") / "data"
    with serving(data, "--sign-up", "open", environment={"SATCHEL_SECRET": SECRET}) as server:
        yield server


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> AtOnce:
    """Runs a command without a process of its own, for what it says before it asks a server: there is none."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SATCHEL_SERVER", "http://127.0.0.1:9")

    def run(*arguments: str) -> Ran:
        monkeypatch.setattr(sys, "argv", ["satchel", *arguments])
        code = main()
        said = capsys.readouterr()
        return Ran(code, said.out, said.err)

    return run


@pytest.fixture
def fresh_server(tmp_path: Path) -> Iterator[ServerProcess]:
    """On which nobody has an account yet."""
    with serving(tmp_path / "data") as server:
        yield server
