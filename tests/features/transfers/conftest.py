"""A Satchel where shelves are small, so that what is sent by e-mail can stay an offer; and a room with people."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.application import Caller, Satchel, running_satchel
from tests.features.shelf.given import uploaded
from tests.features.transfers.given import Room, a_guest, by_email
from tests.features.transfers.meddling import Before

QUOTA_BYTES = 100


@dataclass
class Offer:
    """Ann has sent two files to Bob, whose shelf is full of one; Eve has nothing to do with it."""

    satchel: Satchel
    ann: Caller
    bob: Caller
    eve: Caller
    transfer_id: str
    sent_ids: list[str]
    filling_id: str

    async def make_room(self) -> None:
        await self.bob("DELETE", f"/shelf/files/{self.filling_id}")
        await self.bob("DELETE", "/shelf/bin")

    async def act(self, who: Caller, what: str, **body: object) -> int:
        """The status of doing something with the transfer."""
        answer = await who("POST", f"/transfers/{self.transfer_id}/{what}", json=body)
        return answer.status_code


@pytest.fixture
async def offer(tmp_path: Path) -> AsyncGenerator[Offer]:
    async with running_satchel(tmp_path, sign_up="open", quota=QUOTA_BYTES) as satchel:
        ann, bob, eve = satchel.caller(), satchel.caller(), satchel.caller()
        for caller, name in ((ann, "ann"), (bob, "bob"), (eve, "eve")):
            await caller.sign_up(f"{name}@example.org")
        filling = await uploaded(satchel, bob, "filling.txt", b"f" * (QUOTA_BYTES - 1))
        first = await uploaded(satchel, ann, "first.txt", b"the first")
        second = await uploaded(satchel, ann, "second.txt", b"the second")
        sent_ids = [str(first.file_id), str(second.file_id)]
        sent = await by_email(ann, *sent_ids)
        yield Offer(satchel, ann, bob, eve, sent["transfer_id"], sent_ids, str(filling.file_id))


@pytest.fixture
async def room(satchel: Satchel, ann: Caller, bob: Caller) -> Room:
    opened = (await ann("POST", "/rooms", json={"name": "Class"})).json()
    made = Room(satchel, ann, bob, await a_guest(satchel, "Gus"), opened["room_id"], opened["code"])
    for caller in (bob, made.gus):
        await made.join(caller)
    return made


@pytest.fixture
def before() -> Before:
    return Before()
