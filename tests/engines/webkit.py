"""WebKit, as GNOME's browsers have it: MiniBrowser on a screen that nobody sees, driven over WebDriver."""

import os
import subprocess
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Self

import httpx

from tests.engines.page import NotReady
from tests.services import free_port, running, tool

FLEETING = {"element not interactable", "element click intercepted", "stale element reference"}
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


class WebKitPage:
    """A browser of one person's own; see `Engine`."""

    def __init__(self, driver: str, browser: str) -> None:
        self._client = httpx.Client(base_url=driver, timeout=60)
        options = {"webkitgtk:browserOptions": {"binary": browser, "args": ["--automation"]}}
        created = self._ask("POST", "/session", {"capabilities": {"alwaysMatch": options}})
        self._session = f"/session/{created['sessionId']}"

    def go(self, url: str) -> None:
        self._ask("POST", f"{self._session}/url", {"url": url})

    def run(self, script: str, *arguments: object) -> Any:
        return self._ask("POST", f"{self._session}/execute/sync", {"script": script, "args": list(arguments)})

    def press(self, element: Any) -> None:
        self._ask("POST", f"{self._session}/element/{element[ELEMENT]}/click", {})

    def write(self, element: Any, text: str) -> None:
        self._ask("POST", f"{self._session}/element/{element[ELEMENT]}/value", {"text": text})

    def choose(self, element: Any, file: Path) -> None:
        self.write(element, str(file))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._ask("DELETE", self._session)
        self._client.close()

    def _ask(self, method: str, path: str, body: dict[str, object] | None = None) -> Any:
        answer = self._client.request(method, path, json=body)
        value = answer.json()["value"]
        if answer.is_error and value["error"] in FLEETING:
            raise NotReady(value["error"])
        if answer.is_error:
            raise RuntimeError(f"{path}: {value['error']}: {value['message']}")
        return value


@contextmanager
def webkit(folder: Path) -> Generator[Callable[[], WebKitPage]]:
    """What starts a browser of its own at each call; a driver serves one only. What they save is in the folder."""
    browser = next(Path("/usr/lib").glob("*/webkit2gtk-4.1/MiniBrowser"))
    environment = {**os.environ, "HOME": str(folder), "XDG_DOWNLOAD_DIR": str(folder)}
    (folder / ".config").mkdir()
    (folder / ".config" / "user-dirs.dirs").write_text(f'XDG_DOWNLOAD_DIR="{folder}"\n')
    with ExitStack() as ending, screen() as display:

        def start() -> WebKitPage:
            port = free_port()
            driver = [tool("WebKitWebDriver"), f"--port={port}"]
            ending.enter_context(running(driver, port, environment={**environment, "DISPLAY": display}))
            return WebKitPage(f"http://127.0.0.1:{port}", str(browser))

        yield start


@contextmanager
def screen() -> Generator[str]:
    """An X server that draws into memory: its name."""
    taking, giving = os.pipe()
    command = [tool("Xvfb"), "-displayfd", str(giving), "-screen", "0", "1280x900x24", "-nolisten", "tcp"]
    process = subprocess.Popen(command, pass_fds=[giving], stderr=subprocess.DEVNULL)
    os.close(giving)
    try:
        with os.fdopen(taking) as told:
            yield f":{told.readline().strip()}"
    finally:
        process.terminate()
        process.wait(30)
