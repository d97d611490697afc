"""The API as a document and as pages: complete, valid, the same every time, and readable without a script."""

import re
from html.parser import HTMLParser
from typing import Annotated, Any

import httpx
import msgspec
import pytest
from starlette.requests import Request
from starlette.responses import Response

from satchel.edge.api.endpoints import Body, PageQuery, Query, Reply
from satchel.edge.http.callers import Admin, Caller, Guest, Member
from satchel.kernel.errors import Conflict
from tests.edge.given import Edge


class RoomTaken(Conflict):
    """The code is in use; choose another."""

    slug = "room-taken"
    title = "The code is taken"


class Open(Body, frozen=True):
    """What a new room is made of."""

    code: Annotated[str, msgspec.Meta(min_length=5, max_length=5, description="Five `letters`.")]
    note: str | None = None


class Room(msgspec.Struct):
    id: str
    guests: list[str]


class Since(Query, frozen=True):
    since: int


@pytest.fixture
def documented(edge: Edge) -> Edge:
    router = edge.router()

    @router.post("/rooms", status=201, also=(202,), raises=(RoomTaken,))
    async def open_room(member: Member, body: Open) -> Reply[Room]:
        """Open a room.

        Whoever knows its `code` can come in <b>.
        """
        raise NotImplementedError

    @router.get("/rooms")
    async def list_rooms(caller: Caller, query: PageQuery) -> list[Room]: ...

    @router.get("/rooms/{room}")
    async def show_room(room: int, guest: Guest | Member, query: Since) -> Room: ...

    @router.delete("/rooms/{room}")
    async def close_room(room: str, admin: Admin) -> None: ...

    @router.put("/rooms/{room}/picture", consumes="image/png", produces="image/webp")
    async def set_picture(room: str, request: Request) -> Response: ...

    edge.router(prefix="").get("/hidden")(hidden)
    return edge


async def hidden() -> None: ...


async def document_of(edge: Edge) -> dict[str, Any]:
    return (await edge.client().get("/api/v1/openapi.json")).json()


async def test_every_operation_is_described_from_its_signature(documented: Edge) -> None:
    document = await document_of(documented)
    assert document["openapi"] == "3.1.0"
    assert document["info"]["version"] == "1.2.3"
    assert list(document["paths"]) == ["/api/v1/rooms", "/api/v1/rooms/{room}", "/api/v1/rooms/{room}/picture"]
    opening = document["paths"]["/api/v1/rooms"]["post"]
    assert opening["operationId"] == "open_room"
    assert opening["summary"] == "Open a room."
    assert opening["description"] == "Whoever knows its `code` can come in <b>."
    assert opening["tags"] == ["things"]
    assert opening["requestBody"]["content"]["application/json"]["schema"] == {"$ref": "#/components/schemas/Open"}
    assert opening["responses"]["201"]["content"]["application/json"]["schema"] == {"$ref": "#/components/schemas/Room"}
    assert opening["responses"]["202"] == {**opening["responses"]["201"], "description": "Accepted"}
    assert opening["security"] == [{"bearer": []}, {"session": []}]
    assert document["components"]["schemas"]["Open"]["additionalProperties"] is False


async def test_parameters_come_from_path_and_query(documented: Edge) -> None:
    paths = (await document_of(documented))["paths"]
    assert paths["/api/v1/rooms/{room}"]["get"]["parameters"] == [
        {"name": "room", "in": "path", "required": True, "schema": {"type": "integer"}},
        {"name": "since", "in": "query", "required": True, "schema": {"type": "integer"}},
    ]
    limit = paths["/api/v1/rooms"]["get"]["parameters"][0]
    assert limit["schema"] == {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100}
    assert limit["required"] is False


async def test_problems_are_listed_by_what_can_happen(documented: Edge) -> None:
    paths = (await document_of(documented))["paths"]
    answers = paths["/api/v1/rooms"]["post"]["responses"]
    assert {status: answer["description"] for status, answer in answers.items()} == {
        "201": "Created",
        "202": "Accepted",
        "400": "`malformed`",
        "401": "`unauthenticated`",
        "409": "`room-taken`",
        "413": "`too-large`",
        "415": "`wrong-media-type`",
        "422": "`invalid`, `email-unfit`, `text-unfit`, `time-unfit`, `combination-unfit`, `choice-unfit`",
        "default": "Any other problem",
    }
    assert list(paths["/api/v1/rooms/{room}"]["delete"]["responses"]) == ["204", "401", "403", "404", "default"]
    assert paths["/api/v1/rooms"]["get"]["security"] == [{}, {"bearer": []}, {"session": []}, {"guest": []}]


async def test_raw_bodies_are_described_by_their_types(documented: Edge) -> None:
    picture = (await document_of(documented))["paths"]["/api/v1/rooms/{room}/picture"]["put"]
    assert list(picture["requestBody"]["content"]) == ["image/png"]
    assert list(picture["responses"]["200"]["content"]) == ["image/webp"]


async def test_the_document_is_valid_and_the_same_every_time(documented: Edge) -> None:
    from openapi_spec_validator import validate

    first = await documented.client().get("/api/v1/openapi.json")
    again = await documented.client().get("/api/v1/openapi.json")
    assert first.content == again.content
    validate(first.json())


@pytest.mark.parametrize("address", ["/api/v1/openapi.json", "/api/v1/docs"])
async def test_whoever_has_the_document_is_not_sent_it_again(documented: Edge, address: str) -> None:
    first = await documented.client().get(address)
    known = {"if-none-match": f'"another", W/{first.headers["etag"]}'}
    again = await documented.client().get(address, headers=known)
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", first.headers["etag"])
    other = await documented.client().get(address, headers={"if-none-match": '"another"'})
    assert (other.status_code, other.content) == (200, first.content)


class Links(HTMLParser):
    """What a page refers to, and what is in it."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: list[str] = []
        self.tags: list[str] = []
        self.unclosed: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in ("meta", "link", "wbr"):
            self.unclosed.append(tag)
        for name, value in attrs:
            assert not name.startswith("on")
            assert name != "style"
            if name in ("href", "src") and value:
                self.links.append(value)
            if name == "id" and value:
                self.ids.append(value)

    def handle_endtag(self, tag: str) -> None:
        assert self.unclosed.pop() == tag


PAGES = ["/problems", "/api/v1/docs"]


async def read(client: httpx.AsyncClient, path: str) -> Links:
    answer = await client.get(path)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "style-src 'self'" in answer.headers["content-security-policy"]
    assert "script" not in answer.headers["content-security-policy"]
    links = Links()
    links.feed(answer.text)
    assert links.unclosed == []
    return links


@pytest.mark.slow
@pytest.mark.parametrize("path", PAGES)
async def test_a_page_needs_no_script_and_every_link_leads_somewhere(documented: Edge, path: str) -> None:
    client = documented.client()
    found = await read(client, path)
    assert not {"script", "style", "img", "iframe"} & set(found.tags)
    assert len(found.ids) == len(set(found.ids))
    assert found.links
    for link in found.links:
        if link == "/":
            continue  # the web app, which this edge has not been given
        place, _, fragment = link.partition("#")
        answer = await client.get(place or path)
        assert answer.status_code == 200, link
        if fragment:
            assert fragment in (await read(client, place or path)).ids, link


async def test_the_reference_shows_operations_and_escapes_what_they_say(documented: Edge) -> None:
    text = (await documented.client().get("/api/v1/docs")).text
    assert "Open a room" in text
    assert "<code>code</code> can come in &lt;b&gt;." in text
    assert "default <code>100</code>" in text
    assert "/problems#room-taken" in text
    assert "image/webp" in text


async def test_the_problems_page_has_a_place_for_every_kind(documented: Edge) -> None:
    found = await read(documented.client(), "/problems")
    assert {"internal", "invalid", "room-taken", "token-expired", "cross-origin"} <= set(found.ids)


async def test_the_stylesheet_can_be_kept_for_good_and_knows_light_dark_and_small(documented: Edge) -> None:
    client = documented.client()
    [href] = re.findall(r'rel="stylesheet" href="([^"]+)"', (await client.get("/problems")).text)
    answer = await client.get(href)
    assert answer.headers["content-type"].startswith("text/css")
    assert "immutable" in answer.headers["cache-control"]
    assert "prefers-color-scheme: dark" in answer.text
    assert (await client.get("/assets/other.css")).status_code == 404


@pytest.mark.parametrize("path", ["/api/v1/openapi.json", "/api/v1/docs"])
@pytest.mark.parametrize("encoding", ["identity", "gzip"])
async def test_strangers_who_ask_again_get_nothing_new_and_nothing_large(edge: Edge, path: str, encoding: str) -> None:
    async with edge.client() as client:
        first = await client.get(path, headers={"accept-encoding": encoding})
        again = await client.get(path, headers={"accept-encoding": encoding, "if-none-match": first.headers["etag"]})
    assert (first.status_code, again.status_code, again.content) == (200, 304, b"")
    assert first.headers.get("content-encoding", "identity") == encoding
    assert first.headers["vary"] == "accept-encoding"
    assert b"problems" in first.content
