"""What surrounds every request: ids, headers, origins, proxies, log lines and numbers."""

from ipaddress import ip_network

import httpx
import pytest
from starlette.responses import HTMLResponse, Response

from satchel.edge.http.callers import Caller
from satchel.edge.http.middleware import Exposure
from satchel.edge.http.proxies import Networks
from satchel.edge.http.request_context import Client
from tests.edge.given import ADA, ANN, GUS, Edge, slug


@pytest.fixture
def open_edge(edge: Edge) -> Edge:
    router = edge.router()

    @router.get("/things/{secret}")
    async def show(secret: str, caller: Caller) -> list[str]:
        return ["x" * 10]

    @router.post("/things")
    async def add() -> None: ...

    @router.get("/me")
    async def me(client: Client) -> Client:
        return client

    @router.get("/page")
    async def page() -> Response:
        return HTMLResponse("<p>", headers={"content-security-policy": "default-src 'self'"})

    return edge


@pytest.mark.parametrize("path", ["/api/v1/me", "/healthz", "/nothing", "/"])
async def test_security_headers_are_on_every_answer(open_edge: Edge, path: str) -> None:
    answer = await open_edge.client().get(path)
    assert answer.headers["content-security-policy"].startswith("default-src 'none'; ")
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cross-origin-opener-policy"] == "same-origin"
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    assert "camera=()" in answer.headers["permissions-policy"]
    assert "server" not in answer.headers
    assert "strict-transport-security" not in answer.headers


async def test_a_page_may_say_its_own_policy(open_edge: Edge) -> None:
    answer = await open_edge.client().get("/api/v1/page")
    assert answer.headers.get_list("content-security-policy") == ["default-src 'self'"]
    assert answer.headers["x-content-type-options"] == "nosniff"


async def test_browsers_are_told_to_stay_with_https_only_over_https(open_edge: Edge) -> None:
    answer = await open_edge.client(https=True).get("/api/v1/me")
    assert answer.headers["strict-transport-security"] == "max-age=31536000"


async def test_every_request_has_an_id_of_its_own(open_edge: Edge) -> None:
    client = open_edge.client()
    answers = [await client.get("/healthz", headers={"x-request-id": "chosen-by-client"}) for _ in range(3)]
    ids = {answer.headers["x-request-id"] for answer in answers}
    assert len(ids) == 3
    assert "chosen-by-client" not in ids


HOME = "http://satchel.test"


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": HOME},
        {"origin": "https://satchel.test"},
        {"origin": "HTTP://SATCHEL.TEST"},
        {"origin": "https://files.example.org", "sec-fetch-site": "same-site"},
        {"sec-fetch-site": "same-origin", "origin": HOME},
        {"sec-fetch-site": "none"},
    ],
)
async def test_writes_from_here_and_from_no_page_at_all_pass(open_edge: Edge, headers: dict[str, str]) -> None:
    open_edge.exposure = Exposure(addresses=("https://files.example.org/", ""))
    assert (await open_edge.client().post("/api/v1/things", headers=headers)).status_code == 204


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.test"},
        {"origin": "http://satchel.test.evil.test"},
        {"origin": "http://satchel.test:81"},
        {"origin": "null"},
        {"origin": ""},
        {"origin": HOME, "sec-fetch-site": "cross-site"},
        {"origin": HOME, "sec-fetch-site": "same-site"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "nonsense"},
    ],
)
async def test_writes_from_pages_of_other_sites_are_refused(open_edge: Edge, headers: dict[str, str]) -> None:
    answer = await open_edge.client().post("/api/v1/things", headers=headers)
    assert (answer.status_code, slug(answer.json())) == (403, "cross-origin")


async def test_reading_is_not_a_matter_of_origin(open_edge: Edge) -> None:
    headers = {"origin": "http://evil.test", "sec-fetch-site": "cross-site"}
    assert (await open_edge.client().get("/api/v1/me", headers=headers)).status_code == 200


@pytest.mark.parametrize(
    ("peer", "forwarded", "address"),
    [
        ("192.0.2.7", "203.0.113.9", "192.0.2.7"),
        ("10.0.0.1", "203.0.113.9", "203.0.113.9"),
        ("10.0.0.1", "198.51.100.1, 203.0.113.9, 10.0.0.2", "203.0.113.9"),
        ("10.0.0.1", "203.0.113.9:4711", "203.0.113.9"),
        ("10.0.0.1", "[2001:db8::9]:4711", "2001:db8::9"),
        ("10.0.0.1", "2001:db8::9", "2001:db8::9"),
        ("10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3"),
        ("10.0.0.1", "203.0.113.9, garbage, 10.0.0.2", "10.0.0.2"),
        ("10.0.0.1", "garbage", "10.0.0.1"),
        ("10.0.0.1", "", "10.0.0.1"),
        ("::ffff:10.0.0.1", "203.0.113.9", "203.0.113.9"),
        ("unix", "203.0.113.9", "unix"),
    ],
)
async def test_only_trusted_proxies_are_believed_about_the_client(
    open_edge: Edge, peer: str, forwarded: str, address: str
) -> None:
    open_edge.exposure = Exposure(trusted_proxies=(ip_network("10.0.0.0/8"),))
    answer = await open_edge.client(peer=peer).get("/api/v1/me", headers={"x-forwarded-for": forwarded})
    assert answer.json()["address"] == address


async def test_several_forwarding_headers_count_as_one(open_edge: Edge) -> None:
    open_edge.exposure = Exposure(trusted_proxies=(ip_network("10.0.0.0/8"),))
    headers = [("x-forwarded-for", "203.0.113.9"), ("x-forwarded-for", "10.0.0.9")]
    answer = await open_edge.client(peer="10.0.0.1").get("/api/v1/me", headers=headers)
    assert answer.json()["address"] == "203.0.113.9"


@pytest.mark.parametrize(("peer", "https"), [("10.0.0.1", True), ("192.0.2.7", False)])
async def test_only_trusted_proxies_are_believed_about_https_and_request_ids(
    open_edge: Edge, peer: str, https: bool
) -> None:
    open_edge.exposure = Exposure(trusted_proxies=(ip_network("10.0.0.0/8"),))
    headers = {"x-forwarded-proto": "https", "x-request-id": "abcdef-0123"}
    answer = await open_edge.client(peer=peer).get("/api/v1/me", headers=headers)
    assert answer.json()["https"] is https
    assert ("strict-transport-security" in answer.headers) is https
    assert (answer.headers["x-request-id"] == "abcdef-0123") is https


@pytest.mark.parametrize("proposed", ["short", "with space in it", "x" * 65, 'quote"quote', "line\tbreak"])
async def test_a_request_id_that_could_harm_a_log_is_replaced(open_edge: Edge, proposed: str) -> None:
    open_edge.exposure = Exposure(trusted_proxies=(ip_network("10.0.0.0/8"),))
    answer = await open_edge.client(peer="10.0.0.1").get("/healthz", headers={"x-request-id": proposed})
    assert answer.headers["x-request-id"] != proposed


def test_networks_hold_mapped_addresses_and_refuse_names() -> None:
    networks = Networks((ip_network("127.0.0.0/8"), ip_network("::1/128")))
    assert [networks.hold(each) for each in ("127.0.0.9", "::1", "::ffff:127.0.0.1")] == [True] * 3
    assert [networks.hold(each) for each in ("128.0.0.1", "::2", "localhost", "")] == [False] * 4


async def test_a_log_line_tells_what_happened_and_keeps_secrets_out(open_edge: Edge) -> None:
    client = open_edge.client()
    token = open_edge.bearer(ANN)
    answer = await client.get(
        "/api/v1/things/s3cret-link?q=s3cret-query", headers=token | {"cookie": "a=s3cret-cookie"}
    )
    [line] = open_edge.lines()
    assert line.pop("time").endswith("Z")
    assert line.pop("ms") >= 0
    assert line == {
        "event": "request",
        "level": "info",
        "request": answer.headers["x-request-id"],
        "method": "GET",
        "route": "/api/v1/things/{secret}",
        "status": 200,
        "bytes": len(answer.content),
        "caller": "member",
        "caller_id": "u-ann",
    }
    written = b"".join(open_edge.written).decode()
    assert "s3cret" not in written
    assert token["authorization"][7:] not in written


async def test_log_lines_name_the_kind_of_caller(open_edge: Edge) -> None:
    client = open_edge.client()
    for who in (ADA, GUS):
        await client.get("/api/v1/things/x", headers=open_edge.bearer(who))
    await client.get("/api/v1/things/x")
    await client.get("/no/such/s3cret")
    callers = [(line["caller"], line["caller_id"], line["route"]) for line in open_edge.lines()]
    template = "/api/v1/things/{secret}"
    assert callers == [
        ("admin", "u-ada", template),
        ("guest", "g-gus", template),
        ("stranger", "", template),
        ("stranger", "", ""),
    ]


async def test_the_log_can_be_for_people(open_edge: Edge) -> None:
    open_edge.log_format = "text"
    await open_edge.client().get("/api/v1/things/s3cret", headers=open_edge.bearer(ANN))
    [line] = open_edge.written
    assert b" GET /api/v1/things/{secret} 200 " in line
    assert b"member u-ann" in line


async def test_probes_are_not_logged_and_nothing_is_at_a_quieter_level(open_edge: Edge) -> None:
    await open_edge.client().get("/healthz")
    open_edge.log_level = "warning"
    await open_edge.client().get("/api/v1/me")
    assert open_edge.written == []
    open_edge.log_level = "debug"
    await open_edge.client().get("/healthz")
    assert open_edge.lines()[0]["route"] == "/healthz"


async def test_a_log_that_cannot_be_written_does_not_fail_the_request(open_edge: Edge) -> None:
    from satchel.edge.http.logs import Journal, RequestLine

    def broken(_: bytes) -> None:
        raise BrokenPipeError

    line = RequestLine("t", "info", "r", "GET", "/", 200, 1.0, 0, "stranger", "")
    Journal("json", "info", broken).write_request(line)


async def metrics_of(client: httpx.AsyncClient, **headers: str) -> httpx.Response:
    return await client.get("/metrics", headers=headers)


async def test_requests_are_counted_by_route_template(open_edge: Edge) -> None:
    client = open_edge.client(peer="127.0.0.1")
    for secret in ("one", "two"):
        await client.get(f"/api/v1/things/{secret}")
    await client.put("/api/v1/things/three")
    answer = await metrics_of(client)
    assert answer.headers["content-type"].startswith("text/plain; version=")
    text = answer.text
    route = 'method="GET",route="/api/v1/things/{secret}"'
    assert f'satchel_http_requests_total{{{route},status="200"}} 2.0' in text.replace(
        'route="/api/v1/things/{secret}",method="GET"', route
    )
    assert 'status="405"' in text
    assert "satchel_http_request_seconds_bucket" in text
    assert 'le="+Inf"' in text
    assert "satchel_http_sent_bytes_total" in text
    assert "satchel_http_in_flight 1.0" in text
    assert "process_resident_memory_bytes" in text
    assert "one" not in text


@pytest.mark.parametrize(
    ("peer", "headers", "status"),
    [
        ("127.0.0.1", {}, 200),
        ("::1", {}, 200),
        ("192.0.2.7", {}, 404),
        ("127.0.0.1", {"x-forwarded-for": "203.0.113.9"}, 404),
        ("127.0.0.1", {"via": "1.1 proxy"}, 404),
    ],
)
async def test_numbers_are_for_this_machine_and_not_for_those_behind_an_unknown_proxy(
    open_edge: Edge, peer: str, headers: dict[str, str], status: int
) -> None:
    answer = await open_edge.client(peer=peer).get("/metrics", headers=headers)
    assert answer.status_code == status


async def test_numbers_can_be_opened_to_a_network_and_seen_through_a_trusted_proxy(open_edge: Edge) -> None:
    open_edge.exposure = Exposure(
        trusted_proxies=(ip_network("10.0.0.0/8"),), metrics_from=(ip_network("203.0.113.0/24"),)
    )
    client = open_edge.client(peer="10.0.0.1")
    assert (await metrics_of(client, **{"x-forwarded-for": "203.0.113.9"})).status_code == 200
    assert (await metrics_of(client, **{"x-forwarded-for": "198.51.100.1"})).status_code == 404
    assert (await metrics_of(client)).status_code == 404
