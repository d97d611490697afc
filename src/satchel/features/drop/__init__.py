"""People hand files over in a session that they reach by a link or a spoken code, without an account.

What they say and send is sealed before it comes here. The bytes pass through without being kept.

One request, `POST /drop/sessions/{session_id}/requests`: `routes/drop_requests.py` recognises the member by their token
(`service/member_token.py`). `service/drop_requests.py` writes the request down and tells every member. When its owner
acknowledges it, bytes flow from one to the other through `relay/`.
"""

from dataclasses import dataclass

from satchel.declaration import Platform, RouteNeeds, Slice
from satchel.edge.api.endpoints import Router
from satchel.features.drop import events
from satchel.features.drop.limits import LIMITS, DropLimits
from satchel.features.drop.records import EPHEMERAL_KEYS
from satchel.features.drop.relay.relay import Relay
from satchel.features.drop.routes import routes
from satchel.features.drop.service.context import Drop
from satchel.features.drop.service.drop_presence import DropAttendance
from satchel.kernel.ids import new_id


@dataclass(frozen=True, slots=True)
class RelayedDrop:
    """Sessions, and the relay through which their bytes go."""

    drop: Drop
    relay: Relay


def _make(platform: Platform) -> RelayedDrop:
    ephemeral, clock = platform.stores.ephemeral, platform.clock
    drop = Drop(
        ephemeral=ephemeral,
        clock=clock,
        attending=platform.presence,
        limits=DropLimits(ephemeral),
        daily_limit_bytes=platform.settings.drop_daily_limit or None,
    )
    # Only with a store that others can reach can the other side of a stream be at another server.
    shared = not platform.settings.ephemeral.startswith("memory:")
    return RelayedDrop(drop, Relay(ephemeral, clock, server_id=new_id(clock), shared=shared))


def _routes(opened: RelayedDrop, needs: RouteNeeds) -> list[Router]:
    return routes(opened.drop, opened.relay, needs.live, needs.addresses)


DROP = Slice(
    name="drop",
    make=_make,
    routes=_routes,
    ephemeral_keys=EPHEMERAL_KEYS,
    limits=LIMITS,
    live_events=events.LIVE_EVENTS,
    attendance=lambda opened: DropAttendance(opened.drop),
    stop=lambda opened: opened.relay.stop(),
    metrics=lambda opened: opened.relay,
)
