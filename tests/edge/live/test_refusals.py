"""A handshake that is refused is answered with a problem, as any other request."""

from contextlib import AsyncExitStack

import httpx
import pytest

from satchel.edge.http.callers import Guest
from satchel.edge.http.limits import Limits
from satchel.edge.http.middleware import Exposure
from satchel.edge.live.live_sockets import Bounds
from tests.edge.given import ANN, GUS, slug
from tests.edge.live.given import LiveEdge, eventually


async def test_a_stranger_and_a_token_that_is_not_ours_are_refused(live: LiveEdge) -> None:
    async with live.serving() as server:
        assert (await server.refusal())["status"] == 401
        assert (await server.refusal(authorization="Bearer nonsense"))["status"] == 401
        assert server.open == 0


async def test_a_token_that_has_run_out_says_that_it_can_be_renewed(live: LiveEdge) -> None:
    shown = live.edge.bearer(ANN)
    live.clock.advance(live.edge.identity.access_lifetime)
    async with live.serving() as server:
        assert slug(await server.refusal(**shown)) == "token-expired"


async def test_a_session_that_has_ended_is_refused(live: LiveEdge) -> None:
    await live.edge.identity.revoke(ANN.session_id)
    async with live.serving() as server:
        assert (await server.refusal(**live.edge.bearer(ANN)))["status"] == 401


@pytest.mark.parametrize("more", [{}, {"sec_fetch_site": "cross-site"}, {"sec_fetch_site": "same-site"}])
async def test_a_page_of_another_site_is_refused(live: LiveEdge, more: dict[str, str]) -> None:
    async with live.serving() as server:
        for origin in ("http://evil.test", "null", "https://satchel.test.evil.test"):
            problem = await server.refusal(origin=origin, **more, **live.edge.bearer(ANN))
            assert slug(problem) == "cross-origin"


async def test_a_page_of_our_own_is_let_in_whatever_its_browser_calls_it(live: LiveEdge) -> None:
    live.edge.exposure = Exposure(addresses=["https://satchel.example"])
    async with live.serving() as server:
        own = f"http://127.0.0.1:{server.port}"
        for origin, site in ((own, "same-origin"), (own, "cross-site"), ("https://satchel.example", "cross-site")):
            async with server.listening(ANN, origin=origin, sec_fetch_site=site):
                pass


async def test_a_person_has_a_bounded_number_of_connections(live: LiveEdge) -> None:
    async with live.serving() as server, AsyncExitStack() as connections:
        for _ in range(19):
            await connections.enter_async_context(server.listening(ANN))
        async with server.listening(ANN):
            assert slug(await server.refusal(**live.edge.bearer(ANN))) == "too-many"
            async with server.listening(GUS):
                pass
        await eventually(lambda: server.open == 19)
        async with server.listening(ANN):
            pass


async def test_a_server_has_a_bounded_number_of_connections(live: LiveEdge) -> None:
    async with live.serving(Bounds(sockets=2)) as server, server.listening(ANN):
        async with server.listening(GUS):
            problem = await server.refusal(**live.edge.bearer(Guest("g-late", "Late")))
            assert (problem["status"], slug(problem)) == (503, "busy")
        await eventually(lambda: server.open == 1)
        async with server.listening(Guest("g-late", "Late")):
            pass


async def test_those_who_listen_leave_the_others_their_share(live: LiveEdge) -> None:
    async with live.serving(limits=Limits(connections=2)) as server, AsyncExitStack() as connections:
        for _ in range(5):
            await connections.enter_async_context(server.listening(ANN))
        async with httpx.AsyncClient() as client:
            assert (await client.get(f"http://127.0.0.1:{server.port}/healthz")).status_code == 200


async def test_without_an_upgrade_there_is_nothing_to_read(live: LiveEdge) -> None:
    async with live.serving():
        response = await live.edge.client().get("/api/v1/live", headers=live.edge.bearer(ANN))
    assert response.status_code == 405
