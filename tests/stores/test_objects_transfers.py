"""What every store of bytes promises of transfers: in parts, by signed link, in little memory, and for good."""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta

import pytest

from satchel.kernel.errors import Invalid
from satchel.stores.ports.objects import DEFAULT_TYPE, Corrupted, ObjectMissing, Objects, Part
from tests.services import python_environment
from tests.stores.harnesses_objects import (
    CHECKS_SIGNATURES,
    CHECKS_UPLOADS,
    DATES_UPLOADS,
    FREE_PART_NUMBERS,
    REPLACES_PARTS,
    ObjectsHarness,
    content,
    digest,
    proves,
    stream,
)

pytest_plugins = ("tests.stores.fixtures_objects",)
pytestmark = pytest.mark.asyncio(loop_scope="module")

MIB = 1024 * 1024
NOW = timedelta(0)
HOUR = timedelta(hours=1)


class Broken(Exception):
    """What a body may raise by itself."""


async def broken(*chunks: bytes) -> AsyncIterator[bytes]:
    for chunk in chunks:
        yield chunk
    raise Broken


async def put_part(objects: Objects, key: str, upload: str, number: int, data: bytes) -> Part:
    return await objects.put_part(key, upload, number, stream(data), length=len(data))


@proves("begin", "put_part", "parts", "complete")
async def test_parts_are_joined_in_the_order_of_their_numbers(objects: Objects, place: str) -> None:
    key = place + "x"
    bodies = {1: b"1" * 5 * MIB, 2: b"2" * 9 * MIB, 3: b"3"}
    await objects.put(key, stream(b"old"))
    upload = await objects.begin(key, content_type="image/png", metadata={"a": "ü"})
    sent = [await put_part(objects, key, upload, number, bodies[number]) for number in (3, 1, 2)]
    assert [(part.number, part.size_bytes) for part in sent] == [(3, 1), (1, 5 * MIB), (2, 9 * MIB)]
    assert list(await objects.parts(key, upload)) == sorted(sent, key=lambda part: part.number)
    assert await content(objects, key) == b"old"
    info = await objects.complete(key, upload, sent)
    assert (info.key, info.size_bytes, info.content_type, info.metadata) == (key, 14 * MIB + 1, "image/png", {"a": "ü"})
    assert info == await objects.head(key)
    assert digest(await content(objects, key)) == digest(bodies[1] + bodies[2] + bodies[3])
    with pytest.raises(ObjectMissing):
        await objects.parts(key, upload)
    assert await objects.clean(NOW) == 0


@proves("flush_parts")
async def test_parts_are_flushed_together_and_stay_what_they_are(objects: Objects, place: str) -> None:
    key = place + "x"
    upload = await objects.begin(key)
    bodies = {1: b"1" * 5 * MIB, 2: b"2"}
    parts = [
        await objects.put_part(key, upload, number, stream(body), length=len(body), durable=False)
        for number, body in bodies.items()
    ]
    await objects.flush_parts(key, upload, parts)
    assert list(await objects.parts(key, upload)) == parts
    await objects.complete(key, upload, parts)
    assert digest(await content(objects, key)) == digest(bodies[1] + bodies[2])


@proves("complete")
async def test_parts_are_numbered_freely_and_not_all_of_them_need_be_used(
    objects_harness: ObjectsHarness, objects: Objects, place: str
) -> None:
    first, second, unused = (2, 10_000, 7) if FREE_PART_NUMBERS in objects_harness.promises else (1, 2, 3)
    upload = await objects.begin(place + "x")
    parts = [await put_part(objects, place + "x", upload, first, b"1" * 5 * MIB)]
    parts += [await put_part(objects, place + "x", upload, second, b"2")]
    if FREE_PART_NUMBERS in objects_harness.promises:
        await put_part(objects, place + "x", upload, unused, b"unused")
    await objects.complete(place + "x", upload, parts)
    assert await content(objects, place + "x") == b"1" * 5 * MIB + b"2"


@proves("put_part")
async def test_a_part_can_be_sent_again(objects_harness: ObjectsHarness, objects: Objects, place: str) -> None:
    upload = await objects.begin(place + "x")
    await put_part(objects, place + "x", upload, 1, b"first")
    first = await put_part(objects, place + "x", upload, 1, b"first")
    assert list(await objects.parts(place + "x", upload)) == [first]
    if REPLACES_PARTS in objects_harness.promises:
        second = await put_part(objects, place + "x", upload, 1, b"second")
        assert list(await objects.parts(place + "x", upload)) == [second]
        with pytest.raises(Invalid):
            await objects.complete(place + "x", upload, [first])
        await objects.complete(place + "x", upload, [second])
        assert await content(objects, place + "x") == b"second"
    await objects.abort(place + "x", upload)


@proves("complete")
async def test_an_upload_that_cannot_be_completed_as_asked_stays_open(
    objects_harness: ObjectsHarness, objects: Objects, place: str
) -> None:
    key = place + "x"
    upload = await objects.begin(key)
    parts = [
        await put_part(objects, key, upload, number, bytes([64 + number]) * size)
        for number, size in ((1, 5 * MIB), (2, 5 * MIB - 1), (3, 3))
    ]
    one, two, three = parts
    wrong: list[list[Part]] = [
        [],
        parts,  # the second is too small to be followed by a third
        [one, one],
        [one, Part(4, 3, three.etag)],
        [one, Part(2, two.size_bytes, one.etag)],
        [one, Part(2, two.size_bytes + 1, two.etag)],
    ]
    for given in wrong:
        with pytest.raises(Invalid):
            await objects.complete(key, upload, given)
        with pytest.raises(ObjectMissing):
            await objects.head(key)
    assert list(await objects.parts(key, upload)) == parts
    if FREE_PART_NUMBERS in objects_harness.promises:
        await objects.complete(key, upload, [two, one])
        assert (await objects.head(key)).size_bytes == 10 * MIB - 1
    await objects.abort(key, upload)


@proves("put_part")
@pytest.mark.parametrize("size", [1000, 9 * MIB], ids=["small", "large"])
@pytest.mark.parametrize("fault", ["breaks", "short", "long"])
async def test_a_part_that_is_not_as_declared_is_not_kept(objects: Objects, place: str, fault: str, size: int) -> None:
    key, data = place + "x", b"n" * size
    chunks = [data[offset : offset + 100_000] for offset in range(0, size, 100_000)]
    upload = await objects.begin(key)
    sendings: dict[str, Callable[[], Awaitable[object]]] = {
        "breaks": lambda: objects.put_part(key, upload, 1, broken(*chunks), length=size + 1),
        "short": lambda: objects.put_part(key, upload, 1, stream(*chunks), length=size + 1),
        "long": lambda: objects.put_part(key, upload, 1, stream(*chunks), length=size - 1),
    }
    with pytest.raises(Broken if fault == "breaks" else Corrupted):
        await sendings[fault]()
    assert list(await objects.parts(key, upload)) == []
    await objects.abort(key, upload)
    assert await objects.clean(NOW) == 0


@proves("put_part", "parts", "complete", "abort")
@pytest.mark.parametrize("upload", ["", "nope", "../../etc", "0" * 26, "ü", "a b&c=d"])
async def test_an_upload_that_is_not_open_is_missing(
    objects_harness: ObjectsHarness, objects: Objects, place: str, upload: str
) -> None:
    key = place + "x"
    await objects.put(key, stream(b"kept"))
    with pytest.raises(ObjectMissing):
        await objects.parts(key, upload)
    with pytest.raises(ObjectMissing):
        await objects.complete(key, upload, [Part(1, 1, "00" * 16)])
    if CHECKS_UPLOADS in objects_harness.promises:
        with pytest.raises(ObjectMissing):
            await objects.put_part(key, upload, 1, stream(b"x"), length=1)
    await objects.abort(key, upload)
    assert await content(objects, key) == b"kept"


@proves("begin", "abort")
async def test_an_upload_belongs_to_its_key(objects_harness: ObjectsHarness, objects: Objects, place: str) -> None:
    upload = await objects.begin(place + "x")
    part = await put_part(objects, place + "x", upload, 1, b"1")
    for call in (
        lambda: put_part(objects, place + "y", upload, 1, b"1"),
        lambda: objects.parts(place + "y", upload),
        lambda: objects.complete(place + "y", upload, [part]),
    ):
        if CHECKS_UPLOADS in objects_harness.promises:
            with pytest.raises(ObjectMissing):
                await call()
            await objects.abort(place + "y", upload)
    assert list(await objects.parts(place + "x", upload)) == [part]
    await objects.abort(place + "x", upload)
    await objects.abort(place + "x", upload)
    with pytest.raises(ObjectMissing):
        await objects.parts(place + "x", upload)


@proves("put_part")
async def test_parts_are_numbered_from_1_to_10000(objects: Objects, place: str) -> None:
    upload = await objects.begin(place + "x")
    for number in (0, -1, 10_001):
        with pytest.raises(Invalid):
            await put_part(objects, place + "x", upload, number, b"x")
    with pytest.raises(Invalid):
        await objects.put_part(place + "x", upload, 1, stream(b"x"), length=-1)
    await objects.abort(place + "x", upload)


@proves("begin", "close")
async def test_an_upload_outlives_the_process_that_began_it(
    objects_harness: ObjectsHarness, objects: Objects, place: str
) -> None:
    other = await objects_harness.open()
    upload = await other.begin(place + "x", metadata={"a": "b"})
    first = await put_part(other, place + "x", upload, 1, b"1" * 5 * MIB)
    await other.close()
    assert list(await objects.parts(place + "x", upload)) == [first]
    second = await put_part(objects, place + "x", upload, 2, b"2")
    assert (await objects.complete(place + "x", upload, [first, second])).metadata == {"a": "b"}


@proves("clean")
async def test_cleaning_frees_uploads_that_are_old_and_leaves_the_others(
    objects_harness: ObjectsHarness, objects: Objects, place: str
) -> None:
    await objects.clean(NOW)
    upload = await objects.begin(place + "x")
    part = await put_part(objects, place + "x", upload, 1, b"1")
    if DATES_UPLOADS in objects_harness.promises:
        assert await objects.clean(HOUR) == 0
        assert list(await objects.parts(place + "x", upload)) == [part]
    await objects_harness.advance(1)
    assert await objects.clean(NOW) == 1
    with pytest.raises(ObjectMissing):
        await objects.parts(place + "x", upload)
    assert await objects.clean(NOW) == 0


@proves("signed", "sign_get")
async def test_a_link_reads_its_object(objects_harness: ObjectsHarness, objects: Objects, place: str) -> None:
    await objects.put(place + "ü 1", stream(b"bytes"), content_type="image/png")
    answer = await objects_harness.use_link(await objects.sign_get(place + "ü 1", HOUR), "GET", b"", {})
    assert (answer.status, answer.body, answer.headers["content-type"]) == (200, b"bytes", "image/png")
    missing = await objects_harness.use_link(await objects.sign_get(place + "none", HOUR), "GET", b"", {})
    assert missing.status == 404


@proves("sign_get")
async def test_a_link_can_name_the_download(objects_harness: ObjectsHarness, objects: Objects, place: str) -> None:
    await objects.put(place + "x", stream(b"bytes"))
    link = await objects.sign_get(place + "x", HOUR, download_name='Grüße/"1"\r\n.txt')
    answer = await objects_harness.use_link(link, "GET", b"", {})
    named = answer.headers["content-disposition"]
    assert named.startswith("attachment;")
    assert "filename*=UTF-8''Gr%C3%BC%C3%9Fe%2F%221%22.txt" in named
    with pytest.raises(Invalid):
        await objects.sign_get(place + "x", HOUR, download_name="")


@proves("signed", "sign_put")
async def test_a_link_stores_its_object(objects_harness: ObjectsHarness, objects: Objects, place: str) -> None:
    link = await objects.sign_put(place + "x", HOUR, content_type="image/png")
    for body in (b"once", b"or more"):
        answer = await objects_harness.use_link(link, "PUT", body, {"content-type": "image/png"})
        assert answer.status == 200
        assert await content(objects, place + "x") == body
    assert (await objects.head(place + "x")).content_type == "image/png"
    if CHECKS_SIGNATURES in objects_harness.promises:
        for headers in ({"content-type": "text/html"}, {}):
            assert (await objects_harness.use_link(link, "PUT", b"other", headers)).status == 403
        assert await content(objects, place + "x") == b"or more"
    plain = await objects.sign_put(place + "y", HOUR)
    assert (await objects_harness.use_link(plain, "PUT", b"y", {"content-type": DEFAULT_TYPE})).status == 200


@proves("signed")
async def test_a_link_is_worthless_for_anything_else(
    objects_harness: ObjectsHarness, objects: Objects, place: str
) -> None:
    """Moto does not look, so that there is nothing to see there."""
    await objects.put(place + "x", stream(b"bytes"))
    await objects.put(place + "z", stream(b"secret"))
    reading, writing = await objects.sign_get(place + "x", HOUR), await objects.sign_put(place + "x", HOUR)
    uses = [(reading, "PUT"), (reading, "DELETE"), (writing, "GET"), (writing, "DELETE")]
    uses += [(changed, "GET") for changed in _changed(reading)]
    if CHECKS_SIGNATURES in objects_harness.promises:
        for link, method in uses:
            answer = await objects_harness.use_link(link, method, b"new", {"content-type": DEFAULT_TYPE})
            assert answer.status in (400, 403, 404)
    assert await content(objects, place + "x") == b"bytes"


def _changed(link: str) -> list[str]:
    """The same link with one character changed, at places all over what is signed."""
    start = link.index("/", len("http://")) + 1
    changed: list[str] = []
    for place in range(start, len(link), 7):
        if link[place].isalnum() and link[place - 1] != "%" and link[place - 2] != "%":
            changed.append(link[:place] + ("x" if link[place] != "x" else "y") + link[place + 1 :])
    return changed


@proves("signed")
async def test_a_link_expires(objects_harness: ObjectsHarness, objects: Objects, place: str) -> None:
    await objects.put(place + "x", stream(b"bytes"))
    link = await objects.sign_get(place + "x", timedelta(seconds=1))
    await objects_harness.advance(2.1)
    if CHECKS_SIGNATURES in objects_harness.promises:
        assert (await objects_harness.use_link(link, "GET", b"", {})).status in (400, 403, 410)


@proves("sign_get", "sign_put")
async def test_a_link_lives_up_to_seven_days(objects: Objects, place: str) -> None:
    for lifetime in (timedelta(0), timedelta(seconds=-1), timedelta(days=7, seconds=1)):
        with pytest.raises(Invalid):
            await objects.sign_get(place + "x", lifetime)
        with pytest.raises(Invalid):
            await objects.sign_put(place + "x", lifetime)
    assert await objects.sign_get(place + "x", timedelta(days=7))


MEMORY_SCRIPT = """
import asyncio, resource, sys
{recipe}
MIB = 1024 * 1024

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024

async def stream(megabytes):
    for number in range(megabytes):
        yield bytes([number % 256]) * MIB

async def use(store, megabytes):
    await store.put("large", stream(megabytes), length=megabytes * MIB)
    came = 0
    async with store.read("large", start=1) as reading:
        async for chunk in reading:
            came += len(chunk)
    async with store.read("large") as reading:
        async for chunk in reading:
            came += len(chunk)
    assert came == 2 * megabytes * MIB - 1
    upload = await store.begin("parts")
    part = await store.put_part("parts", upload, 1, stream(megabytes // 2), length=megabytes // 2 * MIB)
    await store.complete("parts", upload, [part])
    await store.delete("large", "parts")

async def main():
    store = await opening
    await use(store, 20)
    before = peak()
    await use(store, 100)
    print("grew by", peak() - before, "MiB")
    await store.close()

asyncio.run(main())
"""


@pytest.mark.slow
@proves("streamed")
async def test_100_mib_go_through_in_little_memory(objects_harness: ObjectsHarness) -> None:
    output = await _run(MEMORY_SCRIPT, objects_harness)
    grown = int(output.split()[2])
    assert grown < 32


DYING_SCRIPT = """
import asyncio, os, signal
{recipe}

async def stream():
    yield b"kept"

async def main():
    store = await opening
    await store.put("dying", stream())
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""


@proves("durable")
async def test_what_was_put_survives_the_death_of_the_process(
    objects_harness: ObjectsHarness, objects: Objects
) -> None:
    await _run(DYING_SCRIPT, objects_harness, -signal.SIGKILL)
    assert await content(objects, "dying") == b"kept"
    assert [info.key for info in (await objects.list("dying")).objects] == ["dying"]


async def _run(script: str, harness: ObjectsHarness, expected: int = 0) -> str:
    """Run Python that uses the same store in a process of its own."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        script.format(recipe=harness.recipe),
        env=python_environment(**harness.environment),
        stdout=asyncio.subprocess.PIPE,
    )
    output, _ = await process.communicate()
    assert process.returncode == expected
    return output.decode()
