"""Visitors on live connections: they hear what is made for them, in a bound of their own, and nobody sees them come."""

from typing import TYPE_CHECKING

from satchel.edge.live.listeners import Listener
from satchel.edge.live.live_sockets import Bounds, Closing
from satchel.kernel.linked import Followed
from satchel.stores.ports.ephemeral import Publish
from tests.edge.live.given import LiveEdge, eventually

if TYPE_CHECKING:
    from starlette.types import Scope

# A visitor hears of a message only what is whole.
FOLLOWED = Followed("thing", lambda message: message if message.startswith(b"{") else None)


class Everybody:
    """Lets everybody follow one thing."""

    async def admit(self, scope: "Scope") -> Listener:
        del scope
        return Listener("visitor", "ending", follows=FOLLOWED)


async def test_visitors_hear_what_is_for_them_until_it_ends(live: LiveEdge) -> None:
    async with live.serving(listeners=Everybody()) as server, server.dial() as visitor:
        await visitor.hears("hello")
        assert live.attendances.seen == [] and await live.presence.present(["visitor"]) == {"visitor": []}
        for message in (b"secret", b'{"type":"said"}'):
            await live.ephemeral.run(Publish("thing", message))
        await visitor.hears("said")
        await live.ephemeral.run(Publish("ending", b""))
        assert await visitor.closed_with() == Closing.SESSION_ENDED


async def test_visitors_of_one_network_have_a_bound_of_their_own(live: LiveEdge) -> None:
    bounds = Bounds(visitors_per_network=1)
    async with live.serving(bounds, listeners=Everybody()) as server:
        async with server.dial() as visitor:
            await visitor.hears("hello")
            assert (await server.refusal())["status"] == 429
        await eventually(lambda: server.open == 0)
        async with server.dial() as visitor:
            await visitor.hears("hello")


async def test_visitors_together_leave_room_for_others(live: LiveEdge) -> None:
    async with live.serving(Bounds(visitors=0), listeners=Everybody()) as server:
        assert (await server.refusal())["status"] == 429
    assert Bounds().visitors <= Bounds().sockets // 4
