"""The typed layer: what a signature asks for is read, checked and handed over, or refused in a sentence."""

from collections.abc import AsyncGenerator
from datetime import date
from typing import Annotated, Any, NewType

import httpx
import msgspec
import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from satchel.edge.api.endpoints import Body, Cookie, PageQuery, Query, Reply, Router
from satchel.edge.http.callers import Admin, Caller, Guest, Member, Stranger
from satchel.edge.http.request_context import Client
from tests.edge.given import ADA, ANN, GUS, Edge, slug

ThingId = NewType("ThingId", str)


class Page(Body, frozen=True):
    number: int
    note: Annotated[str, msgspec.Meta(max_length=5)] = ""


class Thing(Body, frozen=True):
    name: str
    size: int = 0
    tags: list[str] = msgspec.field(default_factory=list[str])
    page: Page | None = None


class Kept(msgspec.Struct):
    id: str
    thing: Thing


class Search(Query, frozen=True):
    text: str
    limit: int = 10
    tag: list[str] = msgspec.field(default_factory=list[str])
    since: date | None = None
    colour: list[str] | None = None


@pytest.fixture
def things(edge: Edge) -> httpx.AsyncClient:
    router = edge.router()

    @router.post("/things", status=201)
    async def add_thing(body: Thing) -> Kept:
        """Keep a thing."""
        return Kept("t-1", body)

    @router.get("/things")
    async def search(query: Search) -> dict[str, Any]:
        return msgspec.to_builtins(query)

    @router.get("/pages")
    async def pages(query: PageQuery) -> dict[str, Any]:
        return msgspec.to_builtins(query)

    @router.get("/things/{thing}")
    async def show_thing(thing: ThingId) -> dict[str, str]:
        return {"thing": thing}

    @router.delete("/things/{thing}")
    async def drop_thing(thing: str) -> None: ...

    @router.get("/things/{thing}/pages/{number}")
    async def show_page(thing: str, number: int) -> dict[str, Any]:
        return {"thing": thing, "number": number}

    @router.get("/things/newest/pages/last")
    async def newest() -> list[int]:
        return [1]

    return edge.client()


async def test_a_body_is_read_by_its_type_and_the_answer_written_by_its_own(things: httpx.AsyncClient) -> None:
    answer = await things.post("/api/v1/things", json={"name": "a", "page": {"number": 3}})
    assert answer.status_code == 201
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["cache-control"] == "no-store"
    assert answer.json() == {
        "id": "t-1",
        "thing": {"name": "a", "size": 0, "tags": [], "page": {"number": 3, "note": ""}},
    }


@pytest.mark.parametrize(
    ("body", "status", "field", "words"),
    [
        (b'{"name": 5}', 422, "name", "expected `str`, got `int`"),
        (b"{}", 422, "name", "`name` is missing"),
        (b'{"name": "a", "nmae": 1}', 422, "nmae", "`nmae` is unknown"),
        (b'{"name": "a", "tags": ["x", 5]}', 422, "tags[1]", "expected `str`"),
        (b'{"name": "a", "page": {}}', 422, "page.number", "`page.number` is missing"),
        (b'{"name": "a", "page": {"number": 1, "z": 1}}', 422, "page.z", "unknown"),
        (b'{"name": "a", "page": {"number": 1, "note": "far too long"}}', 422, "page.note", "at most 5"),
        (b"[]", 422, None, "expected `object`, got `array`"),
        (b'{"name": "a"', 400, None, "not valid JSON"),
        (b"", 400, None, "not valid JSON"),
        (b'{"name": "\xff"}', 400, None, "not valid JSON"),
        (b'{"name": "\\ud800"}', 400, None, "not valid JSON"),
        (b'{"name": "a"} x', 400, None, "trailing"),
    ],
)
async def test_a_body_that_does_not_fit_is_refused_with_the_name_of_the_field(
    things: httpx.AsyncClient, body: bytes, status: int, field: str | None, words: str
) -> None:
    answer = await things.post("/api/v1/things", content=body, headers={"content-type": "application/json"})
    problem = answer.json()
    assert (answer.status_code, problem.get("field")) == (status, field)
    assert words in problem["detail"]
    assert problem["detail"].endswith(".")


async def test_nesting_without_end_is_refused(edge: Edge) -> None:
    class Anything(Body, frozen=True):
        value: Any

    router = edge.router()

    @router.post("/anything")
    async def anything(body: Anything) -> None: ...

    deep = b'{"value": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    answer = await edge.client().post("/api/v1/anything", content=deep, headers={"content-type": "application/json"})
    assert answer.status_code == 400
    assert "nested too deeply" in answer.json()["detail"]


@pytest.mark.parametrize("content_type", [None, "text/plain", "application/x-www-form-urlencoded", "application/jsonx"])
async def test_a_body_of_another_type_is_refused(things: httpx.AsyncClient, content_type: str | None) -> None:
    headers = {} if content_type is None else {"content-type": content_type}
    answer = await things.post("/api/v1/things", content=b'{"name": "a"}', headers=headers)
    assert answer.status_code == 415
    assert slug(answer.json()) == "wrong-media-type"


@pytest.mark.parametrize("content_type", ["application/json; charset=utf-8", "Application/JSON"])
async def test_other_ways_to_say_json_are_understood(things: httpx.AsyncClient, content_type: str) -> None:
    headers = {"content-type": content_type}
    answer = await things.post("/api/v1/things", content=b'{"name": "a"}', headers=headers)
    assert answer.status_code == 201


async def test_a_body_over_the_limit_is_refused_whether_or_not_it_says_its_length(edge: Edge) -> None:
    router = edge.router()

    @router.post("/small", max_body_bytes=100)
    async def small(body: Thing) -> None: ...

    async def pieces() -> AsyncGenerator[bytes]:
        while True:
            yield b" " * 10

    headers = {"content-type": "application/json"}
    client = edge.client()
    for content in (b" " * 101, pieces()):
        answer = await client.post("/api/v1/small", content=content, headers=headers)
        assert answer.status_code == 413
        assert answer.json()["limit_bytes"] == 100
    fits = await client.post("/api/v1/small", content=b'{"name": "a"}'.ljust(100), headers=headers)
    assert fits.status_code == 204


async def test_a_query_is_read_by_its_type(things: httpx.AsyncClient) -> None:
    answer = await things.get("/api/v1/things?text=a%20b&limit=3&tag=x&tag=y&since=2026-01-02&colour=red")
    found = {"text": "a b", "limit": 3, "tag": ["x", "y"], "since": "2026-01-02", "colour": ["red"]}
    assert answer.json() == found


@pytest.mark.parametrize(
    ("query", "status", "field"),
    [
        ("", 422, "text"),
        ("text=a&limit=many", 422, "limit"),
        ("text=a&txet=b", 422, "txet"),
        ("text=a&text=b", 422, "text"),
        ("text=a&since=yesterday", 422, "since"),
        ("text=%ff", 400, None),
        ("&".join(["tag=a"] * 501), 400, None),
    ],
)
async def test_a_query_that_does_not_fit_is_refused_with_the_name_of_the_parameter(
    things: httpx.AsyncClient, query: str, status: int, field: str | None
) -> None:
    answer = await things.get(f"/api/v1/things?{query}")
    assert (answer.status_code, answer.json().get("field")) == (status, field)


async def test_pages_have_bounds(things: httpx.AsyncClient) -> None:
    assert (await things.get("/api/v1/pages")).json() == {"limit": 100, "cursor": None}
    assert (await things.get("/api/v1/pages?limit=0")).status_code == 422
    assert (await things.get("/api/v1/pages?limit=1001")).status_code == 422


async def test_path_values_are_handed_over_decoded_one_segment_each(things: httpx.AsyncClient) -> None:
    assert (await things.get("/api/v1/things/a%2Fb%20%C3%A9")).json() == {"thing": "a/b é"}
    answer = await things.get("/api/v1/things/x/pages/12")
    assert answer.json() == {"thing": "x", "number": 12}


@pytest.mark.parametrize("path", ["/api/v1/things/x/pages/last", "/api/v1/things/", "/api/v1/things/%ff", "/nothing"])
async def test_a_path_that_fits_nothing_is_not_found(things: httpx.AsyncClient, path: str) -> None:
    answer = await things.get(path)
    assert answer.status_code == 404
    assert slug(answer.json()) == "not-found"


async def test_a_fixed_segment_wins_over_a_named_one_but_does_not_hide_what_lies_behind_it(
    things: httpx.AsyncClient,
) -> None:
    assert (await things.get("/api/v1/things/newest/pages/last")).json() == [1]
    assert (await things.get("/api/v1/things/newest/pages/2")).json() == {"thing": "newest", "number": 2}


async def test_a_way_that_leads_nowhere_leaves_nothing_behind_for_the_next(edge: Edge) -> None:
    router = edge.router()

    @router.get("/a/{x}/b")
    async def first(x: str) -> list[str]:
        return [x]

    @router.get("/{p}/{q}/c")
    async def second(p: str, q: str) -> list[str]:
        return [p, q]

    assert (await edge.client().get("/api/v1/a/1/c")).json() == ["a", "1"]


async def test_nothing_to_say_is_204_without_a_body(things: httpx.AsyncClient) -> None:
    answer = await things.delete("/api/v1/things/a")
    assert (answer.status_code, answer.content) == (204, b"")
    assert "content-type" not in answer.headers


async def test_a_method_that_is_not_offered_is_answered_with_those_that_are(things: httpx.AsyncClient) -> None:
    answer = await things.put("/api/v1/things/a", json={})
    assert answer.status_code == 405
    assert answer.headers["allow"] == "DELETE, GET, HEAD, OPTIONS"
    assert slug(answer.json()) == "method-not-allowed"


async def test_options_names_the_methods(things: httpx.AsyncClient) -> None:
    answer = await things.options("/api/v1/things")
    assert (answer.status_code, answer.headers["allow"]) == (204, "GET, HEAD, OPTIONS, POST")


async def test_a_reply_carries_status_headers_and_cookies(edge: Edge) -> None:
    router = edge.router()

    @router.post("/sign-in")
    async def sign_in(client: Client) -> Reply[list[int]]:
        cookies = (
            Cookie(name="a", value="1", max_age=60, secure=client.https, same_site="strict"),
            Cookie(name="b", value="", max_age=0, secure=client.https, path="/api"),
        )
        return Reply([1], status=202, headers={"Cache-Control": "max-age=5", "X-More": "é"}, cookies=cookies)

    answer = await edge.client(https=True).post("/api/v1/sign-in")
    assert (answer.status_code, answer.json()) == (202, [1])
    assert answer.headers["cache-control"] == "max-age=5"
    assert answer.headers.get_list("set-cookie") == [
        "__Host-a=1; Max-Age=60; Path=/; HttpOnly; SameSite=Strict; Secure",
        "__Secure-b=; Max-Age=0; Path=/api; HttpOnly; SameSite=Lax; Secure",
    ]


async def test_a_raw_answer_passes_through_and_the_raw_request_is_there_for_the_asking(edge: Edge) -> None:
    router = edge.router()

    @router.get("/raw")
    async def raw(request: Request) -> Response:
        return PlainTextResponse(request.url.path, headers={"x-own": "yes"})

    answer = await edge.client().get("/api/v1/raw")
    assert (answer.text, answer.headers["x-own"]) == ("/api/v1/raw", "yes")


async def test_the_client_is_described(edge: Edge) -> None:
    router = edge.router()

    @router.get("/me")
    async def me(client: Client) -> Client:
        return client

    shown = await edge.client(peer="2001:db8::1").get("/api/v1/me", headers={"user-agent": "x" * 900})
    assert shown.json() == {"address": "2001:db8::1", "user_agent": "x" * 400, "https": False, "is_here": False}


@pytest.fixture
def doors(edge: Edge) -> Edge:
    router = edge.router()

    @router.get("/anybody")
    async def anybody(caller: Caller) -> str:
        return type(caller).__name__

    @router.get("/guests")
    async def guests(caller: Guest | Member) -> str:
        return type(caller).__name__

    @router.get("/members")
    async def members(member: Member) -> str:
        return member.email

    @router.get("/admins")
    async def admins(admin: Admin) -> str:
        return admin.email

    @router.get("/strangers")
    async def strangers(caller: Stranger | Guest) -> str:
        return type(caller).__name__

    return edge


@pytest.mark.parametrize(
    ("door", "stranger", "guest", "member", "admin"),
    [
        ("anybody", 200, 200, 200, 200),
        ("guests", 401, 200, 200, 200),
        ("members", 401, 401, 200, 200),
        ("admins", 401, 401, 403, 200),
        ("strangers", 200, 200, 403, 403),
    ],
)
async def test_each_kind_of_caller_passes_only_the_doors_that_name_it(
    doors: Edge, door: str, stranger: int, guest: int, member: int, admin: int
) -> None:
    client = doors.client()
    statuses = [(await client.get(f"/api/v1/{door}")).status_code]
    for who in (GUS, ANN, ADA):
        statuses.append((await client.get(f"/api/v1/{door}", headers=doors.bearer(who))).status_code)
    assert statuses == [stranger, guest, member, admin]


async def test_a_stranger_is_turned_away_before_what_they_sent_is_looked_at(edge: Edge) -> None:
    router = edge.router()

    @router.post("/secret/{number}")
    async def secret(member: Member, number: str, query: Search, body: Thing) -> None: ...

    answer = await edge.client().post("/api/v1/secret/1?nonsense=1", content=b"nonsense")
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == 'Bearer realm="satchel"'


def test_a_signature_that_cannot_be_served_is_refused_when_it_is_declared() -> None:
    router = Router("things")

    class Lax(msgspec.Struct):
        name: str

    async def strange(colour: dict[str, int]) -> None: ...
    async def forgetful() -> None: ...
    async def lax(body: Lax) -> None: ...
    async def plain(query: int) -> None: ...
    async def silent():  # pyright: ignore[reportUnknownParameterType]
        ...

    for handler, path, words in (
        (strange, "/", "nothing here can fill the parameter 'colour'"),
        (forgetful, "/{id}", "the path names"),
        (lax, "/", "derive Lax from Body or Query"),
        (plain, "/", "have to be msgspec Structs"),
        (silent, "/", "the return type"),
    ):
        with pytest.raises(TypeError, match=words):
            router.get(path)(handler)  # pyright: ignore[reportUnknownArgumentType]


def test_the_same_address_cannot_be_declared_twice(edge: Edge) -> None:
    router = edge.router()

    async def one(a: str) -> None: ...
    async def two(b: str) -> None: ...

    router.get("/{a}")(one)
    router.get("/{b}")(two)
    with pytest.raises(ValueError, match="declared twice"):
        edge.app()


async def test_head_and_options_can_be_declared_and_a_router_can_mark_every_answer(edge: Edge) -> None:
    router = Router("marked", headers={"Mark": "yes"})
    edge.routers.append(router)

    @router.head("/marked", status=200)
    async def look() -> Reply[None]:
        return Reply(None, headers={"found": "1"})

    @router.options("/marked")
    async def describe() -> Reply[None]:
        return Reply(None, headers={"offers": "much"})

    @router.get("/marked")
    async def read(member: Member) -> list[str]:
        return ["never"]

    client = edge.client()
    looked, described = await client.head("/api/v1/marked"), await client.options("/api/v1/marked")
    assert (looked.status_code, looked.headers["found"]) == (200, "1")
    assert (described.status_code, described.headers["offers"]) == (204, "much")
    refused, strange = await client.get("/api/v1/marked"), await client.put("/api/v1/marked")
    assert (refused.status_code, strange.status_code) == (401, 405)
    assert [each.headers["mark"] for each in (looked, described, refused, strange)] == ["yes"] * 4
    assert "mark" not in (await client.get("/healthz")).headers
