"""A member gives anybody a link to a file, a folder or a room of theirs, or asks for files by one.

A link can have a password, an end and a number of downloads, and can be paused, extended and revoked.

One request, `GET /open/{token}/content`: `routes/link_contents.py` lets in whoever shows a pass (`service/passes.py`).
`service/download_grants.py` takes a place in the link's limit before the first byte, and counts a download when every
byte went.
What links lead to are the `Things` that other slices declare.
"""

from collections.abc import Mapping

from satchel.declaration import Platform, RouteNeeds, Slice
from satchel.edge.api.endpoints import Router
from satchel.features.links.adapters import LinkSearch
from satchel.features.links.events import LIVE_EVENTS
from satchel.features.links.limits import LIMITS, LinkLimits
from satchel.features.links.needs import Figures, Inbox, Passwords, People, Visitors
from satchel.features.links.records import EPHEMERAL_KEYS, SHAPES
from satchel.features.links.routes import LinkDestination, routes
from satchel.features.links.routes.link_summary import summary_of_link
from satchel.features.links.service.context import Links
from satchel.features.links.service.download_endings import end_interrupted
from satchel.features.links.service.link_change import forget_revoked
from satchel.features.links.service.link_erase import LinkHoldings
from satchel.kernel.counted import Counted
from satchel.kernel.linked import ThingKind, ThingLinked, Things


def _make(
    platform: Platform,
    *,
    things: Mapping[ThingKind, Things],
    inboxes: Mapping[ThingKind, Inbox],
    people: People,
    passwords: Passwords,
    figures: Figures,
    visitors: Visitors,
) -> Links:
    return Links(
        tables=platform.stores.tables,
        objects=platform.stores.objects,
        ephemeral=platform.stores.ephemeral,
        clock=platform.clock,
        pictures=platform.pictures,
        signer=platform.signer,
        things=things,
        inboxes=inboxes,
        people=people,
        passwords=passwords,
        figures=figures,
        visitors=visitors,
        limits=LinkLimits(platform.stores.ephemeral, platform.signer, platform.clock),
        events=platform.events,
        outbox=platform.outbox,
    )


def _routes(links: Links, needs: RouteNeeds) -> list[Router]:
    return routes(links, needs.addresses, needs.live)


LINKS = Slice(
    name="links",
    make=_make,
    routes=_routes,
    records=SHAPES,
    ephemeral_keys=EPHEMERAL_KEYS,
    limits=LIMITS,
    live_events=LIVE_EVENTS,
    states=(Counted, ThingLinked),
    uploads={"link": LinkDestination},
    holdings=LinkHoldings,
    search=LinkSearch,
    summaries={"l": summary_of_link},
    ends=end_interrupted,
    chores={"revoked links": forget_revoked},
)
