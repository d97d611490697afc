"""Many small files in one request: each has an outcome of its own, and a repetition comes to the same."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from satchel.edge.http.callers import Guest
from satchel.edge.uploads.body_buffers import Buffers
from satchel.edge.uploads.bundles import MAX_BUNDLE_BYTES, MAX_FILE_BYTES, MAX_FILES
from satchel.edge.uploads.destinations import Announced, Arrived
from satchel.edge.uploads.upload_lock import UploadLock
from satchel.kernel.errors import Unavailable
from tests.edge.given import ANN, slug
from tests.uploads.given import SENDS, Place, Sender, a_bundle, a_place

AB = (({"filename": "a.txt", "key": "a"}, b"first"), ({"filename": "b.txt", "key": "b"}, b""))


class OneByOne:
    """A destination that takes no bundles."""

    def place_of(self, announced: Announced) -> str:
        return announced.name

    async def admit(self, announced: Announced) -> None:
        pass

    async def receive(self, arrived: Arrived) -> str:
        return arrived.upload_id


async def test_every_file_of_a_bundle_is_handed_over_with_all_that_was_said_of_it(place: Place, ann: Sender) -> None:
    odd = {"filename": "ü 🎻", "filetype": "audio/ogg", "details": {"relativePath": "x/ü 🎻", "folder": "f"}}
    answer = await ann.send_bundle(a_bundle((odd, b"\n\x00bytes\n"), ({}, b"")))
    assert answer.status_code == 200, answer.text
    (received,) = place.desk.bundles
    assert [file["became"] for file in answer.json()["files"]] == [f"pile-{file.upload_id}" for file in received]
    first, second = received
    assert (first.owner, first.name, first.content_type, first.details) == (ANN, "ü 🎻", "audio/ogg", odd["details"])
    assert (first.data, first.sha256) == (b"\n\x00bytes\n", hashlib.sha256(b"\n\x00bytes\n").hexdigest())
    assert (second.name, second.content_type, second.data) == ("", "application/octet-stream", b"")
    assert await place.stored_keys() == []


async def test_a_file_that_is_refused_does_not_stop_the_others(place: Place, ann: Sender) -> None:
    long = {"filename": "long", "details": {"note": "x" * 8192}}
    files = [({"filename": name}, b"x") for name in ("yes", "no", "zero\0")]
    answer = await ann.send_bundle(a_bundle(*files, (long, b"x"), ({"filename": "also"}, b"x")))
    kept = answer.json()["files"]
    assert [bool(file["became"]) for file in kept] == [True, False, False, False, True]
    assert [file["problem"] and file["problem"]["type"] for file in kept] == [
        None,
        "/problems#invalid",
        *["/problems#text-unfit"] * 2,
        None,
    ]
    assert kept[1]["problem"]["detail"] == "No."


async def test_a_file_that_comes_again_with_its_key_is_the_same_file(place: Place, ann: Sender) -> None:
    await ann.send_bundle(a_bundle(*AB))
    again = await ann.send_bundle(a_bundle(AB[1], ({"filename": "c.txt", "key": "c"}, b"third"), AB[0]))
    (a, b), (b_again, c, a_again) = place.desk.bundles
    assert (a_again.upload_id, b_again.upload_id) == (a.upload_id, b.upload_id)
    assert c.upload_id not in (a.upload_id, b.upload_id)
    assert [file["became"] for file in again.json()["files"]][::2] == [f"pile-{b.upload_id}", f"pile-{a.upload_id}"]


async def test_the_same_key_of_somebody_else_means_another_file(place: Place, ann: Sender) -> None:
    await ann.send_bundle(a_bundle(*AB))
    await place.caller(Guest("g1", "Gus")).send_bundle(a_bundle(*AB))
    ours, theirs = place.desk.bundles
    assert not {file.upload_id for file in ours} & {file.upload_id for file in theirs}


async def test_what_a_bundle_was_refused_for_may_come_alone_at_once(ann: Sender) -> None:
    await ann.send_bundle(a_bundle(({"filename": "no", "key": "n"}, b"data")))
    alone = await ann.create(4, headers={"idempotency-key": "n"})
    assert alone.status_code == 201


async def test_a_bundle_whose_handing_over_failed_can_be_sent_again(place: Place, ann: Sender) -> None:
    place.desk.trouble = Unavailable("The disk is away.")
    assert (await ann.send_bundle(a_bundle(*AB))).status_code == 503
    place.desk.trouble = None
    assert (await ann.send_bundle(a_bundle(*AB))).status_code == 200
    failed, kept = place.desk.bundles
    assert [file.upload_id for file in failed] == [file.upload_id for file in kept]


def a_line(**changed: Any) -> bytes:
    return msgspec.json.encode({"destination": "desk", "files": [{"size_bytes": 1}], **changed}) + b"\n"


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        (b"", "malformed"),
        (b"not json\nx", "malformed"),
        (a_line().strip(), "malformed"),
        (a_line(), "malformed"),
        (a_line() + b"xy", "malformed"),
        (a_line(files=[]) + b"x", "invalid"),
        (a_line(files=[{"size_bytes": 0}] * (MAX_FILES + 1)), "invalid"),
        (a_line(files=[{"size_bytes": MAX_FILE_BYTES + 1}]) + b"x" * (MAX_FILE_BYTES + 1), "invalid"),
        (a_line(files=[{"size_bytes": -1}]), "invalid"),
        (a_line(files=[{"size_bytes": 1, "nmae": "a"}]) + b"x", "invalid"),
        (a_line(files=[{"size_bytes": 1, "key": "white space"}]) + b"x", "invalid"),
        (a_line(files=[{"size_bytes": 0, "key": "k"}] * 2), "combination-unfit"),
        (a_line(destination="moon") + b"x", "upload-destination"),
        (a_line(destination="one by one") + b"x", "upload-destination"),
        (b"x" * (MAX_BUNDLE_BYTES + 1), "too-large"),
    ],
)
async def test_a_bundle_that_is_not_as_it_should_be_is_refused_as_a_whole(
    place: Place, ann: Sender, body: bytes, wanted: str
) -> None:
    place.uploads.destinations = {"desk": place.desk, "one by one": OneByOne()}
    assert slug((await ann.send_bundle(body)).json()) == wanted
    assert place.desk.bundles == []


async def test_a_bundle_needs_its_type_and_its_length(ann: Sender) -> None:
    assert slug((await ann.send_bundle(a_bundle(*AB), **{"content-type": "text/plain"})).json()) == "wrong-media-type"

    async def stream() -> AsyncIterator[bytes]:
        yield a_bundle(*AB)

    assert slug((await ann.send_bundle(stream())).json()) == "malformed"


async def test_a_slow_bundle_lets_go_of_its_memory_when_others_need_it(tmp_path: Path) -> None:
    buffers = Buffers(1, slow_seconds=0.01)
    async with a_place(tmp_path, buffers=buffers) as place:
        body, never = a_bundle(*AB), asyncio.Event()

        async def stall() -> AsyncIterator[bytes]:
            yield body[:10]
            await never.wait()

        slow = asyncio.create_task(place.caller().send_bundle(stall(), **{"content-length": str(len(body))}))
        await asyncio.sleep(0)
        await asyncio.wait_for(buffers.take(UploadLock()), 30)
        buffers.release()
        assert slug((await slow).json()) == "too-slow"
        assert (await place.caller().send_bundle(body)).status_code == 200


async def test_a_key_leads_to_what_its_file_became_in_a_bundle(place: Place, ann: Sender) -> None:
    sent = await ann.send_bundle(a_bundle(({"filename": "a.txt", "key": "k"}, b"first")))
    alone = await ann.create(5, headers={"idempotency-key": "k"})
    assert alone.status_code == 201
    assert alone.headers["upload-offset"] == "5"
    state = (await ann.http.get(alone.headers["location"])).json()
    assert state["became"] == sent.json()["files"][0]["became"]
    assert place.desk.received == []


async def test_a_file_of_a_bundle_that_failed_is_sent_alone_with_the_same_key(place: Place, ann: Sender) -> None:
    place.desk.trouble = Unavailable("Not now.")
    assert (await ann.send_bundle(a_bundle(({"filename": "a.txt", "key": "k"}, b"first")))).status_code == 503
    place.desk.trouble = None
    alone = await ann.create(5, headers={**SENDS, "idempotency-key": "k"}, content=b"first")
    assert (alone.status_code, alone.headers["upload-offset"]) == (201, "5")
    assert place.desk.received[0].upload_id == place.desk.bundles[0][0].upload_id, "one id becomes one file"


@pytest.mark.parametrize(
    "other",
    [({"filename": "b.txt", "key": "k"}, b"first"), ({"filename": "a.txt", "key": "k"}, b"other")],
    ids=["name", "bytes"],
)
async def test_a_key_of_another_file_is_refused(place: Place, ann: Sender, other: tuple[dict[str, str], bytes]) -> None:
    first = a_bundle(({"filename": "a.txt", "key": "k"}, b"first"))
    became = (await ann.send_bundle(first)).json()["files"][0]["became"]
    (refused,) = (await ann.send_bundle(a_bundle(other))).json()["files"]
    assert refused["problem"]["type"] == "/problems#upload-key-reused"
    assert len(place.desk.bundles) == 1
    assert (await ann.send_bundle(first)).json()["files"][0]["became"] == became, "the key still leads to its file"
    alone = await ann.create(6, headers={"idempotency-key": "k"})
    assert (alone.status_code, alone.json()["type"]) == (422, "/problems#upload-key-reused")
