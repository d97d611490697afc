"""A server that remembers all it hears and lies as a test wants: the real application, with somebody in between.

A lie is told for calls of one method whose path below the session matches: it gets the call and a way to pass it on to
the application, and answers whatever it likes. Contents are small here, so that even streams pass as one answer.
"""

import asyncio
import json
import re
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from satchel.app import application
from satchel.config import Settings
from satchel.edge.http.extensions import BREAK_OFF, SPLICE, WHOLE
from satchel.edge.http.limits import Limits
from satchel.edge.http.logs import Journal
from satchel.edge.http.server import Server, listen
from satchel.stores.connect import Stores

_BELOW_SESSION = re.compile(r"/api/v1/drop(?:/sessions/[0-9a-f]{32})?(?P<rest>/.*|)")


@dataclass(frozen=True)
class Call:
    """What a client asks for; `path` is what stands behind the session's, or behind `/drop`."""

    method: str
    path: str
    token: str
    content: bytes

    @property
    def body(self) -> Any:
        return json.loads(self.content)

    def saying(self, **changed: Any) -> "Call":
        """The same, with something else in its body."""
        return replace(self, content=json.dumps({**self.body, **changed}).encode())


@dataclass(frozen=True)
class Answer:
    """What a client is answered."""

    status: int
    content: bytes = b""
    kind: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    is_broken: bool = False

    @property
    def body(self) -> Any:
        return json.loads(self.content)

    def saying(self, **changed: Any) -> "Answer":
        return replace(self, content=json.dumps({**self.body, **changed}).encode())

    @classmethod
    def of(cls, **body: Any) -> "Answer":
        return cls(200, json.dumps(body).encode())

    @classmethod
    def refusal(cls, slug: str, status: int, **headers: str) -> "Answer":
        problem = {"type": f"/problems#{slug}", "title": slug, "status": status, "detail": f"{slug}.", "slug": slug}
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return cls(status, json.dumps(problem).encode(), "application/problem+json", named)


PassOn: TypeAlias = Callable[[Call], Awaitable[Answer]]
Lie: TypeAlias = Callable[[Call, PassOn], Awaitable[Answer]]


class Hostile:
    """The server. `heard` is everything that ever passed it or was stored by it."""

    def __init__(self, data: Path) -> None:
        self.data = data
        self.url = ""
        self.heard: list[bytes] = []
        self.calls: list[Call] = []
        self.told: list[tuple[str, Any]] = []
        self._app: ASGIApp | None = None
        self._loop: asyncio.AbstractEventLoop
        self._stopping = asyncio.Event()
        self._lies: list[tuple[str, re.Pattern[str], Lie]] = []
        self._members: dict[str, str] = {}
        self._lines: dict[str, Send] = {}
        self._changed = threading.Condition()

    @contextmanager
    def lying(self, method: str, path: str, lie: Lie) -> Generator[None]:
        told = (method, re.compile(path), lie)
        self._lies.append(told)
        try:
            yield
        finally:
            self._lies.remove(told)

    def tells(self, member_id: str, **event: Any) -> None:
        """Something that never happened, or happened once."""
        self.waits_for(lambda: member_id in self._lines)
        asyncio.run_coroutine_threadsafe(self.whispers(member_id, **event), self._loop).result(30)

    async def whispers(self, member_id: str, **event: Any) -> None:
        """The same, in the middle of a lie."""
        await self._say(self._lines[member_id], {"type": "websocket.send", "text": json.dumps(event)})

    def member_of(self, call: Call) -> str:
        return self._members[call.token]

    def hears(self, method: str, path: str, count: int = 1) -> Call:
        """The last of so many calls, as soon as all of them have come."""
        return self.waits_for(lambda: self.all_calls(method, path)[count - 1 :])[0]

    async def overhears(self, method: str, path: str) -> Call:
        """The same, in the middle of a lie."""
        return await asyncio.to_thread(self.hears, method, path)

    def all_calls(self, method: str, path: str) -> list[Call]:
        return [call for call in self.calls if call.method == method and re.fullmatch(path, call.path)]

    def waits_for(self, look: Callable[[], Any]) -> Any:
        with self._changed:
            assert self._changed.wait_for(look, 60)
            return look()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Bytes that go from socket to socket would be heard by nobody; answers are heard in their plain form.
        extensions = {name: value for name, value in scope.get("extensions", {}).items() if name not in (SPLICE, WHOLE)}
        scope = {**scope, "extensions": extensions}
        self._hear(scope["raw_path"], scope["query_string"], *(value for pair in scope["headers"] for value in pair))
        below = _BELOW_SESSION.fullmatch(scope["path"])
        if scope["type"] == "websocket":
            await self._listen(scope, receive, send, below["rest"] if below else "")
        elif below is None:
            await self._pass_on(scope, receive, send)
        else:
            await self._answer(scope, receive, send, below["rest"])

    def remembers(self, stores: Stores) -> Stores:
        return replace(stores, ephemeral=_Remembering(stores.ephemeral, self._hear))  # pyright: ignore[reportArgumentType]

    async def serve(self, ready: threading.Event) -> None:
        self._loop = asyncio.get_running_loop()
        journal = Journal(write=self._hear)
        async with application(Settings(data=self.data), journal=journal, through=self.remembers) as running:
            self._app = running.app
            with listen("127.0.0.1", 0) as listener:
                self.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
                server = Server(self, Limits(), ready.set)
                serving = asyncio.create_task(server.serve(listener))
                await self._stopping.wait()
                running.prepare_to_stop()
                server.stop()
                await serving

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._stopping.set)

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert self._app is not None
        await self._app(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send, path: str) -> None:
        content = b"".join([piece async for piece in _pieces(receive)])
        self._hear(content)
        token = dict(scope["headers"]).get(b"authorization", b"").decode().removeprefix("Bearer ")
        call = Call(scope["method"], path, token, content)

        async def pass_on(call: Call) -> Answer:
            answer = await self._application_says(scope, receive, call)
            self._hear(answer.content)
            if answer.status < 300 and call.method == "POST" and path in ("/sessions", "/members"):
                self._members[answer.body["token"]] = call.body["member_id"]
            return answer

        lie = self._lie_for(call)
        answer = await (lie(call, pass_on) if lie else pass_on(call))
        self._note(lambda: self.calls.append(call))
        headers = {"content-type": answer.kind, "content-length": str(len(answer.content)), **answer.headers}
        if answer.status == 204:
            headers.pop("content-length")
        raw = [(name.encode(), value.encode()) for name, value in headers.items()]
        await send({"type": "http.response.start", "status": answer.status, "headers": raw})
        await send({"type": "http.response.body", "body": answer.content, "more_body": answer.is_broken})
        if answer.is_broken:
            await send({"type": BREAK_OFF})

    def _lie_for(self, call: Call) -> Lie | None:
        return next((lie for method, at, lie in self._lies if method == call.method and at.fullmatch(call.path)), None)

    async def _application_says(self, scope: Scope, receive: Receive, call: Call) -> Answer:
        said, is_told, is_broken = Answer(500), False, False
        content = bytearray()

        async def tell() -> Message:
            nonlocal is_told
            if is_told:
                return await receive()
            is_told = True
            return {"type": "http.request", "body": call.content, "more_body": False}

        async def hear(message: Message) -> None:
            nonlocal said, is_broken
            if message["type"] == "http.response.start":
                headers = {name.decode().lower(): value.decode() for name, value in message["headers"]}
                headers.pop("content-length", None)
                said = Answer(message["status"], kind=headers.pop("content-type", ""), headers=headers)
            elif message["type"] == BREAK_OFF:
                is_broken = True
            else:
                content.extend(message.get("body", b""))

        headers = [
            (name, b"%d" % len(call.content) if name == b"content-length" else value)
            for name, value in scope["headers"]
        ]
        await self._pass_on({**scope, "headers": headers}, tell, hear)
        return replace(said, content=bytes(content), is_broken=is_broken)

    async def _listen(self, scope: Scope, receive: Receive, send: Send, path: str) -> None:
        """A websocket of which there is a lie does not open."""
        if self._lie_for(Call("WEBSOCKET", path, "", b"")):
            await send({"type": "websocket.close"})
            return
        member_id = next((self._members[each] for each in scope["subprotocols"] if each in self._members), "")
        is_live = path == "/live"

        async def tell() -> Message:
            message = await receive()
            self._hear(_frame(message))
            return message

        async def say(message: Message) -> None:
            if is_live and message["type"] == "websocket.accept":
                self._note(lambda: self._lines.update({member_id: send}))
            if is_live and (text := message.get("text")):
                self._note(lambda: self.told.append((member_id, json.loads(text))))
            await self._say(send, message)

        await self._pass_on(scope, tell, say)

    async def _say(self, send: Send, message: Message) -> None:
        self._hear(_frame(message))
        await send(message)

    def _hear(self, *things: bytes) -> None:
        self.heard.extend(thing for thing in things if thing)

    def _note(self, note: Callable[[], object]) -> None:
        with self._changed:
            note()
            self._changed.notify_all()


class _Remembering:
    """A store of which everything is kept that is put into it."""

    def __init__(self, store: Any, hear: Callable[[bytes], None]) -> None:
        self._store = store
        self._hear = hear
        self.wait_pop = store.wait_pop
        self.close = store.close

    async def run(self, command: Any) -> Any:
        self._remember(command)
        return await self._store.run(command)

    async def together(self, *commands: Any) -> Any:
        self._remember(commands)
        return await self._store.together(*commands)

    def subscribe(self, *channels: str) -> AbstractAsyncContextManager[Any]:
        return self._store.subscribe(*channels)

    def _remember(self, commands: Any) -> None:
        for value in _values(commands):
            self._hear(value)


def _values(thing: Any) -> Iterator[bytes]:
    if isinstance(thing, bytes):
        yield thing
    elif isinstance(thing, str):
        yield thing.encode()
    elif is_dataclass(thing):
        for each in fields(thing):
            yield from _values(getattr(thing, each.name))
    elif isinstance(thing, Mapping):
        yield from _values(list(thing.items()))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    elif isinstance(thing, list | tuple | set | frozenset):
        for each in thing:  # pyright: ignore[reportUnknownVariableType]
            yield from _values(each)


def _frame(message: Message) -> bytes:
    return message.get("bytes") or (message.get("text") or "").encode()


async def _pieces(receive: Receive) -> AsyncGenerator[bytes]:
    more = True
    while more:
        message = await receive()
        yield message.get("body", b"")
        more = message.get("more_body", False)


@contextmanager
def hostile_server(data: Path) -> Generator[Hostile]:
    hostile, ready = Hostile(data), threading.Event()
    thread = threading.Thread(target=lambda: asyncio.run(hostile.serve(ready)))
    thread.start()
    try:
        assert ready.wait(30)
        yield hostile
    finally:
        hostile.stop()
        thread.join(30)
