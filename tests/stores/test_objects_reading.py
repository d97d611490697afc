"""What every store of bytes answers to those who read: ranges, listings, copies, and what is gone."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from satchel.kernel.errors import Invalid
from satchel.stores.ports.objects import DEFAULT_TYPE, ObjectMissing, Objects, RangeUnsatisfiable
from tests.stores.harnesses_objects import (
    COPIES_PARTS,
    REPLACES_IN_ONE_STEP,
    ObjectsHarness,
    content,
    digest,
    proves,
    stream,
)

pytest_plugins = ("tests.stores.fixtures_objects",)
pytestmark = pytest.mark.asyncio(loop_scope="module")

MIB = 1024 * 1024
TEN = b"0123456789"
RANGES: list[tuple[int, int | None, bytes]] = [
    (0, None, TEN),
    (0, 10, TEN),
    (0, 11, TEN),
    (0, 0, b""),
    (0, 1, b"0"),
    (3, 4, b"3456"),
    (9, None, b"9"),
    (9, 1000, b"9"),
    (5, 0, b""),
    (-1, None, b"9"),
    (-3, 2, b"78"),
    (-10, None, TEN),
    (-11, None, TEN),
    (-11, 3, b"012"),
]


@proves("read")
@pytest.mark.parametrize(("start", "length", "expected"), RANGES)
async def test_a_part_of_an_object_can_be_read(
    objects: Objects, place: str, start: int, length: int | None, expected: bytes
) -> None:
    await objects.put(place + "x", stream(TEN), content_type="text/plain", metadata={"a": "b"})
    async with objects.read(place + "x", start=start, length=length) as reading:
        assert b"".join([chunk async for chunk in reading]) == expected
        assert (reading.start, reading.length) == (max(10 + start, 0) if start < 0 else start, len(expected))
        assert (reading.info.size_bytes, reading.info.content_type) == (10, "text/plain")


@proves("read")
async def test_a_range_past_the_end_is_refused_except_in_an_empty_object(objects: Objects, place: str) -> None:
    await objects.put(place + "ten", stream(TEN))
    await objects.put(place + "empty", stream())
    for key, start in ((place + "ten", 10), (place + "ten", 11), (place + "empty", 1)):
        for length in (None, 0, 5):
            with pytest.raises(RangeUnsatisfiable):
                await content(objects, key, start=start, length=length)
    for start, length in ((0, None), (0, 0), (0, 5), (-3, None)):
        assert await content(objects, place + "empty", start=start, length=length) == b""
    with pytest.raises(Invalid):
        await content(objects, place + "ten", length=-1)


@proves("read")
async def test_a_part_of_a_large_object_can_be_read(objects: Objects, place: str) -> None:
    data = bytes(range(256)) * (12 * 4096)
    await objects.put(place + "x", stream(data))
    for start, length in ((MIB - 1, 2), (5 * MIB + 7, 3 * MIB), (-1, None), (len(data) - 3, 100)):
        end = None if length is None else start + length
        assert await content(objects, place + "x", start=start, length=length) == data[start:end]


@proves("read")
async def test_what_was_opened_stays_readable_though_it_be_replaced_or_deleted(objects: Objects, place: str) -> None:
    await objects.put(place + "x", stream(*[b"a" * MIB] * 5))
    async with objects.read(place + "x") as reading:
        chunks = aiter(reading)
        begin = await anext(chunks)
        await objects.put(place + "x", stream(b"new"))
        await objects.delete(place + "x")
        assert begin + b"".join([chunk async for chunk in chunks]) == b"a" * 5 * MIB


@proves("read", "head", "copy")
async def test_a_missing_object_is_missing_to_every_method(objects: Objects, place: str) -> None:
    for call in (
        lambda: content(objects, place + "x"),
        lambda: content(objects, place + "x", start=3),
        lambda: objects.head(place + "x"),
        lambda: objects.copy(place + "x", place + "y"),
    ):
        with pytest.raises(ObjectMissing):
            await call()


@proves("head")
async def test_the_etag_changes_with_the_bytes_and_only_with_them(objects: Objects, place: str) -> None:
    first = await objects.put(place + "x", stream(b"one"))
    second = await objects.put(place + "x", stream(b"two"))
    again = await objects.put(place + "x", stream(b"one"), metadata={"a": "b"})
    assert first.etag == again.etag != second.etag
    assert '"' not in first.etag


@proves("head")
async def test_an_object_knows_when_it_was_written(
    objects_harness: ObjectsHarness, objects: Objects, place: str
) -> None:
    await objects.put(place + "x", stream(b"1"))
    before = (await objects.head(place + "x")).modified
    await objects_harness.advance(1.1)
    await objects.put(place + "x", stream(b"2"))
    after = (await objects.head(place + "x")).modified
    assert timedelta(0) < after - before < timedelta(minutes=1)
    assert after > datetime(2020, 1, 1, tzinfo=UTC)


@proves("list")
async def test_keys_are_listed_in_the_order_of_their_bytes(objects: Objects, place: str) -> None:
    names = ["a", "a b", "a-b", "a.b", "a0", "aa", "b/1", "b/10", "b/2", "b0", "Z", "é", "~", "～", "𐀀", "\ue000"]
    for name in names:
        await objects.put(place + name, stream(b"x"), metadata={"not": "listed"})
    expected = sorted((place + name for name in names), key=str.encode)
    listed = await objects.list(place)
    assert [info.key for info in listed.objects] == expected
    assert listed.after is None
    assert {(info.size_bytes, info.content_type, len(info.metadata)) for info in listed.objects} == {
        (1, DEFAULT_TYPE, 0)
    }
    for limit in (1, 3, len(names) - 1, len(names)):
        assert await _pages(objects, place, limit) == expected


async def _pages(objects: Objects, prefix: str, limit: int) -> list[str]:
    found: list[str] = []
    after: str | None = ""
    while after is not None:
        page = await objects.list(prefix, after=after, limit=limit)
        assert len(page.objects) == limit or page.after is None
        found += [info.key for info in page.objects]
        after = page.after
    return found


@proves("list")
async def test_a_prefix_is_any_text_and_listing_goes_on_after_any_text(objects: Objects, place: str) -> None:
    for name in ("ab", "abc", "abd/1", "abd/2", "b"):
        await objects.put(place + name, stream(b"x"))

    async def names(prefix: str, after: str = "") -> list[str]:
        listed = await objects.list(place + prefix, after=after and place + after)
        return [info.key.removeprefix(place) for info in listed.objects]

    assert await names("ab") == ["ab", "abc", "abd/1", "abd/2"]
    assert await names("abd") == ["abd/1", "abd/2"]
    assert await names("abd/") == ["abd/1", "abd/2"]
    assert await names("nothing") == []
    assert await names("", "abb") == ["abc", "abd/1", "abd/2", "b"]
    assert await names("ab", "abd/1") == ["abd/2"]
    assert await names("abd", "a") == ["abd/1", "abd/2"]
    assert await names("ab", "b") == []
    for limit in (0, -1, 1001):
        with pytest.raises(Invalid):
            await objects.list(place, limit=limit)


@proves("delete")
async def test_deleting_takes_away_what_is_there_and_minds_nothing_else(objects: Objects, place: str) -> None:
    for name in "abc":
        await objects.put(place + name, stream(b"x"))
    await objects.delete(place + "a", place + "never", place + "b")
    await objects.delete(place + "a")
    await objects.delete()
    assert [info.key for info in (await objects.list(place)).objects] == [place + "c"]
    with pytest.raises(ObjectMissing):
        await objects.head(place + "a")


@proves("copy")
async def test_a_copy_is_the_same_but_for_what_was_asked(
    objects_harness: ObjectsHarness, objects: Objects, place: str
) -> None:
    await objects.put(place + "x", stream(TEN), content_type="image/png", metadata={"old": "1"})
    await objects.copy(place + "x", place + "same")
    await objects.copy(place + "x", place + "other", metadata={"new": "ü"})
    await objects.copy(place + "x", place + "bare", metadata={})
    # Only S3 is spared a look at the source, but every store has to find that it is not there.
    await objects.copy(place + "x", place + "known", metadata={"new": "2"}, content_type="image/gif", size_bytes=10)
    with pytest.raises(ObjectMissing):
        await objects.copy(place + "gone", place + "y", metadata={}, content_type="image/gif", size_bytes=10)
    asked = {"same": {"old": "1"}, "other": {"new": "ü"}, "bare": {}, "known": {"new": "2"}}
    for name, metadata in asked.items():
        info = await objects.head(place + name)
        assert objects_harness.kept_in_copy(info, metadata)
        assert info.size_bytes == 10
        assert info.content_type == ("image/gif" if name == "known" else "image/png")
        assert await content(objects, info.key) == TEN
    await objects.put(place + "x", stream(b"changed"))
    assert await content(objects, place + "same") == TEN


@proves("copy")
async def test_an_object_can_be_copied_onto_another_and_onto_itself(
    objects_harness: ObjectsHarness, objects: Objects, place: str
) -> None:
    kept = objects_harness.kept_in_copy
    await objects.put(place + "x", stream(TEN), metadata={"old": "1"})
    await objects.put(place + "y", stream(b"other"))
    await objects.copy(place + "x", place + "y")
    assert await content(objects, place + "y") == TEN
    await objects.copy(place + "x", place + "x")
    assert kept(await objects.head(place + "x"), {"old": "1"})
    await objects.copy(place + "x", place + "x", metadata={"new": "2"})
    assert kept(await objects.head(place + "x"), {"new": "2"})
    assert await content(objects, place + "x") == TEN


@proves("copy")
async def test_a_large_object_is_copied_whole(objects_harness: ObjectsHarness, objects: Objects, place: str) -> None:
    # Where parts can be copied, this is more than the store copies at once.
    data = bytes(range(256)) * 4096 * (13 if COPIES_PARTS in objects_harness.promises else 3)
    await objects.put(place + "x", stream(data), content_type="image/png", metadata={"a": "ü"})
    await objects.copy(place + "x", place + "y")
    info = await objects.head(place + "y")
    assert (info.size_bytes, info.content_type) == (len(data), "image/png")
    assert objects_harness.kept_in_copy(info, {"a": "ü"})
    assert digest(await content(objects, place + "y")) == digest(data)


async def test_the_store_is_safe_to_use_from_many_tasks(
    objects_harness: ObjectsHarness, objects: Objects, place: str
) -> None:
    keys = 10 if REPLACES_IN_ONE_STEP in objects_harness.promises else 40

    async def visit(number: int) -> None:
        key, body = f"{place}{number % keys}", b"%d" % (number % keys) * 1000
        await objects.put(key, stream(body), sha256=digest(body))
        assert await content(objects, key) == body
        assert (await objects.head(key)).size_bytes == len(body)
        await objects.list(place, limit=3)

    await asyncio.gather(*[visit(number) for number in range(40)])
    assert len((await objects.list(place)).objects) == keys
