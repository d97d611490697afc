"""Clicks and statistics over HTTP, one file per subject."""

from satchel.edge.api.endpoints import Router
from satchel.features.clicks.routes import badges, clicks, stats
from satchel.features.clicks.service.context import Clicks

__all__ = ["routes"]


def routes(counting: Clicks) -> list[Router]:
    return [clicks.routes(counting), stats.routes(counting), badges.routes(counting)]
