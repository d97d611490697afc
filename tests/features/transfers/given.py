"""Files that were handed over, and what both sides see of it."""

import hashlib
from dataclasses import dataclass
from typing import Any

import httpx

from tests.application import Caller, Satchel
from tests.features.shelf.given import uploaded
from tests.uploads.given import SENDS, TUS, pairs


async def by_email(sender: Caller, *entry_ids: str, to: str = "bob@example.org", **more: Any) -> dict[str, Any]:
    """A transfer from a shelf to an account, as its sender sees it."""
    body = {"to": {"kind": "email", "email": to}, "files": list(entry_ids), **more}
    answer = await sender("POST", "/transfers", json=body)
    assert answer.status_code == 201, answer.text
    return answer.json()


async def a_file_sent(satchel: Satchel, sender: Caller, name: str = "a.txt", content: bytes = b"one") -> dict[str, Any]:
    """The same of one new file."""
    return await by_email(sender, (await uploaded(satchel, sender, name, content)).file_id)


async def seen(caller: Caller, transfer_id: str) -> dict[str, Any]:
    answer = await caller("GET", f"/transfers/{transfer_id}")
    assert answer.status_code == 200, answer.text
    return answer.json()


async def history(caller: Caller, **params: Any) -> list[str]:
    answer = await caller("GET", "/transfers", params=params)
    assert answer.status_code == 200, answer.text
    return [each["transfer_id"] for each in answer.json()["transfers"]]


async def waiting(caller: Caller) -> list[str]:
    return [each["transfer_id"] for each in (await caller("GET", "/transfers/waiting")).json()["transfers"]]


def slug(answer: Any) -> str:
    return answer.json()["type"].rpartition("#")[2]


def counts(**some: int) -> dict[str, int]:
    return {
        "offered": 0,
        "shelved": 0,
        "opened": 0,
        "downloaded": 0,
        "verified": 0,
        "declined": 0,
        "withdrawn": 0,
    } | some


@dataclass
class Room:
    """Ann's room with Bob and a guest in it, and the letters by which others come in."""

    satchel: Satchel
    ann: Caller
    bob: Caller
    gus: Caller
    room_id: str
    code: str

    async def join(self, caller: Caller) -> None:
        answer = await caller("POST", "/rooms/join", json={"code": self.code})
        assert answer.status_code == 200, answer.text

    async def bring(self, caller: Caller, name: str, content: bytes, to: Caller | None = None) -> str:
        """The id of a new file in the room, for everybody or for one."""
        about = {"destination": "room", "room": self.room_id, "filename": name}
        metadata = pairs(**about, **({"to": to.user_id} if to else {}))
        begun = await caller(
            "POST", "/uploads", headers={**TUS, "upload-length": str(len(content)), "upload-metadata": metadata}
        )
        assert begun.status_code == 201, begun.text
        upload_id = begun.headers["location"].rpartition("/")[2]
        sent = await caller("PATCH", f"/uploads/{upload_id}", content=content, headers={**SENDS, "upload-offset": "0"})
        assert sent.status_code == 204, sent.text
        return upload_id

    async def hand(self, sender: Caller, *file_ids: str, to: Caller | None = None, **more: Any) -> httpx.Response:
        kind = {"kind": "person", "person_id": to.user_id} if to else {"kind": "room"}
        body = {"to": {**kind, "room_id": self.room_id}, "files": list(file_ids), **more}
        return await sender("POST", "/transfers", json=body)

    async def handed(self, sender: Caller, *file_ids: str, to: Caller | None = None, **more: Any) -> dict[str, Any]:
        """A transfer within the room, as its sender sees it."""
        answer = await self.hand(sender, *file_ids, to=to, **more)
        assert answer.status_code == 201, answer.text
        return answer.json()

    async def file_ids(self, caller: Caller) -> set[str]:
        answer = await caller("GET", f"/rooms/{self.room_id}/files")
        return {each["file_id"] for each in answer.json()["files"]}


async def a_guest(satchel: Satchel, name: str) -> Caller:
    guest = satchel.caller()
    made = (await guest("POST", "/guests", json={"name": name})).json()
    guest.tokens, guest.user_id = {"access_token": made["token"]}, made["guest_id"]
    return guest


async def proved(caller: Caller, transfer_id: str, content: bytes, place: int = 0) -> httpx.Response:
    """The answer to somebody who has these bytes and proves it."""
    way = f"/transfers/{transfer_id}/files/{place}"
    asked = await caller("POST", f"{way}/challenge")
    assert asked.status_code == 201, asked.text
    proof = hashlib.sha256(bytes.fromhex(asked.json()["challenge"]) + content).hexdigest()
    return await caller("POST", f"{way}/verified", json={"proof": proof})


async def fetched(caller: Caller, transfer_id: str, place: int = 0) -> bytes:
    answer = await caller("GET", f"/transfers/{transfer_id}/files/{place}/content")
    assert answer.status_code == 200, answer.text
    return answer.content
