"""tus 1.0 word by word: what each request is answered with, and that a refused one changes nothing."""

import hashlib
import os
from datetime import timedelta
from email.utils import parsedate_to_datetime

import httpx
import pytest

from satchel.kernel.errors import Forbidden
from tests.edge.given import ADA, GUS, slug
from tests.uploads.given import MAX_BYTES, PART, SENDS, TUS, Place, Sender, checksum, pairs

HELLO = b"hello, upload"
NOWHERE = "/api/v1/uploads/0123456789abcdefghjkmnpqrs"


async def test_options_tells_everybody_what_is_offered(place: Place) -> None:
    answer = await place.caller(None).http.options("/api/v1/uploads")
    assert answer.status_code == 204
    assert answer.headers["tus-resumable"] == answer.headers["tus-version"] == "1.0.0"
    assert answer.headers["tus-extension"] == "creation,creation-with-upload,checksum,expiration,termination"
    assert answer.headers["tus-max-size"] == str(MAX_BYTES)
    assert answer.headers["tus-checksum-algorithm"] == "sha1,sha256,md5"


async def test_an_upload_goes_from_creation_to_what_it_became(place: Place, ann: Sender) -> None:
    created = await ann.create(len(HELLO))
    assert created.status_code == 201
    url = created.headers["location"]
    assert parsedate_to_datetime(created.headers["upload-expires"]).timestamp() == place.clock() + 7 * 86400
    assert await ann.offset(url) == 0
    first = await ann.send(url, 0, HELLO[:5])
    assert (first.status_code, first.headers["upload-offset"]) == (204, "5")
    last = await ann.send(url, 5, HELLO[5:])
    assert (last.status_code, last.headers["upload-offset"]) == (204, str(len(HELLO)))
    assert await place.kept(url) == HELLO
    [arrived] = place.desk.received
    assert arrived.sha256 == hashlib.sha256(HELLO).hexdigest()
    assert (arrived.name, arrived.size_bytes, arrived.owner) == ("a.txt", len(HELLO), place.desk.admitted[0].owner)
    state = (await ann.http.get(url)).json()
    assert state["became"] == f"pile-{arrived.upload_id}"
    assert (state["name"], state["size_bytes"], state["offset_bytes"]) == ("a.txt", len(HELLO), len(HELLO))
    assert await place.stored_keys() == [f"pile/{arrived.upload_id}"]


async def test_looking_at_an_upload_tells_where_to_go_on_and_what_was_said_of_it(ann: Sender) -> None:
    said = pairs(destination="desk", filename='Frühling \U0001f337/\u202e".txt', filetype="text/plain", album="")
    url = (await ann.create(100, headers={"upload-metadata": said})).headers["location"]
    await ann.send(url, 0, b"x" * 40)
    answer = await ann.http.head(url, headers=TUS)
    assert answer.status_code == 200
    assert answer.headers["upload-offset"] == "40"
    assert answer.headers["upload-length"] == "100"
    assert answer.headers["upload-metadata"] == said
    assert answer.headers["cache-control"] == "no-store"
    assert "upload-expires" in answer.headers


async def test_the_first_bytes_can_come_with_the_creation(place: Place, ann: Sender) -> None:
    part = await ann.create(len(HELLO), content=HELLO[:4], headers=SENDS)
    assert (part.status_code, part.headers["upload-offset"]) == (201, "4")
    await ann.send(part.headers["location"], 4, HELLO[4:])
    assert await place.kept(part.headers["location"]) == HELLO
    whole = await ann.create(len(HELLO), content=HELLO, headers=SENDS)
    assert (whole.status_code, whole.headers["upload-offset"]) == (201, str(len(HELLO)))
    assert await place.kept(whole.headers["location"]) == HELLO


async def test_an_empty_file_is_there_once_it_is_created(place: Place, ann: Sender) -> None:
    url = await ann.begun(0)
    assert await place.kept(url) == b""
    assert (await ann.http.get(url)).json()["became"] == f"pile-{url.rpartition('/')[2]}"


async def test_bytes_for_another_offset_are_refused_and_change_nothing(place: Place, ann: Sender) -> None:
    url = await ann.begun(len(HELLO))
    await ann.send(url, 0, HELLO[:5])
    for offset in (0, 4, 6, len(HELLO), 10**17):
        answer = await ann.send(url, offset, HELLO[5:6])
        assert (answer.status_code, slug(answer.json())) == (409, "upload-offset")
        assert answer.json()["offset_bytes"] == 5
    await ann.send(url, 5, HELLO[5:])
    assert await place.kept(url) == HELLO


@pytest.mark.parametrize("version", [None, "0.2.2", "1.0", "2.0.0"])
async def test_other_versions_of_the_protocol_are_refused_with_those_spoken(ann: Sender, version: str | None) -> None:
    url = await ann.begun(5)
    said = {"tus-resumable": version} if version else {}
    sends = {"content-type": SENDS["content-type"], "upload-offset": "0", **said}
    for answer in (
        await ann.http.post("/api/v1/uploads", headers={"upload-length": "5", **said}),
        await ann.http.head(url, headers=said),
        await ann.http.patch(url, content=b"12345", headers=sends),
        await ann.http.delete(url, headers=said),
    ):
        assert answer.status_code == 412
        assert answer.headers["tus-version"] == "1.0.0"
    assert await ann.offset(url) == 0


async def test_what_is_larger_than_the_limit_is_refused_before_it_comes(place: Place, ann: Sender) -> None:
    assert (await ann.create(MAX_BYTES)).status_code == 201
    answer = await ann.create(MAX_BYTES + 1)
    assert (answer.status_code, answer.json()["limit_bytes"]) == (413, MAX_BYTES)
    assert len(place.desk.admitted) == 1


async def test_a_body_of_another_type_is_refused(ann: Sender) -> None:
    url = await ann.begun(5)
    for kind in ("application/octet-stream", "text/plain", ""):
        answer = await ann.http.patch(url, content=b"1", headers={**TUS, "upload-offset": "0", "content-type": kind})
        assert (answer.status_code, slug(answer.json())) == (415, "wrong-media-type")
        answer = await ann.create(5, content=b"1", headers={"content-type": kind})
        assert answer.status_code == 415
    assert await ann.offset(url) == 0


async def test_more_bytes_than_announced_are_refused_and_nothing_past_the_end_is_kept(
    place: Place, ann: Sender
) -> None:
    url = await ann.begun(5)
    assert (await ann.send(url, 0, b"123456")).status_code == 413
    assert await ann.offset(url) == 0

    async def unannounced():
        yield b"1234"
        yield b"56"

    answer = await ann.send(url, 0, unannounced())
    assert (answer.status_code, slug(answer.json())) == (413, "upload-too-large")
    assert await ann.offset(url) == 0
    assert (await ann.create(5, content=b"123456", headers=SENDS)).status_code == 413
    assert (await ann.create(5, content=unannounced(), headers=SENDS)).status_code == 413
    assert await place.stored_keys() == []


@pytest.mark.parametrize("algorithm", ["sha1", "sha256", "md5"])
async def test_a_matching_checksum_lets_the_bytes_in_and_another_keeps_all_of_them_out(
    place: Place, ann: Sender, algorithm: str
) -> None:
    data = os.urandom(2 * PART + 1000)
    url = await ann.begun(len(data))
    wrong = await ann.send(url, 0, data[: PART + 10], **{"upload-checksum": checksum(algorithm, b"other")})
    assert (wrong.status_code, slug(wrong.json())) == (460, "upload-checksum")
    assert await ann.offset(url) == 0
    assert await place.stored_keys() == []
    right = await ann.send(url, 0, data[: PART + 10], **{"upload-checksum": checksum(algorithm, data[: PART + 10])})
    assert (right.status_code, right.headers["upload-offset"]) == (204, str(PART + 10))
    junk = os.urandom(PART + 990)
    wrong = await ann.send(url, PART + 10, junk, **{"upload-checksum": checksum(algorithm, b"other")})
    assert wrong.status_code == 460
    assert await ann.offset(url) == PART + 10
    rest = data[PART + 10 :]
    await ann.send(url, PART + 10, rest, **{"upload-checksum": checksum(algorithm, rest)})
    assert await place.kept(url) == data
    assert place.desk.received[0].sha256 == hashlib.sha256(data).hexdigest()


async def test_a_creation_that_is_repeated_with_its_key_finds_the_same_upload(place: Place, ann: Sender) -> None:
    key = {"idempotency-key": "a-1_b"}
    first = await ann.create(10, headers={**SENDS, **key}, content=b"01234")
    again = await ann.create(10, headers={**SENDS, **key}, content=b"01234")
    assert (again.status_code, again.headers["location"]) == (201, first.headers["location"])
    assert again.headers["upload-offset"] == "5"
    whole = await ann.create(3, headers={**SENDS, "idempotency-key": "whole"}, content=b"abc")
    again = await ann.create(3, headers={**SENDS, "idempotency-key": "whole"}, content=b"abc")
    assert (again.headers["location"], again.headers["upload-offset"]) == (whole.headers["location"], "3")
    assert len(place.desk.received) == 1
    assert (await ann.create(10, headers=key | {"idempotency-key": "other"})).headers["location"] not in (
        first.headers["location"],
        whole.headers["location"],
    )
    gus = place.caller(GUS)
    assert (await gus.create(10, headers=key)).headers["location"] != first.headers["location"]


@pytest.mark.parametrize("said", ["filename", "relativePath", "modified"])
async def test_a_key_that_comes_with_another_file_of_the_same_size_is_refused(ann: Sender, said: str) -> None:
    about = {"filename": "a.txt", "relativePath": "d/a.txt", "modified": "2020-02-20T20:20:20Z"}

    async def begin(about: dict[str, str]) -> httpx.Response:
        metadata = pairs(destination="desk", **about)
        return await ann.create(6, headers={"idempotency-key": "k", "upload-metadata": metadata})

    assert (await begin(about)).status_code == 201
    other = await begin({**about, said: f"{about[said]} other"})
    assert (other.status_code, other.json()["type"]) == (422, "/problems#upload-key-reused")


async def test_a_key_whose_upload_was_given_up_begins_a_new_one(ann: Sender) -> None:
    key = {"idempotency-key": "k"}
    first = (await ann.create(10, headers=key)).headers["location"]
    assert (await ann.http.delete(first, headers=TUS)).status_code == 204
    second = (await ann.create(10, headers=key)).headers["location"]
    assert second != first
    assert (await ann.create(10, headers=key)).headers["location"] == second


async def test_a_key_that_is_none_and_a_length_given_twice_are_refused(ann: Sender) -> None:
    assert (await ann.create(10, headers={"idempotency-key": "no spaces"})).status_code == 400
    twice = [("tus-resumable", "1.0.0"), ("upload-length", "1"), ("upload-length", "2")]
    assert (await ann.http.post("/api/v1/uploads", headers=twice)).status_code == 400


async def test_a_creation_whose_bytes_are_wrong_leaves_nothing(place: Place, ann: Sender) -> None:
    answer = await ann.create(5, content=b"12345", headers={**SENDS, "upload-checksum": checksum("sha1", b"54321")})
    assert answer.status_code == 460
    assert place.desk.received == []
    assert await place.stored_keys() == []


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("upload-length", ""),
        ("upload-length", "-1"),
        ("upload-length", "1.5"),
        ("upload-length", "9" * 30),
        ("upload-defer-length", "1"),
        ("upload-metadata", "destination !!!"),
        ("upload-metadata", "destination ZGVzaw==,destination ZGVzaw=="),
        ("upload-metadata", "destination ZGVzaw==,,"),
        ("upload-metadata", "destination /w=="),
        ("upload-metadata", pairs(destination="desk", filename="a\0b")),
        ("upload-metadata", pairs(destination="desk", filename="a" * 8000)),
        ("upload-checksum", "crc99 AAAA"),
        ("upload-checksum", "sha1"),
        ("upload-checksum", "sha1 AAAA"),
        ("upload-checksum", "sha1 ****"),
    ],
)
async def test_headers_that_cannot_be_read_are_named(place: Place, ann: Sender, header: str, value: str) -> None:
    answer = await ann.create(5, headers={header: value})
    assert (answer.status_code, slug(answer.json())) == (400, "upload-header")
    assert header.split("-")[1] in answer.json()["header"].lower() or header == "upload-defer-length"
    assert place.desk.admitted == []


async def test_an_offset_that_is_no_number_is_refused(ann: Sender) -> None:
    url = await ann.begun(5)
    for offset in ("", "-1", "x"):
        answer = await ann.http.patch(url, content=b"1", headers={**SENDS, "upload-offset": offset})
        assert (answer.status_code, answer.json()["header"]) == (400, "Upload-Offset")
    assert (await ann.http.patch(url, content=b"1", headers=SENDS)).status_code == 400


async def test_an_upload_says_where_it_goes_and_its_destination_has_the_word(place: Place, ann: Sender) -> None:
    for said in ("", pairs(destination="moon"), pairs(filename="desk")):
        answer = await ann.create(5, headers={"upload-metadata": said})
        assert (answer.status_code, slug(answer.json())) == (422, "upload-destination")
        assert answer.json()["destinations"] == ["desk"]
    place.desk.refusal = Forbidden("Not today.")
    assert (await ann.create(5)).json()["detail"] == "Not today."
    place.desk.refusal = None
    details = pairs(destination="desk", filetype="<nonsense>", album="summer", relativePath="a/../b")
    await ann.create(5, headers={"upload-metadata": details})
    announced = place.desk.admitted[-1]
    assert (announced.name, announced.content_type) == ("", "application/octet-stream")
    assert announced.details == {"album": "summer", "relativePath": "a/../b"}


async def test_an_upload_that_is_given_up_is_gone_with_its_bytes(place: Place, ann: Sender) -> None:
    url = await ann.begun(3 * PART)
    await ann.send(url, 0, os.urandom(PART + 100))
    answer = await ann.http.delete(url, headers=TUS)
    assert (answer.status_code, answer.headers["tus-resumable"]) == (204, "1.0.0")
    for again in (
        await ann.http.head(url, headers=TUS),
        await ann.http.get(url),
        await ann.send(url, PART + 100, b"1"),
        await ann.http.delete(url, headers=TUS),
    ):
        assert again.status_code == 410
    assert await place.stored_keys() == []
    row = await place.row(url)
    assert row is not None
    assert row.multipart
    assert await place.objects.clean(timedelta(0)) == 0


async def test_a_proxy_that_lets_only_post_through_is_no_hindrance(place: Place, ann: Sender) -> None:
    url = await ann.begun(len(HELLO))
    sent = await ann.http.post(
        url, content=HELLO[:3], headers={**SENDS, "upload-offset": "0", "x-http-method-override": "PATCH"}
    )
    assert (sent.status_code, sent.headers["upload-offset"]) == (204, "3")
    asked = await ann.http.post(url, headers={**TUS, "x-http-method-override": "HEAD"})
    assert asked.headers["upload-offset"] == "3"
    assert (await ann.http.post(url, headers={**TUS, "x-http-method-override": "DELETE"})).status_code == 204
    assert (await ann.http.head(url, headers=TUS)).status_code == 410
    for strange in ("PUT", "POST", ""):
        answer = await ann.http.post(url, headers={**TUS, "x-http-method-override": strange})
        assert answer.status_code == 405
        assert answer.headers["tus-resumable"] == "1.0.0"


async def test_an_upload_of_somebody_else_looks_like_none(place: Place, ann: Sender) -> None:
    url = await ann.begun(5)
    for other in (place.caller(ADA), place.caller(GUS)):
        for address in (url, NOWHERE, "/api/v1/uploads/x", "/api/v1/uploads/" + "y" * 3000):
            answers = (
                await other.http.head(address, headers=TUS),
                await other.http.get(address),
                await other.send(address, 0, b"12345"),
                await other.http.delete(address, headers=TUS),
            )
            assert [each.status_code for each in answers] == [404] * 4
            assert {slug(each.json()) for each in answers[1:]} == {"upload-missing"}
    assert await ann.offset(url) == 0


async def test_a_guest_can_upload_and_goes_on_with_a_renewed_pass(place: Place) -> None:
    url = await place.caller(GUS).begun(4)
    place.clock.advance(60)
    assert (await place.caller(GUS).send(url, 0, b"1234")).status_code == 204
    assert place.desk.received[0].owner == GUS


@pytest.mark.parametrize("who", ["stranger", "expired"])
async def test_those_who_are_nobody_are_asked_to_sign_in_in_the_words_of_the_protocol(place: Place, who: str) -> None:
    ann = place.caller()
    url = await ann.begun(5)
    nobody = place.caller(None) if who == "stranger" else ann
    place.clock.advance(timedelta(minutes=16))
    for answer in (
        await nobody.create(5),
        await nobody.http.head(url, headers=TUS),
        await nobody.http.get(url),
        await nobody.send(url, 0, b"12345"),
        await nobody.http.delete(url, headers=TUS),
    ):
        assert answer.status_code == 401
        assert answer.headers["tus-resumable"] == "1.0.0"
        assert answer.headers["content-type"] == "application/problem+json"
    assert await place.caller().offset(url) == 0


async def test_unfinished_uploads_are_listed_until_they_end(place: Place, ann: Sender) -> None:
    half = await ann.begun(10)
    await ann.send(half, 0, b"01234")
    place.clock.advance(timedelta(seconds=1))
    other = await ann.begun(7)
    assert (await ann.create(3, headers=SENDS, content=b"abc")).status_code == 201

    async def listed(sender: Sender) -> list[tuple[str, int, int]]:
        found = (await sender.http.get("/api/v1/uploads")).json()["uploads"]
        return [(each["upload_id"], each["offset_bytes"], each["size_bytes"]) for each in found]

    ids = [url.rpartition("/")[2] for url in (half, other)]
    assert await listed(ann) == [(ids[1], 0, 7), (ids[0], 5, 10)]
    assert await listed(place.caller(GUS)) == []
    assert (await ann.http.delete(f"/api/v1/uploads/{ids[1]}", headers=TUS)).status_code == 204
    assert await listed(ann) == [(ids[0], 5, 10)]
    assert (await ann.send(half, 5, b"56789")).status_code == 204
    assert await listed(ann) == []
