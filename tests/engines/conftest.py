"""A real server, and an engine that is not Chromium: each test runs in every one of them."""

from collections.abc import Callable, Generator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.engines.firefox import firefox
from tests.engines.page import EnginePage, until
from tests.engines.webkit import webkit
from tests.server.process import ServerProcess, serving


@dataclass
class People:
    """Those who use the engine, each with cookies of their own, and the folder in which they save."""

    come: Callable[[], EnginePage]
    folder: Path

    def saved(self, name: str, page: EnginePage) -> bytes:
        """What somebody saved, once all of it is there: meanwhile it has another name."""
        return until(lambda: self._read(name), f"saved {name}", page)

    def _read(self, name: str) -> bytes | None:
        path = self.folder / name
        partly = list(self.folder.glob(f"{path.stem}*.part")) + list(self.folder.glob(f"{path.stem}*.wkdownload"))
        return path.read_bytes() if path.exists() and not partly else None


@pytest.fixture
def server(tmp_path: Path) -> Generator[ServerProcess]:
    with serving(tmp_path / "data", "--sign-up", "open") as running:
        yield running


@pytest.fixture(params=["firefox", "webkit"])
def people(request: pytest.FixtureRequest, tmp_path: Path, server: ServerProcess) -> Generator[People]:
    """Opens a page for one more person at each call."""
    folder = tmp_path / "browser"
    folder.mkdir()
    with ExitStack() as ending:
        if request.param == "firefox":
            running = ending.enter_context(firefox(folder))
            yield People(lambda: EnginePage(running.open(), server.url), folder)
        else:
            screen = ending.enter_context(webkit(folder))
            yield People(lambda: EnginePage(ending.enter_context(screen()), server.url), folder)
