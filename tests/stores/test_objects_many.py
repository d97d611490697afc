"""What every store of bytes keeps of many small objects that are put together."""

from dataclasses import replace

import pytest

from satchel.kernel.errors import Invalid, TooLarge
from satchel.stores.ports.objects import DEFAULT_TYPE, MAX_SMALL_BYTES, Objects, SmallObject
from tests.stores.harnesses_objects import content, proves, stream

pytest_plugins = ("tests.stores.fixtures_objects",)
pytestmark = pytest.mark.asyncio(loop_scope="module")


@proves("put_many", "whole", "described")
async def test_many_put_together_are_as_if_put_one_by_one(objects: Objects, place: str) -> None:
    await objects.put(place + "7", stream(b"old"))
    many = [SmallObject(f"{place}{number}", b"%d" % number * number) for number in range(150)]
    many.append(SmallObject(place + "like", many[9].data, "text/plain", {"original-name": "Ünï 🎻"}))
    await objects.put_many(many)
    for each in many:
        assert await content(objects, each.key) == each.data
    described = await objects.head(place + "like")
    assert (described.content_type, described.metadata) == ("text/plain", {"original-name": "Ünï 🎻"})
    assert (await objects.head(place + "0")).content_type == DEFAULT_TYPE
    assert [info.key for info in (await objects.list(place)).objects] == sorted(each.key for each in many)
    await objects.put_many([])


@proves("put_many")
@pytest.mark.parametrize(
    ("unacceptable", "error"),
    [
        (SmallObject("a//b", b""), Invalid),
        (SmallObject("b", b"", content_type="none"), Invalid),
        (SmallObject("b", b"", metadata={"A": "b"}), Invalid),
        (SmallObject("a", b"another"), Invalid),
        (SmallObject("b", b"x" * (MAX_SMALL_BYTES + 1)), TooLarge),
    ],
    ids=["name", "type", "metadata", "twice", "large"],
)
async def test_of_many_none_is_stored_if_one_is_unacceptable(
    objects: Objects, place: str, unacceptable: SmallObject, error: type[Exception]
) -> None:
    with pytest.raises(error):
        await objects.put_many([SmallObject(place + "a", b"a"), replace(unacceptable, key=place + unacceptable.key)])
    assert (await objects.list(place)).objects == []


@proves("read_many")
async def test_many_read_together_are_as_if_read_one_by_one(objects: Objects, place: str) -> None:
    many = {f"{place}{number}": bytes([number]) * number * 400 for number in range(100)}
    await objects.put_many([SmallObject(key, data) for key, data in many.items()])
    keys = [place + "7", place + "none", *many, place + "7"]
    assert await objects.read_many(keys) == [many.get(key) for key in keys]
    assert await objects.read_many([]) == []


@proves("read_many")
async def test_of_many_none_is_answered_if_one_is_unacceptable(objects: Objects, place: str) -> None:
    await objects.put(place + "small", stream(b"small"))
    await objects.put(place + "large", stream(bytes(MAX_SMALL_BYTES + 1)))
    with pytest.raises(TooLarge):
        await objects.read_many([place + "small", place + "large"])
    with pytest.raises(Invalid):
        await objects.read_many([place + "small", "a//b"])
