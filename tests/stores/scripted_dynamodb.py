"""A server that speaks DynamoDB's protocol and answers as told, for failures that no real one makes to order."""

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

from aiohttp import web

Answer: TypeAlias = dict[str, Any]


class Refusal(Exception):
    """An answer with an error code."""

    def __init__(self, code: str, status: int = 400, **fields: Any) -> None:
        super().__init__(code)
        self.status = status
        self.body = {"__type": f"com.amazonaws.dynamodb.v20120810#{code}", "message": code, **fields}


class Dropped(Exception):
    """No answer at all: the connection ends after the request has arrived."""


Reply: TypeAlias = Callable[[Answer], Answer] | Exception | Answer


class ScriptedDynamo:
    """Replies to one request after the other, the last reply for all that follow; remembers what it was asked."""

    def __init__(self, *replies: Reply) -> None:
        self._replies = list(replies)
        self.asked: list[tuple[str, Answer]] = []
        self.signed_by: list[str] = []

    async def handle(self, request: web.Request) -> web.StreamResponse:
        operation = request.headers["X-Amz-Target"].partition(".")[2]
        body = json.loads(await request.read())
        self.asked.append((operation, body))
        self.signed_by.append(request.headers["Authorization"].partition("Credential=")[2].partition("/")[0])
        reply = self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]
        match reply:
            case Refusal():
                return _json(reply.body, reply.status)
            case Exception():
                assert request.transport is not None
                request.transport.abort()
                return web.Response()
            case dict():
                return _json(reply)
            case _:
                return _json(reply(body))


def _json(body: Answer, status: int = 200) -> web.Response:
    return web.Response(text=json.dumps(body), status=status, content_type="application/x-amz-json-1.0")


@asynccontextmanager
async def scripted(*replies: Reply) -> AsyncGenerator[tuple[ScriptedDynamo, str]]:
    server = ScriptedDynamo(*replies)
    application = web.Application()
    application.router.add_post("/", server.handle)
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield server, site.name
    finally:
        await runner.cleanup()
