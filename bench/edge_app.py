"""Satchel's edge with one endpoint that only answers, so that a typed body can be compared; see `bench.fastapi_app`."""

import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Annotated

import msgspec
from starlette.types import ASGIApp

from satchel.edge.api.endpoints import Body, Router
from satchel.edge.api.identity import Identity, Member
from satchel.edge.application import application
from satchel.edge.http.logs import start_journal
from satchel.edge.http.metrics import Metrics
from satchel.edge.http.middleware import Exposure
from satchel.edge.http.server import run
from satchel.kernel.clock import system_clock
from satchel.kernel.signature import Signer
from satchel.stores.embedded.ephemeral_memory import MemoryEphemeral

Text = Annotated[str, msgspec.Meta(max_length=1000)]
notes = Router("notes")


class Note(Body, frozen=True, kw_only=True):
    room: Text
    name: Text
    size: int
    tags: tuple[str, ...] = ()


class Noted(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    size: int
    by: str


@notes.post("/notes")
async def take_note(member: Member, body: Note) -> Noted:
    """Answer with what was sent."""
    return Noted(id=f"{body.room}/{body.name}", size=body.size, by=member.user_id)


@asynccontextmanager
async def opened() -> AsyncGenerator[ASGIApp]:
    ephemeral = await MemoryEphemeral.open(clock=system_clock)
    try:
        yield application(
            [notes],
            identity=Identity(Signer(os.environ["BENCH_SECRET"].encode()), ephemeral),
            checks={},
            exposure=Exposure(),
            journal=start_journal("text", "warning"),
            metrics=Metrics(),
            version="bench",
        )
    finally:
        await ephemeral.close()


if __name__ == "__main__":
    sys.exit(run(opened, host="127.0.0.1", port=int(sys.argv[1])))
