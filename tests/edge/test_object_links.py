"""The links that a folder store signs, served by us as S3 serves its own."""

import asyncio
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from satchel.edge.files.object_links import LinkedObjects, routes
from satchel.kernel.clock import ManualClock
from satchel.stores.embedded.objects_folder import FolderObjects
from satchel.stores.ports.objects import ObjectMissing
from tests.edge.given import Edge, once, serving, slug, wire

HOUR = timedelta(hours=1)


@pytest.fixture
def client(edge: Edge, objects: FolderObjects) -> httpx.AsyncClient:
    assert isinstance(objects, LinkedObjects)
    edge.routers.append(routes(objects, max_bytes=1000))
    return edge.client()


async def test_a_link_to_read_gives_the_object_whole_and_in_part(
    client: httpx.AsyncClient, objects: FolderObjects
) -> None:
    await objects.put("a/b", once(b"content"), content_type="text/plain")
    link = await objects.sign_get("a/b", HOUR, download_name="ü.txt")
    answer = await client.get(link)
    assert (answer.status_code, answer.content, answer.headers["content-type"]) == (200, b"content", "text/plain")
    assert answer.headers["content-disposition"].startswith("attachment; ")
    assert (await client.head(link)).headers["content-length"] == "7"
    assert (await client.get(link, headers={"range": "bytes=1-2"})).content == b"on"


async def test_a_link_without_a_name_shows_the_object_in_a_sandbox(
    client: httpx.AsyncClient, objects: FolderObjects
) -> None:
    await objects.put("page", once(b"<script>"), content_type="text/html")
    answer = await client.get(await objects.sign_get("page", HOUR))
    assert answer.headers["content-disposition"] == "inline"
    assert answer.headers["content-security-policy"].startswith("sandbox; default-src 'none'")


async def test_a_link_to_write_stores_what_is_put(client: httpx.AsyncClient, objects: FolderObjects) -> None:
    link = await objects.sign_put("new", HOUR, content_type="image/png")
    for content in (b"first", b"second"):
        answer = await client.put(link, content=content, headers={"content-type": "image/png"})
        info = await objects.head("new")
        assert (answer.status_code, answer.content) == (200, b"")
        assert answer.headers["etag"] == f'"{info.etag}"'
        assert (info.size_bytes, info.content_type) == (len(content), "image/png")


@pytest.mark.parametrize("content_type", ["image/jpeg", None, "image/png; charset=x"])
async def test_another_content_type_than_the_link_names_is_refused(
    client: httpx.AsyncClient, objects: FolderObjects, content_type: str | None
) -> None:
    link = await objects.sign_put("new", HOUR, content_type="image/png")
    headers = {} if content_type is None else {"content-type": content_type}
    answer = await client.put(link, content=b"x", headers=headers)
    assert answer.status_code == 415
    await nothing_at(objects, "new")


async def test_more_than_the_limit_is_refused_and_leaves_what_was_there(
    client: httpx.AsyncClient, objects: FolderObjects
) -> None:
    link = await objects.sign_put("new", HOUR)
    headers = {"content-type": "application/octet-stream"}
    await client.put(link, content=b"x" * 1000, headers=headers)
    for content in (b"y" * 1001, once(b"y" * 1001)):
        answer = await client.put(link, content=content, headers=headers)
        assert (answer.status_code, slug(answer.json())) == (413, "too-large")
    assert (await objects.head("new")).size_bytes == 1000


async def test_a_link_is_good_for_one_method_and_one_key_until_it_expires(
    client: httpx.AsyncClient, objects: FolderObjects, clock: ManualClock
) -> None:
    await objects.put("a", once(b"content"))
    read, write = await objects.sign_get("a", HOUR), await objects.sign_put("a", HOUR)
    assert (await client.put(read, content=b"")).status_code == 404
    assert (await client.get(write)).status_code == 404
    assert (await client.get(read[:-1] + ("A" if read[-1] != "A" else "B"))).status_code == 404
    assert (await client.get("/objects/nonsense")).status_code == 404
    clock.advance(HOUR)
    assert (await client.get(read)).status_code == 410
    assert (await client.put(write, content=b"")).status_code == 410


async def test_an_upload_that_breaks_off_leaves_nothing(edge: Edge, objects: FolderObjects, tmp_path: Path) -> None:
    edge.routers.append(routes(objects, max_bytes=1_000_000))
    link = await objects.sign_put("new", HOUR)
    path = link.removeprefix("http://satchel.test")
    before = sorted(tmp_path.rglob("*"))
    async with serving(edge.app()) as port:
        async with wire(port) as connection:
            kind = "content-type: application/octet-stream\r\ncontent-length: 500000\r\n"
            head = f"PUT {path} HTTP/1.1\r\nhost: satchel.test\r\n{kind}\r\n"
            await connection.send(head.encode(), b"x" * 300_000)
            await asyncio.sleep(0.05)
        while not edge.lines():
            await asyncio.sleep(0.02)
    assert edge.lines()[0]["status"] == 499
    await nothing_at(objects, "new")
    assert sorted(tmp_path.rglob("*")) == before


async def nothing_at(objects: FolderObjects, key: str) -> None:
    with pytest.raises(ObjectMissing):
        await objects.head(key)
