"""Typed endpoints: the signature of a handler declares how its request is read, checked and documented.

    router = Router("rooms")

    @router.post("/rooms/{code}/guests", status=201, raises=(RoomFull,))
    async def join(code: str, body: Join, guest: Guest | Member, client: Client) -> Reply[Joined]:
        \"""Join a room.\"""

Parameters are filled by name and annotation: names in the path from the path, `body` and `query` from the
request, `Stranger`, `Guest`, `Member`, `Admin` and unions of them from the caller's token, `Client` and
`Request` as they are.
"""

import inspect
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import CodeType, FunctionType, NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Generic,
    Literal,
    TypedDict,
    TypeVar,
    Union,
    Unpack,
    cast,
    get_args,
    get_origin,
)

import msgspec
from starlette.requests import Request
from starlette.types import ASGIApp

from satchel.edge.http.callers import KINDS
from satchel.edge.http.request_context import Client
from satchel.kernel.errors import SatchelError

PREFIX = "/api/v1"
MAX_JSON_BYTES = 1024 * 1024

T = TypeVar("T")
Handler = Callable[..., Awaitable[Any]]
H = TypeVar("H", bound=Handler)
Method = Literal["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"]
SameSite = Literal["strict", "lax"]

_NAME_IN_PATH = re.compile(r"\{(\w+)\}")


class Body(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """The base of JSON bodies. An unknown field is refused, so that a typing error is never silent."""


class Query(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """The base of queries. An unknown parameter is refused."""


class PageQuery(Query, frozen=True, kw_only=True):
    """Which part of a long list is wanted. The `cursor` comes from the previous answer."""

    limit: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 100
    cursor: Annotated[str, msgspec.Meta(max_length=4096)] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cookie:
    """A cookie that scripts cannot read. `max_age` 0 makes browsers forget it; `secure` is `Client.https`.

    Over https its name has a prefix, with which browsers accept it from this host alone, and over https alone.
    """

    name: str
    value: str
    max_age: int
    secure: bool
    path: str = "/"
    same_site: SameSite = "lax"

    def encoded(self) -> bytes:
        secure = "; Secure" if self.secure else ""
        name = cookie_name(self.name, self.path) if self.secure else self.name
        return (
            f"{name}={self.value}; Max-Age={self.max_age}; Path={self.path}; "
            f"HttpOnly; SameSite={self.same_site.capitalize()}{secure}"
        ).encode("ascii")


def cookie_name(name: str, path: str = "/") -> str:
    """The name of a cookie over https."""
    return f"__Host-{name}" if path == "/" else f"__Secure-{name}"


def read_cookie(request: Request, name: str, path: str = "/") -> str | None:
    """The value of a cookie. One without the prefix is from before this server was reached over https, or older."""
    return request.cookies.get(cookie_name(name, path)) or request.cookies.get(name)


@dataclass(frozen=True, slots=True)
class Reply(Generic[T]):
    """An answer with a status, headers or cookies besides its body."""

    body: T
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    cookies: Sequence[Cookie] = ()


@dataclass(slots=True)
class Needs:
    """What a handler needs, by its signature, and what it answers with."""

    path: dict[str, Any] = field(default_factory=dict[str, Any])
    # A Struct, or one or a list of them.
    body: Any = None
    query: type[msgspec.Struct] | None = None
    caller: str | None = None
    accepts: tuple[type, ...] = ()
    client: str | None = None
    request: str | None = None
    returns: Any = NoneType


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """An endpoint as its handler's signature declares it."""

    method: Method
    path: str
    tag: str
    handler: Handler
    status: int
    also: tuple[int, ...]
    raises: tuple[type[SatchelError], ...]
    max_body_bytes: int
    when_full: bool
    whole_list: bool
    consumes: str | None
    produces: str | None
    sends: Mapping[str, str]
    answers: Mapping[str, str]
    headers: Sequence[tuple[bytes, bytes]]
    open_to_sites: bool
    needs: Needs

    @property
    def name(self) -> str:
        return self.handler.__name__

    @property
    def summary(self) -> str:
        return (inspect.getdoc(self.handler) or self.name.replace("_", " ").capitalize()).split("\n", 1)[0]

    @property
    def description(self) -> str:
        return (inspect.getdoc(self.handler) or "").partition("\n")[2].strip()


class Options(TypedDict, total=False):
    """What a signature cannot declare: the status of success, the slice's own errors, the limit of a JSON body.

    `also` names other statuses of success, which a `Reply` has with the same type of body.
    `when_full` lets it write when the disk is nearly full, as deleting may without being told.
    `whole_list` says that it answers a long list without pages, for which people take turns.
    `open_to_sites` lets pages of other sites call it, as strangers whatever they send.
    `consumes` and `produces` name the types of raw bodies, several split by ", "; `sends` and `answers` the headers
    that a request and the answer to it carry, each with a few words, for the reference alone.
    """

    status: int
    also: Sequence[int]
    raises: Sequence[type[SatchelError]]
    max_body_bytes: int
    when_full: bool
    whole_list: bool
    consumes: str
    produces: str
    sends: Mapping[str, str]
    answers: Mapping[str, str]
    open_to_sites: bool


class Router:
    """The endpoints of a slice in the order of their declaration; `tag` heads them in the reference.

    `headers` go with every answer at their addresses, refusals included.
    """

    def __init__(self, tag: str, *, prefix: str = PREFIX, headers: Mapping[str, str] | None = None) -> None:
        self.tag = tag
        self.prefix = prefix
        self.headers = [(name.lower().encode(), value.encode()) for name, value in (headers or {}).items()]
        self.operations: list[Operation] = []
        self.websockets: dict[str, ASGIApp] = {}

    def websocket(self, path: str, app: ASGIApp) -> None:
        """Declare the application of a websocket at this path. It admits its callers itself."""
        self.websockets[self.prefix + path] = app

    def get(self, path: str, **options: Unpack[Options]) -> Callable[[H], H]:
        return self.route("GET", path, **options)

    def head(self, path: str, **options: Unpack[Options]) -> Callable[[H], H]:
        return self.route("HEAD", path, **options)

    def options(self, path: str, **options: Unpack[Options]) -> Callable[[H], H]:
        return self.route("OPTIONS", path, **options)

    def post(self, path: str, **options: Unpack[Options]) -> Callable[[H], H]:
        return self.route("POST", path, **options)

    def put(self, path: str, **options: Unpack[Options]) -> Callable[[H], H]:
        return self.route("PUT", path, **options)

    def patch(self, path: str, **options: Unpack[Options]) -> Callable[[H], H]:
        return self.route("PATCH", path, **options)

    def delete(self, path: str, **options: Unpack[Options]) -> Callable[[H], H]:
        return self.route("DELETE", path, **options)

    def route(self, method: Method, path: str, **options: Unpack[Options]) -> Callable[[H], H]:
        def declare(handler: H) -> H:
            needs = _needs_of(handler, path)
            self.operations.append(
                Operation(
                    method=method,
                    path=self.prefix + path,
                    tag=self.tag,
                    handler=handler,
                    status=options.get("status", 204 if needs.returns is NoneType else 200),
                    also=tuple(options.get("also", ())),
                    raises=tuple(options.get("raises", ())),
                    max_body_bytes=options.get("max_body_bytes", MAX_JSON_BYTES),
                    when_full=options.get("when_full", False),
                    whole_list=options.get("whole_list", False),
                    consumes=options.get("consumes"),
                    produces=options.get("produces"),
                    sends=options.get("sends", {}),
                    answers=options.get("answers", {}),
                    headers=self.headers,
                    open_to_sites=options.get("open_to_sites", False),
                    needs=needs,
                )
            )
            return handler

        return declare


# By the code of a handler, which all its closures share: applications that start in one process read it once.
_needs: dict[tuple[CodeType, str], Needs] = {}


def _needs_of(handler: Handler, path: str) -> Needs:
    known = (cast(FunctionType, handler).__code__, path)
    if known not in _needs:
        _needs[known] = _read_needs(handler, _NAME_IN_PATH.findall(path))
    return _needs[known]


def _read_needs(handler: Handler, names_in_path: list[str]) -> Needs:
    """Sort the parameters of a handler by what fills them."""
    signature = inspect.signature(handler, eval_str=True)
    needs = Needs(returns=_answer_of(handler, signature.return_annotation))
    for name, parameter in signature.parameters.items():
        wanted: Any = parameter.annotation
        if name in names_in_path:
            needs.path[name] = wanted
        elif name == "body":
            for one in _members_of(wanted):
                _strict(handler, get_args(one)[0] if get_origin(one) is list else one)
            needs.body = wanted
        elif name == "query":
            needs.query = _strict(handler, wanted)
        elif wanted is Client:
            needs.client = name
        elif wanted is Request:
            needs.request = name
        elif set(kinds := _members_of(wanted)) <= set(KINDS):
            needs.caller, needs.accepts = name, kinds
        else:
            raise TypeError(f"{handler.__qualname__}: nothing here can fill the parameter {name!r}")
    if missing := set(names_in_path) - set(needs.path):
        raise TypeError(f"{handler.__qualname__}: the path names {sorted(missing)}, the signature does not")
    return needs


def _answer_of(handler: Handler, annotation: Any) -> Any:
    if annotation is inspect.Signature.empty:
        raise TypeError(f"{handler.__qualname__}: the return type is what documents the answer")
    if get_origin(annotation) is Reply:
        (annotation,) = get_args(annotation)
    return NoneType if annotation is None else annotation


def _strict(handler: Handler, wanted: Any) -> type[msgspec.Struct]:
    if not (isinstance(wanted, type) and issubclass(wanted, msgspec.Struct)):
        raise TypeError(f"{handler.__qualname__}: body and query have to be msgspec Structs")
    if not wanted.__struct_config__.forbid_unknown_fields:
        raise TypeError(f"{handler.__qualname__}: derive {wanted.__name__} from Body or Query")
    return wanted


def _members_of(annotation: Any) -> tuple[type, ...]:
    if get_origin(annotation) in (Union, UnionType):
        return cast("tuple[type, ...]", get_args(annotation))
    return (annotation,)
