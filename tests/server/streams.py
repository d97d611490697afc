"""Streams of a drop at real servers, from both of their ends, with nothing but sockets in between."""

import hashlib
import secrets
import socket
import time
from base64 import urlsafe_b64encode
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from tests.server.process import ServerProcess


def b64(content: bytes) -> str:
    return urlsafe_b64encode(content).decode().rstrip("=")


@dataclass
class Member:
    """Somebody in a session, at one of its servers."""

    server: ServerProcess
    session_id: str
    member_id: str
    token: str

    def ask(self, method: str, path: str, body: Any = None) -> httpx.Response:
        headers = {"authorization": f"Bearer {self.token}"}
        address = f"/api/v1/drop/sessions/{self.session_id}{path}"
        while True:
            answer = self.server.client.request(method, address, json=body, headers=headers)
            if answer.status_code != 429:
                return answer.raise_for_status()
            # Only so many calls a second are borne of one network.
            time.sleep(int(answer.headers["retry-after"]))


@dataclass
class Streamed:
    """A request that its owner has said yes to: its bytes may flow."""

    owner: Member
    receiver: Member
    request_id: str

    @property
    def path(self) -> str:
        return f"/api/v1/drop/sessions/{self.owner.session_id}/requests/{self.request_id}"

    def put(self, content: bytes, offset: int = 0, *, last: bool = False, by: Member | None = None) -> httpx.Response:
        by = by or self.owner
        return httpx.put(
            f"{by.server.url}{self.path}/bytes/{offset}",
            params={"last": "true"} if last else {},
            content=content,
            headers={"authorization": f"Bearer {by.token}"},
            timeout=100,
        )

    def get(self, by: Member | None = None) -> httpx.Response:
        by = by or self.receiver
        headers = {"authorization": f"Bearer {by.token}"}
        return httpx.get(f"{by.server.url}{self.path}/bytes", headers=headers, timeout=100)

    def head_of_put(self, offset: int, length: int, *, last: bool = False) -> bytes:
        query = "?last=true" if last else ""
        return self._head("PUT", f"/bytes/{offset}{query}", self.owner, f"content-length: {length}")

    def head_of_get(self) -> bytes:
        return self._head("GET", "/bytes", self.receiver)

    def _head(self, method: str, path: str, by: Member, *headers: str) -> bytes:
        lines = (f"{method} {self.path}{path} HTTP/1.1", "host: satchel", f"authorization: Bearer {by.token}")
        return "\r\n".join((*lines, *headers, "", "")).encode()


class Session:
    """A session with an owner and a receiver, each at their server."""

    def __init__(self, one: ServerProcess, other: ServerProcess | None = None) -> None:
        session_id, admission = secrets.token_hex(16), secrets.token_bytes(32)
        member = {"member_id": secrets.token_hex(16), "sealed": b64(b"sealed")}
        body = {"session_id": session_id, "admission": b64(hashlib.sha256(admission).digest()), **member}
        said = one.client.post("/api/v1/drop/sessions", json=body).raise_for_status().json()
        self.owner = Member(one, session_id, member["member_id"], said["token"])
        self._admission = admission
        self.receiver = self.join(other or one)

    def join(self, server: ServerProcess) -> Member:
        body = {"member_id": secrets.token_hex(16), "admission": b64(self._admission), "sealed": b64(b"sealed")}
        path = f"/api/v1/drop/sessions/{self.owner.session_id}/members"
        said = server.client.post(path, json=body).raise_for_status().json()
        return Member(server, self.owner.session_id, body["member_id"], said["token"])

    def stream(self, length: int | None) -> Streamed:
        file_id, request_id = secrets.token_hex(16), secrets.token_hex(16)
        key = b64(secrets.token_bytes(32))
        self.owner.ask("POST", "/files", {"files": [{"file_id": file_id, "sealed": b64(b"sealed")}]})
        asked = {"request_id": request_id, "file_id": file_id, "public_key": key, "sealed": b64(b"sealed")}
        self.receiver.ask("POST", "/requests", asked)
        answer = {"public_key": key, "sealed": b64(b"sealed"), "chunks": None, "bytes": length}
        self.owner.ask("POST", f"/requests/{request_id}/acknowledge", answer)
        return Streamed(self.owner, self.receiver, request_id)


@contextmanager
def connected(server: ServerProcess, *, small: bool = False) -> Generator[socket.socket]:
    """A plain connection; a small one takes in little that is not read."""
    place = urlsplit(server.url)
    with socket.socket() as connection:
        if small:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
        connection.settimeout(60)
        connection.connect((place.hostname, place.port))
        yield connection


def head_from(connection: socket.socket) -> bytes:
    """The head of an answer, and not a byte more."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        byte = connection.recv(1)
        if not byte:
            return head
        head += byte
    return head


def resident_bytes(server: ServerProcess) -> int:
    return int(Path(f"/proc/{server.process.pid}/statm").read_text().split()[1]) * 4096
