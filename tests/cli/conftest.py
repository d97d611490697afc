"""People at terminals, and a server that they share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.terminal import SECRET, Person
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
def fresh_server(tmp_path: Path) -> Iterator[ServerProcess]:
    """On which nobody has an account yet."""
    with serving(tmp_path / "data") as server:
        yield server
