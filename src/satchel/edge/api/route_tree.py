"""Find the endpoint of a path in one walk, whatever the number of endpoints.

Starlette tries one pattern after the other, and names in `Allow` only the methods of the first that fits.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING
from urllib.parse import unquote

from satchel.edge.http.problems import MethodNotAllowed
from satchel.edge.http.request_context import context_of
from satchel.kernel.errors import NotFound

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send


class _Place:
    """A node of the tree: its children, and the applications of a path that ends here."""

    __slots__ = ("apps", "headers", "named", "parameter", "template")

    def __init__(self) -> None:
        self.named: dict[str, _Place] = {}
        self.parameter: _Place | None = None
        self.template = ""
        self.headers: Sequence[tuple[bytes, bytes]] = ()
        # By method: what answers, and the names of the parameters on the way here.
        self.apps: dict[str, tuple[ASGIApp, tuple[str, ...]]] = {}

    def allowed(self) -> list[str]:
        methods = set(self.apps) - {"WEBSOCKET"}
        if "GET" in methods:
            methods.add("HEAD")
        return sorted(methods | {"OPTIONS"})


class Routes:
    """An ASGI application that hands each request to the application declared for its method and path."""

    def __init__(self, otherwise: "ASGIApp | None" = None) -> None:
        """`otherwise` answers GET and HEAD of every path without a route."""
        self._root = _Place()
        self._exact: dict[str, _Place] = {}
        self._otherwise = _Place()
        if otherwise is not None:
            self._otherwise.template = "/*"
            self._otherwise.apps["GET"] = (otherwise, ())

    def add(self, method: str, template: str, app: "ASGIApp", headers: Sequence[tuple[bytes, bytes]] = ()) -> None:
        """Declare what answers. `{name}` stands for one segment; fixed segments win over it.

        `headers` go with every answer at this address, whatever the method and however it ends.
        """
        place, names = self._root, list[str]()
        for segment in template.split("/")[1:]:
            if segment.startswith("{"):
                names.append(segment[1:-1])
                if place.parameter is None:
                    place.parameter = _Place()
                place = place.parameter
            else:
                place = place.named.setdefault(segment, _Place())
        if method in place.apps:
            raise ValueError(f"{method} {template} is declared twice")
        place.template = place.template or template
        place.apps[method] = (app, tuple(names))
        place.headers = headers or place.headers
        if not names:
            self._exact[template] = place

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        place = self._exact.get(scope["path"])
        values: Sequence[str] = ()
        if place is None:
            place, values = self._find(scope)
        context = context_of(scope)
        context.route, context.headers = place.template, place.headers
        method = scope["method"] if scope["type"] == "http" else "WEBSOCKET"
        found = place.apps.get(method) or (place.apps.get("GET") if method == "HEAD" else None)
        if found is None:
            await _not_offered(place, method, send)
            return
        app, names = found
        scope["path_params"] = dict(zip(names, values, strict=True))
        await app(scope, receive, send)

    def _find(self, scope: "Scope") -> tuple[_Place, list[str]]:
        segments = list(_segments(scope))
        values: list[str] = []
        place = _walk(self._root, segments, 0, values)
        if place is None:
            place = self._otherwise if scope.get("method") in ("GET", "HEAD") else None
        if place is None or not place.apps:
            raise NotFound("There is nothing at this address.")
        return place, values


def _walk(place: _Place, segments: list[str], index: int, values: list[str]) -> _Place | None:
    if index == len(segments):
        return place if place.apps else None
    segment = segments[index]
    following = place.named.get(segment)
    if following is not None and (found := _walk(following, segments, index + 1, values)) is not None:
        return found
    if place.parameter is None or not segment:
        return None
    values.append(segment)
    found = _walk(place.parameter, segments, index + 1, values)
    if found is None:
        values.pop()
    return found


def _segments(scope: "Scope") -> Iterable[str]:
    # The server has decoded `path` as a whole, so that %2F has become one more separator there.
    raw: bytes | None = scope.get("raw_path")
    if raw is None or b"%" not in raw:
        return scope["path"].split("/")[1:]
    try:
        return [unquote(part, errors="strict") for part in raw.decode("ascii").split("/")[1:]]
    except UnicodeDecodeError:
        raise NotFound("There is nothing at this address.") from None


async def _not_offered(place: _Place, method: str, send: "Send") -> None:
    if method != "OPTIONS":
        raise MethodNotAllowed(place.allowed())
    allow = ", ".join(place.allowed()).encode("ascii")
    await send({"type": "http.response.start", "status": 204, "headers": [(b"allow", allow)]})
    await send({"type": "http.response.body", "body": b""})
