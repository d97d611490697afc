"""Put the edge together: routers in, one ASGI application out."""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from satchel.edge.api.disk_reserve import DiskReserve
from satchel.edge.api.dispatch import Endpoint
from satchel.edge.api.endpoints import PREFIX, Operation, Router
from satchel.edge.api.health import Checks, alive, numbers, ready
from satchel.edge.api.identity import Identity
from satchel.edge.api.prepared_answer import Prepared
from satchel.edge.api.route_tree import Routes
from satchel.edge.api.turns import Turns
from satchel.edge.http.https_only import HttpsOnly
from satchel.edge.http.logs import Journal
from satchel.edge.http.metrics import Metrics
from satchel.edge.http.middleware import Exposure, Middleware
from satchel.edge.http.problems import kinds_of_problem
from satchel.edge.http.proxies import Networks
from satchel.edge.tls.trust_page import OPEN_PATHS

if TYPE_CHECKING:
    from starlette.types import ASGIApp


def application(
    routers: Sequence[Router],
    *,
    identity: Identity,
    checks: Checks,
    exposure: Exposure,
    journal: Journal,
    metrics: Metrics,
    version: str,
    site: "ASGIApp | None" = None,
    live: "ASGIApp | None" = None,
    disk: DiskReserve | None = None,
) -> "ASGIApp":
    """The whole server as one ASGI application.

    `checks` are what `/readyz` asks. Operations below `/api/v1` are what the reference documents. `site` draws
    whatever nobody else answers; `live` is the websocket. `disk` is what the stores write to, if it is a disk of ours.
    """
    operations = [operation for router in routers for operation in router.operations]
    documented = [operation for operation in operations if operation.path.startswith(PREFIX)]
    routes = Routes(otherwise=site)
    turns = Turns()
    routes.add("GET", "/healthz", alive)
    routes.add("GET", "/readyz", ready(checks))
    routes.add("GET", "/metrics", numbers(metrics, Networks(exposure.metrics_from)))
    for operation in (*operations, *_own_pages(documented, version).operations):
        routes.add(operation.method, operation.path, Endpoint(operation, identity, disk, turns), operation.headers)
    for path, app in (each for router in routers for each in router.websockets.items()):
        routes.add("WEBSOCKET", path, app)
    if live is not None:
        routes.add("WEBSOCKET", f"{PREFIX}/live", live)
    app = HttpsOnly(routes, OPEN_PATHS) if exposure.speaks_tls else routes
    open_paths = [operation.path for operation in operations if operation.open_to_sites]
    return Middleware(app, exposure=exposure, journal=journal, metrics=metrics.requests, open_paths=open_paths)


def _own_pages(documented: Sequence[Operation], version: str) -> Router:
    """The pages about the server itself; what they are made with is imported when somebody looks at them."""
    router = Router("pages", prefix="")

    @cache
    def document() -> dict[str, object]:
        from satchel.edge.api.openapi import openapi

        return openapi(documented, version=version)

    @router.get("/problems")
    async def problems() -> Response:
        from satchel.edge.api import pages

        return pages.problems_page(kinds_of_problem())

    @router.get("/assets/{name}")
    async def style(name: str) -> Response:
        from satchel.edge.api import pages

        return pages.asset(name)

    # Made once: they are large, and strangers may ask for them as often as they like.
    @cache
    def openapi_bytes() -> Prepared:
        body = msgspec.json.format(msgspec.json.encode(document()))
        return Prepared(Response(body, media_type="application/json", headers={"cache-control": "no-cache"}))

    @cache
    def reference_bytes() -> Prepared:
        from satchel.edge.api.reference import reference_page

        return Prepared(reference_page(document()))

    @router.get(f"{PREFIX}/openapi.json")
    async def openapi_document(request: Request) -> Response:
        return openapi_bytes().answer(request)

    @router.get(f"{PREFIX}/docs")
    async def reference(request: Request) -> Response:
        return reference_bytes().answer(request)

    return router
