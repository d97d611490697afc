"""The same two endpoints in FastAPI, as its documentation would have them: the peer of `bench.requests`.

The token is checked exactly as Satchel does it, so that what differs is the framework: its signature once, its end and
the list of ended sessions every time. What Satchel does besides is left out: request id, security headers, origin check
and metrics.
"""

import os
import time
from functools import lru_cache
from typing import Annotated, Literal

import msgspec
from fastapi import Depends, FastAPI, HTTPException
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel, Field

from satchel.kernel.signature import BadSignature, Signer

app = FastAPI()
signer = Signer(os.environ["BENCH_SECRET"].encode())
ended_sessions: set[str] = set()


class Claims(msgspec.Struct, frozen=True, array_like=True):
    user_id: str
    email: str
    session_id: str
    admin: bool
    expires: int


class Caller(BaseModel):
    kind: Literal["stranger", "guest", "member"]
    id: str | None = None
    name: str | None = None
    email: str | None = None
    session_id: str | None = None
    administrator: bool = False


class Note(BaseModel):
    room: str = Field(max_length=1000)
    name: str = Field(max_length=1000)
    size: int
    tags: list[str] = []


class Noted(BaseModel):
    id: str
    size: int
    by: str


_decode = msgspec.msgpack.Decoder(Claims).decode


@lru_cache(maxsize=2048)
def claims_of(token: str) -> Claims:
    return _decode(signer.open("access", token))


async def member(shown: Annotated[HTTPAuthorizationCredentials, Depends(HTTPBearer())]) -> Claims:
    try:
        claims = claims_of(shown.credentials)
    except BadSignature:
        raise HTTPException(401) from None
    if claims.expires <= time.time() or claims.session_id in ended_sessions:
        raise HTTPException(401)
    return claims


@app.get("/api/v1/whoami")
async def who_am_i(caller: Annotated[Claims, Depends(member)]) -> Caller:
    return Caller(
        kind="member",
        id=caller.user_id,
        email=caller.email,
        session_id=caller.session_id,
        administrator=caller.admin,
    )


@app.post("/api/v1/notes")
async def take_note(note: Note, caller: Annotated[Claims, Depends(member)]) -> Noted:
    return Noted(id=f"{note.room}/{note.name}", size=note.size, by=caller.user_id)
