"""Clicks and statistics over HTTP, one file per subject."""

from satchel.edge.api.addresses import Addresses
from satchel.edge.api.endpoints import Router
from satchel.features.clicks.routes import badges, clicks, counter_script, counters, stats
from satchel.features.clicks.service.context import Clicks

__all__ = ["routes"]


def routes(counting: Clicks, addresses: Addresses) -> list[Router]:
    return [
        clicks.routes(counting),
        clicks.seed_route(counting),
        stats.routes(counting),
        badges.routes(counting),
        counters.routes(counting, addresses),
        counters.open_routes(counting),
        counter_script.routes(),
    ]
