"""What a watcher sees: alive, ready, or not and why."""

import asyncio

from satchel.edge.api.health import ready
from satchel.kernel.errors import Unavailable
from tests.edge.given import Edge, slug


async def works() -> str:
    return "fine"


async def fails() -> None:
    raise Unavailable("redis://user:password@10.0.0.9 does not answer")


async def test_a_living_server_says_so(edge: Edge) -> None:
    answer = await edge.client().get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"status": "alive"})


async def test_a_server_is_ready_when_all_it_needs_answers(edge: Edge) -> None:
    edge.checks = {"table": works, "objects": works}
    answer = await edge.client().get("/readyz")
    assert answer.json() == {"status": "ready", "checks": {"table": "ok", "objects": "ok"}}


async def test_a_server_that_misses_something_says_what_but_not_where(edge: Edge) -> None:
    edge.checks = {"table": works, "ephemeral": fails}
    answer = await edge.client().get("/readyz")
    assert (answer.status_code, slug(answer.json())) == (503, "not-ready")
    assert answer.json()["checks"] == {"table": "ok", "ephemeral": "unavailable"}
    assert "password" not in answer.text


async def test_a_check_that_never_answers_does_not_hold_the_others_up(edge: Edge) -> None:
    async def hangs() -> None:
        await asyncio.Event().wait()

    sent: list[object] = []
    app = ready({"table": works, "objects": hangs}, seconds=0.01)

    async def unused() -> dict[str, object]:
        return {}

    async def send(message: object) -> None:
        sent.append(message)

    try:
        await app({"type": "http"}, unused, send)  # pyright: ignore[reportArgumentType]
    except Unavailable as error:
        assert error.facts == {"checks": {"table": "ok", "objects": "too slow"}}
    assert sent == []
