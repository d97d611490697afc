"""What only a bucket can get wrong: the way to it, the right to use it, and what its clients make of trouble."""

import asyncio
import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import aiohttp
import botocore.exceptions
import obstore.exceptions
import pytest
from botocore.exceptions import ClientError

from satchel.kernel.errors import Invalid, OutOfSpace, SatchelError, StoreRefused, TooLarge, Unavailable
from satchel.stores.distributed.objects_s3 import S3Objects
from satchel.stores.distributed.s3_errors import VENDOR_ERRORS, translate
from satchel.stores.ports.objects import MAX_KEY_BYTES, ObjectMissing, RangeUnsatisfiable
from tests.services import S3Server, free_port, rclone_s3
from tests.stores.harnesses_objects import content, proves, stream

pytestmark = pytest.mark.services


@pytest.fixture(autouse=True)
def no_keys_but_the_given(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing of this machine's may decide: neither its files nor, in a cloud, its role."""
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))


def give_keys(monkeypatch: pytest.MonkeyPatch, server: S3Server) -> None:
    for name, value in server.environment().items():
        monkeypatch.setenv(name, value)


async def open_bucket(server: S3Server, **other: str) -> S3Objects:
    where = {"bucket": server.bucket, "region": server.region, "endpoint": server.endpoint, **other}
    return await S3Objects.open(where.pop("bucket"), **cast("dict[str, Any]", where))


@proves("failing")
async def test_a_bucket_that_cannot_be_used_says_why(s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Unavailable, match="No keys to S3"):
        await open_bucket(s3)
    give_keys(monkeypatch, s3)
    with pytest.raises(Unavailable, match="no bucket nowhere"):
        await open_bucket(s3, bucket="nowhere")
    for nonsense in ("nonsense", "http://", "http:///x", "127.0.0.1:9000"):
        with pytest.raises(Unavailable, match="not the address of an S3 server"):
            await open_bucket(s3, endpoint=nonsense)
    with pytest.raises(Unavailable, match="cannot be reached"):
        await open_bucket(s3, endpoint=f"http://127.0.0.1:{free_port()}")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    with pytest.raises(Unavailable, match="AWS_SECRET_ACCESS_KEY"):
        await open_bucket(s3)


@proves("failing")
async def test_a_server_that_goes_away_is_unavailable_until_it_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    port = free_port()
    with rclone_s3(port=port) as server:
        give_keys(monkeypatch, server)
        store = await open_bucket(server)
        await store.put("x", stream(b"x"))
        upload = await store.begin("x")
    calls: list[Callable[[], Awaitable[object]]] = [
        lambda: store.put("x", stream(b"x")),
        lambda: store.put("x", stream(bytes(9 * 1024 * 1024))),
        lambda: content(store, "x"),
        lambda: content(store, "x", start=1),
        lambda: store.head("x"),
        lambda: store.list(),
        lambda: store.delete("x"),
        lambda: store.copy("x", "y"),
        lambda: store.begin("x"),
        lambda: store.put_part("x", upload, 1, stream(b"x"), length=1),
        lambda: store.put_part("x", upload, 1, stream(bytes(9 * 1024 * 1024)), length=9 * 1024 * 1024),
        lambda: store.parts("x", upload),
        lambda: store.complete("x", upload, []),
        lambda: store.abort("x", upload),
        lambda: store.clean(timedelta(0)),
    ]
    answers = await asyncio.gather(*[call() for call in calls], return_exceptions=True)
    assert [type(answer) for answer in answers] == [Unavailable] * len(calls)
    with rclone_s3(port=port):
        await store.put("x", stream(b"again"))
        assert await content(store, "x") == b"again"
        await store.close()


async def test_stores_with_other_prefixes_share_a_bucket(s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    give_keys(monkeypatch, s3)
    one, other = await open_bucket(s3, prefix="share/one/"), await open_bucket(s3, prefix="share/other/")
    await one.put("x", stream(b"one"))
    await other.put("x", stream(b"other"))
    await one.copy("x", "y")
    await other.delete("x")
    assert [info.key for info in (await one.list()).objects] == ["x", "y"]
    assert (await other.list()).objects == []
    with pytest.raises(Invalid):
        await one.put("x" * MAX_KEY_BYTES, stream(b"x"))
    await one.delete("x", "y")
    for store in (one, other):
        await store.close()


def exceptions_of(module: object) -> list[type[Exception]]:
    found = [kind for _, kind in inspect.getmembers(module, inspect.isclass) if issubclass(kind, Exception)]
    return [kind for kind in found if not issubclass(kind, Warning)]


def example(kind: type[Exception]) -> Exception:
    """An instance without knowing what its class asks for; nothing but its class and its words are looked at."""
    if issubclass(kind, ClientError):
        return kind({"Error": {"Code": "Strange"}}, "operation")
    return kind.__new__(kind)


# Raised while botocore reads its own descriptions of services, or by websockets: never by a request.
NOT_OF_REQUESTS = {"UndefinedModelAttributeError", "MissingServiceIdError", "WSMessageTypeError"}


@pytest.mark.parametrize("module", [botocore.exceptions, obstore.exceptions, aiohttp.client_exceptions])
def test_every_error_of_the_clients_is_one_of_ours(module: object) -> None:
    for kind in exceptions_of(module):
        if kind.__module__.startswith(("botocore", "obstore", "aiohttp")) and kind.__name__ not in NOT_OF_REQUESTS:
            assert issubclass(kind, VENDOR_ERRORS), kind
            assert isinstance(translate(example(kind), "bucket"), SatchelError)


@asynccontextmanager
async def answering(answer: bytes, *, only_for: bytes = b"") -> AsyncGenerator[str]:
    """A server that lets a bucket be opened, then gives one and the same answer to everything."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        fine = head.startswith(b"HEAD /bucket ") or only_for not in head
        writer.write(FINE if fine else answer)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        await server.wait_closed()


FINE = (
    b'HTTP/1.1 200 OK\r\nETag: "e"\r\nLast-Modified: Sun, 15 Nov 2026 19:56:33 GMT\r\nContent-Length: 10\r\n'
    b"Connection: close\r\n\r\n"
)


def refusal(status: str, code: str) -> bytes:
    body = f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>words</Message></Error>".encode()
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body


REFUSALS: list[tuple[str, str, type[SatchelError]]] = [
    ("404 Not Found", "NoSuchKey", ObjectMissing),
    ("404 Not Found", "NoSuchBucket", Unavailable),
    ("403 Forbidden", "AccessDenied", Unavailable),
    ("400 Bad Request", "InvalidArgument", StoreRefused),
    ("400 Bad Request", "InvalidPart", StoreRefused),
    ("400 Bad Request", "EntityTooLarge", TooLarge),
    ("416 Range Not Satisfiable", "InvalidRange", RangeUnsatisfiable),
    ("507 Insufficient Storage", "XMinioStorageFull", OutOfSpace),
    ("403 Forbidden", "QuotaExceeded", OutOfSpace),
    ("412 Precondition Failed", "PreconditionFailed", Unavailable),
    ("500 Internal Server Error", "InternalError", Unavailable),
    ("503 Slow Down", "SlowDown", Unavailable),
]


@proves("failing")
@pytest.mark.parametrize(("status", "code", "expected"), REFUSALS)
async def test_a_refusal_means_the_same_from_either_client(
    monkeypatch: pytest.MonkeyPatch, status: str, code: str, expected: type[SatchelError]
) -> None:
    async with answering(refusal(status, code)) as endpoint:
        server = S3Server(endpoint, "bucket")
        give_keys(monkeypatch, server)
        store = await open_bucket(server)
        calls: list[Callable[[], Awaitable[object]]] = [
            lambda: store.put("x", stream(b"x")),
            lambda: content(store, "x"),
            lambda: store.list(),
            lambda: store.begin("x"),
        ]
        answers = await asyncio.gather(*[call() for call in calls], return_exceptions=True)
        assert [type(answer) for answer in answers] == [expected] * len(calls)
        await store.close()


@proves("failing")
@pytest.mark.parametrize("start", [0, 1], ids=["whole", "range"])
async def test_an_answer_that_breaks_off_is_no_object(monkeypatch: pytest.MonkeyPatch, start: int) -> None:
    async with answering(FINE + b"12345", only_for=b"GET /") as endpoint:
        server = S3Server(endpoint, "bucket")
        give_keys(monkeypatch, server)
        store = await open_bucket(server)
        with pytest.raises(Unavailable):
            await content(store, "x", start=start)
        await store.close()
