"""People who meet in drop sessions, what they say there, and what must be left when a session is over."""

import hashlib
import secrets
from base64 import urlsafe_b64encode
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

import httpx

from satchel.features.drop.limits import DropLimits
from satchel.features.drop.records import EPHEMERAL_KEYS
from satchel.features.drop.service.context import Drop
from satchel.live import Presence
from satchel.stores.ports.ephemeral import Exists, SetAll
from tests.application import Caller, Satchel
from tests.features.hearing import Hearing, heard_by

# Of the keys, what they are made of; some last longer than a session, and end by themselves.
FIELDS = ("session_id", "name", "file_id", "request_id", "member_id")
OUTLASTING = (
    *("calls", "created.sessions:{network}", "access.attempts:{session_id}:{network}"),
    *("drop.passed:{network}:{day}", "file.req.answers:{offer_id}", "drop.totals"),
)


def b64(content: bytes) -> str:
    return urlsafe_b64encode(content).decode().rstrip("=")


def new_id() -> str:
    return secrets.token_hex(16)


def sealed(text: str = "sealed") -> str:
    """Something that only members could read."""
    return b64(text.encode() + secrets.token_bytes(16))


@dataclass
class Person:
    """Somebody in a session; `token` proves it, and may be anybody's."""

    caller: Caller
    session_id: str
    name: str
    admission: bytes
    member_id: str
    token: str

    async def __call__(self, method: str, path: str = "", **options: Any) -> httpx.Response:
        headers = {"authorization": f"Bearer {self.token}", **options.pop("headers", {})}
        return await self.caller(method, f"/drop/sessions/{self.session_id}{path}", headers=headers, **options)

    async def look(self) -> dict[str, Any]:
        answer = await self("GET")
        assert answer.status_code == 200, answer.text
        return answer.json()


async def open_session(caller: Caller, **changes: Any) -> httpx.Response:
    body = {
        "session_id": new_id(),
        "admission": b64(hashlib.sha256(bytes(32)).digest()),
        "member_id": new_id(),
        "sealed": sealed(),
    }
    return await caller("POST", "/drop/sessions", json={**body, **changes})


async def opened(satchel: Satchel, address: str = "127.0.0.1") -> Person:
    """The host of a new session."""
    caller, admission, member_id = satchel.caller(address), secrets.token_bytes(32), new_id()
    digest = b64(hashlib.sha256(admission).digest())
    answer = await open_session(caller, admission=digest, member_id=member_id)
    assert answer.status_code == 201, answer.text
    said = answer.json()
    return Person(caller, said["session_id"], said["name"], admission, member_id, said["token"])


async def join(caller: Caller, session_id: str, admission: bytes, **changes: Any) -> httpx.Response:
    body = {"member_id": new_id(), "admission": b64(admission), "sealed": sealed()}
    return await caller("POST", f"/drop/sessions/{session_id}/members", json={**body, **changes})


async def joined(satchel: Satchel, host: Person, address: str = "127.0.0.1") -> Person:
    """One more member of the host's session."""
    caller, member_id = satchel.caller(address), new_id()
    answer = await join(caller, host.session_id, host.admission, member_id=member_id)
    assert answer.status_code == 201, answer.text
    return Person(caller, host.session_id, host.name, host.admission, member_id, answer.json()["token"])


async def announced(owner: Person, file_id: str | None = None) -> str:
    """The id of a file that can be had."""
    file_id = file_id or new_id()
    answer = await owner("POST", "/files", json={"files": [{"file_id": file_id, "sealed": sealed("a file")}]})
    assert answer.status_code == 204, answer.text
    return file_id


async def ask(receiver: Person, file_id: str, **changes: Any) -> httpx.Response:
    body = {"request_id": new_id(), "file_id": file_id, "public_key": b64(secrets.token_bytes(32)), "sealed": sealed()}
    return await receiver("POST", "/requests", json={**body, **changes})


async def asked(receiver: Person, file_id: str) -> str:
    """The id of a request for a file."""
    answer = await ask(receiver, file_id)
    assert answer.status_code == 201, answer.text
    return answer.json()["request_id"]


async def acknowledge(owner: Person, request_id: str, **changes: Any) -> httpx.Response:
    body = {"public_key": b64(secrets.token_bytes(32)), "sealed": sealed(), "chunks": 3, "bytes": 600_000}
    return await owner("POST", f"/requests/{request_id}/acknowledge", json={**body, **changes})


async def acknowledged(owner: Person, request_id: str) -> str:
    answer = await acknowledge(owner, request_id)
    assert answer.status_code == 204, answer.text
    return request_id


def slug(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["type"].rpartition("#")[2]


async def left_of(satchel: Satchel, known: Mapping[str, list[str]]) -> list[str]:
    """Keys that still hold something of what is named by these ids, and sets in which a session still stands."""
    ephemeral = satchel.stores.ephemeral
    found: list[str] = []
    for key in EPHEMERAL_KEYS:
        if not key.template.fields or not set(key.template.fields) <= set(FIELDS):
            continue
        for fields in _combinations(key.template.fields, known):
            found += [key.pattern] if await ephemeral.run(Exists(key(**fields))) else []
    created = await ephemeral.run(SetAll("created.sessions:127.0.0.1"))
    return found + [f"created.sessions: {each}" for each in created if each in known["session_id"]]


def _combinations(names: Sequence[str], known: Mapping[str, list[str]]) -> list[dict[str, str]]:
    combined: list[dict[str, str]] = [{}]
    for name in names:
        combined = [{**each, name: value} for each in combined for value in known[name]]
    return combined


def hearing(satchel: Satchel, person: Person) -> AbstractAsyncContextManager[Hearing]:
    return heard_by(satchel.stores.ephemeral, person.member_id)


@asynccontextmanager
async def here(satchel: Satchel, *people: Person) -> AsyncGenerator[None]:
    """While it lasts, these people count as connected."""
    presence = Presence(satchel.stores.ephemeral, satchel.clock)
    for person in people:
        await presence.enter(person.member_id, "connection", "Browser")
    yield
    for person in people:
        await presence.leave(person.member_id, "connection")


def drop_of(satchel: Satchel, **changes: Any) -> Drop:
    """A drop on the same stores as the running one."""
    ephemeral = satchel.stores.ephemeral
    drop = Drop(
        ephemeral=ephemeral,
        clock=satchel.clock,
        attending=Presence(ephemeral, satchel.clock),
        limits=DropLimits(ephemeral),
        daily_limit_bytes=None,
    )
    return replace(drop, **changes)
