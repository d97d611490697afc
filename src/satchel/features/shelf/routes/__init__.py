"""The shelf over HTTP, one file per subject; and the place where uploads to it arrive."""

from satchel.edge.api.endpoints import Router
from satchel.features.shelf.routes import binned, contents, entries
from satchel.features.shelf.routes.destination import ShelfDestination
from satchel.features.shelf.service.context import Shelf

__all__ = ["ShelfDestination", "routes"]


def routes(shelf: Shelf) -> list[Router]:
    return [entries.routes(shelf), binned.routes(shelf), contents.routes(shelf)]
