"""Strangers who want a server for themselves: `python -m bench.abuse_strangers URL TOKEN PASSWORD`.

Each of four attacks comes from networks of its own. Says `ready` once all have begun, goes on until the input ends, and
prints how often each was answered with what.
"""

import asyncio
import itertools
import json
import resource
import socket
import string
import sys
from collections import Counter
from contextlib import suppress
from urllib.parse import urlsplit

import uvloop

UNREAD, HALF, TRIES, LETTERS = 40, 4_000, 200, 600
# A document of half a megabyte, asked for again and again on one connection, of which nothing is read.
_ASKED_AHEAD = 20
_ALL_LETTERS = [*map("".join, itertools.product("bcdfghjkmn", repeat=4))]


class Strangers:
    """Four attacks on one server."""

    def __init__(self, url: str, token: str, password: str) -> None:
        parts = urlsplit(url)
        self._host, self._port = parts.hostname or "127.0.0.1", parts.port or 80
        self._token, self._password = token, password
        self.answers: dict[str, Counter[str]] = {name: Counter() for name in ("unread", "half", "tries", "letters")}

    async def run(self) -> None:
        async with asyncio.TaskGroup() as attacks:
            for number in range(UNREAD):
                attacks.create_task(self._read_nothing(f"127.0.2.{number % 8 + 1}"))
            for number in range(HALF):
                attacks.create_task(self._send_half(f"127.0.3.{number % 8 + 1}"))
            for number in range(TRIES):
                attacks.create_task(self._try_passwords(f"127.0.4.{number % 50 + 1}", wrong=number % 2 == 1))
            guests = 10
            for number in range(guests):
                attacks.create_task(self._try_letters(f"127.0.5.{number + 1}", _ALL_LETTERS[number::guests]))
            await asyncio.sleep(3)
            print("ready", flush=True)

    async def _read_nothing(self, source: str) -> None:
        request = self._request("GET", "/api/v1/openapi.json")
        while True:
            with suppress(OSError):
                held = socket.socket()
                held.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                held.bind((source, 0))
                held.setblocking(False)
                loop = asyncio.get_running_loop()
                await loop.sock_connect(held, (self._host, self._port))
                await loop.sock_sendall(held, request * _ASKED_AHEAD)
                self.answers["unread"]["held"] += 1
                await asyncio.sleep(20)
                held.close()

    async def _send_half(self, source: str) -> None:
        while True:
            with suppress(OSError):
                reader, writer = await asyncio.open_connection(self._host, self._port, local_addr=(source, 0))
                writer.write(b"GET /api/v1/whoami HTTP/1.1\r\nhost: " + self._host.encode() + b"\r\nx: " + b"y" * 8000)
                line = await reader.readline()
                self.answers["half"][line.decode(errors="replace")[9:12] or "ended"] += 1
                writer.close()
            await asyncio.sleep(0.1)

    async def _try_passwords(self, source: str, *, wrong: bool) -> None:
        body = {"password": "not this one" if wrong else self._password}
        request = self._request("POST", f"/api/v1/open/{self._token}/enter", json.dumps(body))
        while True:
            await self._ask("tries", source, request)
            await asyncio.sleep(1)

    async def _try_letters(self, source: str, letters: list[str]) -> None:
        guest = await self._ask("letters", source, self._request("POST", "/api/v1/guests", '{"name": "Mallory"}'))
        token = json.loads(guest)["token"] if b"token" in guest else ""
        for each in itertools.cycle(letters):
            for letter in string.ascii_lowercase:
                body = json.dumps({"code": f"{each}{letter}"})
                await self._ask("letters", source, self._request("POST", "/api/v1/rooms/join", body, token))
                await asyncio.sleep(0.1)

    async def _ask(self, attack: str, source: str, request: bytes) -> bytes:
        """One request on a connection of its own; its body."""
        with suppress(OSError, asyncio.IncompleteReadError):
            reader, writer = await asyncio.open_connection(self._host, self._port, local_addr=(source, 0))
            writer.write(request.replace(b"\r\n\r\n", b"\r\nconnection: close\r\n\r\n", 1))
            answer = await reader.read()
            self.answers[attack][answer[9:12].decode() or "ended"] += 1
            writer.close()
            return answer.partition(b"\r\n\r\n")[2]
        self.answers[attack]["broken"] += 1
        await asyncio.sleep(0.1)
        return b""

    def _request(self, method: str, path: str, body: str = "", token: str = "") -> bytes:
        lines = [f"{method} {path} HTTP/1.1", f"host: {self._host}:{self._port}"]
        if body:
            lines += ["content-type: application/json", f"content-length: {len(body)}"]
        if token:
            lines.append(f"authorization: Bearer {token}")
        return "\r\n".join([*lines, "", body]).encode()


async def main(url: str, token: str, password: str) -> None:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 16384), most))
    strangers = Strangers(url, token, password)
    attacking = asyncio.create_task(strangers.run())
    await asyncio.to_thread(sys.stdin.read)
    attacking.cancel()
    await asyncio.gather(attacking, return_exceptions=True)
    print(json.dumps(strangers.answers))


if __name__ == "__main__":
    uvloop.run(main(*sys.argv[1:]))
