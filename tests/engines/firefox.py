"""Firefox, driven over WebDriver BiDi, which it speaks without a driver beside it."""

import json
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

from tests.engines.page import NotReady
from tests.services import free_port, tool, wait_for_port

FLEETING = {"no such node", "move target out of bounds"}


class Firefox:
    """A running Firefox; each person has a profile of their own in it."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket, self._number = socket, 0
        self.ask("session.new", capabilities={})

    def ask(self, method: str, **parameters: object) -> Any:
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self._socket.recv(timeout=60))
            if answer.get("id") == self._number:
                break
        if answer["type"] == "error" and answer["error"] in FLEETING:
            raise NotReady(answer["message"])
        if answer["type"] == "error":
            raise RuntimeError(f"{method}: {answer['error']}: {answer['message']}")
        return answer["result"]

    def open(self) -> "FirefoxPage":
        person = self.ask("browser.createUserContext")["userContext"]
        return FirefoxPage(self, self.ask("browsingContext.create", type="tab", userContext=person)["context"])


class FirefoxPage:
    """A tab; see `Engine`."""

    def __init__(self, firefox: Firefox, context: str) -> None:
        self._firefox, self._context = firefox, context

    def go(self, url: str) -> None:
        self._firefox.ask("browsingContext.navigate", context=self._context, url=url, wait="complete")

    def run(self, script: str, *arguments: object) -> Any:
        answer = self._firefox.ask(
            "script.callFunction",
            functionDeclaration=f"async function () {{ {script} }}",
            arguments=[{"type": "string", "value": str(each)} for each in arguments],
            target={"context": self._context},
            awaitPromise=True,
            serializationOptions={"maxObjectDepth": 8, "maxDomDepth": 0},
        )
        if answer["type"] == "exception":
            raise RuntimeError(answer["exceptionDetails"]["text"])
        return plain(answer["result"])

    def press(self, element: Any) -> None:
        self._show(element)
        at = {"type": "pointerMove", "x": 0, "y": 0, "origin": {"type": "element", "element": element}}
        press = [at, {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        self._act({"type": "pointer", "id": "mouse", "actions": press})

    def write(self, element: Any, text: str) -> None:
        self.press(element)
        keys = [{"type": kind, "value": key} for key in text for kind in ("keyDown", "keyUp")]
        self._act({"type": "key", "id": "keyboard", "actions": keys})

    def choose(self, element: Any, file: Path) -> None:
        self._firefox.ask("input.setFiles", context=self._context, element=element, files=[str(file)])

    def _show(self, element: Any) -> None:
        # What is typed goes to the tab in front.
        self._firefox.ask("browsingContext.activate", context=self._context)
        self._firefox.ask(
            "script.callFunction",
            functionDeclaration="(each) => each.scrollIntoView({ block: 'center', behavior: 'instant' })",
            arguments=[element],
            target={"context": self._context},
            awaitPromise=False,
        )

    def _act(self, actions: dict[str, object]) -> None:
        self._firefox.ask("input.performActions", context=self._context, actions=[actions])


def plain(value: dict[str, Any]) -> Any:
    """What BiDi says of a value, as Python has it; of an element, what BiDi calls it."""
    match value["type"]:
        case "node":
            return {"sharedId": value["sharedId"]}
        case "array":
            return [plain(each) for each in value.get("value", [])]
        case "object":
            return {key: plain(each) for key, each in value["value"]}
        case "null" | "undefined":
            return None
        case _:
            return value["value"]


@contextmanager
def firefox(folder: Path) -> Generator[Firefox]:
    """Firefox without a window, what it saves in a folder."""
    settings = {
        "browser.download.dir": str(folder),
        "browser.download.folderList": 2,
        "browser.download.alwaysOpenPanel": False,
        "browser.shell.checkDefaultBrowser": False,
        "datareporting.policy.dataSubmissionEnabled": False,
        "app.update.auto": False,
        "network.captive-portal-service.enabled": False,
        "network.connectivity-service.enabled": False,
    }
    profile = folder / "profile"
    profile.mkdir()
    lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in settings.items()]
    (profile / "user.js").write_text("\n".join(lines))
    port = free_port()
    command = [tool("firefox-esr"), "--headless", "--no-remote", "--profile", str(profile)]
    log = folder / "log"
    with log.open("wb") as output:
        process = subprocess.Popen([*command, f"--remote-debugging-port={port}"], stdout=output, stderr=output)
    try:
        wait_for_port(port, process, log)
        with connect(f"ws://127.0.0.1:{port}/session", max_size=2**24) as socket:
            yield Firefox(socket)
    finally:
        process.terminate()
        process.wait(30)
