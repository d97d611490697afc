"""People who talk, listen, hand over and open links, and who repeat what was not answered, as the clients do."""

import json
import random
import threading
import time
from collections import Counter
from contextlib import suppress
from typing import Any
from uuid import uuid4

import httpx
from websockets.exceptions import InvalidHandshake, WebSocketException
from websockets.sync.client import connect

from tests.application import PASSWORD
from tests.uploads.given import SENDS, pairs

# What says that somebody is in the way, or that nobody knows what was done: the command line repeats after these.
_AGAIN = {409, 423, 429, 500, 502, 503, 504}
_PATIENCE_SECONDS = 120


class Person:
    """Somebody with an account who asks until they are answered."""

    def __init__(self, url: str, name: str) -> None:
        self.url = url
        self.email = f"{name}@example.org"
        # Longer than anything is stopped: nobody here gives up because of the time.
        self.client = httpx.Client(base_url=f"{url}/api/v1", timeout=60)
        body = {"email": self.email, "name": name, "password": PASSWORD}
        signed_up = self.client.post("/accounts", json=body).raise_for_status().json()
        self.person_id: str = signed_up["user_id"]
        self.headers = {"authorization": f"Bearer {signed_up['tokens']['access_token']}"}
        # By status; 0 is no answer at all.
        self.disturbed: Counter[int] = Counter()

    def ask(self, method: str, path: str, **request: Any) -> httpx.Response:
        """Under one key until it is answered for good."""
        headers = {"idempotency-key": uuid4().hex, **self.headers, **request.pop("headers", {})}
        until = time.monotonic() + _PATIENCE_SECONDS
        while True:
            try:
                answer = self.client.request(method, path, headers=headers, **request)
            except httpx.TransportError:
                self.disturbed[0] += 1
            else:
                if answer.status_code not in _AGAIN:
                    assert answer.is_success, (method, path, answer.text)
                    return answer
                self.disturbed[answer.status_code] += 1
            assert time.monotonic() < until, (method, path, self.disturbed)
            time.sleep(0.2)

    def upload(self, name: str, content: bytes, **where: str) -> str:
        said = pairs(filename=name, **where)
        headers = {**SENDS, "upload-length": str(len(content)), "upload-metadata": said}
        address: str = self.ask("POST", "/uploads", headers=headers, content=content).headers["location"]
        return self.ask("GET", address.partition("/api/v1")[2]).json()["became"]


class Busy(threading.Thread):
    """Does something again and again until told to stop; what went wrong is raised where it is waited for."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.stopping = threading.Event()
        self.times = 0
        self.failure: BaseException | None = None

    def run(self) -> None:
        try:
            while not self.stopping.is_set():
                self.act()
                self.times += 1
                self.stopping.wait(0.15)
        except Exception as failure:  # noqa: BLE001  # raised again where it is waited for
            self.failure = failure

    def act(self) -> None:
        raise NotImplementedError

    def has_acted(self, more: int = 3) -> None:
        """Wait until it has done it so often again."""
        wanted, until = self.times + more, time.monotonic() + _PATIENCE_SECONDS
        while self.times < wanted and self.failure is None:
            assert time.monotonic() < until, type(self).__name__
            time.sleep(0.05)
        if self.failure is not None:
            raise self.failure

    def end(self) -> None:
        self.stopping.set()
        self.join(_PATIENCE_SECONDS)
        assert not self.is_alive(), type(self).__name__
        if self.failure is not None:
            raise self.failure


class Talking(Busy):
    """Somebody who talks in a room."""

    def __init__(self, person: Person, room_id: str) -> None:
        super().__init__()
        self.person, self.room_id = person, room_id
        self.said: list[str] = []

    def act(self) -> None:
        text = f"{self.person.email} {self.times}"
        self.person.ask("POST", f"/rooms/{self.room_id}/chat", json={"text": text})
        self.said.append(text)


class Listening(Busy):
    """Somebody who hears a room live, and after each lost line reads what they have missed."""

    def __init__(self, person: Person, room_id: str) -> None:
        super().__init__()
        self.person, self.room_id = person, room_id
        self.heard: dict[str, None] = {}
        self.lines = 0

    def act(self) -> None:
        """One line, for as long as it holds."""
        with suppress(OSError, WebSocketException, InvalidHandshake, TimeoutError):
            address = f"{self.person.url.replace('http', 'ws')}/api/v1/live"
            with connect(address, additional_headers=self.person.headers, proxy=None, open_timeout=60) as line:
                self.lines += 1
                self._read_again()
                while not self.stopping.is_set():
                    with suppress(TimeoutError):
                        event = json.loads(line.recv(timeout=0.2))
                        if event["type"] == "resync":
                            self._read_again()
                        elif event["type"] == "room.chat":
                            self.heard[event["message"]["text"]] = None

    def has_heard(self, texts: list[str]) -> None:
        until = time.monotonic() + _PATIENCE_SECONDS
        while missed := set(texts) - self.heard.keys():
            assert time.monotonic() < until and self.failure is None, (missed, self.failure)
            time.sleep(0.1)

    def _read_again(self) -> None:
        page = self.person.ask("GET", f"/rooms/{self.room_id}/chat", params={"limit": 500}).json()
        self.heard |= dict.fromkeys(message["text"] for message in page["messages"])


class HandingOver(Busy):
    """Somebody who brings a file into a room and hands it to somebody there."""

    def __init__(self, person: Person, room_id: str, receiver_id: str) -> None:
        super().__init__()
        self.person, self.room_id = person, room_id
        self.to = {"kind": "person", "room_id": room_id, "person_id": receiver_id}
        # Contents by the id of the transfer.
        self.handed: dict[str, bytes] = {}

    def act(self) -> None:
        content = random.randbytes(1000)
        file_id = self.person.upload(f"{self.times}.bin", content, destination="room", room=self.room_id)
        made = self.person.ask("POST", "/transfers", json={"to": self.to, "files": [file_id]}).json()
        self.handed[made["transfer_id"]] = content


class Visiting(Busy):
    """Strangers who open a link, each once; a proxy may not tell them what became of it."""

    def __init__(self, url: str, token: str) -> None:
        super().__init__()
        self.client = httpx.Client(base_url=f"{url}/api/v1", timeout=60)
        self.token = token
        self.entered = 0
        self.unknown = 0

    def act(self) -> None:
        agent = {"user-agent": f"Mozilla/5.0 (X11; Linux x86_64) Gecko/{self.times} Firefox/140.0"}
        try:
            answer = self.client.post(f"/open/{self.token}/enter", json={}, headers=agent)
        except httpx.TransportError:
            self.unknown += 1
            return
        assert answer.is_success or answer.status_code in _AGAIN, answer.text
        self.entered += answer.is_success
        self.unknown += not answer.is_success
