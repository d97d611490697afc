"""Stored bytes on their way out: all of them, the part asked for, or nothing because the client has them."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.responses import Response

from satchel.edge.files.downloads import Download, attached_as
from satchel.edge.files.ranges import wanted_range
from satchel.stores.embedded.objects_folder import FolderObjects
from satchel.stores.ports.objects import ObjectInfo
from tests.edge.given import BIG, SMALL, Edge, once, slug


async def test_without_the_kernels_help_the_same_bytes_arrive(library: Edge) -> None:
    client = library.client()
    assert (await client.get("/files/big")).content == BIG
    part = await client.get("/files/big", headers={"range": "bytes=100000-2000000"})
    assert part.content == BIG[100_000:2_000_001]


async def test_user_bytes_cannot_pose_as_a_page_of_ours(library: Edge) -> None:
    answer = await library.client().get("/files/big")
    assert answer.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-type"] == "image/png"
    assert answer.headers["cache-control"] == "private, no-cache"
    assert answer.headers["content-disposition"] == (
        'attachment; filename="Fr_hling _2026_ _gpj.exe"; '
        "filename*=UTF-8''Fr%C3%BChling%20%222026%22%20%F0%9F%8C%B7gpj.exe"
    )


@pytest.mark.parametrize("used_as", ["script", "style", "worker", "sharedworker", "serviceworker"])
async def test_user_bytes_are_never_code_of_a_page(library: Edge, used_as: str) -> None:
    answer = await library.client().get("/files/big", headers={"sec-fetch-dest": used_as})
    assert answer.status_code == 403
    assert (await library.client().get("/files/big", headers={"sec-fetch-dest": "image"})).status_code == 200


@pytest.mark.parametrize("code", ["text/javascript", "application/x-javascript; charset=utf-8", "Text/CSS"])
async def test_code_is_sent_as_bytes_that_nobody_runs(edge: Edge, objects: FolderObjects, code: str) -> None:
    await objects.put("code", once(b"alert(1)"), content_type=code)
    router = edge.router()

    @router.get("/code")
    async def download() -> Response:
        return Download(objects, "code")

    assert (await edge.client().get("/api/v1/code")).headers["content-type"] == "application/octet-stream"


@pytest.mark.parametrize(
    ("name", "encoded"),
    [
        ("../../etc/passwd", ".._.._etc_passwd"),
        ("a\\b", "a_b"),
        ("\u202e ", "download"),
        ("", "download"),
        # No control character, but taken out all the same.
        ("\uffff", "download"),
    ],
)
def test_a_download_name_has_no_path_and_is_never_empty(name: str, encoded: str) -> None:
    assert attached_as(name).endswith(f"filename*=UTF-8''{encoded}")


def test_a_download_name_cannot_break_out_of_its_header() -> None:
    assert not set(attached_as('a"; x=y\r\nset-cookie: b=c')) & {"\r", "\n"}


@pytest.mark.parametrize("asked", ["bytes=0-1,5-6", "bytes=-", "bytes=9-3", "lines=1-2", "bytes=x-y", "bytes"])
async def test_what_is_no_single_range_gets_the_whole(library: Edge, asked: str) -> None:
    answer = await library.client().get("/files/small", headers={"range": asked})
    assert (answer.status_code, answer.content) == (200, SMALL)


@pytest.mark.parametrize(("key", "asked"), [("small", "bytes=5-"), ("small", "bytes=-0"), ("empty", "bytes=0-")])
async def test_a_range_past_the_end_is_refused_with_the_size(library: Edge, key: str, asked: str) -> None:
    answer = await library.client().get(f"/files/{key}", headers={"range": asked})
    assert (answer.status_code, slug(answer.json())) == (416, "range-unsatisfiable")
    assert answer.headers["content-range"] == f"bytes */{5 if key == 'small' else 0}"


async def test_who_has_it_already_is_not_sent_it_again(library: Edge) -> None:
    client = library.client()
    first = await client.get("/files/small")
    etag, modified = first.headers["etag"], first.headers["last-modified"]
    assert datetime.strptime(modified, "%a, %d %b %Y %H:%M:%S GMT").replace(tzinfo=UTC)
    for headers in (
        {"if-none-match": etag},
        {"if-none-match": f'"other", W/{etag}'},
        {"if-none-match": "*"},
        {"if-modified-since": modified},
        {"if-none-match": etag, "if-modified-since": "Thu, 01 Jan 1970 00:00:00 GMT"},
    ):
        answer = await client.get("/files/small", headers=headers)
        assert (answer.status_code, answer.content, answer.headers["etag"]) == (304, b"", etag)
        assert "content-length" not in answer.headers
    for headers in (
        {"if-none-match": '"other"'},
        {"if-none-match": '"other"', "if-modified-since": modified},
        {"if-modified-since": "Thu, 01 Jan 1970 00:00:00 GMT"},
        {"if-modified-since": "nonsense"},
        {"if-modified-since": "Thu, 01 Jan 2099 00:00:00 -0000"},
        {"if-modified-since": "Thu, 01 Jan 99999999999 00:00:00 GMT"},
    ):
        assert (await client.get("/files/small", headers=headers)).content == SMALL


async def test_a_part_is_only_a_part_of_the_same_version(library: Edge) -> None:
    client = library.client()
    first = await client.get("/files/small")
    for known, status in (
        (first.headers["etag"], 206),
        (first.headers["last-modified"], 206),
        ('"other"', 200),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 200),
        ("W/" + first.headers["etag"], 200),
    ):
        answer = await client.get("/files/small", headers={"range": "bytes=1-2", "if-range": known})
        assert answer.status_code == status


class ReplacedInBetween:
    """A store in which somebody else writes a new version right after a look at the old one."""

    def __init__(self, objects: FolderObjects) -> None:
        self._objects = objects
        self.read = objects.read

    async def head(self, key: str) -> ObjectInfo:
        info = await self._objects.head(key)
        await self._objects.put(key, once(b"a new version"))
        return info


async def test_a_part_of_a_new_version_is_never_sent_as_one_of_the_old(edge: Edge, objects: FolderObjects) -> None:
    await objects.put("small", once(SMALL))
    router = edge.router(prefix="")

    @router.get("/files/{key}")
    async def download(key: str) -> Response:
        return Download(ReplacedInBetween(objects), key)

    answer = await edge.client().get("/files/small", headers={"range": "bytes=1-2"})
    assert (answer.status_code, answer.content) == (200, b"a new version")


async def test_what_is_not_there_is_not_found(library: Edge) -> None:
    client = library.client()
    for headers in ({}, {"range": "bytes=0-1"}):
        answer = await client.get("/files/none", headers=headers)
        assert (answer.status_code, slug(answer.json())) == (404, "object-missing")


INFO = ObjectInfo("k", 0, "e", datetime(2026, 1, 1, tzinfo=UTC))


@given(
    size=st.integers(0, 40),
    first=st.integers(0, 50) | st.none(),
    last=st.integers(0, 50) | st.none(),
)
def test_every_range_is_what_slicing_gives(size: int, first: int | None, last: int | None) -> None:
    value = f"bytes={'' if first is None else first}-{'' if last is None else last}"
    whole = bytes(range(size))
    part = wanted_range({"headers": [(b"range", value.encode())]}, replace(INFO, size_bytes=size))
    if first is None:
        expected = None if last is None else whole[max(0, size - last) :]
    elif last is not None and last < first:
        expected = None
    else:
        expected = whole[first:] if last is None else whole[first : last + 1]
    assert (None if part is None else whole[part[0] : part[0] + part[1]]) == expected
