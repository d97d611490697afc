"""The end of uploads, good or bad: handing over survives crashes, refusals and full disks; what is left alone ends."""

import asyncio
import hashlib
import os
import resource
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from satchel.edge.http.callers import Guest, Member
from satchel.edge.uploads import reservations, upload_create
from satchel.edge.uploads.tus_headers import Metadata
from satchel.edge.uploads.upload_append import write
from satchel.edge.uploads.upload_create import sweep_expired_uploads
from satchel.kernel.errors import OutOfSpace, SatchelError, Unavailable
from tests.edge.given import ANN, slug
from tests.services import S3Server
from tests.uploads.given import PART, SENDS, TUS, Place, Sender, a_place

WEEK = timedelta(days=7)
MOMENT = timedelta(milliseconds=1)
DESCRIBED = Metadata("desk", "a.txt", "text/plain", {})


async def arrive(place: Place, url: str, data: bytes) -> None:
    """Let all bytes be stored, as if the server had been killed before it handed them over."""

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": data, "more_body": False}

    row = await place.row(url)
    assert row is not None
    async with place.uploads.locks.hold(row.upload_id) as lock:
        await write(place.uploads, row, lock, receive)
    # What the server that was killed had in memory is gone.
    place.uploads.digests.take(row.upload_id, len(data))


async def ask_for_the_offset(ann: Sender, url: str, size: int) -> None:
    assert await ann.offset(url) == size


async def send_nothing_more(ann: Sender, url: str, size: int) -> None:
    assert (await ann.send(url, size, b"")).status_code == 204


async def look(ann: Sender, url: str, size: int) -> None:
    assert (await ann.http.get(url)).json()["became"]


@pytest.mark.parametrize("sent_before", [0, 300])
async def test_the_hash_of_a_file_without_parts_is_kept_with_its_last_byte(
    place: Place, ann: Sender, sent_before: int
) -> None:
    """Nothing has to be read again, whatever happens before it is handed over."""
    data = os.urandom(1000)
    url = await ann.begun(len(data))
    if sent_before:
        assert (await ann.send(url, 0, data[:sent_before])).status_code == 204
    await arrive(place, url, data[sent_before:])
    row = await place.row(url)
    assert row is not None
    assert row.sha256 == hashlib.sha256(data).hexdigest()


REPAIRS = [ask_for_the_offset, send_nothing_more, look]


@pytest.mark.parametrize("repair", REPAIRS)
@pytest.mark.parametrize("size", [1000, PART, 2 * PART + 1])
@pytest.mark.parametrize("joined", [False, True])
async def test_a_crash_before_handing_over_is_repaired_by_the_next_request(
    place: Place,
    ann: Sender,
    repair: Callable[[Sender, str, int], Awaitable[None]],
    size: int,
    joined: bool,
) -> None:
    data = os.urandom(size)
    url = await ann.begun(size)
    await arrive(place, url, data)
    row = await place.row(url)
    assert row is not None
    if joined and row.multipart:
        await place.objects.complete(row.key, row.multipart, await place.objects.parts(row.key, row.multipart))
    await repair(ann, url, size)
    assert await place.kept(url) == data
    assert place.desk.received[0].sha256 == hashlib.sha256(data).hexdigest()


async def test_a_crash_after_handing_over_comes_to_the_same_end(place: Place, ann: Sender) -> None:
    url = await ann.begun(5)
    upload_id = url.rpartition("/")[2]
    place.desk.dies = RuntimeError("killed")
    assert (await ann.send(url, 0, b"12345")).status_code == 500
    place.desk.dies = None
    assert await ann.offset(url) == 5
    assert [each.upload_id for each in place.desk.received] == [upload_id, upload_id]
    assert (await ann.http.get(url)).json()["became"] == f"pile-{upload_id}"
    assert await place.kept(url) == b"12345"


async def test_nobody_is_told_that_an_upload_is_done_before_its_destination_has_it(place: Place, ann: Sender) -> None:
    url = await ann.begun(5)
    place.desk.trouble = OutOfSpace("Your shelf is full.")
    for answer in (
        await ann.send(url, 0, b"12345"),
        await ann.http.head(url, headers=TUS),
        await ann.http.get(url),
        await ann.send(url, 5, b""),
    ):
        assert answer.status_code == 507
    place.desk.trouble = None
    assert await ann.offset(url) == 5
    assert await place.kept(url) == b"12345"


async def test_a_creation_that_fails_at_its_end_can_be_repeated_without_making_two(place: Place, ann: Sender) -> None:
    sends = {"content-type": "application/offset+octet-stream"}
    place.desk.trouble = Unavailable("Try again.")
    assert (await ann.create(5, content=b"12345", headers=sends)).status_code == 503
    place.desk.trouble = None
    created = await ann.create(5, content=b"12345", headers=sends)
    assert created.status_code == 201
    place.clock.advance(timedelta(days=1))
    await sweep_expired_uploads(place.uploads)
    assert await place.stored_keys() == [f"pile/{created.headers['location'].rpartition('/')[2]}"]


async def test_the_sweep_hands_over_what_was_left_lying(place: Place, ann: Sender) -> None:
    url = await ann.begun(5)
    await arrive(place, url, b"12345")
    await sweep_expired_uploads(place.uploads)
    assert place.desk.received == []
    place.clock.advance(timedelta(minutes=10))
    place.desk.trouble = Unavailable("Not now.")
    await sweep_expired_uploads(place.uploads)
    await sweep_expired_uploads(place.uploads)
    assert len(place.desk.received) == 1
    place.desk.trouble = None
    place.clock.advance(timedelta(hours=1))
    await sweep_expired_uploads(place.uploads)
    assert await place.kept(url) == b"12345"


@pytest.mark.slow
async def test_what_no_destination_takes_for_a_month_is_freed(place: Place, ann: Sender) -> None:
    url = await ann.begun(5)
    await arrive(place, url, b"12345")
    place.desk.trouble = Unavailable("Not now.")
    for _ in range(31 * 24):
        place.clock.advance(timedelta(hours=1))
        await sweep_expired_uploads(place.uploads)
    assert await place.row(url) is None
    assert await place.stored_keys() == []


async def test_an_upload_ends_a_week_after_the_last_bytes_and_is_swept_away(place: Place, ann: Sender) -> None:
    url = await ann.begun(3 * PART)
    place.clock.advance(WEEK - MOMENT)
    ann = place.caller()
    answer = await ann.send(url, 0, os.urandom(PART + 10))
    assert answer.status_code == 204
    place.clock.advance(WEEK - MOMENT)
    await sweep_expired_uploads(place.uploads)
    ann = place.caller()
    assert await ann.offset(url) == PART + 10
    place.clock.advance(MOMENT)
    for ended in (await ann.http.head(url, headers=TUS), await ann.send(url, PART + 10, b"x"), await ann.http.get(url)):
        assert ended.status_code == 410
    await sweep_expired_uploads(place.uploads)
    assert (await ann.http.get(url)).status_code == 404
    assert await place.stored_keys() == []
    assert await place.objects.clean(timedelta(0)) == 0


async def test_an_upload_that_never_rests_still_ends_before_the_store_forgets_its_parts(
    place: Place, ann: Sender
) -> None:
    url = await ann.begun(3 * PART)
    await ann.send(url, 0, os.urandom(PART))
    for day in range(1, 30):
        place.clock.advance(timedelta(days=1))
        await place.objects.clean(timedelta(days=31))
        await sweep_expired_uploads(place.uploads)
        assert (await place.caller().send(url, PART + day - 1, b"x")).status_code == 204
    place.clock.advance(timedelta(days=1))
    assert (await place.caller().send(url, PART + 29, b"x")).status_code == 410


async def test_what_has_become_something_is_remembered_for_a_week_and_leaves_no_trace(
    place: Place, ann: Sender
) -> None:
    url = await ann.begun(5)
    await ann.send(url, 0, b"12345")
    place.clock.advance(WEEK - MOMENT)
    assert await place.caller().offset(url) == 5
    place.clock.advance(MOMENT)
    await sweep_expired_uploads(place.uploads)
    assert await place.row(url) is None
    assert await place.kept(url) == b"12345"


async def test_giving_up_what_has_become_something_leaves_that_alone(place: Place, ann: Sender) -> None:
    url = await ann.begun(5)
    await ann.send(url, 0, b"12345")
    assert (await ann.http.delete(url, headers=TUS)).status_code == 204
    assert await place.kept(url) == b"12345"


async def test_a_renewed_session_goes_on_with_the_upload(place: Place, ann: Sender) -> None:
    url = await ann.begun(5)
    later = place.caller(Member(ANN.user_id, "new@example.org", "s-9"))
    assert (await later.send(url, 0, b"12345")).status_code == 204
    assert place.desk.received[0].owner == ANN


async def test_a_part_that_the_store_has_lost_never_makes_a_shorter_file(
    place: Place, ann: Sender, tmp_path: Path
) -> None:
    url = await ann.begun(2 * PART)
    await arrive(place, url, os.urandom(2 * PART))
    [lost] = (tmp_path / "objects" / "uploads").glob("*/00001")
    lost.unlink()
    answer = await ann.http.get(url)
    assert (answer.status_code, slug(answer.json())) == (410, "upload-ended")
    assert place.desk.received == []


@contextmanager
def files_no_larger_than(size: int) -> Generator[None]:
    """What a full disk is like: from there on, nothing more can be written to a file."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def test_a_full_disk_is_an_answer_and_the_upload_goes_on_when_there_is_room(place: Place, ann: Sender) -> None:
    data = os.urandom(2 * PART + 10)
    url = await ann.begun(len(data))
    await ann.send(url, 0, data[:1000])
    with files_no_larger_than(1024 * 1024):
        answer = await ann.send(url, 1000, data[1000:])
        assert (answer.status_code, slug(answer.json())) == (507, "out-of-space")
    offset = await ann.offset(url)
    await ann.send(url, offset, data[offset:])
    assert await place.kept(url) == data


@pytest.fixture
async def on_s3(s3: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Place]:
    from satchel.stores.distributed.objects_s3 import S3Objects

    for name, value in s3.environment().items():
        monkeypatch.setenv(name, value)
    prefix = f"uploads-{secrets.token_hex(6)}/"
    objects = await S3Objects.open(s3.bucket, region=s3.region, endpoint=s3.endpoint, prefix=prefix)
    async with a_place(tmp_path, objects) as place:
        yield place
    await objects.close()


async def test_uploads_go_to_s3_alike(on_s3: Place) -> None:
    ann = on_s3.caller()
    data = os.urandom(2 * PART + 3000)
    url = await ann.begun(len(data))
    await ann.send(url, 0, data[:1000])
    await ann.send(url, 1000, data[1000 : PART + 500])
    assert await ann.offset(url) == PART + 500
    on_s3.uploads.digests.take(url.rpartition("/")[2], PART + 500)
    await ann.send(url, PART + 500, data[PART + 500 :])
    assert await on_s3.kept(url) == data
    assert on_s3.desk.received[0].sha256 == hashlib.sha256(data).hexdigest()
    given_up = await ann.begun(2 * PART)
    await ann.send(given_up, 0, data[: PART + 100])
    assert (await ann.http.delete(given_up, headers=TUS)).status_code == 204
    assert await on_s3.stored_keys() == [f"pile/{url.rpartition('/')[2]}"]


async def test_what_is_reserved_for_unfinished_uploads_counts_until_they_have_become_something_or_nothing(
    place: Place, ann: Sender
) -> None:
    async def reserved() -> int:
        place.desk.refusal = OutOfSpace("Only looking.")
        assert (await place.caller().create(1)).status_code == 507
        place.desk.refusal = None
        return place.desk.admitted[-1].reserved_bytes

    assert await reserved() == 0
    finished, given_up, left_alone = await ann.begun(10), await ann.begun(200), await ann.begun(3000)
    assert await reserved() == 3210
    assert (await ann.send(finished, 0, b"0123456789")).status_code == 204
    assert await reserved() == 3200
    assert (await ann.http.delete(given_up, headers=TUS)).status_code == 204
    assert await reserved() == 3000
    place.clock.advance(WEEK)
    await sweep_expired_uploads(place.uploads)
    assert await reserved() == 0
    assert await place.row(left_alone) is None


async def test_whoever_begins_uploads_and_sends_nothing_takes_a_share_and_keeps_no_member_out(
    place: Place, ann: Sender, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reservations, "MOST_OF_NETWORK", 3)
    monkeypatch.setattr(reservations, "MOST_OF_NETWORKS", 5)
    monkeypatch.setattr(reservations, "MOST_OF_MEMBER", 4)

    async def begin(who: Member | Guest, address: str) -> int | str:
        try:
            row, _ = await upload_create.begin(place.uploads, who, 1000, DESCRIBED, address=address)
        except SatchelError as error:
            return error.slug
        return row.size_bytes

    gus, gil = Guest("guest-gus", "Gus"), Guest("guest-gil", "Gil")
    assert [await begin(gus, "192.0.2.1") for _ in range(3)] == [1000] * 3
    # As another guest, from the same network.
    assert await begin(gil, "192.0.2.1") == "too-many-uploads"
    assert [await begin(gil, "192.0.2.2") for _ in range(3)] == [1000, 1000, "too-many-uploads"]
    assert place.desk.admitted[-1].reserved_bytes == 4000
    # What they have announced is no reason to refuse a member, and neither is their number.
    begun = [await ann.begun(10) for _ in range(4)]
    assert place.desk.admitted[-1].reserved_bytes == 30
    refused = await ann.create(10)
    assert (refused.status_code, refused.json()["limit"]) == (409, 4)
    assert (await ann.http.delete(begun[0], headers=TUS)).status_code == 204
    assert await ann.begun(10)


async def test_a_creation_that_has_to_be_repeated_does_not_count_twice(place: Place, ann: Sender) -> None:
    for _ in range(2):
        assert (await ann.create(10, headers={"idempotency-key": "k"})).status_code in (200, 201)
    await ann.create(1)
    assert place.desk.admitted[-1].reserved_bytes == 10


async def test_what_a_store_failed_to_finish_is_no_second_file_when_it_is_sent_again(place: Place, ann: Sender) -> None:
    """The destination has the file, and only the answer of a store was lost."""
    headers = {**SENDS, "idempotency-key": "k"}
    place.desk.dies = Unavailable("The table store cannot be reached.")
    assert (await ann.create(5, content=b"bytes", headers=headers)).status_code == 503
    place.desk.dies = None
    answer = await ann.create(5, content=b"bytes", headers=headers)
    assert (answer.status_code, answer.headers["upload-offset"]) == (201, "5")
    assert len({arrived.upload_id for arrived in place.desk.received}) == 1
    assert len(await place.stored_keys()) == 1


async def test_a_key_outlasts_a_request_that_a_store_failed_while_another_goes_on(place: Place, ann: Sender) -> None:
    headers = {**SENDS, "idempotency-key": "k"}
    place.desk.gate = gate = asyncio.Event()
    going = asyncio.create_task(ann.create(5, content=b"bytes", headers=headers))
    while not place.desk.admitted:
        await asyncio.sleep(0)
    place.desk.gate, place.desk.refusal = None, Unavailable("Redis cannot be reached.")
    assert (await ann.create(5, content=b"bytes", headers=headers)).status_code == 503
    place.desk.refusal = None
    gate.set()
    first, again = await going, await ann.create(5, content=b"bytes", headers=headers)
    assert first.headers["location"] == again.headers["location"]
    assert len({arrived.upload_id for arrived in place.desk.received}) == 1


async def test_a_full_store_is_no_refusal_of_what_it_may_have_stored(place: Place, ann: Sender) -> None:
    headers = {**SENDS, "idempotency-key": "k"}
    place.desk.dies = OutOfSpace("The bucket is full.")
    assert (await ann.create(5, content=b"bytes", headers=headers)).status_code == 507
    place.desk.dies = None
    assert (await ann.create(5, content=b"bytes", headers=headers)).status_code == 201
    assert len({arrived.upload_id for arrived in place.desk.received}) == 1
