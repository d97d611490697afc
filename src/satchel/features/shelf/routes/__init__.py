"""The shelf over HTTP, one file per subject; and the place where uploads to it arrive."""

from satchel.edge.api.endpoints import Router
from satchel.features.shelf.routes import entries, file_versions, selections, shelf_bin, shelf_contents
from satchel.features.shelf.routes.shelf_uploads import ShelfDestination
from satchel.features.shelf.service.context import Shelf

__all__ = ["ShelfDestination", "routes"]


def routes(shelf: Shelf) -> list[Router]:
    return [each.routes(shelf) for each in (entries, shelf_bin, shelf_contents, file_versions, selections)]
