"""What every store of bytes keeps, refuses and means: names, whole objects, descriptions, ranges, listings, copies."""

import asyncio
import importlib
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta

import pytest

from satchel.kernel.errors import Invalid, TooLarge
from satchel.stores.ports.objects import (
    DEFAULT_TYPE,
    MAX_KEY_BYTES,
    MAX_METADATA_BYTES,
    MAX_PART_BYTES,
    MAX_PUT_BYTES,
    Corrupted,
    ObjectMissing,
    Objects,
)
from tests.stores.harnesses_objects import (
    FULL_METADATA,
    KEEPS_ETAGS,
    LONG_SEGMENTS,
    NESTS_KEYS,
    REPLACES_IN_ONE_STEP,
    TELLS_SPELLINGS_APART,
    ObjectsHarness,
    content,
    digest,
    not_promised,
    proves,
    stream,
    unproven,
)

pytest_plugins = ("tests.stores.fixtures_objects",)
pytestmark = pytest.mark.asyncio(loop_scope="module")

MIB = 1024 * 1024
NOW = timedelta(0)

HOSTILE_NAMES = [
    "with space",
    " leading and trailing ",
    "plus+and%20percent%2Fslash",
    "a?b=c&d#e",
    "quote'\"<>&amp;",
    "back\\slash",
    "$HOME",
    "`touch pwned`",
    "--version",
    "con",
    "aux.txt",
    "...",
    ".hidden",
    "~",
    "|*:",
    "{}[]^",
    "' OR 1=1 -- 1",
    "<script>alert(0)</script>",
    "%s%d%n",
    "田中さんにあげて下さい",
    "Ω≈ç√∫˜µ≤≥÷",
    "👾 🙇 💁 🙅",
    "ﷺ",
    "\u202etest\u202e",
    "\ufeffbyte order mark",
    "\u200bzero width",
    "Ṱ̺̺̕o͞ ̷i̲̬͇̪͙n̝̗͕v̟̜̘̦͟o̶̙̰̠kè͚̮̺̪̹̱̤",
    "nested/deeply/under/folders",
    "x" * 200,
]
ILLEGAL_NAMES = [
    "",
    "/",
    "/a",
    "a/",
    "a//b",
    ".",
    "..",
    "../../etc/passwd",
    "a/./b",
    "a/../b",
    "a\x00b",
    "line\nbreak",
    "delete\x7f",
    "next line\x85",
    "\ufffe",
    "\uffff",
    "half \ud83d",
    "x" * 1025,
    "ü" * 513,
]


class Broken(Exception):
    """What a body may raise by itself."""


async def broken(*chunks: bytes) -> AsyncIterator[bytes]:
    for chunk in chunks:
        yield chunk
    raise Broken


async def test_every_clause_and_method_of_the_contract_is_proven() -> None:
    for module in ("many", "reading", "transfers", "folder", "s3"):
        importlib.import_module(f"tests.stores.test_objects_{module}")
    assert unproven() == set()
    assert not_promised() == set()


@proves("named", "put", "read", "head", "list", "delete")
@pytest.mark.parametrize("name", HOSTILE_NAMES)
async def test_an_object_can_have_any_legal_name(objects: Objects, place: str, name: str) -> None:
    key = place + name
    stored = await objects.put(key, stream(name.encode()))
    assert await content(objects, key) == name.encode()
    assert (await objects.head(key)).key == key
    assert [(info.key, info.etag) for info in (await objects.list(place)).objects] == [(key, stored.etag)]
    await objects.delete(key)
    assert (await objects.list(place)).objects == []


@proves("named")
async def test_a_key_can_have_1024_bytes(objects_harness: ObjectsHarness, objects: Objects, place: str) -> None:
    room = MAX_KEY_BYTES - objects_harness.prefix_bytes - len(place)
    segments = ["é" * room] if LONG_SEGMENTS in objects_harness.promises else ["é" * 100] * 10
    key = place + "/".join(segments).encode()[:room].decode(errors="ignore").rstrip("/")
    await objects.put(key, stream(b"long"))
    assert [info.key for info in (await objects.list(place)).objects] == [key]
    with pytest.raises(Invalid):
        await objects.head(key + "é")


@proves("named")
@pytest.mark.parametrize("name", ILLEGAL_NAMES, ids=lambda name: ascii(name)[:20])
async def test_an_illegal_name_is_refused_by_every_method(objects: Objects, name: str) -> None:
    hour = timedelta(hours=1)
    calls: list[Callable[[], Awaitable[object]]] = [
        lambda: objects.put(name, stream(b"x")),
        lambda: content(objects, name),
        lambda: objects.head(name),
        lambda: objects.delete("fine", name),
        lambda: objects.copy(name, "fine"),
        lambda: objects.copy("fine", name),
        lambda: objects.begin(name),
        lambda: objects.put_part(name, "upload", 1, stream(b"x"), length=1),
        lambda: objects.parts(name, "upload"),
        lambda: objects.complete(name, "upload", []),
        lambda: objects.abort(name, "upload"),
        lambda: objects.sign_get(name, hour),
        lambda: objects.sign_put(name, hour),
    ]
    for call in calls:
        with pytest.raises(Invalid):
            await call()


@proves("named")
async def test_a_key_can_be_the_beginning_of_another(
    objects_harness: ObjectsHarness, objects: Objects, place: str
) -> None:
    keys = [f"{place}a", f"{place}a/b", f"{place}a/b/c"] if NESTS_KEYS in objects_harness.promises else [f"{place}a"]
    for key in keys:
        await objects.put(key, stream(key.encode()))
    for key in keys:
        assert await content(objects, key) == key.encode()
    await objects.delete(keys[0])
    assert [info.key for info in (await objects.list(place)).objects] == keys[1:]


@proves("named")
async def test_keys_that_look_alike_are_different(
    objects_harness: ObjectsHarness, objects: Objects, place: str
) -> None:
    names = ["Ab", "aB", "ab", "caf\u00e9", "cafe\u0301"]
    for name in names:
        if TELLS_SPELLINGS_APART in objects_harness.promises:
            with pytest.raises(ObjectMissing):
                await objects.head(place + name)
        await objects.put(place + name, stream(name.encode()))
    assert [await content(objects, place + name) for name in names] == [name.encode() for name in names]


@proves("put", "whole")
@pytest.mark.parametrize("size", [0, 1, 1000, 2 * MIB, 8 * MIB, 8 * MIB + 1, 17 * MIB], ids=str)
async def test_what_was_put_comes_back(
    objects_harness: ObjectsHarness, objects: Objects, place: str, size: int
) -> None:
    data = (b"0123456789abcdef" * (size // 16 + 1))[:size]
    chunks = [data[offset : offset + 300_000] for offset in range(0, size, 300_000)]
    stored = await objects.put(place + "x", stream(*chunks, b""), length=size, sha256=digest(data).upper())
    assert (stored.size_bytes, stored.sha256) == (size, digest(data))
    async with objects.read(place + "x") as reading:
        assert (reading.start, reading.length, reading.info.size_bytes) == (0, size, size)
        assert b"".join([chunk async for chunk in reading]) == data
    info = await objects.head(place + "x")
    assert info.size_bytes == size
    assert info.etag == stored.etag or KEEPS_ETAGS not in objects_harness.promises


@proves("whole", "clean")
@pytest.mark.parametrize("replacing", [False, True], ids=["new", "replacing"])
@pytest.mark.parametrize("size", [1000, 17 * MIB], ids=["small", "large"])
@pytest.mark.parametrize("fault", ["breaks", "short", "long", "digest"])
async def test_a_refused_put_leaves_what_was_there(
    objects: Objects, place: str, fault: str, size: int, replacing: bool
) -> None:
    data = b"n" * size
    if replacing:
        await objects.put(place + "x", stream(b"old"))
    puts: dict[str, Callable[[], Awaitable[object]]] = {
        "breaks": lambda: objects.put(place + "x", broken(data)),
        "short": lambda: objects.put(place + "x", stream(data), length=size + 1),
        "long": lambda: objects.put(place + "x", stream(data), length=size - 1),
        "digest": lambda: objects.put(place + "x", stream(data), length=size, sha256=digest(b"other")),
    }
    with pytest.raises(Broken if fault == "breaks" else Corrupted):
        await puts[fault]()
    if replacing:
        assert await content(objects, place + "x") == b"old"
    else:
        with pytest.raises(ObjectMissing):
            await objects.head(place + "x")
        assert (await objects.list(place)).objects == []
    assert await objects.clean(NOW) == 0


@proves("whole")
async def test_a_put_stops_reading_at_the_first_byte_too_many(objects: Objects, place: str) -> None:
    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield b"x" * 1000

    with pytest.raises(Corrupted):
        await objects.put(place + "x", endless(), length=10_500)


@proves("whole", "clean")
@pytest.mark.parametrize("before", [1000, 17 * MIB], ids=["early", "late"])
async def test_a_cancelled_put_leaves_what_was_there(objects: Objects, place: str, before: int) -> None:
    stalled = asyncio.Event()

    async def stalling() -> AsyncIterator[bytes]:
        for offset in range(0, before, MIB):
            yield b"n" * min(MIB, before - offset)
        stalled.set()
        await asyncio.Event().wait()

    await objects.put(place + "x", stream(b"old"))
    putting = asyncio.create_task(objects.put(place + "x", stalling()))
    await stalled.wait()
    putting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await putting
    assert await content(objects, place + "x") == b"old"
    assert await objects.clean(NOW) == 0


@proves("whole")
async def test_a_reader_sees_one_object_or_the_other_never_a_mixture(
    objects_harness: ObjectsHarness, objects: Objects, place: str
) -> None:
    seen: set[bytes] = set()

    async def keep_replacing() -> None:
        for letter in b"abababab":
            await objects.put(place + "x", stream(*[bytes([letter]) * MIB] * 3))

    await objects.put(place + "x", stream(*[b"b" * MIB] * 3))
    replacing = asyncio.create_task(keep_replacing())
    while not replacing.done() and REPLACES_IN_ONE_STEP in objects_harness.promises:
        seen.add(await content(objects, place + "x"))
    await replacing
    seen.add(await content(objects, place + "x"))
    assert seen <= {b"a" * 3 * MIB, b"b" * 3 * MIB}


@proves("put")
async def test_puts_of_one_key_at_once_leave_one_of_them(
    objects_harness: ObjectsHarness, objects: Objects, place: str
) -> None:
    at_once = 10 if REPLACES_IN_ONE_STEP in objects_harness.promises else 1
    bodies = [bytes([65 + number]) * 5000 for number in range(at_once)]
    await asyncio.gather(*[objects.put(place + "x", stream(body), length=5000) for body in bodies])
    assert await content(objects, place + "x") in bodies
    assert [info.key for info in (await objects.list(place)).objects] == [place + "x"]


@proves("put", "put_part")
async def test_more_than_can_be_stored_in_one_piece_is_refused_at_once(objects: Objects, place: str) -> None:
    with pytest.raises(TooLarge):
        await objects.put(place + "x", broken(), length=MAX_PUT_BYTES + 1)
    upload = await objects.begin(place + "x")
    with pytest.raises(TooLarge):
        await objects.put_part(place + "x", upload, 1, broken(), length=MAX_PART_BYTES + 1)
    await objects.abort(place + "x", upload)


@proves("put")
async def test_a_declared_digest_that_is_none_is_refused(objects: Objects, place: str) -> None:
    for bad in ("", "abc", "g" * 64):
        with pytest.raises(Invalid):
            await objects.put(place + "x", stream(b"x"), sha256=bad)
    with pytest.raises(Invalid):
        await objects.put(place + "x", stream(b"x"), length=-1)


METADATA = {
    "plain": "value",
    "empty": "",
    "spaces": "  around  and   between ",
    "text": "Grüße, 世界 👋",
    "percent": "100% %20 %zz",
    "lines": "one\r\ntwo\x00\x7f",
    "quoted": "\"a\", 'b' =?UTF-8?B?eA==?=",
    "0-9": "digits",
}
HEADERS = "cache-control cachecontrol content-disposition content-encoding content-language content-length"
MORE_HEADERS = "content-type contenttype etag range storage-class storageclass x-amz-meta-x"


@proves("described", "put", "head", "copy", "begin")
async def test_type_and_metadata_come_back_as_given(
    objects_harness: ObjectsHarness, objects: Objects, place: str
) -> None:
    kind = "text/plain; charset=utf-8"
    await objects.put(place + "small", stream(b"x"), content_type=kind, metadata=METADATA)
    await objects.put(place + "large", stream(b"x" * 9 * MIB), content_type=kind, metadata=METADATA)
    upload = await objects.begin(place + "parts", content_type=kind, metadata=METADATA)
    part = await objects.put_part(place + "parts", upload, 1, stream(b"x"), length=1)
    await objects.complete(place + "parts", upload, [part])
    await objects.copy(place + "small", place + "copied")
    for name in ("small", "large", "parts", "copied"):
        info = await objects.head(place + name)
        assert info.content_type == kind
        assert objects_harness.kept_in_copy(info, METADATA)
        async with objects.read(place + name) as reading:
            assert reading.info == info


@proves("described")
async def test_metadata_can_be_named_like_headers(objects: Objects, place: str) -> None:
    metadata = {name: f"value of {name}" for name in f"{HEADERS} {MORE_HEADERS}".split()}
    await objects.put(place + "x", stream(b"x"), content_type="image/png", metadata=metadata)
    info = await objects.head(place + "x")
    assert (info.content_type, info.metadata) == ("image/png", metadata)


@proves("described")
async def test_what_is_not_described_is_bytes_without_metadata(objects: Objects, place: str) -> None:
    await objects.put(place + "x", stream(b"x"), content_type="image/png", metadata={"a": "b"})
    await objects.put(place + "x", stream(b"x"))
    info = await objects.head(place + "x")
    assert (info.content_type, info.metadata) == (DEFAULT_TYPE, {})


@proves("described")
async def test_metadata_has_2048_bytes_once_encoded(
    objects_harness: ObjectsHarness, objects: Objects, place: str
) -> None:
    room = (MAX_METADATA_BYTES if FULL_METADATA in objects_harness.promises else 1024) - len("text" + "fill")
    fits = {"text": "ü" * (room // 6), "fill": "x" * (room % 6)}
    too_much = {"x": "y" * MAX_METADATA_BYTES}
    await objects.put(place + "x", stream(b"x"), metadata=fits)
    assert (await objects.head(place + "x")).metadata == fits
    with pytest.raises(Invalid):
        await objects.put(place + "x", stream(b"y"), metadata=too_much)
    assert await content(objects, place + "x") == b"x"


@proves("described")
@pytest.mark.parametrize(
    "metadata", [{"Upper": "x"}, {"": "x"}, {"under_score": "x"}, {"ü": "x"}, {"a": "\udc00"}], ids=ascii
)
async def test_metadata_that_cannot_be_kept_is_refused(objects: Objects, place: str, metadata: dict[str, str]) -> None:
    for call in (
        lambda: objects.put(place + "x", stream(b"x"), metadata=metadata),
        lambda: objects.begin(place + "x", metadata=metadata),
        lambda: objects.copy(place + "x", place + "y", metadata=metadata),
    ):
        with pytest.raises(Invalid):
            await call()


@proves("described")
@pytest.mark.parametrize("content_type", ["", "text", "text/", "/plain", "text/plain\r\nx: y", "ü/x", "a/" + "b" * 300])
async def test_a_type_that_is_none_is_refused(objects: Objects, place: str, content_type: str) -> None:
    for call in (
        lambda: objects.put(place + "x", stream(b"x"), content_type=content_type),
        lambda: objects.begin(place + "x", content_type=content_type),
        lambda: objects.sign_put(place + "x", timedelta(hours=1), content_type=content_type),
    ):
        with pytest.raises(Invalid):
            await call()
