"""Parts of an upload that go straight to the bucket, past the server, by links which it signs."""

import hashlib
import secrets
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from satchel.edge.uploads.upload_create import sweep_expired_uploads
from tests.services import S3Server
from tests.uploads.given import PART, Place, Sender, a_place, desk_over

HEADER = "satchel-signed-parts"


@pytest.fixture
async def bucket(s3: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Place]:
    from satchel.stores.distributed.objects_s3 import S3Objects

    for name, value in s3.environment().items():
        monkeypatch.setenv(name, value)
    prefix = f"signed-{uuid4().hex}/"
    objects = await S3Objects.open(s3.bucket, region=s3.region, endpoint=s3.endpoint, prefix=prefix)
    async with a_place(tmp_path, objects, direct=objects.direct) as place:
        yield place
    await objects.close()


async def ask(ann: Sender, url: str, *sent: int) -> Any:
    answer = await ann.http.post(f"{url}/parts", json={"sent": sent})
    assert answer.status_code == 200, answer.text
    return answer.json()


async def put(part: Any, data: bytes) -> httpx.Response:
    """As a browser does, without any credentials."""
    async with httpx.AsyncClient() as client:
        return await client.put(part["url"], content=data[part["start"] : part["start"] + part["size_bytes"]])


async def test_a_large_file_goes_past_the_server_and_is_what_was_sent(bucket: Place) -> None:
    ann, data = bucket.caller(), secrets.token_bytes(2 * PART + 500)
    assert (await ann.http.options("/api/v1/uploads")).headers[HEADER] == str(PART)
    url = await ann.begun(len(data))
    answer = await ask(ann, url)
    assert [(part["number"], part["start"], part["size_bytes"]) for part in answer["parts"]] == [
        (1, 0, PART),
        (2, PART, PART),
        (3, 2 * PART, 500),
    ]
    for part in answer["parts"]:
        assert (await put(part, data)).status_code == 200
    answer = await ask(ann, url, 1, 2, 3)
    assert (answer["offset_bytes"], answer["parts"]) == (len(data), [])
    assert answer["became"] == f"pile-{url.rpartition('/')[2]}"
    assert await bucket.kept(url) == data
    (arrived,) = bucket.desk.received
    assert (arrived.sha256, arrived.size_bytes) == (hashlib.sha256(data).hexdigest(), len(data))
    assert await bucket.stored_keys() == [f"pile/{url.rpartition('/')[2]}"]
    assert (await ask(ann, url, 3))["became"] == answer["became"]


async def test_only_parts_that_are_there_in_full_count(bucket: Place) -> None:
    ann, data = bucket.caller(), secrets.token_bytes(2 * PART)
    url = await ann.begun(len(data))
    first, second = (await ask(ann, url))["parts"]
    assert (await ask(ann, url, 1, 2))["offset_bytes"] == 0
    # The size is signed, so that nobody fills a bucket with what was not announced.
    refused = await put({**first, "size_bytes": 1}, data)
    assert refused.status_code == 403
    assert (await put(first, data)).status_code == 200
    # What nobody has said to have sent may be the beginning of something else.
    assert (await ask(ann, url))["offset_bytes"] == 0
    answer = await ask(ann, url, 1, 2)
    assert (answer["offset_bytes"], [part["number"] for part in answer["parts"]]) == (PART, [2])
    assert await ann.offset(url) == PART
    await put(second, data)
    assert (await ask(ann, url, 2))["became"]


async def test_a_client_goes_on_either_way_at_any_server(bucket: Place) -> None:
    there = desk_over(
        bucket.tables, bucket.objects, bucket.uploads.ephemeral, bucket.clock, direct=bucket.uploads.direct
    )
    ann, elsewhere = bucket.caller(), there.caller()
    data = secrets.token_bytes(3 * PART + 10)
    url = await ann.begun(len(data))
    # A part and a half through the server: the half is sent again, as a whole part.
    await ann.send(url, 0, data[: PART + 100])
    (second, *_) = (await ask(elsewhere, url))["parts"]
    assert (second["number"], second["start"]) == (2, PART)
    await put(second, data)
    assert (await ask(elsewhere, url, 2))["offset_bytes"] == 2 * PART
    # The rest through the other server.
    answer = await elsewhere.send(url, 2 * PART, data[2 * PART :])
    assert answer.status_code == 204, answer.text
    assert await there.kept(url) == data
    assert there.desk.received[0].sha256 == hashlib.sha256(data).hexdigest()


async def test_what_is_given_up_leaves_nothing_in_the_bucket(bucket: Place) -> None:
    ann, data = bucket.caller(), secrets.token_bytes(2 * PART)
    url = await ann.begun(len(data))
    (first, _) = (await ask(ann, url))["parts"]
    await put(first, data)
    bucket.clock.advance(8 * 24 * 3600)
    assert await sweep_expired_uploads(bucket.uploads) == 1
    assert await bucket.stored_keys() == []


async def test_only_the_owner_gets_links(bucket: Place) -> None:
    url = await bucket.caller().begun(2 * PART)
    strangers = await bucket.caller(None).http.post(f"{url}/parts", json={})
    assert strangers.status_code == 401


async def test_small_files_and_folders_of_one_machine_have_no_parts(bucket: Place, place: Place, ann: Sender) -> None:
    small = bucket.caller()
    assert (await ask(small, await small.begun(PART)))["parts"] == []
    assert HEADER not in (await ann.http.options("/api/v1/uploads")).headers
    assert await ask(ann, await ann.begun(2 * PART)) == {"offset_bytes": 0, "became": None, "parts": []}
    assert place.uploads.direct is None
