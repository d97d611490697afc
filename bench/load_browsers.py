"""Many browsers at work in one process: `python -m bench.load_browsers URL FIRST COUNT SECONDS`.

Each has an address, an account, a live connection and a place in a room of ten. Says `ready` once all are in, and goes
on when it is told to. In the end it prints what they saw (`Seen`), as JSON.
"""

import asyncio
import hashlib
import itertools
import random
import resource
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import httpx
import msgspec
import uvloop
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidHandshake, WebSocketException

from bench.satchel_server import PASSWORD
from satchel.edge.uploads.bundles import BUNDLE_TYPE
from tests.media.samples import taken
from tests.uploads.given import SENDS, pairs

_PER_ROOM = 10
_AT_ONCE = 8
# What somebody does between two acts takes them so long on average.
_THINKING_SECONDS = 8.0
_SHARED_BYTES, _UPLOAD_BYTES, _SMALL_BYTES = 256 * 1024, 200 * 1024, 4 * 1024
_FILES_KEPT = 5
# More than a person may say within ten seconds.
_TOO_MUCH = 80
_PER_NETWORK = 250


class Seen(msgspec.Struct):
    """What browsers saw of the server; times are in milliseconds."""

    times: dict[str, list[float]] = msgspec.field(default_factory=dict[str, list[float]])
    # Politely, by status: as a problem, with `Retry-After`.
    refused: dict[int, int] = msgspec.field(default_factory=dict[int, int])
    impolite: list[str] = msgspec.field(default_factory=list[str])
    failed: list[str] = msgspec.field(default_factory=list[str])
    lines: int = 0
    heard: int = 0
    missed: int = 0


class _Refused(Exception):
    """The act ends here; what was answered is noted."""


class Browser:
    """Somebody with a page open."""

    def __init__(self, url: str, number: int, seen: Seen) -> None:
        self.number, self.seen, self._url = number, seen, url
        self._address = f"127.0.{10 + number // _PER_NETWORK}.{number % _PER_NETWORK + 1}"
        # Certificates would be read once for each browser, and there are none.
        transport = httpx.AsyncHTTPTransport(local_address=self._address, verify=False)
        self.http = httpx.AsyncClient(base_url=f"{url}/api/v1", transport=transport, timeout=120)
        self.chance = random.Random(number)
        self.email = f"browser-{number}@example.org"
        self.tokens: dict[str, str] = {}
        self.connected = asyncio.Event()
        self.person_id = ""
        self.room: _Room | None = None
        self.heard: set[str] = set()
        self._files: list[str] = []
        self._names = itertools.count()

    @property
    def here(self) -> "_Room":
        assert self.room is not None
        return self.room

    async def come_in(self) -> None:
        signed_up = await self.ask("POST", "/accounts", json={"email": self.email, "name": "Ann", "password": PASSWORD})
        self.tokens, self.person_id = signed_up.json()["tokens"], signed_up.json()["user_id"]

    async def ask(self, method: str, path: str, *, stranger: bool = False, **request: Any) -> httpx.Response:
        """The answer, unless it is a refusal, which is noted."""
        headers: dict[str, str] = request.pop("headers", {})
        while True:
            bearer = {"authorization": f"Bearer {self.tokens['access_token']}"} if self.tokens and not stranger else {}
            try:
                answer = await self.http.request(method, path, headers={**bearer, **headers}, **request)
            except httpx.TransportError as error:
                self.seen.failed.append(f"{method} {path}: {error!r}")
                raise _Refused from error
            if answer.is_success:
                return answer
            if answer.status_code == 401 and "token-expired" in answer.text:
                await self._renew()
                continue
            self._note(f"{method} {path} {answer.status_code}", answer)
            raise _Refused

    async def _renew(self) -> None:
        body = {"refresh_token": self.tokens.pop("refresh_token")}
        self.tokens = {}
        self.tokens = (await self.ask("POST", "/sessions/refresh", json=body)).json()["tokens"]

    def _note(self, what: str, answer: httpx.Response) -> None:
        is_problem = answer.headers.get("content-type") == "application/problem+json"
        if answer.status_code not in (429, 503):
            self.seen.failed.append(f"{what}: {answer.text[:200]}")
        elif is_problem and answer.headers.get("retry-after", "").isdecimal():
            self.seen.refused[answer.status_code] = self.seen.refused.get(answer.status_code, 0) + 1
        else:
            self.seen.impolite.append(f"{what}: {answer.text[:200]}")

    async def listen(self) -> None:
        """Keep a live connection; read again after it was lost, as the page does."""
        address = f"{self._url.replace('http', 'ws')}/api/v1/live"
        for _ in itertools.count():
            headers = {"authorization": f"Bearer {self.tokens['access_token']}"}
            with suppress(OSError, WebSocketException, InvalidHandshake, TimeoutError):
                opened = connect(address, additional_headers=headers, proxy=None, local_addr=(self._address, 0))
                async with opened as line:
                    self.seen.lines += 1
                    self.connected.set()
                    async for frame in line:
                        event = msgspec.json.decode(frame)
                        if event["type"] == "room.chat":
                            self.heard.add(event["message"]["message_id"])
            await asyncio.sleep(1)

    async def browse(self, until: float) -> None:
        names, weights = list(_ACTS), [weight for weight, _ in _ACTS.values()]
        while (pause := self.chance.expovariate(1 / _THINKING_SECONDS)) < until - time.monotonic():
            await asyncio.sleep(pause)
            (name,) = self.chance.choices(names, weights)
            started = time.perf_counter()
            with suppress(_Refused):
                await _ACTS[name][1](self)
                self.seen.times.setdefault(name, []).append(1000 * (time.perf_counter() - started))

    async def _upload(self, content: bytes, **where: str) -> str:
        """In two pieces, as a large file goes."""
        said = pairs(filename=f"{self.number} {next(self._names)}.bin", **where)
        begun = await self.ask(
            "POST", "/uploads", headers={**SENDS, "upload-length": str(len(content)), "upload-metadata": said}
        )
        address = begun.headers["location"].partition("/api/v1")[2]
        half = len(content) // 2
        for start, end in ((0, half), (half, len(content))):
            headers = {**SENDS, "upload-offset": str(start)}
            await self.ask("PATCH", address, headers=headers, content=content[start:end])
        return (await self.ask("GET", address)).json()["became"]

    async def talk(self) -> None:
        said = await self.ask("POST", f"/rooms/{self.here.room_id}/chat", json={"text": f"hello {self.number}"})
        self.here.said.add(said.json()["message_id"])

    async def open_link(self) -> None:
        agent = {"user-agent": f"Mozilla/5.0 (X11; Linux x86_64) Gecko/{self.chance.randrange(10**6)} Firefox/140.0"}
        await self.ask("POST", f"/open/{self.here.token}/enter", json={}, headers=agent, stranger=True)

    async def download(self) -> None:
        got = await self.ask("GET", f"/open/{self.here.token}/content", stranger=True)
        if len(got.content) != _SHARED_BYTES:
            self.seen.failed.append(f"a download has {len(got.content)} bytes")

    async def upload(self) -> None:
        self._files.append(await self._upload(self.chance.randbytes(_UPLOAD_BYTES), destination="shelf"))
        if len(self._files) > _FILES_KEPT:
            oldest = self._files.pop(0)
            await self.ask("DELETE", f"/shelf/files/{oldest}")
            await self.ask("DELETE", f"/shelf/bin/{oldest}")

    async def bundle(self) -> None:
        contents = [self.chance.randbytes(_SMALL_BYTES) for _ in range(8)]
        names = [f"{self.number} {next(self._names)}.txt" for _ in contents]
        files = [{"size_bytes": _SMALL_BYTES, "filename": name} for name in names]
        head = msgspec.json.encode({"destination": "shelf", "files": files})
        body = b"\n".join([head, b"".join(contents)])
        await self.ask("POST", "/uploads/bundle", headers={"content-type": BUNDLE_TYPE}, content=body)

    async def hand_over(self) -> None:
        """To the next one in the room, who takes it and says that it is whole."""
        content, receiver = self.chance.randbytes(20_000), self.here.next_to(self)
        file_id = await self._upload(content, destination="room", room=self.here.room_id)
        to = {"kind": "person", "room_id": self.here.room_id, "person_id": receiver.person_id}
        sent = await self.ask("POST", "/transfers", json={"to": to, "files": [file_id]})
        file = f"/transfers/{sent.json()['transfer_id']}/files/0"
        got = (await receiver.ask("GET", f"{file}/content")).content
        challenge = (await receiver.ask("POST", f"{file}/challenge")).json()["challenge"]
        proof = hashlib.sha256(bytes.fromhex(challenge) + got).hexdigest()
        await receiver.ask("POST", f"{file}/verified", json={"proof": proof})
        await self.ask("DELETE", f"/rooms/{self.here.room_id}/files/{file_id}")

    async def sign_in(self) -> None:
        again = await self.ask("POST", "/sessions", json={"email": self.email, "password": PASSWORD})
        bearer = f"Bearer {again.json()['tokens']['access_token']}"
        await self.ask("DELETE", "/sessions/current", headers={"authorization": bearer})

    async def take_photo(self) -> None:
        at = f"2024:{self.chance.randrange(1, 13):02}:{self.chance.randrange(1, 29):02} 10:00:00"
        await self._upload(taken(at, self.number * 10_000 + next(self._names)), destination="photos")

    async def look_at_timeline(self) -> None:
        await self.ask("GET", "/photos/days")
        await self.ask("GET", "/photos", params={"limit": 200})

    async def look_at_shelf(self) -> None:
        await self.ask("GET", "/shelf/entries")

    async def look_at_figures(self) -> None:
        await self.ask("GET", "/stats/mine/summary", params={"zone": "Europe/Vienna"})

    async def shout(self) -> None:
        """Far more than anybody may, all at once."""

        async def one(number: int) -> None:
            with suppress(_Refused):
                text = {"text": f"noise {number}"}
                said = await self.ask("POST", f"/rooms/{self.here.room_id}/chat", json=text)
                self.here.said.add(said.json()["message_id"])

        await asyncio.gather(*map(one, range(_TOO_MUCH)))


Act = Callable[[Browser], Awaitable[None]]
# How often each is done, of 100 times.
_ACTS: dict[str, tuple[float, Act]] = {
    "a message in a room": (25, Browser.talk),
    "opening a link": (19, Browser.open_link),
    "a download of 256 KiB by link": (10, Browser.download),
    "an upload of 200 KiB in two pieces": (8, Browser.upload),
    "a bundle of 8 files of 4 KiB": (5, Browser.bundle),
    "a transfer, taken and verified": (6, Browser.hand_over),
    "signing in and out": (4, Browser.sign_in),
    "a photo": (2, Browser.take_photo),
    "the timeline": (8, Browser.look_at_timeline),
    "the shelf": (8, Browser.look_at_shelf),
    "the own figures": (4.5, Browser.look_at_figures),
    "80 messages at once, of which 60 are allowed": (0.5, Browser.shout),
}


class _Room:
    """Ten browsers and the link that they open."""

    def __init__(self, browsers: list[Browser]) -> None:
        self.browsers = browsers
        self.room_id = self.token = ""
        self.said: set[str] = set()

    async def fill(self) -> None:
        owner, *others = self.browsers
        for browser in self.browsers:
            browser.room = self
            await browser.come_in()
        opened = (await owner.ask("POST", "/rooms", json={"name": f"Room {owner.number}"})).json()
        self.room_id = opened["room_id"]
        for browser in others:
            await browser.ask("POST", "/rooms/join", json={"code": opened["code"]})
        file_id = await owner._upload(random.randbytes(_SHARED_BYTES), destination="shelf")  # noqa: SLF001
        thing = {"kind": "file", "id": file_id}
        self.token = (await owner.ask("POST", "/links", json={"thing": thing})).json()["token"]

    def next_to(self, browser: Browser) -> Browser:
        return self.browsers[(self.browsers.index(browser) + 1) % len(self.browsers)]


async def main(url: str, first: int, count: int, seconds: float) -> None:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    seen, turns = Seen(), asyncio.Semaphore(_AT_ONCE)
    browsers = [Browser(url, number, seen) for number in range(first, first + count)]
    rooms = [_Room(browsers[start : start + _PER_ROOM]) for start in range(0, count, _PER_ROOM)]

    async def fill(room: _Room) -> None:
        async with turns:
            await room.fill()

    await asyncio.gather(*map(fill, rooms))
    listening = [asyncio.create_task(browser.listen()) for browser in browsers]
    await asyncio.gather(*(browser.connected.wait() for browser in browsers))
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    until = time.monotonic() + seconds
    await asyncio.gather(*(browser.browse(until) for browser in browsers))
    await asyncio.sleep(3)
    for task in listening:
        task.cancel()
    for room in rooms:
        seen.heard += sum(len(browser.heard & room.said) for browser in room.browsers)
        seen.missed += sum(len(room.said - browser.heard) for browser in room.browsers)
    sys.stdout.buffer.write(msgspec.json.encode(seen))


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])))
