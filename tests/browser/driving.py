"""A real Chromium, driven through ChromeDriver's own HTTP interface."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from tests.services import free_port, running, tool

ARGUMENTS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@dataclass
class Browser:
    """One window."""

    http: httpx.Client
    session: str

    def command(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        answer = self.http.request(method, f"/session/{self.session}{path}", json=body)
        assert answer.is_success, answer.text
        return answer.json()["value"]

    def devtools(self, name: str, **parameters: Any) -> None:
        self.command("POST", "/goog/cdp/execute", {"cmd": name, "params": parameters})

    def show(self, url: str, *, width: int, dark: bool) -> None:
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.devtools("Emulation.setEmulatedMedia", features=[scheme])
        self.command("POST", "/url", {"url": url})

    def run(self, script: str) -> Any:
        return self.command("POST", "/execute/sync", {"script": f"return {script}", "args": []})

    def complaints(self) -> list[str]:
        """What the console has said since it was last asked: errors, refused by the policy, not found."""
        return [entry["message"] for entry in self.command("POST", "/se/log", {"type": "browser"})]


@contextmanager
def browser() -> Generator[Browser]:
    port = free_port()
    wanted = {
        "browserName": "chrome",
        "goog:chromeOptions": {"binary": tool("chromium"), "args": ARGUMENTS},
        "goog:loggingPrefs": {"browser": "ALL"},
    }
    with (
        running([tool("chromedriver"), f"--port={port}"], port),
        httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as http,
    ):
        answer = http.post("/session", json={"capabilities": {"alwaysMatch": wanted}})
        assert answer.is_success, answer.text
        window = Browser(http, answer.json()["value"]["sessionId"])
        try:
            yield window
        finally:
            http.delete(f"/session/{window.session}")
